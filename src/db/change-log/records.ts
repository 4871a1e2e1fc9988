import { type SQL, sql } from 'drizzle-orm'
import { breathe } from '../../breathe.ts'
import type { RecordId } from '../../core/model.ts'
import type { Dialect, Engine, Transaction } from '../../dialects/dialect.ts'
import { type EntryRow, isOwn, listOf, type StoredEntry } from './entry.ts'

/*
 * Records under entries.
 */

/** A record listed under an entry. */
export interface LoggedRecord {
  table_id: string
  record_id: RecordId
  /** JSON of its values, by field id. */
  before: string | null
  after: string | null
}

/** How many records of a table an entry lists. */
export interface ListedRecords {
  tableId: string
  inserted: number
  updated: number
  deleted: number
}

/** The listed records of the entries in a range of ids, by entry and table. Entries without any are missing. */
export async function listedRecords(
  engine: Engine,
  range: { from: number; to: number },
  options: { scan: boolean },
): Promise<Map<number, ListedRecords[]>> {
  const rows = await engine.all<{
    id: number
    table_id: string
    n: number
    inserted: number
    deleted: number
  }>(
    engine.dialect.render(sql`select change_id as id, table_id, count(*) as n,
        sum(case when before is null then 1 else 0 end) as inserted, sum(case when after is null then 1 else 0 end) as deleted
      from sheaf_change_records where change_id between ${range.from} and ${range.to}
      group by change_id, table_id order by change_id, table_id`),
    options,
  )
  const byEntry = Map.groupBy(rows, ({ id }) => Number(id))
  return new Map(
    [...byEntry].map(([id, tables]) => [
      id,
      tables.map((row) => {
        const [inserted, deleted] = [Number(row.inserted), Number(row.deleted)]
        return { tableId: row.table_id, inserted, deleted, updated: Number(row.n) - inserted - deleted }
      }),
    ]),
  )
}

/** Lines of a large entry read at a time. */
const LINES_PAGE = 2_000

/** The records under an entry, by table and id. Reads them in pages, yielding to the event loop in between. */
export async function recordsOf(
  tx: Pick<Transaction, 'all'>,
  dialect: Dialect,
  changeId: number,
): Promise<LoggedRecord[]> {
  const records: LoggedRecord[] = []
  for (;;) {
    const last = records.at(-1)
    const after = last ? sql`and (table_id, record_id) > (${last.table_id}, ${last.record_id})` : sql``
    const page = await tx.all<LoggedRecord>(
      dialect.render(sql`select table_id, record_id, before, after from sheaf_change_records
        where change_id = ${changeId} ${after} order by table_id, record_id limit ${LINES_PAGE}`),
    )
    for (const record of page) records.push(record)
    if (page.length < LINES_PAGE) return records
    await breathe()
  }
}

/**
 * A page of a table's records under an entry, by id.
 *
 * @param after the last id of the previous page; null for the first page
 */
export const pageOfRecords = (
  tx: Pick<Transaction, 'all'>,
  dialect: Dialect,
  {
    changeId,
    tableId,
    after,
    limit,
  }: { changeId: number; tableId: string; after: RecordId | null; limit: number },
): Promise<Omit<LoggedRecord, 'table_id'>[]> =>
  tx.all(
    dialect.render(sql`select record_id, before, after from sheaf_change_records
      where change_id = ${changeId} and table_id = ${tableId}
        ${after === null ? sql`` : sql`and record_id > ${after}`} order by record_id limit ${limit}`),
  )

/** The tables whose records an entry lists. */
export async function tablesOf(
  tx: Pick<Transaction, 'all'>,
  dialect: Dialect,
  changeId: number,
): Promise<string[]> {
  const rows = await tx.all<{ table_id: string }>(
    dialect.render(sql`select distinct table_id from sheaf_change_records where change_id = ${changeId}`),
  )
  return rows.map(({ table_id: tableId }) => tableId)
}

/** The lines of records from an entry on, newest first. */
export const linesSince = (
  tx: Pick<Transaction, 'all'>,
  dialect: Dialect,
  { tableId, recordIds, from }: { tableId: string; recordIds: readonly RecordId[]; from: number },
): Promise<(Omit<LoggedRecord, 'table_id'> & { change_id: number })[]> =>
  tx.all(
    dialect.render(sql`select change_id, record_id, before, after from sheaf_change_records
      where table_id = ${tableId} and record_id in (${sql.join(
        recordIds.map((id) => sql`${id}`),
        sql`, `,
      )}) and change_id >= ${from} order by change_id desc`),
  )

/** The ids of the records of a table that an entry added, as the log keeps them. */
export async function insertedIds(
  tx: Pick<Transaction, 'all'>,
  dialect: Dialect,
  { changeId, tableId }: { changeId: number; tableId: string },
): Promise<RecordId[]> {
  const rows = await tx.all<{ record_id: RecordId }>(
    dialect.render(sql`select record_id from sheaf_change_records
      where change_id = ${changeId} and table_id = ${tableId} and before is null`),
  )
  return rows.map(({ record_id: id }) => id)
}

/** Effect of an entry on one record. */
export type RecordEntry = Pick<StoredEntry, 'id' | 'at' | 'actorId' | 'kind'> &
  Pick<LoggedRecord, 'before' | 'after'>

/** The entries before an id that list a record, newest first. */
export async function entriesOfRecord(
  engine: Engine,
  {
    tableId,
    recordId,
    before,
    limit,
  }: { tableId: string; recordId: RecordId; before: number; limit: number },
): Promise<RecordEntry[]> {
  const rows = await engine.all<EntryRow & LoggedRecord>(
    engine.dialect.render(sql`select c.id, c.at, c.actor_id, c.kind, r.before, r.after
      from sheaf_change_records r join sheaf_changes c on c.id = r.change_id
      where r.table_id = ${tableId} and r.record_id = ${recordId} and r.change_id < ${before}
      order by r.change_id desc limit ${limit}`),
  )
  return rows.map(({ id, at, actor_id: actorId, kind, before, after }) => ({
    id,
    at,
    actorId,
    kind,
    before,
    after,
  }))
}

/** A record that an entry lists, with how many of its own table the entry lists. */
export interface SampledRecord extends Omit<LoggedRecord, 'table_id'> {
  change_id: number
  total: number
}

/** Records of an entry's own table are counted up to this number; beyond it, the count of all its records is given. */
const MAX_COUNTED = 50_000

/**
 * The first records of each entry in its own table, by the entry's id: one statement for all entries. Entries that
 * wrote no record are left out.
 *
 * @param perEntry records of each entry
 */
export async function sampleRecords(
  engine: Engine,
  entries: readonly StoredEntry[],
  perEntry: number,
): Promise<ReadonlyMap<number, SampledRecord[]>> {
  const parts = entries
    .filter(({ kind, tableId }) => tableId !== null && kind.startsWith('records.'))
    .map(({ id, tableId, records }) => {
      const own = sql`change_id = ${id} and table_id = ${tableId}`
      const some = sql`select 1 from sheaf_change_records where ${own} limit ${MAX_COUNTED + 1}`
      const total =
        records <= MAX_COUNTED
          ? sql`(select count(*) from sheaf_change_records where ${own})`
          : sql`(select case when count(*) > ${MAX_COUNTED} then ${records} else count(*) end from (${some}) as some)`
      return sql`select * from (select change_id, record_id, before, after, ${total} as total
        from sheaf_change_records where ${own} order by record_id limit ${perEntry}) as one`
    })
  if (parts.length === 0) return new Map()
  const rows = await engine.all<SampledRecord>(engine.dialect.render(sql.join(parts, sql` union all `)), {
    scan: entries.some(({ records }) => records > 5_000),
  })
  return Map.groupBy(
    rows.map((row) => ({ ...row, change_id: Number(row.change_id), total: Number(row.total) })),
    (row) => row.change_id,
  )
}

/** The values that the deletions of these records logged, oldest first. */
export const valuesWhenDeleted = (
  engine: Engine,
  tableId: string,
  ids: readonly RecordId[],
): Promise<{ record_id: RecordId; before: string }[]> =>
  engine.all(
    engine.dialect.render(sql`select record_id, before from sheaf_change_records
      where table_id = ${tableId} and record_id in (${listOf(ids)})
        and after is null and before is not null order by change_id`),
  )

/** How many records of a table each person touched after an entry, without the ranges of large inserts. */
export async function authorsAfter(
  engine: Engine,
  tableId: string,
  after: number,
): Promise<{ actorId: string | null; records: number }[]> {
  const rows = await engine.all<{ actor_id: string | null; n: number }>(
    engine.dialect.render(sql`select c.actor_id, count(distinct r.record_id) as n
      from sheaf_change_records r join sheaf_changes c on c.id = r.change_id
      where r.table_id = ${tableId} and r.change_id > ${after} and ${isOwn(sql`c`)} group by c.actor_id`),
    { scan: true },
  )
  return rows.map(({ actor_id: actorId, n }) => ({ actorId, records: Number(n) }))
}

/**
 * Rewrites the values of a record in all its log rows that contain a text.
 *
 * @param rewrite returns the JSON of the values without what is to be removed
 */
export async function rewriteLoggedValues(
  engine: Engine,
  { tableId, recordId, text }: { tableId: string; recordId: SQL; text: string },
  rewrite: (values: string) => string,
): Promise<void> {
  const { dialect } = engine
  const contains = (column: SQL) => dialect.search(column, 'text', text)
  const rewritten = (values: string | null) => (values === null ? null : rewrite(values))
  // Reads with the lease, so that two rewrites of the same rows do not undo each other.
  await engine.writeScript(async () => {
    const lines = await engine.all<{ change_id: number; before: string | null; after: string | null }>(
      dialect.render(sql`select change_id, before, after from sheaf_change_records
        where table_id = ${tableId} and record_id = ${recordId}
          and (${contains(sql`before`)} or ${contains(sql`after`)})`),
    )
    return lines.map(({ change_id, before, after }) =>
      dialect.render(sql`update sheaf_change_records
        set before = ${rewritten(before)}, after = ${rewritten(after)}
        where change_id = ${change_id} and table_id = ${tableId} and record_id = ${recordId}`),
    )
  })
}
