import { eq } from 'drizzle-orm'
import { nowIso } from '../../../src/clock.ts'
import type { UserActor } from '../../../src/core/actor.ts'
import { isForeignKey } from '../../../src/core/fields/traits.ts'
import type { Table } from '../../../src/core/model.ts'
import { appendChange, insertEntry } from '../../../src/db/change-log/append.ts'
import type { MetaStatement } from '../../../src/db/meta.ts'
import type { Dialect, Statement } from '../../../src/dialects/dialect.ts'
import type { CopiedViews, SchemaContext, ScriptContext, ScriptFollower } from '../change/index.ts'
import { freshSuffix, withFreshName } from '../change/index.ts'
import { recomputeResults } from '../computed/index.ts'
import { markParts, pairIndexes, partsOutside } from '../links/index.ts'
import { createCopiedRows, openTableSlots, type StoredField } from '../model/index.ts'

/** A table whose records wait in a staging table of its base's home. */
export interface StagedTable {
  /** Its title gets a suffix if it is in use. */
  table: Pick<Table, 'id' | 'title' | 'description' | 'meta' | 'isJunction'>
  fields: StoredField[]
  staging: string
  /** The number of its records, for the log. */
  rows: number
  /** Of a junction table: the columns of its two keys. */
  pair: [string, string] | null
  /** The name in the database after which its indexes are named, see `planStagedIndexes`; null before they are built. */
  indexedAs: string | null
}

/** The indexes of a staged table. */
export interface StagedIndexes {
  /** The name in the database that the table will have. */
  tableName: string
  /** The statements that build them. */
  statements: Statement[]
}

/** The name in the database for which indexes of a staged table were built is in use. */
export class StagedNameTaken extends Error {
  override readonly name = 'StagedNameTaken'
}

/** Tables that become visible together. */
export interface StagedTables {
  tables: StagedTable[]
  /** Their views, with the new ids of all that these refer to. */
  views: { copied: CopiedViews; ids: ReadonlyMap<string, string> }
  /** Further statements for the home, run first. */
  script: Statement[]
  /** Statements for what other modules have of the tables, in the same transaction of the metadata. */
  also: MetaStatement[]
}

/** Where staged tables appear, and which tables they replace. */
export interface PublishTarget {
  baseId: string
  /** Tables of another base that go to its trash in the same transaction: the originals of a move, with the ids of the moved tables. */
  replaces: {
    baseId: string
    tables: ReadonlyMap<string, string>
    /** Called first, while no other writer of their base can run. */
    prepare?: (() => Promise<void>) | undefined
  } | null
}

/**
 * The indexes of staged tables under the names that they have after the publication, which need not build them while
 * writers wait. An index cannot be renamed in SQLite, so the names are chosen ahead.
 *
 * @throws BAD_REQUEST if the base has `MAX_TABLES` tables
 */
export async function planStagedIndexes(
  { kernel, store }: Pick<SchemaContext, 'kernel' | 'store'>,
  baseId: string,
  tables: readonly StagedTable[],
): Promise<StagedIndexes[]> {
  const { all, dialect } = await kernel.sources.engine(baseId)
  const planned = async (suffix: string) => {
    const slots = await openTableSlots(store, baseId, { now: nowIso(), suffix })
    return tables.map((staged) => {
      const { tableName } = slots.add(staged.table, { freeTitle: true })
      return { tableName, statements: indexesOf(dialect, staged, staged.staging, tableName) }
    })
  }
  /** True if a killed process has left such a table, or another staged table waits for the same name. */
  const isInUse = async ({ tableName }: StagedIndexes) => {
    if ((await all(dialect.listColumns(tableName))).length > 0) return true
    const indexed = await all<{ name: string }>(dialect.listTablesIndexedAs(`${tableName}__`))
    return indexed.some(({ name }) => tables.every(({ staging }) => staging !== name))
  }
  const indexes = await planned('')
  for (const each of indexes) if (await isInUse(each)) return planned(freshSuffix())
  return indexes
}

/** The indexes of a table. @param on its name at present @param name its name after the publication */
function indexesOf(
  dialect: Dialect,
  { fields, pair }: Pick<StagedTable, 'fields' | 'pair'>,
  on: string,
  name: string,
): Statement[] {
  const keys = fields.filter((field) => isForeignKey(field) && pair === null)
  return [
    ...(pair
      ? pairIndexes(dialect, on, pair, name)
      : dialect.createIndex(on, ['nc_order', keyOf({ fields })], name)),
    ...keys.flatMap(({ columnName }) => dialect.createIndex(on, [columnName], name)),
    ...fields
      .filter(({ unique }) => unique)
      .flatMap(({ columnName }) => dialect.createUniqueIndex(on, [columnName], name)),
  ]
}

/**
 * Turns staging tables into tables, all of them or none: they appear, and those that they replace go to the trash, in one
 * transaction of the metadata. A killed process leaves at most unused tables in the home.
 *
 * @param plan called while no other writer of the base, nor of the one whose tables are replaced, can run
 * @throws PERMISSION_DENIED; BAD_REQUEST if the base has `MAX_TABLES` tables; StagedNameTaken
 */
export async function publishTables(
  context: SchemaContext,
  actor: UserActor,
  { baseId, replaces }: PublishTarget,
  plan: (script: ScriptContext) => Promise<StagedTables>,
  follower: ScriptFollower,
): Promise<Table[]> {
  // One action in the log, so that one undo takes all of them back.
  const action = { ...actor, actionId: actor.actionId ?? crypto.randomUUID() }
  const publish = () =>
    withFreshName((suffix) =>
      context.applyScript(
        action,
        baseId,
        async (script) => {
          // Rights may have been taken away since the copy was asked for.
          await context.access.authorize(actor, 'table.create', baseId)
          if (replaces) await context.access.authorize(actor, 'table.delete', replaces.baseId)
          const staged = await plan(script)
          const { dialect } = script.engine
          const isIndexed = staged.tables.some(({ indexedAs }) => indexedAs !== null)
          const slots = await openTableSlots(context.store, baseId, {
            now: script.now,
            suffix: isIndexed ? '' : suffix,
          })
          const named = staged.tables.map((each) => ({
            ...each,
            added: slots.add({ ...each.table, tableName: each.indexedAs }, { freeTitle: true }),
          }))
          if (named.some(({ indexedAs, added }) => indexedAs !== null && indexedAs !== added.tableName))
            throw new StagedNameTaken()
          const visible = named.filter(({ added }) => !added.isJunction)
          const entryOf = ({ added, rows }: (typeof named)[number]) => ({
            kind: 'table.create',
            // Undone in one base, a move would leave the tables in both bases or in none.
            isFinal: replaces !== null,
            tableId: added.id,
            detail: { tableId: added.id, tableTitle: added.title, imported: rows },
          })
          const [first, ...others] = visible
          if (!first) throw new Error('No table was staged')
          const times = { createdAt: script.now, updatedAt: script.now, deletedAt: null }
          const fields = named.flatMap((each) => each.fields.map((field) => ({ ...field, ...times })))
          const added = named.map((each) => each.added)
          const gone = replaces ? await trashed(context, action, replaces, script.now) : null
          return {
            script: [
              ...staged.script,
              ...named.flatMap((each) => [
                ...dialect.renameTable(each.staging, each.added.tableName),
                ...(each.indexedAs === null
                  ? indexesOf(dialect, each, each.added.tableName, each.added.tableName)
                  : []),
              ]),
              ...others.map((each) =>
                insertEntry(
                  dialect,
                  { actorId: actor.id, actionId: action.actionId, records: [], ...entryOf(each) },
                  script.now,
                ),
              ),
            ],
            rows: named.reduce((sum, { rows }) => sum + rows, 0),
            statements: [
              ...createCopiedRows(context.kernel).insertRows({ tables: added, fields }),
              ...staged.views.copied.insert(staged.views.ids, actor.id),
              ...named
                .filter(({ added: { isJunction } }) => isJunction)
                .flatMap((each) => context.views.forNewTable(each.added, each.fields, actor.id)),
              ...staged.also,
              ...(gone?.statements ?? []),
            ],
            entry: entryOf(first),
            altered: { fields, tables: added },
            tableIds: added.map(({ id }) => id),
            ...(gone && { elsewhere: { baseId: gone.baseId, tableIds: gone.tableIds } }),
            result: { tables: visible.map((each) => each.added), replaced: gone },
          }
        },
        follower,
      ),
    )
  const former = replaces && (await context.kernel.sources.engine(replaces.baseId))
  const replace = async () => {
    await replaces?.prepare?.()
    return publish()
  }
  const { tables, replaced } = await (former ? former.exclusively(replace) : publish())
  if (replaced) await logTrashed(context, action, replaced)
  return tables
}

const keyOf = ({ fields }: Pick<StagedTable, 'fields'>): string =>
  fields.find(({ isPrimaryKey }) => isPrimaryKey)?.columnName ?? 'id'

interface Trashed {
  baseId: string
  tables: Table[]
  statements: MetaStatement[]
  /** The tables that change. */
  tableIds: string[]
  touchesRecords: boolean
}

/** Marks tables, and what belongs to their links in other tables, as deleted. */
async function trashed(
  context: SchemaContext,
  actor: UserActor,
  { baseId, tables: replaced }: NonNullable<PublishTarget['replaces']>,
  now: string,
): Promise<Trashed> {
  const { kernel, store } = context
  const tables = await Promise.all([...replaced.keys()].map(async (id) => (await store.load(id)).table))
  const fields = new Map<string, StoredField>()
  const all = new Map(tables.map((table) => [table.id, table]))
  for (const table of tables) {
    const outside = await partsOutside(context, table)
    for (const field of outside.fields) if (field.deletedAt === null) fields.set(field.id, field)
    for (const part of outside.tables) if (part.deletedAt === null) all.set(part.id, part)
  }
  const marked = await markParts(
    context,
    { fields: [...fields.values()], tables: [...all.values()] },
    { at: now, by: actor.id },
    now,
  )
  const computed = await recomputeResults(kernel, store, baseId, marked.parts)
  return {
    baseId,
    tables,
    statements: [
      ...marked.statements,
      ...computed.statements,
      ...Array.from(replaced, ([id, movedTo]) =>
        kernel.meta.db.update(store.tables).set({ movedTo }).where(eq(store.tables.id, id)),
      ),
    ],
    tableIds: [...new Set([...marked.tableIds, ...computed.tableIds])],
    touchesRecords: computed.statements.length > 0,
  }
}

/** Notes in the base's log which tables went to the trash. They are there already: a kill before leaves only the note out. */
async function logTrashed(
  { kernel: { sources, events, log } }: SchemaContext,
  actor: UserActor,
  { baseId, tables, tableIds, touchesRecords }: Trashed,
): Promise<void> {
  try {
    const engine = await sources.engine(baseId)
    const logged = await engine.write(async (tx) => {
      let last = { id: 0, at: '' }
      for (const { id: tableId, title: tableTitle } of tables) {
        last = await appendChange(tx, engine.dialect, {
          actorId: actor.id,
          actionId: actor.actionId,
          kind: 'table.delete',
          isFinal: true,
          tableId,
          detail: { tableId, tableTitle },
          records: [],
        })
      }
      return last
    })
    if (touchesRecords)
      events.emit('records.changed', {
        ...logged,
        baseId,
        actorId: actor.id,
        records: [],
        truncated: true,
        tableIds,
      })
  } catch (error) {
    log.error('a move of tables could not be noted in the log of their former base', error, { baseId })
  }
}
