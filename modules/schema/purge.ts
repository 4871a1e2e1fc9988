import { inArray } from 'drizzle-orm'
import type { Table } from '../../src/core/model.ts'
import type { MetaStatement } from '../../src/db/meta.ts'
import type { Statement } from '../../src/dialects/dialect.ts'
import type { SchemaContext } from './context.ts'

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

const IDS_AT_ONCE = 500

/**
 * Removes tables and fields that have been in the trash since before a moment, with their columns, and columns that
 * nothing needs any more. For good. Tables of connected databases are forgotten and left there as they are.
 */
export async function purgeSchema(
  { kernel, store, bases, views }: SchemaContext,
  baseId: string,
  { before, replaced, kept }: Purge,
): Promise<{ tables: number; columns: number }> {
  const engine = await kernel.sources.engine(baseId)
  const { dialect } = engine
  const isOld = ({ deletedAt }: { deletedAt: string | null }) => deletedAt !== null && deletedAt < before
  const own = new Set(
    ((await bases.sourcesOf([baseId])).get(baseId) ?? []).filter(({ isOwn }) => isOwn).map(({ id }) => id),
  )
  const isOwn = ({ sourceId }: Table) => own.has(sourceId)
  let gone: { tables: Table[]; columns: number } = { tables: [], columns: 0 }

  // Nobody restores or alters anything while the script is being made up and run.
  await engine.writeScript(async () => {
    const tables = [...(await store.tablesOf(baseId)), ...(await store.tablesOf(baseId, { trash: true }))]
    const dropped = tables.filter((table) => isOld(table) && isOwn(table))
    const droppedIds = dropped.map(({ id }) => id)
    const fieldIds: string[] = []
    const statements: Statement[] = dropped.flatMap(({ tableName }) => dialect.dropTable(tableName))
    let columns = 0
    for (const table of tables) {
      if (droppedIds.includes(table.id) || !isOwn(table)) continue
      const fields = await store.listFields(table.id)
      const old = fields.filter(isOld)
      fieldIds.push(...old.map(({ id }) => id))
      const needed = new Set([
        ...fields.filter((field) => !isOld(field)).map(({ columnName }) => columnName),
        ...kept.filter(({ tableId }) => tableId === table.id).map(({ columnName }) => columnName),
      ])
      const unneeded = new Set(
        [...old, ...replaced.filter(({ tableId }) => tableId === table.id)]
          .map(({ columnName }) => columnName)
          .filter((name) => name !== '' && !needed.has(name)),
      )
      if (unneeded.size === 0) continue
      const there = await engine.all<{ name: string }>(dialect.listColumns(table.tableName))
      for (const { name } of there) {
        if (!unneeded.has(name)) continue
        columns++
        statements.push(
          ...dialect.dropIndexesOf(table.tableName, name),
          ...dialect.dropColumn(table.tableName, name),
        )
      }
    }
    // What names them goes first: a stop in between leaves a column that nobody knows, and nothing that is named and gone.
    await kernel.meta.atomically([
      ...removedTables({ kernel, store, views }, droppedIds),
      ...removedFields({ kernel, store }, fieldIds),
    ])
    for (const { id } of tables) store.forget(id)
    gone = { tables: dropped, columns }
    return statements
  })
  return { tables: gone.tables.length, columns: gone.columns }
}

/** The statements that remove tables with their fields and views from the metadata. */
export function removedTables(
  { kernel, store, views }: Pick<SchemaContext, 'kernel' | 'store' | 'views'>,
  tableIds: string[],
): MetaStatement[] {
  const { db } = kernel.meta
  const statements = views?.forRemovedTables(tableIds) ?? []
  for (let at = 0; at < tableIds.length; at += IDS_AT_ONCE) {
    const ids = tableIds.slice(at, at + IDS_AT_ONCE)
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
  for (let at = 0; at < fieldIds.length; at += IDS_AT_ONCE) {
    const ids = inArray(store.fields.id, fieldIds.slice(at, at + IDS_AT_ONCE))
    statements.push(kernel.meta.db.delete(store.fields).where(ids))
  }
  return statements
}
