import { defineIndexesTables } from '../modules/indexes/tables.ts'
import { sqliteColumns } from '../src/db/columns.ts'

/** The tables of indexes, besides those of `schema.sqlite.ts`. */
export const { tableIndexes, tableReads } = defineIndexesTables(sqliteColumns)
