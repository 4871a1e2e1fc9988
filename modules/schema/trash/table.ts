import { and, asc, desc, eq, isNotNull } from 'drizzle-orm'
import { type Actor, actorIdOf } from '../../../src/core/actor.ts'
import { notFound } from '../../../src/core/errors.ts'
import type { Table } from '../../../src/core/model.ts'
import { type ChangeOptions, openTable, refuseSchemaReadonly, type SchemaContext } from '../change/index.ts'
import { markParts, partsOutside, partsWhere, refuseLinkPart } from '../links/index.ts'
import { toTable, uniqueTitle } from '../model/index.ts'

/**
 * Moves a table to the trash, with the links of other tables to it. Its records stay in the database for a restore.
 *
 * @throws TABLE_NOT_FOUND; BAD_REQUEST for a junction table
 */
export async function deleteTable(context: SchemaContext, actor: Actor, tableId: string): Promise<void> {
  const { table } = await openTable(context, actor, 'table.delete', tableId)
  await refuseSchemaReadonly(context, table)
  if (table.isJunction) await refuseLinkPart(context, { junction: table })
  await trashTable(context, actor, table)
}

/**
 * Restores a table; its title gets a suffix (`Title_1`) if it is in use by now.
 *
 * @throws TABLE_NOT_FOUND unless it is in the trash of a live base; BAD_REQUEST for a junction table
 */
export async function restoreTable(context: SchemaContext, actor: Actor, tableId: string): Promise<Table> {
  const table = await context.store.findTable(tableId)
  if (!table || table.deletedAt === null) throw notFound('Table', tableId.slice(0, 64))
  await context.bases.require(table.baseId)
  await context.access.authorize(actor, 'table.restore', table.baseId)
  if (table.isJunction) await refuseLinkPart(context, { junction: table })
  return untrashTable(context, actor, table)
}

/** A table in the trash. */
export type TrashedTable = Table & { deletedAt: string; deletedBy: string | null }

/** The tables in the trash of a base, latest first, without junction tables and those of disabled sources. */
export async function trashedTablesOfBase(
  context: SchemaContext,
  actor: Actor,
  baseId: string,
): Promise<TrashedTable[]> {
  await context.bases.require(baseId)
  await context.access.authorize(actor, 'table.restore', baseId)
  const { tables } = context.store
  const rows = await context.kernel.meta.db
    .select()
    .from(tables)
    .where(and(eq(tables.baseId, baseId), eq(tables.isJunction, false), isNotNull(tables.deletedAt)))
    .orderBy(desc(tables.deletedAt), asc(tables.id))
  const sources = (await context.bases.sourcesOf([baseId])).get(baseId) ?? []
  const hidden = new Set(sources.filter(({ isEnabled }) => !isEnabled).map(({ id }) => id))
  return rows.flatMap((row) => {
    const { deletedAt, deletedBy, sourceId } = row
    return deletedAt === null || hidden.has(sourceId) ? [] : [{ ...toTable(row), deletedAt, deletedBy }]
  })
}

/** Marks a table, and the parts of its links in other tables, as deleted. */
export function trashTable(
  context: SchemaContext,
  actor: Actor,
  table: Table,
  options?: ChangeOptions,
): Promise<void> {
  return context.apply(
    actor,
    table.baseId,
    async ({ now }) => {
      const current = await context.store.findTable(table.id)
      if (!current || current.deletedAt !== null) return NO_CHANGE
      const links = partsWhere(await partsOutside(context, current), ({ deletedAt }) => deletedAt === null)
      const all = { ...links, tables: [current, ...links.tables] }
      const { statements, parts, tableIds } = await markParts(
        context,
        all,
        { at: now, by: actorIdOf(actor) },
        now,
      )
      return {
        statements,
        entry: {
          kind: 'table.delete',
          tableId: table.id,
          detail: { tableId: table.id, tableTitle: current.title },
        },
        altered: parts,
        tableIds,
        result: undefined,
      }
    },
    options,
  )
}

/** Restores a table and everything that was deleted with it. */
export function untrashTable(
  context: SchemaContext,
  actor: Actor,
  { id, baseId }: Table,
  options?: ChangeOptions,
): Promise<Table> {
  const { store, apply, kernel } = context
  return apply(
    actor,
    baseId,
    async ({ now }) => {
      const table = await store.findTable(id)
      if (!table) throw notFound('Table', id)
      if (table.deletedAt === null) return { ...NO_CHANGE, result: table }
      const others = (await store.tablesOf(table.baseId)).filter((other) => other.id !== table.id)
      const title = uniqueTitle(table.title, others)
      // Parts that were deleted before the table stay in the trash.
      const links = partsWhere(
        await partsOutside(context, table),
        ({ deletedAt }) => deletedAt === table.deletedAt,
      )
      const { statements, parts, tableIds } = await markParts(context, links, null, now)
      const restored = { ...table, title, deletedAt: null, updatedAt: now }
      return {
        statements: [
          ...statements,
          kernel.meta.db
            .update(store.tables)
            .set({ deletedAt: null, deletedBy: null, movedTo: null, title, updatedAt: now })
            .where(eq(store.tables.id, table.id)),
        ],
        entry: { kind: 'table.restore', tableId: table.id, detail: { tableId: table.id, tableTitle: title } },
        altered: { ...parts, tables: [restored, ...parts.tables] },
        tableIds: [...new Set([table.id, ...tableIds])],
        result: { ...restored, version: table.version + 1 },
      }
    },
    options,
  )
}

const NO_CHANGE = { statements: [], entry: null, tableIds: [], result: undefined }
