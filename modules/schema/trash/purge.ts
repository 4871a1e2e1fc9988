import { inArray } from 'drizzle-orm'
import type { Actor } from '../../../src/core/actor.ts'
import { badRequest, notFound } from '../../../src/core/errors.ts'
import type { Table } from '../../../src/core/model.ts'
import { forgetParts } from '../../../src/db/change-log.ts'
import type { MetaStatement } from '../../../src/db/meta.ts'
import { foreignSourceOf, type SchemaContext } from '../change/index.ts'
import { type LinkParts, partsOfLink, partsOutside, partsWhere } from '../links/index.ts'
import type { StoredField } from '../model/index.ts'

/** A column by its table and its name in the database. */
export interface ReplacedColumn {
  tableId: string
  columnName: string
}

export interface Purge {
  /** ISO 8601: what was deleted before it goes for good. */
  before: string
  /** Columns that only entries of the log spoke of which are gone by now: what a change of type has replaced. */
  replaced: readonly ReplacedColumn[]
  /** Columns that the log still speaks of: an undo would need them. */
  kept: readonly ReplacedColumn[]
}

const IDS_PER_STATEMENT = 500

/**
 * Removes tables and fields that have been in the trash since before a moment, with their columns, and columns that
 * nothing needs any more. For good. Tables of connected databases are forgotten and left there as they are.
 */
export async function purgeSchema(
  context: SchemaContext,
  baseId: string,
  { before, replaced, kept }: Purge,
): Promise<{ tables: number; columns: number }> {
  const isOld = ({ deletedAt }: { deletedAt: string | null }) => deletedAt !== null && deletedAt < before
  return remove(context, baseId, { isGone: isOld, replaced, kept })
}

/** As `purgeSchema`, for these tables and fields of the trash alone. */
async function purgeParts(
  context: SchemaContext,
  baseId: string,
  ids: ReadonlySet<string>,
): Promise<{ tables: number; columns: number }> {
  const isGone = ({ id, deletedAt }: { id: string; deletedAt: string | null }) =>
    deletedAt !== null && ids.has(id)
  return remove(context, baseId, { isGone, replaced: [], kept: [] })
}

type Removal = Pick<Purge, 'replaced' | 'kept'> & {
  isGone: (part: { id: string; deletedAt: string | null }) => boolean
}

async function remove(
  { kernel, store, bases, views }: SchemaContext,
  baseId: string,
  { isGone, replaced, kept }: Removal,
): Promise<{ tables: number; columns: number }> {
  const engine = await kernel.sources.engine(baseId)
  const { dialect } = engine
  const own = new Set(
    ((await bases.sourcesOf([baseId])).get(baseId) ?? []).filter(({ isOwn }) => isOwn).map(({ id }) => id),
  )
  const ownTables = async () =>
    [...(await store.tablesOf(baseId)), ...(await store.tablesOf(baseId, { trash: true }))].filter(
      ({ sourceId }) => own.has(sourceId),
    )

  /** Which fields of a table go, and which columns. */
  async function goneOf(table: Table): Promise<{ fields: StoredField[]; columns: Set<string> }> {
    const fields = await store.listFields(table.id)
    const gone = fields.filter(isGone)
    const needed = new Set([
      ...fields.filter((field) => !isGone(field)).map(({ columnName }) => columnName),
      ...kept.filter(({ tableId }) => tableId === table.id).map(({ columnName }) => columnName),
    ])
    const named = [...gone, ...replaced.filter(({ tableId }) => tableId === table.id)]
    const columns = named.map(({ columnName }) => columnName)
    return { fields: gone, columns: new Set(columns.filter((name) => name !== '' && !needed.has(name))) }
  }

  let dropped: Table[] = []
  if ((await ownTables()).some(isGone)) {
    // Nobody restores or alters anything while the script is being made up and run.
    await engine.writeScript(async () => {
      dropped = (await ownTables()).filter(isGone)
      // What names them goes first: a stop in between leaves a table that nobody knows, and nothing that is named and gone.
      const ids = dropped.map(({ id }) => id)
      await kernel.meta.atomically(removedTables({ kernel, store, views }, ids))
      for (const id of ids) store.forget(id)
      return dropped.flatMap(({ tableName }) => dialect.dropTable(tableName))
    })
  }
  let columns = 0
  for (const table of await ownTables()) {
    const there = await goneOf(table)
    let isMore = there.fields.length > 0 || there.columns.size > 0
    // SQLite writes the whole table anew for each column: other writers have their turn in between.
    while (isMore) {
      isMore = false
      await engine.writeScript(async () => {
        const { fields, columns: unneeded } = await goneOf(table)
        const physical = await engine.all<{ name: string }>(dialect.listColumns(table.tableName))
        const [name, ...later] = physical.map((column) => column.name).filter((each) => unneeded.has(each))
        const ids = fields.filter(({ columnName }) => !later.includes(columnName)).map(({ id }) => id)
        await kernel.meta.atomically(removedFields({ kernel, store }, ids))
        store.forget(table.id)
        isMore = later.length > 0
        if (name === undefined) return []
        columns++
        return [...dialect.dropIndexesOf(table.tableName, name), ...dialect.dropColumn(table.tableName, name)]
      })
    }
  }
  return { tables: dropped.length, columns }
}

/** The statements that remove tables with their fields and views from the metadata. */
export function removedTables(
  { kernel, store, views }: Pick<SchemaContext, 'kernel' | 'store' | 'views'>,
  tableIds: string[],
): MetaStatement[] {
  const { db } = kernel.meta
  const statements = views.forRemovedTables(tableIds)
  for (let at = 0; at < tableIds.length; at += IDS_PER_STATEMENT) {
    const ids = tableIds.slice(at, at + IDS_PER_STATEMENT)
    statements.push(db.delete(store.fields).where(inArray(store.fields.tableId, ids)))
    statements.push(db.delete(store.tables).where(inArray(store.tables.id, ids)))
  }
  return statements
}

function removedFields(
  { kernel, store }: Pick<SchemaContext, 'kernel' | 'store'>,
  fieldIds: string[],
): MetaStatement[] {
  const statements: MetaStatement[] = []
  for (let at = 0; at < fieldIds.length; at += IDS_PER_STATEMENT) {
    const ids = inArray(store.fields.id, fieldIds.slice(at, at + IDS_PER_STATEMENT))
    statements.push(kernel.meta.db.delete(store.fields).where(ids))
  }
  return statements
}

const isTrashed = ({ deletedAt }: { deletedAt: string | null }): boolean => deletedAt !== null

/**
 * Deletes a field of the trash forever, with its column; a link with all that it consists of.
 *
 * @throws FIELD_NOT_FOUND where it is not in the trash of a live table; PERMISSION_DENIED below creator; BAD_REQUEST
 *   for a field of a connected database, whose column is not ours
 */
export async function deleteFieldForever(
  context: SchemaContext,
  actor: Actor,
  fieldId: string,
): Promise<string> {
  const field = await context.store.findField(fieldId)
  const table = field && (await context.store.findTable(field.tableId))
  if (!table || table.deletedAt !== null || field.deletedAt === null)
    throw notFound('Field', fieldId.slice(0, 64))
  await context.bases.require(table.baseId)
  await context.access.authorize(actor, 'field.purge', table.baseId)
  await refuseForeign(context, table)
  const parts = partsWhere(await partsOfLink(context, field), isTrashed)
  await forget(
    context,
    actor,
    { table, fieldTitle: field.title },
    { ...parts, fields: [field, ...parts.fields] },
  )
  return table.baseId
}

/**
 * Deletes a table of the trash forever, with its records, their history, and the links that led to it.
 *
 * @throws TABLE_NOT_FOUND where it is not in the trash; PERMISSION_DENIED below creator; BAD_REQUEST for a table of a
 *   connected database, which is not ours
 */
export async function deleteTableForever(
  context: SchemaContext,
  actor: Actor,
  tableId: string,
): Promise<string> {
  const table = await context.store.findTable(tableId)
  if (!table || table.deletedAt === null) throw notFound('Table', tableId.slice(0, 64))
  await context.bases.require(table.baseId)
  await context.access.authorize(actor, 'table.purge', table.baseId)
  await refuseForeign(context, table)
  const parts = partsWhere(await partsOutside(context, table), isTrashed)
  await forget(context, actor, { table }, { ...parts, tables: [table, ...parts.tables] })
  return table.baseId
}

async function forget(
  context: SchemaContext,
  actor: Actor,
  of: { table: Table; fieldTitle?: string },
  { fields, tables }: LinkParts,
): Promise<void> {
  const fieldIds = fields.map(({ id }) => id)
  const tableIds = tables.map(({ id }) => id)
  const { baseId } = of.table
  // The metadata forgets them first, so stopping would leave a part of it.
  const work = { ...of, kind: 'purge', baseId, canCancel: false } as const
  await context.kernel.works.follow(actor, work, async () => {
    await purgeParts(context, baseId, new Set([...fieldIds, ...tableIds]))
    await forgetParts(await context.kernel.sources.engine(baseId), { tableIds, fieldIds })
  })
}

async function refuseForeign(context: SchemaContext, table: Table): Promise<void> {
  if (await foreignSourceOf(context, table))
    throw badRequest('Tables and fields of a connected database can’t be deleted forever here')
}
