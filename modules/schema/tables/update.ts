import { eq } from 'drizzle-orm'
import type { Actor } from '../../../src/core/actor.ts'
import { badRequest, notFound } from '../../../src/core/errors.ts'
import type { Table } from '../../../src/core/model.ts'
import type { MetaStatement } from '../../../src/db/meta.ts'
import { m } from '../../../src/messages.gen.ts'
import { type ChangeOptions, openTable, type SchemaContext } from '../change/index.ts'
import { checkTitle, duplicateTable, isTitleTaken, orderAt } from '../model/index.ts'

/** A partial update of a table. */
export interface TablePatch {
  title?: string
  description?: string | null
  meta?: Record<string, unknown>
}

/** The part of a table that the change log stores before and after an update. */
export type TableState = Pick<Table, 'title' | 'description' | 'meta' | 'order'>

/**
 * Updates a table. Its name in the database stays the same.
 *
 * @throws TABLE_NOT_FOUND; DUPLICATE_ALIAS for a title in use
 */
export async function updateTable(
  context: SchemaContext,
  actor: Actor,
  tableId: string,
  patch: TablePatch,
): Promise<Table> {
  const { table } = await openTable(context, actor, 'table.update', tableId)
  return writeTable(context, actor, table, (current) => ({
    ...current,
    title: patch.title === undefined ? current.title : checkTitle('table', patch.title),
    description: patch.description === undefined ? current.description : patch.description?.trim() || null,
    meta: patch.meta ?? current.meta,
  }))
}

/**
 * Moves a table before another of its base, or to the end (null).
 *
 * @throws TABLE_NOT_FOUND for either table
 */
export async function reorderTable(
  context: SchemaContext,
  actor: Actor,
  tableId: string,
  before: string | null,
): Promise<void> {
  const { table } = await openTable(context, actor, 'table.update', tableId)
  if (before === tableId) return
  const others = (await context.store.tablesOf(table.baseId)).filter((other) => other.id !== tableId)
  const index = before === null ? others.length : others.findIndex((other) => other.id === before)
  if (before !== null && index < 0) throw notFound('Table', before.slice(0, 64))
  const { order, moved } = orderAt(others, index)
  const { tables } = context.store
  const { db } = context.kernel.meta
  const also = moved.map(({ id, order }) => db.update(tables).set({ order }).where(eq(tables.id, id)))
  await writeTable(context, actor, table, (current) => ({ ...current, order }), { also })
}

/** Sets the order number of a table (REST). */
export async function placeTable(
  context: SchemaContext,
  actor: Actor,
  tableId: string,
  order: number,
): Promise<void> {
  const { table } = await openTable(context, actor, 'table.update', tableId)
  if (!Number.isFinite(order)) throw badRequest(m.schema_error_table_order())
  await writeTable(context, actor, table, (current) => ({ ...current, order }))
}

/** Writes the state that `decide` returns for the current one, with a log entry; `also` joins the same transaction. */
export async function writeTable(
  { store, apply, kernel }: SchemaContext,
  actor: Actor,
  table: Table,
  decide: (current: TableState) => TableState,
  { also = [], ...options }: ChangeOptions & { also?: MetaStatement[] } = {},
): Promise<Table> {
  return apply(
    actor,
    table.baseId,
    async ({ now }) => {
      const current = await store.findTable(table.id)
      if (!current || current.deletedAt !== null) throw notFound('Table', table.id)
      const before = stateOf(current)
      const after = decide(before)
      const others = (await store.tablesOf(table.baseId)).filter((other) => other.id !== table.id)
      if (after.title !== before.title && isTitleTaken(after.title, others)) {
        throw duplicateTable(after.title, table.baseId)
      }
      return {
        statements: [
          kernel.meta.db
            .update(store.tables)
            .set({ ...after, updatedAt: now })
            .where(eq(store.tables.id, table.id)),
          ...also,
        ],
        entry: Bun.deepEquals(before, after)
          ? null
          : { kind: 'table.update', tableId: table.id, detail: { tableId: table.id, before, after } },
        tableIds: [table.id],
        result: Bun.deepEquals(before, after)
          ? current
          : { ...current, ...after, updatedAt: now, version: current.version + 1 },
      }
    },
    options,
  )
}

const stateOf = ({ title, description, meta, order }: Table): TableState => ({
  title,
  description,
  meta,
  order,
})
