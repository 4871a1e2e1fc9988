import { and, eq, inArray, isNull } from 'drizzle-orm'
import { renameIds } from '../../../src/core/ids.ts'
import type { MetaStatement } from '../../../src/db/meta.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { defineSchemaTables } from '../tables.ts'

type Tables = ReturnType<typeof defineSchemaTables>

/** Definitions as the metadata keeps them, to be written again under other ids. */
export interface SchemaRows {
  tables: Tables['tables']['$inferSelect'][]
  fields: Tables['fields']['$inferSelect'][]
}

/** A field under its new id, in its new table. */
export const fieldWithNewIds = <
  F extends Pick<SchemaRows['fields'][number], 'id' | 'tableId' | 'options' | 'result'>,
>(
  field: F,
  ids: ReadonlyMap<string, string>,
): F => ({
  ...field,
  id: ids.get(field.id) ?? field.id,
  tableId: ids.get(field.tableId) ?? field.tableId,
  options: renameIds(field.options, ids),
  result: renameIds(field.result, ids),
})

/** Rows of one insert: well within what every engine binds. */
const ROWS_AT_ONCE = 200
const IDS_AT_ONCE = 500

/** The definitions of a base's tables and fields, without those in the trash. */
export function createCopiedRows({ meta }: Pick<Kernel, 'meta'>) {
  const { tables, fields } = meta.tables(defineSchemaTables)
  const { db } = meta
  return {
    async rowsOf(baseId: string): Promise<SchemaRows> {
      const found = await db
        .select()
        .from(tables)
        .where(and(eq(tables.baseId, baseId), isNull(tables.deletedAt)))
      const ids = found.map(({ id }) => id)
      const all: SchemaRows['fields'] = []
      for (let from = 0; from < ids.length; from += IDS_AT_ONCE) {
        const some = inArray(fields.tableId, ids.slice(from, from + IDS_AT_ONCE))
        all.push(
          ...(await db
            .select()
            .from(fields)
            .where(and(some, isNull(fields.deletedAt)))),
        )
      }
      return { tables: found, fields: all }
    },

    /** Statements that write such rows: tables ahead of their fields. */
    insertRows: ({ tables: tableRows, fields: fieldRows }: SchemaRows): MetaStatement[] => [
      ...parts(tableRows).map((part) => db.insert(tables).values(part)),
      ...parts(fieldRows).map((part) => db.insert(fields).values(part)),
    ],
  }
}

function parts<T>(rows: T[]): T[][] {
  const found: T[][] = []
  for (let from = 0; from < rows.length; from += ROWS_AT_ONCE)
    found.push(rows.slice(from, from + ROWS_AT_ONCE))
  return found
}
