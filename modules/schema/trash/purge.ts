import { inArray } from 'drizzle-orm'
import type { Actor } from '../../../src/core/actor.ts'
import { badRequest, notFound } from '../../../src/core/errors.ts'
import type { Table } from '../../../src/core/model.ts'
import { forgetParts } from '../../../src/db/change-log/removal.ts'
import type { MetaStatement } from '../../../src/db/meta.ts'
import { removePlaces } from '../../../src/db/view-places.ts'
import { isAutomaticIndex } from '../../../src/dialects/automatic-index.ts'
import type { Statement } from '../../../src/dialects/dialect.ts'
import { m } from '../../../src/messages.gen.ts'
import { foreignSourceOf, type SchemaContext } from '../change/index.ts'
import { type LinkParts, partsOfLink, partsOutside, partsWhere } from '../links/index.ts'
import { batches, type StoredField } from '../model/index.ts'

interface ReplacedColumn {
  tableId: string
  columnName: string
}

export interface Purge {
  /** ISO 8601: deletes the tables and fields that were moved to the trash before this time; '': none. */
  before: string
  /** Columns replaced by a change of type whose log entries are deleted by now. */
  replaced: readonly ReplacedColumn[]
  /** Replaced columns that remaining log entries need for an undo. */
  kept: readonly ReplacedColumn[]
}

const IDS_PER_STATEMENT = 500

/**
 * Permanently deletes old tables and fields from the trash, and columns that nothing needs any more. Tables of connected
 * databases are only removed from the metadata.
 */
export async function purgeSchema(
  context: SchemaContext,
  baseId: string,
  { before, replaced, kept }: Purge,
): Promise<{ tables: number; columns: number }> {
  const isPurged = ({ deletedAt }: { deletedAt: string | null }) => deletedAt !== null && deletedAt < before
  const { tableIds, fieldIds, columns } = await drop(context, baseId, { isPurged, replaced, kept })
  // The log may be kept for longer than the trash.
  if (tableIds.length + fieldIds.length > 0) await forget(context, baseId, { tableIds, fieldIds })
  return { tables: tableIds.length, columns }
}

type Removal = Pick<Purge, 'replaced' | 'kept'> & {
  isPurged: (part: { id: string; deletedAt: string | null }) => boolean
}

async function drop(
  { kernel, store, bases, views }: SchemaContext,
  baseId: string,
  { isPurged, replaced, kept }: Removal,
): Promise<{ tableIds: string[]; fieldIds: string[]; columns: number }> {
  const engine = await kernel.sources.engine(baseId)
  const { dialect } = engine
  const ownSources = new Set(
    ((await bases.sourcesOf([baseId])).get(baseId) ?? []).filter(({ isOwn }) => isOwn).map(({ id }) => id),
  )
  const ownTables = async () =>
    [...(await store.tablesOf(baseId)), ...(await store.tablesOf(baseId, { trash: true }))].filter(
      ({ sourceId }) => ownSources.has(sourceId),
    )

  /** The fields and columns of a table to delete. */
  async function purgedFrom(table: Table): Promise<{ fields: StoredField[]; columns: Set<string> }> {
    const fields = await store.listFields(table.id)
    const purged = fields.filter(isPurged)
    const needed = new Set([
      ...fields.filter((field) => !isPurged(field)).map(({ columnName }) => columnName),
      ...kept.filter(({ tableId }) => tableId === table.id).map(({ columnName }) => columnName),
    ])
    const columns = [...purged, ...replaced.filter(({ tableId }) => tableId === table.id)]
      .map(({ columnName }) => columnName)
      .filter((name) => name !== '' && !needed.has(name))
    return { fields: purged, columns: new Set(columns) }
  }

  /** Drops the automatic indexes of a table, since an indexed column cannot be dropped. They are built again. */
  async function automaticIndexesOf(tableName: string): Promise<Statement[]> {
    const { sql, params } = dialect.listIndexes(tableName)
    // Without their sizes, for which SQLite reads each page.
    const found = await engine.all<{ name: string }>({ sql: `select name from (${sql}) as listed`, params })
    const names = found.map(({ name }) => name).filter(isAutomaticIndex)
    return names.flatMap((name) => dialect.dropAutomaticIndex(name))
  }

  /** Drops a table, which may be gone. In a file, an index under construction would outlive it. */
  async function removalOf({ tableName }: Table): Promise<Statement[]> {
    const columns = await engine.all(dialect.listColumns(tableName))
    const indexes = columns.length > 0 ? await automaticIndexesOf(tableName) : []
    return [...indexes, ...dialect.dropTable(tableName)]
  }

  let dropped: Table[] = []
  if ((await ownTables()).some(isPurged)) {
    // Writes the metadata inside the lease, so that nothing is restored or altered concurrently.
    await engine.writeScript(async () => {
      dropped = (await ownTables()).filter(isPurged)
      const script: Statement[] = []
      for (const table of dropped) script.push(...(await removalOf(table)))
      // The metadata goes first: a crash in between leaves an unknown table rather than a missing one.
      const ids = dropped.map(({ id }) => id)
      await kernel.meta.atomically(removedTables({ kernel, store, views }, ids))
      for (const id of ids) store.forget(id)
      return script
    })
  }
  const fieldIds: string[] = []
  let columns = 0
  for (const table of await ownTables()) {
    const purged = await purgedFrom(table)
    let hasMore = purged.fields.length > 0 || purged.columns.size > 0
    // SQLite rewrites the whole table for each dropped column, so each gets a write lease of its own.
    while (hasMore) {
      hasMore = false
      await engine.writeScript(async () => {
        const { fields, columns: unneeded } = await purgedFrom(table)
        const physical = await engine.all<{ name: string }>(dialect.listColumns(table.tableName))
        const [name, ...later] = physical.map((column) => column.name).filter((each) => unneeded.has(each))
        const ids = fields.filter(({ columnName }) => !later.includes(columnName)).map(({ id }) => id)
        await kernel.meta.atomically(removedFields({ kernel, store }, ids))
        store.forget(table.id)
        fieldIds.push(...ids)
        hasMore = later.length > 0
        if (name === undefined) return []
        columns++
        return [
          ...(await automaticIndexesOf(table.tableName)),
          ...dialect.dropIndexesOf(table.tableName, name),
          ...dialect.dropColumn(table.tableName, name),
        ]
      })
    }
  }
  return { tableIds: dropped.map(({ id }) => id), fieldIds, columns }
}

/** The statements that delete tables with their fields and views from the metadata. */
export function removedTables(
  { kernel, store, views }: Pick<SchemaContext, 'kernel' | 'store' | 'views'>,
  tableIds: string[],
): MetaStatement[] {
  const { db } = kernel.meta
  const statements = views.forRemovedTables(tableIds)
  for (const ids of batches(tableIds, IDS_PER_STATEMENT)) {
    statements.push(db.delete(store.fields).where(inArray(store.fields.tableId, ids)))
    statements.push(db.delete(store.tables).where(inArray(store.tables.id, ids)))
  }
  return statements
}

function removedFields(
  { kernel, store }: Pick<SchemaContext, 'kernel' | 'store'>,
  fieldIds: string[],
): MetaStatement[] {
  return batches(fieldIds, IDS_PER_STATEMENT).map((ids) =>
    kernel.meta.db.delete(store.fields).where(inArray(store.fields.id, ids)),
  )
}

const isTrashed = ({ deletedAt }: { deletedAt: string | null }): boolean => deletedAt !== null

/**
 * Permanently deletes a field from the trash, with its column and the parts of a link. Returns the id of its base.
 *
 * @throws FIELD_NOT_FOUND unless it is in the trash of a live table; PERMISSION_DENIED below creator; BAD_REQUEST for a
 *   field of a connected database
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
  await purgeParts(
    context,
    actor,
    { table, fieldTitle: field.title },
    { ...parts, fields: [field, ...parts.fields] },
  )
  return table.baseId
}

/**
 * Permanently deletes a table from the trash, with its records, their history, and the links to it. Returns the id of its
 * base.
 *
 * @throws TABLE_NOT_FOUND unless it is in the trash; PERMISSION_DENIED below creator; BAD_REQUEST for a table of a
 *   connected database
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
  await purgeParts(context, actor, { table }, { ...parts, tables: [table, ...parts.tables] })
  return table.baseId
}

async function purgeParts(
  context: SchemaContext,
  actor: Actor,
  subject: { table: Table; fieldTitle?: string },
  { fields, tables }: LinkParts,
): Promise<void> {
  const fieldIds = fields.map(({ id }) => id)
  const tableIds = tables.map(({ id }) => id)
  const ids = new Set([...fieldIds, ...tableIds])
  const { baseId } = subject.table
  // Not cancelable: the metadata is deleted first, so stopping would leave unused columns and tables.
  const work = { ...subject, kind: 'purge', baseId, canCancel: false } as const
  await context.kernel.works.follow(actor, work, async () => {
    const isPurged: Removal['isPurged'] = ({ id, deletedAt }) => deletedAt !== null && ids.has(id)
    await drop(context, baseId, { isPurged, replaced: [], kept: [] })
    await forget(context, baseId, { tableIds, fieldIds })
  })
}

/** Removes what the home of a base has of deleted tables and fields beside the tables themselves. */
async function forget(
  { kernel }: Pick<SchemaContext, 'kernel'>,
  baseId: string,
  parts: { tableIds: readonly string[]; fieldIds: readonly string[] },
): Promise<void> {
  const engine = await kernel.sources.engine(baseId)
  await forgetParts(engine, parts)
  await removePlaces(engine, parts.tableIds)
}

async function refuseForeign(context: SchemaContext, table: Table): Promise<void> {
  if (await foreignSourceOf(context, table)) throw badRequest(m.schema_error_purge_connected())
}
