import { asc, eq, inArray } from 'drizzle-orm'
import type { SchemaContext } from '../change/index.ts'
import { toStored, toTable } from '../model/index.ts'
import type { KnownTable } from './differences.ts'

/** Every table of a source with all of its fields, the trash included: two statements whatever its size. */
export async function readKnown({ store, kernel }: SchemaContext, sourceId: string): Promise<KnownTable[]> {
  const { tables, fields } = store
  const { db } = kernel.meta
  const ofSource = eq(tables.sourceId, sourceId)
  const rows = await db.select().from(tables).where(ofSource).orderBy(asc(tables.order), asc(tables.id))
  const ids = db.select({ id: tables.id }).from(tables).where(ofSource)
  const all = await db
    .select()
    .from(fields)
    .where(inArray(fields.tableId, ids))
    .orderBy(asc(fields.order), asc(fields.id))
  const byTable = Map.groupBy(all, (row) => row.tableId)
  return rows.map((row) => ({ table: toTable(row), fields: (byTable.get(row.id) ?? []).map(toStored) }))
}
