import { eq, inArray } from 'drizzle-orm'
import type { Field, Table } from '../../../src/core/model.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { type SchemaStore, toField, toTable } from '../model/index.ts'

/** Ids in one list: well within what every engine binds. */
const IDS_AT_ONCE = 500

/** The tables of a base and the fields of some of them, those in the trash included: the log speaks of both. */
export interface LogNames {
  tables: ReadonlyMap<string, Table>
  fields: ReadonlyMap<string, Field>
}

/** Reads what the entries of a base's log name, in a few statements whatever their number. */
export async function readLogNames(
  kernel: Kernel,
  { tables, fields }: Pick<SchemaStore, 'tables' | 'fields'>,
  baseId: string,
  tableIds: readonly string[],
): Promise<LogNames> {
  const { db } = kernel.meta
  const all = (await db.select().from(tables).where(eq(tables.baseId, baseId))).map(toTable)
  const known = new Map(all.map((table) => [table.id, table]))
  const wanted = [...new Set(tableIds)].filter((id) => known.has(id))
  const found: Field[] = []
  for (let from = 0; from < wanted.length; from += IDS_AT_ONCE) {
    const rows = await db
      .select()
      .from(fields)
      .where(inArray(fields.tableId, wanted.slice(from, from + IDS_AT_ONCE)))
    found.push(...rows.map(toField))
  }
  return { tables: known, fields: new Map(found.map((field) => [field.id, field])) }
}
