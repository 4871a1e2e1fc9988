import type { UserActor } from '../../src/core/actor.ts'
import { fieldsOf } from '../../src/core/filters/index.ts'
import { entriesOfTableAfter, hasChangesAfter } from '../../src/db/change-log/entries.ts'
import { type RenamedKey, renameKeys } from '../../src/db/change-log/keys.ts'
import { duplicatesStatement } from '../../src/db/column-values.ts'
import type { Engine, Statement } from '../../src/dialects/dialect.ts'
import type { SourceRow } from '../bases/index.ts'
import type { CommentRow } from '../comments/index.ts'
import type { CopiedHook, CopiedRows } from '../imports/index.ts'
import { type LogMoment, RAW_PREFIX, type RecordsService } from '../records/index.ts'
import {
  createDetachedSchema,
  type NotRewound,
  type RewoundSchema,
  readDefinitionLog,
  resolveRows,
  rewindSchema,
} from '../schema/index.ts'
import { rewindViews } from '../views/index.ts'

export interface BaseToRewind {
  owner: UserActor
  /** The id of the copy, for the progress. */
  baseId: string
  /** The home of the copy, with the log of the original. */
  engine: Engine
  /** The definitions of the original, with its trash. */
  rows: CopiedRows
  sources: readonly SourceRow[]
  ownSourceId: string
  moment: LogMoment
}

export interface RewoundBase {
  /** The definitions of the moment. */
  rows: CopiedRows
  renamed: RewoundSchema['renamed']
  notRewound: NotRewound[]
}

/** Gives the copy of a base the tables, fields, views, records and links of an earlier moment, from its change log. */
export async function rewindBase(
  { rewindCopy }: Pick<RecordsService, 'rewindCopy'>,
  { owner, baseId, engine, rows, sources, ownSourceId, moment }: BaseToRewind,
): Promise<RewoundBase> {
  const { after } = moment
  const log = await readDefinitionLog(engine, moment)
  const schema = await withoutLostColumns(engine, rewindSchema(rows, ownSourceId, log), ownSourceId)
  const own = schema.tables.filter(({ sourceId, isJunction }) => sourceId === ownSourceId && !isJunction)
  await engine.writeScript([
    ...renameKeys(engine, keysToRename(schema, after)),
    ...[...schema.uniqueDropped, ...schema.uniqueAdded].flatMap(({ tableName, columnName }) =>
      engine.dialect.dropUniqueIndex(tableName, columnName),
    ),
  ])
  await rewindCopy({
    owner,
    baseId,
    engine,
    schema: createDetachedSchema(schema),
    tableIds: own.map(({ id }) => id),
    moment,
  })
  const titles = new Map(schema.tables.map(({ id, title }) => [id, title]))
  const repeated = await addUniqueIndexes(engine, schema)
  const views = rewindViews(rows, schema, log)
  const clients = new Map(sources.map(({ id, client }) => [id, client]))
  const fields = schema.fields.map((field) => (repeated.has(field.id) ? { ...field, unique: false } : field))
  const { tables } = schema
  const notRewound: NotRewound[] = [
    ...schema.left,
    ...views.left,
    ...fields
      .filter(({ id }) => repeated.has(id))
      .map(({ tableId, title }) => changed('field', `${titles.get(tableId)}.${title}`)),
  ]
  for (const { id, title } of own) {
    const purges = await entriesOfTableAfter(engine, id, after, 'records.purge')
    const count = purges.reduce((sum, { records }) => sum + records, 0)
    if (count > 0) notRewound.push({ kind: 'records', title, reason: 'purged', count })
  }
  for (const { id, title, sourceId, isJunction, deletedAt } of tables) {
    if (sourceId === ownSourceId || isJunction || deletedAt !== null) continue
    if (await hasChangesAfter(engine, [id], after))
      notRewound.push({ kind: 'table', title, reason: 'connected' })
  }
  return {
    rows: {
      tables,
      fields: resolveRows({ tables, fields }, schema.otherFields, clients),
      views: views.views,
      lines: views.lines,
    },
    renamed: schema.renamed.filter(({ id }) => id > after),
    notRewound,
  }
}

const changed = (kind: NotRewound['kind'], title: string): NotRewound => ({ kind, title, reason: 'changed' })

/** Leaves out tables and fields without a table or column in the home, and names them. */
async function withoutLostColumns(
  engine: Engine,
  schema: RewoundSchema,
  ownSourceId: string,
): Promise<RewoundSchema> {
  const columns = new Map<string, Set<string>>()
  for (const { id, tableName, sourceId } of schema.tables) {
    if (sourceId !== ownSourceId) continue
    const found = await engine.all<{ name: string }>(engine.dialect.listColumns(tableName))
    columns.set(id, new Set(found.map(({ name }) => name)))
  }
  const isLostTable = ({ id }: { id: string }) => columns.get(id)?.size === 0
  const isLost = ({ tableId, columnName }: RewoundSchema['fields'][number]) =>
    columnName !== '' && columns.get(tableId)?.has(columnName) === false
  const lostTables = schema.tables.filter(isLostTable)
  const lostIds = new Set(lostTables.map(({ id }) => id))
  const rest = schema.fields.filter(({ tableId }) => !lostIds.has(tableId))
  const lost = rest.filter(isLost)
  if (lostTables.length + lost.length === 0) return schema
  const gone = new Set(lost.map(({ id }) => id))
  const titles = new Map(schema.tables.map(({ id, title }) => [id, title]))
  const isThere = ({ fieldId }: { fieldId: string }) => !gone.has(fieldId)
  return {
    ...schema,
    tables: schema.tables.filter((table) => !isLostTable(table)),
    fields: rest.filter((field) => !isLost(field)),
    uniqueAdded: schema.uniqueAdded.filter(isThere),
    foreignValues: schema.foreignValues.filter(isThere),
    left: [
      ...schema.left,
      ...lostTables.map(({ title }): NotRewound => ({ kind: 'table', title, reason: 'purged' })),
      ...lost.map(
        ({ tableId, title }): NotRewound => ({
          kind: 'field',
          title: `${titles.get(tableId)}.${title}`,
          reason: 'purged',
        }),
      ),
    ],
  }
}

/**
 * Puts the values of a field that the log has under the name of its column under its id, and those of another column
 * under another key.
 */
function keysToRename({ foreignValues }: RewoundSchema, after: number): RenamedKey[] {
  return foreignValues.flatMap(({ tableId, fieldId, columnName, hidden }) => [
    ...hidden.map((range) => ({ ...range, tableId, from: fieldId, to: `~${fieldId}` })),
    { tableId, from: RAW_PREFIX + columnName, to: fieldId, since: after + 1, until: null },
  ])
}

/** Adds the unique indexes of the moment. @returns the fields whose values do not allow it */
async function addUniqueIndexes(engine: Engine, { uniqueAdded }: RewoundSchema): Promise<Set<string>> {
  const repeated = new Set<string>()
  const statements: Statement[] = []
  for (const { tableName, columnName, fieldId } of uniqueAdded) {
    const duplicates = await engine.all(duplicatesStatement(engine, tableName, columnName))
    if (duplicates.length > 0) repeated.add(fieldId)
    else statements.push(...engine.dialect.createUniqueIndex(tableName, [columnName]))
  }
  if (statements.length > 0) await engine.writeScript(statements)
  return repeated
}

/** The comments of a time. What was deleted since is not kept. */
export function commentsAt<R extends { commentId: string; createdAt: string }>(
  { comments, reactions }: { comments: readonly CommentRow[]; reactions: readonly R[] },
  at: string,
  tables: CopiedRows['tables'],
): { comments: CommentRow[]; reactions: R[]; notRewound: NotRewound[] } {
  const found = comments
    .filter(({ createdAt }) => createdAt <= at)
    .map((comment) =>
      comment.resolvedAt !== null && comment.resolvedAt > at
        ? { ...comment, resolvedAt: null, resolvedBy: null }
        : comment,
    )
  const edited = Map.groupBy(
    found.filter(({ updatedAt }) => updatedAt !== null && updatedAt > at),
    ({ tableId }) => tableId,
  )
  return {
    comments: found,
    reactions: reactions.filter(({ createdAt }) => createdAt <= at),
    notRewound: tables.flatMap(({ id, title }): NotRewound[] => {
      const count = edited.get(id)?.length ?? 0
      return count === 0 ? [] : [{ kind: 'comments', title, reason: 'changed', count }]
    }),
  }
}

/** The webhooks of a time that are not as they were then: their former settings are not kept. */
export function changedHooks(
  hooks: readonly CopiedHook[],
  at: string,
  { rows: { tables }, renamed }: RewoundBase,
): NotRewound[] {
  const titles = new Map(tables.map(({ id, title }) => [id, title]))
  const fieldIds = new Set(renamed.map(({ fieldId }) => fieldId))
  return hooks.flatMap(({ tableId, title, createdAt, updatedAt, filter }) => {
    const table = titles.get(tableId)
    if (table === undefined || createdAt > at) return []
    const isChanged = updatedAt > at || fieldsOf(filter).some((fieldId) => fieldIds.has(fieldId))
    return isChanged ? [changed('webhook', `${table}.${title}`)] : []
  })
}
