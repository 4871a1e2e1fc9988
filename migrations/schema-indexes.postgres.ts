import { defineIndexesTables } from '../modules/indexes/tables.ts'
import { postgresColumns } from '../src/db/columns.ts'

/** The tables of indexes, besides those of `schema.postgres.ts`. */
export const { tableIndexes, tableReads } = defineIndexesTables(postgresColumns)
