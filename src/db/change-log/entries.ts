import { type SQL, sql } from 'drizzle-orm'
import type { RecordId } from '../../core/model.ts'
import type { Dialect, Engine, Transaction } from '../../dialects/dialect.ts'
import {
  findEntries,
  IS_ACTION,
  IS_OWN,
  inTable,
  lastChangeId,
  listOf,
  type StoredEntry,
  selectEntries,
} from './entry.ts'

/*
 * Lists of entries: of an activity, a table, a moment.
 */

/** The entries of an activity, see `listEntries`. */
export interface EntryFilter {
  actorId?: string | undefined
  /** Entries of one table, or that list one of its records; `addedBy` are those that added it in a range. */
  tableId?: string | undefined
  record?: { tableId: string; recordId: RecordId; addedBy: readonly number[] } | undefined
  /** The kinds (`like`); null: all. */
  patterns: readonly string[] | null
  /** ISO 8601, both inclusive. */
  from?: string | undefined
  to?: string | undefined
  /** The tables that the caller sees. */
  tableIds: readonly string[]
  /** Whether entries of no table are listed. */
  seesBase: boolean
  before: number
  limit: number
}

/** The entries before an id that match, newest first. */
export function listEntries(engine: Engine, filter: EntryFilter): Promise<StoredEntry[]> {
  const { actorId, tableId, record, patterns, from, to, tableIds, seesBase, before, limit } = filter
  const isSeen = [
    ...(tableIds.length > 0 ? [sql`table_id in (${listOf(tableIds)})`] : []),
    ...(seesBase ? [sql`table_id is null`] : []),
    sql`1 = 0`,
  ]
  const conditions = [
    sql`id < ${before}`,
    sql`(${sql.join(isSeen, sql` or `)})`,
    ...(actorId === undefined ? [] : [sql`actor_id = ${actorId}`]),
    ...(tableId === undefined ? [] : [sql`table_id = ${tableId}`]),
    ...(record === undefined ? [] : [isOfRecord(engine.dialect, record)]),
    ...(from === undefined ? [] : [sql`at >= ${from}`]),
    ...(to === undefined ? [] : [sql`at <= ${to}`]),
    ...(patterns === null
      ? []
      : [
          sql`(${sql.join([...patterns.map((pattern) => sql`kind like ${pattern}`), sql`1 = 0`], sql` or `)})`,
        ]),
  ]
  const isRare = actorId !== undefined || patterns !== null || from !== undefined || to !== undefined
  return selectEntries(
    engine,
    sql`where ${sql.join(conditions, sql` and `)} order by id desc limit ${limit}`,
    { scan: isRare },
  )
}

const isOfRecord = (
  { logId }: Pick<Dialect, 'logId'>,
  { tableId, recordId, addedBy }: NonNullable<EntryFilter['record']>,
): SQL => sql`(id in (select change_id from sheaf_change_records
    where table_id = ${tableId} and record_id = ${logId(sql`${recordId}`)})
  ${addedBy.length === 0 ? sql`` : sql`or id in (${listOf(addedBy)})`})`

/** The entry with a client's own change id, or null; of a visitor of a public link without `actorId`. */
export async function findSent(
  tx: Pick<Transaction, 'all'>,
  dialect: Dialect,
  { actorId, clientId }: { actorId: string | null; clientId: string },
): Promise<StoredEntry | null> {
  const [entry] = await selectEntries(
    { all: (statement) => tx.all(statement), dialect },
    sql`where client_id = ${clientId} and ${actorId === null ? sql`actor_id is null` : sql`actor_id = ${actorId}`}`,
  )
  return entry ?? null
}

/**
 * The actions of a base or of one of its tables, newest first.
 *
 * @param tableIds the tables of the base: the history of a table that comes from another base is there before the table
 * @param before lists entries with lower ids only
 */
export const listActions = (
  engine: Engine,
  {
    tableId,
    tableIds,
    before,
    limit,
  }: { tableId?: string; tableIds: readonly string[]; before?: number; limit: number },
): Promise<StoredEntry[]> =>
  selectEntries(
    engine,
    sql`where ${IS_ACTION} ${inTable(tableId)}
      and (${sql.raw(IS_OWN)}${tableIds.length === 0 ? sql`` : sql` or table_id in (${listOf(tableIds)})`})
      ${before === undefined ? sql`` : sql`and id < ${before}`}
      order by id desc limit ${limit}`,
  )

/** The entries after one, in order. */
export const entriesAfter = (engine: Engine, entryId: number, limit: number): Promise<StoredEntry[]> =>
  selectEntries(engine, sql`where id > ${entryId} order by id limit ${limit}`)

/** The imports into a table, newest first. */
export const listImports = (engine: Engine, tableId: string): Promise<StoredEntry[]> =>
  selectEntries(engine, sql`where kind = 'records.import' and table_id = ${tableId} order by id desc`)

/** Entries before an id that may have added records of a table as a range of ids. */
export const listRanges = (engine: Engine, tableId: string, before: number): Promise<StoredEntry[]> =>
  selectEntries(
    engine,
    sql`where detail is not null and table_id = ${tableId} and id < ${before}
      and kind in ('records.insert', 'records.import')`,
  )

/** The number of entries, and the time of the oldest; of entries from another base only where there are no others. */
export async function logExtent(engine: Engine): Promise<{ entries: number; oldest: string | null }> {
  const [row] = await engine.all<{ n: number; oldest: string | null }>(
    {
      sql: `select count(*) as n, coalesce(min(case when ${IS_OWN} then at end), min(at)) as oldest from sheaf_changes`,
      params: [],
    },
    { scan: true },
  )
  return { entries: Number(row?.n ?? 0), oldest: row?.oldest ?? null }
}

/** The newest entry that was appended by a moment, 0 if all are later. @param at ISO 8601 */
export async function entryAt(engine: Engine, at: string): Promise<number> {
  const { placeholder } = engine.dialect
  const [row] = await engine.all<{ id: number | null }>(
    {
      sql: `select max(id) as id from sheaf_changes where at <= ${placeholder(0)} and ${IS_OWN}`,
      params: [at],
    },
    { scan: true },
  )
  return Number(row?.id ?? 0)
}

/** The entries after one that concern a table and match a kind (`like`), oldest first. */
export const entriesOfTableAfter = (
  engine: Engine,
  tableId: string,
  after: number,
  kind: string,
): Promise<StoredEntry[]> =>
  selectEntries(engine, sql`where table_id = ${tableId} and id > ${after} and kind like ${kind} order by id`)

/** A change of tables, fields or views, or an undo or redo of one. */
export interface DefinitionEntry {
  id: number
  direction: 'do' | 'undo' | 'redo'
  /** The change itself. Null if the log has lost it, as retention removes the oldest entries: then it may be of records as well. */
  action: StoredEntry | null
  tableId: string | null
}

/** Entries that are read at once, without waiting for long reads. */
const FEW_ENTRIES = 1_000

/**
 * The changes of tables, fields and views after an entry, oldest first; the changes that they undo or redo may be older.
 *
 * @param only changes of one kind in one table
 */
export async function definitionEntries(
  engine: Engine,
  after: number,
  only?: { tableId: string; kind: string },
): Promise<DefinitionEntry[]> {
  const isMeant = (kind: SQL): SQL =>
    only
      ? sql`${kind} = ${only.kind}`
      : sql`(${kind} like 'table.%' or ${kind} like 'field.%' or ${kind} like 'view.%')`
  const action = sql`from sheaf_changes as action where action.id = coalesce(sheaf_changes.undoes, sheaf_changes.redoes)`
  const entries = await selectEntries(
    engine,
    sql`where id > ${after} ${inTable(only?.tableId)} and ${sql.raw(IS_OWN)} and (${isMeant(sql`kind`)}
      or (kind in ('undo', 'redo') and records = 0 and not exists (select 1 ${action}
        and not ${isMeant(sql`action.kind`)})))
      order by id`,
    { scan: (await lastChangeId(engine)) - after > FEW_ENTRIES },
  )
  const actions = new Map(entries.map((entry) => [entry.id, entry]))
  const older = entries.flatMap(({ undoes, redoes }) => {
    const id = undoes ?? redoes
    return id === null || actions.has(id) ? [] : [id]
  })
  for (const entry of await findEntries(engine, [...new Set(older)])) actions.set(entry.id, entry)
  return entries.map(({ id, undoes, redoes, tableId }) => ({
    id,
    direction: undoes !== null ? 'undo' : redoes !== null ? 'redo' : 'do',
    action: actions.get(undoes ?? redoes ?? id) ?? null,
    tableId,
  }))
}

/** True if an entry after one concerns any of the tables, or records of them. */
export async function hasChangesAfter(
  engine: Engine,
  tableIds: readonly string[],
  after: number,
): Promise<boolean> {
  const rows = await engine.all(
    engine.dialect.render(sql`select 1 as found from sheaf_changes
        where id > ${after} and table_id in (${listOf(tableIds)})
      union all
      select 1 as found from sheaf_change_records
        where change_id > ${after} and table_id in (${listOf(tableIds)}) limit 1`),
    { scan: true },
  )
  return rows.length > 0
}
