import { type SQL, sql } from 'drizzle-orm'
import { nowIso } from '../../clock.ts'
import type { RecordId } from '../../core/model.ts'
import type { Engine, QueryDialect } from '../../dialects/dialect.ts'
import { LAST_ENTRY_ID } from './append.ts'
import { LOOKED_UP, LOOKED_UP_AT_ONCE, listOf } from './entry.ts'
import type { LoggedRecord } from './records.ts'
import { RECORDS_AT_ONCE } from './removal.ts'
import { beginSetEntry, DROP_EMPTY_ENTRY } from './set-entries.ts'
import { type LoggedSet, stagedSet, stageSet } from './sets.ts'

/*
 * The trash of records: deletions in the log that nothing has taken back.
 */

/** Condition: the log has a deletion of this record. */
export const isDeletedRecord = (dialect: Pick<QueryDialect, 'logId'>, tableId: string, id: SQL): SQL =>
  sql`exists (select 1 from sheaf_change_records as logged where logged.table_id = ${tableId}
    and logged.record_id = ${dialect.logId(id)} and logged.after is null ${LOOKED_UP})`

/**
 * Selects deleted records of a table: by log ids, by deletion, all, or a number of those that were deleted up to an
 * entry.
 */
export type DeletedSelection =
  | { recordIds: readonly SQL[] }
  | { changeId: number }
  | { all: true }
  | { until: number; limit: number }

/** A record in the trash. */
export interface DeletedRecord {
  table_id: string
  record_id: RecordId
  /** The entry that deleted it. */
  change_id: number
  /** JSON of its values, by field id. */
  before: string
  at: string
  actor_id: string | null
}

/**
 * Condition for records in the trash: deleted and not restored since. `r` is the log row of the deletion. Uses the
 * index of deletions, whatever the size of the log.
 */
const isTrashed = (
  tableId: string,
): SQL => sql`r.table_id = ${tableId} and r.after is null and r.before is not null
  and not exists (select 1 from sheaf_change_records later where later.table_id = r.table_id
    and later.record_id = r.record_id and later.change_id + 0 > r.change_id ${LOOKED_UP})`

const isSelected = (selection: DeletedSelection): SQL => {
  if ('all' in selection) return sql`1 = 1`
  if ('changeId' in selection) return sql`r.change_id = ${selection.changeId}`
  if ('until' in selection) return sql`r.change_id <= ${selection.until}`
  return sql`r.record_id in (${sql.join([...selection.recordIds], sql`, `)})`
}

/** A table whose deleted records are listed. */
export interface DeletedOf {
  tableId: string
  /** The last record of the page before, its id as the log keeps it; without an id, a change whose records all follow. */
  after?: { changeId: number; recordId?: SQL }
  /** Builds a condition on a record's id and its values before the deletion. */
  matches?: (line: { recordId: SQL; before: SQL }) => SQL
}

/**
 * A page of the trash of some tables, newest deletion first, then by table and record. Entries of a table that came from
 * another base may be older than those before them in the log, but within a table the order of entries is that of time.
 *
 * @param actorId the user who deleted them; undefined: anybody
 * @param until ISO 8601: only records that were deleted by then; `after` then limits those of exactly that time only
 */
export async function listDeleted(
  engine: Engine,
  tables: readonly DeletedOf[],
  { limit, ...filter }: DeletedFilter & { limit: number },
): Promise<DeletedRecord[]> {
  const within = tables.find(({ after }) => after?.recordId)
  if (!within?.after?.recordId) return listDeletedIn(engine, tables, { ...filter, limit })
  // The rest of the last record's deletion comes first. It is read in its order: a large one is not sorted for each page.
  const { changeId, recordId } = within.after
  const rest = await engine.all<DeletedRecord>(
    engine.dialect.render(
      selectDeleted(within, sql`and r.change_id = ${changeId} and r.record_id > ${recordId}`, filter, limit),
    ),
    { scan: true },
  )
  if (rest.length === limit) return rest
  const others = tables.map((table) => (table === within ? { ...table, after: { changeId } } : table))
  const next = await listDeletedIn(engine, others, { ...filter, limit: limit - rest.length })
  return [...rest, ...next]
}

interface DeletedFilter {
  actorId?: string
  until?: string
}

/** @param where further conditions, `and …` */
function selectDeleted(
  { tableId, matches }: DeletedOf,
  where: SQL,
  { actorId }: DeletedFilter,
  limit: number,
): SQL {
  const found = matches ? sql`and ${matches({ recordId: sql`r.record_id`, before: sql`r.before` })}` : sql``
  const by = actorId === undefined ? sql`` : sql`and c.actor_id = ${actorId}`
  return sql`select r.table_id, r.record_id, r.change_id, r.before, c.at, c.actor_id
    from sheaf_change_records r join sheaf_changes c on c.id = r.change_id
    where ${isTrashed(tableId)} ${by} ${where} ${found}
    order by r.change_id desc, r.record_id limit ${limit}`
}

/** As `listDeleted`, where pages begin with a deletion. */
async function listDeletedIn(
  engine: Engine,
  tables: readonly DeletedOf[],
  { limit, ...filter }: DeletedFilter & { limit: number },
): Promise<DeletedRecord[]> {
  const { until } = filter
  const pageOf = (table: DeletedOf): SQL => {
    const { tableId, after } = table
    const isAfter = after ? sql`r.change_id < ${after.changeId}` : null
    // The bounds of entries, which the index has, skip what is on the pages before.
    const from =
      until === undefined
        ? isAfter && sql`and ${isAfter}`
        : sql`and r.change_id <= ${lastDeletionBy(tableId, until)}
            and ${isAfter ? sql`(c.at < ${until} or (c.at = ${until} and ${isAfter}))` : sql`c.at <= ${until}`}`
    return selectDeleted(table, from ?? sql``, filter, limit)
  }
  const found: DeletedRecord[] = []
  const size = tables.some(({ matches }) => matches) ? SEARCHED_TABLES_AT_ONCE : TABLES_AT_ONCE
  for (let at = 0; at < tables.length; at += size) {
    const pages = tables.slice(at, at + size).map((table) => sql`select * from (${pageOf(table)}) as page`)
    const rows = await engine.all<DeletedRecord>(
      engine.dialect.render(
        sql`${sql.join(pages, sql` union all `)} order by at desc, change_id desc, table_id, record_id limit ${limit}`,
      ),
      { scan: true },
    )
    for (const row of rows) found.push(row)
  }
  if (tables.length <= size) return found
  const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
  return found
    .toSorted(
      (a, b) =>
        compare(b.at, a.at) || Number(b.change_id) - Number(a.change_id) || compare(a.table_id, b.table_id),
    )
    .slice(0, limit)
}

/** Times of a log may differ from the order of its entries by so much: it is written by the clocks of several servers. */
const CLOCKS_DIFFER_MS = 5_000

/**
 * SQL of an entry that all deletions of a table up to a moment are before, or that is the last of them. Entries have no index by
 * time: halves the range of ids, each time with the last deletion in its first half.
 */
function lastDeletionBy(tableId: string, until: string): SQL {
  const limit = new Date(Date.parse(until) + CLOCKS_DIFFER_MS).toISOString()
  const lastDeletion = (condition: SQL) => sql`(select max(change_id) from sheaf_change_records
    where table_id = ${tableId} and after is null ${condition})`
  const lastAt = sql`(select at from sheaf_changes where id = ${lastDeletion(sql`and change_id <= reached + step`)})`
  return sql`(with recursive halved (reached, step) as (
      select cast(0 as bigint), coalesce(${lastDeletion(sql``)}, 0)
      union all
      select case when ${lastAt} > ${limit} then reached else reached + step end,
        case when step > 1 then (step + 1) / 2 else 0 end
      from halved where step > 0)
    select max(reached) from halved)`
}

/** Tables whose deleted records one statement reads or counts. */
const TABLES_AT_ONCE = 100

/** A search has a condition for each field: stays below the engines' limits of bound parameters. */
const SEARCHED_TABLES_AT_ONCE = 10

/** Number of trashed records per table, counted up to `max`. Omits tables without any. */
export async function countDeleted(
  engine: Engine,
  tableIds: readonly string[],
  max: number,
): Promise<{ tableId: string; count: number }[]> {
  const counts = await countSelections(
    engine,
    tableIds.map((tableId) => ({ tableId, selection: { all: true } })),
    max,
  )
  return tableIds.flatMap((tableId, at) => {
    const count = counts[at] ?? 0
    return count > 0 ? { tableId, count } : []
  })
}

/**
 * Number of records that each deletion has in the trash of a table, counted up to `max`, in the order of `deletions`. The
 * entry itself also counts the links that went with them.
 */
export const countOfDeletions = (
  engine: Engine,
  deletions: readonly { tableId: string; changeId: number }[],
  max: number,
): Promise<number[]> =>
  countSelections(
    engine,
    deletions.map(({ tableId, changeId }) => ({ tableId, selection: { changeId } })),
    max,
  )

async function countSelections(
  engine: Engine,
  selections: readonly { tableId: string; selection: DeletedSelection }[],
  max: number,
): Promise<number[]> {
  const parts = selections.map(
    ({ tableId, selection }, at) => sql`select ${sql.raw(String(at))} as part, (select count(*) from
      (select 1 from sheaf_change_records r where ${isTrashed(tableId)} and ${isSelected(selection)}
        limit ${max}) as listed) as n`,
  )
  const counts = new Array<number>(selections.length).fill(0)
  for (let at = 0; at < parts.length; at += TABLES_AT_ONCE) {
    const rows = await engine.all<{ part: number; n: number }>(
      engine.dialect.render(sql.join(parts.slice(at, at + TABLES_AT_ONCE), sql` union all `)),
      { scan: true },
    )
    for (const { part, n } of rows) counts[Number(part)] = Number(n)
  }
  return counts
}

/**
 * Ids of records in the trash, with the deletion of each. Retention removes the entry of a deletion before its records, which may be
 * incomplete from then on.
 */
export const findDeleted = (
  engine: Engine,
  tableId: string,
  selection: DeletedSelection,
  limit: number,
): Promise<Pick<DeletedRecord, 'record_id' | 'change_id'>[]> =>
  engine.all(
    engine.dialect.render(sql`select r.record_id, r.change_id from sheaf_change_records r
      where ${isTrashed(tableId)} and ${isSelected(selection)}
        and exists (select 1 from sheaf_changes c where c.id = r.change_id) limit ${limit}`),
    { scan: true },
  )

/**
 * Those of the records of a deletion that are still in the trash: their values as JSON, by id. Looked up by key on the main thread, so that
 * whoever holds the write lease need not wait for other scans.
 */
export async function stillDeleted(
  engine: Engine,
  tableId: string,
  changeId: number,
  recordIds: readonly RecordId[],
): Promise<Map<RecordId, string>> {
  const found = new Map<RecordId, string>()
  for (let at = 0; at < recordIds.length; at += LOOKED_UP_AT_ONCE) {
    const some = listOf(recordIds.slice(at, at + LOOKED_UP_AT_ONCE))
    const rows = await engine.all<Pick<DeletedRecord, 'record_id' | 'before'>>(
      engine.dialect.render(sql`select r.record_id, r.before from sheaf_change_records r
        where ${isTrashed(tableId)} and r.change_id = ${changeId} and r.record_id in (${some})
          and exists (select 1 from sheaf_changes c where c.id = r.change_id)`),
    )
    for (const { record_id, before } of rows) found.set(record_id, before)
  }
  return found
}

/**
 * Records of a table under a deletion: those it deleted, or those it only changed.
 *
 * @param where builds the rest of the condition
 */
export const deletionRecords = (
  engine: Engine,
  {
    changeId,
    tableId,
    isDeleted,
    where,
    limit,
  }: {
    changeId: number
    tableId: string
    isDeleted: boolean
    where: (line: { recordId: SQL; before: SQL }) => SQL
    limit: number
  },
): Promise<LoggedRecord[]> =>
  engine.all<LoggedRecord>(
    engine.dialect.render(sql`select table_id, record_id, before, after from sheaf_change_records
      where change_id = ${changeId} and table_id = ${tableId} and before is not null
        and after ${isDeleted ? sql`is null` : sql`is not null`}
        and ${where({ recordId: sql`record_id`, before: sql`before` })}
      limit ${limit}`),
    { scan: true },
  )

/**
 * Removes all log rows of records in the trash and appends a final `records.purge` with their count. Writes nothing if
 * none is in the trash. Returns the count.
 */
export async function purgeDeleted(
  engine: Engine,
  { actorId, tableId, selection }: { actorId: string | null; tableId: string; selection: DeletedSelection },
): Promise<number> {
  const some = 'limit' in selection ? sql`order by r.change_id, r.record_id limit ${selection.limit}` : sql``
  const trashed: LoggedSet = {
    table: sql`(select r.record_id from sheaf_change_records r
      where ${isTrashed(tableId)} and ${isSelected(selection)} ${some}) as trashed`,
    where: sql`1 = 1`,
    recordId: sql`trashed.record_id`,
    before: sql`cast(null as text)`,
    after: sql`cast(null as text)`,
  }
  const staged = stagedSet(tableId, 'staged')
  const statements = async () =>
    [
      ...beginSetEntry({ at: nowIso(), actorId, kind: 'records.purge', tableId, isFinal: true }),
      stageSet(engine.dialect, tableId, trashed),
      sql`update sheaf_changes set records = (select count(*) from ${staged.table} where ${staged.where})
        where id = ${LAST_ENTRY_ID}`,
      sql`select records from sheaf_changes where id = ${LAST_ENTRY_ID}`,
      // With the staged rows themselves.
      sql`delete from sheaf_change_records
        where table_id = ${tableId} and exists (select 1 from ${staged.table}
          where ${staged.where} and ${staged.recordId} = sheaf_change_records.record_id ${LOOKED_UP})`,
      DROP_EMPTY_ENTRY,
    ].map((statement) => engine.dialect.render(statement))
  // Made with the write lease: the entries of a log are in the order of time.
  const results = await engine.writeScript(statements)
  return Number(results.at(-3)?.rows[0]?.records ?? 0)
}

/**
 * As `purgeDeleted`, for the records of tables that were deleted up to an entry, in portions. Leaves out those that are
 * restored meanwhile. Returns the count.
 */
export async function purgeDeletedUntil(
  engine: Engine,
  tableIds: readonly string[],
  until: number,
): Promise<number> {
  let purged = 0
  for (const { tableId } of await countDeleted(engine, tableIds, 1)) {
    for (;;) {
      const selection = { until, limit: RECORDS_AT_ONCE }
      const count = await purgeDeleted(engine, { actorId: null, tableId, selection })
      purged += count
      if (count < RECORDS_AT_ONCE) break
    }
  }
  return purged
}
