import { sql } from 'drizzle-orm'
import type { RecordId } from '../../core/model.ts'
import type { Dialect, Engine, Transaction } from '../../dialects/dialect.ts'
import { insertTextsOf, NEWEST_ENTRY } from './append.ts'
import { FROM_ANOTHER_BASE, LOOKED_UP_AT_ONCE, listOf, NO_TABLE, type StoredEntry } from './entry.ts'
import type { LoggedRecord } from './records.ts'
import { removeRecords } from './removal.ts'

/*
 * Histories of records that come along from another base.
 */

/**
 * The kinds of entries that come along to another base, and as what: those of records' histories. Undone changes and their
 * undos are changes like any other there; what changes of tables, fields and views did is in the definitions.
 */
export const KINDS_FROM_ANOTHER_BASE: Readonly<Record<string, string>> = {
  'records.insert': 'records.insert',
  'records.update': 'records.update',
  'records.delete': 'records.delete',
  'records.restore': 'records.restore',
  'records.import': 'records.import',
  'records.move': 'records.move',
  'records.purge': 'records.purge',
  'records.rewind': 'records.update',
  undo: 'records.update',
  redo: 'records.update',
}

/** Columns of entries that come from another base, with their kinds. */
export const FOREIGN_ENTRY_COLUMNS = {
  id: 'integer',
  at: 'text',
  actor_id: 'text',
  kind: 'text',
  table_id: 'text',
  records: 'integer',
  detail: 'text',
  undone_by: 'integer',
} as const

/** Columns of the records under entries. The tables of bases number their records. */
export const FOREIGN_RECORD_COLUMNS = {
  change_id: 'integer',
  table_id: 'text',
  record_id: 'integer',
  before: 'text',
  after: 'text',
} as const

/**
 * Removes entries that came from another base with their tables, and their records in portions. The log's last entry stays,
 * so that ids continue, but is of no table any more.
 *
 * @param after the last entry that stays
 */
export async function removeForeignEntries(
  engine: Engine,
  tableIds: readonly string[],
  after = 0,
): Promise<void> {
  const { placeholder } = engine.dialect
  const list = tableIds.map((_, at) => placeholder(at)).join(', ')
  const condition = `table_id in (${list}) and undone_by = ${FROM_ANOTHER_BASE} and id > ${after}`
  const params = [...tableIds]
  // Records first: without their entries, a repeated call would not find them.
  await removeRecords(engine, {
    sql: `change_id in (select id from sheaf_changes where ${condition}) order by change_id`,
    params,
  })
  await engine.writeScript([
    {
      sql: `update sheaf_changes set table_id = '${NO_TABLE}' where ${condition} and id = ${NEWEST_ENTRY}`,
      params,
    },
    { sql: `delete from sheaf_changes where ${condition}`, params },
  ])
}

/** A record under an entry, with its values as JSON. */
export interface LoggedLine {
  changeId: number
  recordId: RecordId
  before: string | null
  after: string | null
}

const FOLLOWED_AT_ONCE = 20

const LINES_AT_ONCE = 1_000

/** What the log has of some records, in portions without an order. @param withValues false: the values are null */
export async function* linesOfRecords(
  engine: Engine,
  {
    tableId,
    recordIds,
    withValues,
  }: { tableId: string; recordIds: readonly RecordId[]; withValues: boolean },
): AsyncGenerator<LoggedLine[], void, undefined> {
  const values = sql.raw(withValues ? 'before, after' : 'null as before, null as after')
  for (let from = 0; from < recordIds.length; from += FOLLOWED_AT_ONCE) {
    const isAmong = sql`table_id = ${tableId} and record_id in (${listOf(recordIds.slice(from, from + FOLLOWED_AT_ONCE))})`
    let after = sql``
    for (;;) {
      const rows = await engine.all<LoggedRecord & { change_id: number }>(
        engine.dialect.render(sql`select change_id, record_id, ${values} from sheaf_change_records
          where ${isAmong} ${after} order by change_id, record_id limit ${LINES_AT_ONCE}`),
      )
      const last = rows.at(-1)
      if (!last) break
      yield rows.map((row) => ({
        changeId: Number(row.change_id),
        recordId: row.record_id,
        before: row.before,
        after: row.after,
      }))
      if (rows.length < LINES_AT_ONCE) break
      const { change_id: changeId, record_id: recordId } = last
      after = sql`and (change_id > ${changeId} or (change_id = ${changeId} and record_id > ${recordId}))`
    }
  }
}

/** An entry of a history that comes along. */
export interface ForeignEntry extends Pick<StoredEntry, 'at' | 'actorId' | 'kind' | 'tableId' | 'records'> {
  /** By which `foreignEntriesOf` finds it. */
  clientId: string | null
}

/** Appends entries that are marked as `FROM_ANOTHER_BASE`, without their records. Returns their ids. */
export async function appendForeignEntries(
  tx: Pick<Transaction, 'all'>,
  dialect: Dialect,
  entries: readonly ForeignEntry[],
): Promise<number[]> {
  const ids: number[] = []
  for (const { at, actorId, kind, tableId, records, clientId } of entries) {
    const params = [at, actorId, kind, tableId, records, null, null, null, clientId, null, FROM_ANOTHER_BASE]
    const [row] = await tx.all<{ id: number }>({ sql: insertTextsOf(dialect).entry, params })
    if (!row) throw new Error('The change log returned no id')
    ids.push(row.id)
  }
  return ids
}

/** The entries that came along from another base under client ids that begin with a text: their ids by the rest of the client id. */
export async function foreignEntriesOf(engine: Engine, prefix: string): Promise<Map<string, number>> {
  const rows = await engine.all<{ id: number; client_id: string }>(
    engine.dialect.render(sql`select id, client_id from sheaf_changes
      where client_id >= ${prefix} and client_id < ${`${prefix}\u{10ffff}`} and undone_by = ${FROM_ANOTHER_BASE}`),
    { scan: true },
  )
  return new Map(rows.map(({ id, client_id }) => [client_id.slice(prefix.length), Number(id)]))
}

/** Removes what came along from another base of some records. */
export async function removeForeignLines(
  tx: Pick<Transaction, 'run'>,
  dialect: Dialect,
  tableId: string,
  recordIds: readonly RecordId[],
): Promise<void> {
  for (let from = 0; from < recordIds.length; from += LOOKED_UP_AT_ONCE) {
    const some = listOf(recordIds.slice(from, from + LOOKED_UP_AT_ONCE))
    await tx.run(
      dialect.render(sql`delete from sheaf_change_records
        where table_id = ${tableId} and record_id in (${some}) and exists (select 1 from sheaf_changes c
          where c.id = sheaf_change_records.change_id and c.undone_by = ${FROM_ANOTHER_BASE})`),
    )
  }
}

/** Lists records of a table under entries. */
export const logLines = (
  tx: Pick<Transaction, 'runMany'>,
  dialect: Dialect,
  tableId: string,
  lines: readonly LoggedLine[],
): Promise<void> =>
  tx.runMany(
    insertTextsOf(dialect).record,
    lines.map(({ changeId, recordId, before, after }) => [changeId, tableId, recordId, before, after]),
  )

/** Removes those entries of moved records that list no record. The log's last entry stays, so that ids continue. */
export async function removeUnusedEntries(
  tx: Pick<Transaction, 'run'>,
  dialect: Dialect,
  ids: readonly number[],
): Promise<void> {
  for (let from = 0; from < ids.length; from += LINES_AT_ONCE) {
    const some = listOf(ids.slice(from, from + LINES_AT_ONCE))
    await tx.run(
      dialect.render(sql`delete from sheaf_changes where id in (${some}) and id < ${sql.raw(NEWEST_ENTRY)}
        and not exists (select 1 from sheaf_change_records r where r.change_id = sheaf_changes.id)`),
    )
  }
}
