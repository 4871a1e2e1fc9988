import { type SQL, sql } from 'drizzle-orm'
import type { LogEntry } from '../../core/changes.ts'
import type { Dialect, Engine, Statement, Transaction } from '../../dialects/dialect.ts'

/*
 * Entries of the change log as they are stored, and how all other parts of the log read them.
 */

/** A stored entry. */
export interface StoredEntry extends LogEntry {
  /** The action that it does again. */
  redoes: number | null
  /** Data that the owner stored to undo it, or null. */
  detail: unknown
  /** Id of the entry that undid it, `FINAL` if it cannot be undone, null if it is in effect. */
  undoneBy: number | null
}

/** Value of `undoneBy` for an entry that cannot be undone. */
export const FINAL = -1

/** The same for an entry from the log of another base, which this base or one of its tables came from. */
export const FROM_ANOTHER_BASE = -2

/**
 * The table of the entries of histories that came along with single records: none that an activity lists. The history of a
 * record shows them all the same, and nobody's activity has changes of years ago among the latest.
 */
export const NO_TABLE = ''

/** Condition for entries of this base. Those from another one may be older than the entries before them. */
export const IS_OWN = `coalesce(undone_by, 0) <> ${FROM_ANOTHER_BASE}`

export const isOwn = (entry: SQL): SQL =>
  sql`coalesce(${entry}.undone_by, 0) <> ${sql.raw(String(FROM_ANOTHER_BASE))}`

export interface EntryRow {
  id: number
  at: string
  actor_id: string | null
  kind: string
  table_id: string | null
  records: number
  undoes: number | null
  redoes: number | null
  detail: string | null
  action_id: string | null
  undone_by: number | null
}

const ENTRY_NAMES = 'id at actor_id kind table_id records undoes redoes detail action_id undone_by'.split(' ')

export const entryColumns = (alias: string): SQL =>
  sql.raw(ENTRY_NAMES.map((name) => `${alias}.${name}`).join(', '))

const ENTRY_COLUMNS = entryColumns('sheaf_changes')

/** Entries that neither undo nor redo another, that is user actions. */
export const IS_ACTION = sql`undoes is null and redoes is null`

export const toEntry = (row: EntryRow): StoredEntry => ({
  id: row.id,
  at: row.at,
  actorId: row.actor_id,
  kind: row.kind,
  tableId: row.table_id,
  records: row.records,
  undoes: row.undoes === null ? null : Number(row.undoes),
  redoes: row.redoes === null ? null : Number(row.redoes),
  actionId: row.action_id,
  detail: row.detail === null ? null : JSON.parse(row.detail),
  undoneBy: row.undone_by === null ? null : Number(row.undone_by),
})

/** A base's engine, or a transaction in it together with its dialect. */
export interface LogSource {
  all<T>(statement: Statement, options?: { scan?: boolean }): Promise<T[]>
  dialect: Pick<Dialect, 'render'>
}

/** @param rest `where … order by … limit …` */
export async function selectEntries(
  source: LogSource,
  rest: SQL,
  options?: { scan: boolean },
): Promise<StoredEntry[]> {
  const rows = await source.all<EntryRow>(
    source.dialect.render(sql`select ${ENTRY_COLUMNS} from sheaf_changes ${rest}`),
    options,
  )
  return rows.map(toEntry)
}

export const inTable = (tableId: string | undefined): SQL =>
  tableId === undefined ? sql`` : sql`and table_id = ${tableId}`

export const listOf = (values: readonly unknown[]): SQL =>
  sql.join(
    values.map((value) => sql`${value}`),
    sql`, `,
  )

/** The id of the log's newest entry; 0 for an empty log. */
export async function lastChangeId(tx: Pick<Transaction, 'all'>): Promise<number> {
  const [row] = await tx.all<{ id: number | null }>({
    sql: 'select max(id) as id from sheaf_changes',
    params: [],
  })
  return row?.id ?? 0
}

/** Entries by their ids, in no order. */
export async function findEntries(engine: Engine, ids: readonly number[]): Promise<StoredEntry[]> {
  if (ids.length === 0) return []
  return selectEntries(engine, sql`where id in (${listOf([...new Set(ids)])})`)
}

/** An entry by its id, or null. */
export async function findEntry(engine: Engine, entryId: number): Promise<StoredEntry | null> {
  const [entry] = await selectEntries(engine, sql`where id = ${entryId}`)
  return entry ?? null
}

/**
 * Ends the subselect of an `exists` that is to be looked up by an index for each row. PostgreSQL would turn it into a join,
 * and where its statistics know no rows of a table or set yet, read all of them for each row of the other side.
 *
 * There, `change_id` is compared as a sum, so that the index of records serves: that of entries would read all later ones.
 */
export const LOOKED_UP = sql`limit 1 offset 0`

/** Records per look-up on the main thread. */
export const LOOKED_UP_AT_ONCE = 500
