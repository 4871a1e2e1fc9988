import type { Actor } from '../core/actor.ts'
import type { LogEntry, RecordChange, Values } from '../core/changes.ts'
import type { Dialect, Engine, Statement, Transaction } from '../dialects/dialect.ts'

/** A line to be appended to a base's log, in the transaction of the write it tells of. */
export interface NewEntry {
  actorId: string | null
  /** What happened: `records.update`, `field.delete`, `view.arrange`, … The part before the dot is the owner. */
  kind: string
  tableId: string | null
  /** Each record with its values before and after; empty where the owner keeps all in `detail`. */
  records: RecordChange[]
  /** How many records it touched, where they are not listed. */
  recordCount?: number
  /** What the owner needs to take it back. Kept as JSON. */
  detail?: unknown
  /** The entry that this one takes back, or does again. */
  undoes?: number
  redoes?: number
  /** What the sender calls the change; unique among the person's own. */
  clientId?: string
  /** As `Actor.actionId`. */
  actionId?: string
}

/** An entry with what its owner kept. */
export interface StoredEntry extends LogEntry {
  detail: unknown
}

/**
 * Takes back (or does again) an entry of the log. Each module that logs a kind of change gives one;
 * it writes through its own door, without an entry of its own: the caller appends that.
 */
export type Undoer = (
  actor: Actor,
  baseId: string,
  entry: StoredEntry,
  direction: 'undo' | 'redo',
) => Promise<void>

/** Who can take back which kinds of entries; the key is the part of the kind before the dot. */
export type Undoers = Map<string, Undoer>

interface Row {
  id: number
  at: string
  actor_id: string | null
  kind: string
  table_id: string | null
  records: number
  undoes: number | null
  detail: string | null
  action_id?: string | null
}

/** The statements of a line and of its records, made once for each engine: every write runs them. */
const texts = new WeakMap<Dialect, { line: string; record: string }>()

function textsOf(dialect: Dialect): { line: string; record: string } {
  const known = texts.get(dialect)
  if (known) return known
  const marks = (count: number) =>
    Array.from({ length: count }, (_, index) => dialect.placeholder(index)).join(', ')
  const made = {
    line: `insert into sheaf_changes (at, actor_id, kind, table_id, records, undoes, redoes, detail, client_id, action_id)
      values (${marks(10)}) returning id`,
    record: `insert into sheaf_change_records (change_id, table_id, record_id, before, after) values (${marks(5)})`,
  }
  texts.set(dialect, made)
  return made
}

/** The statement that appends an entry's line, and gives its id. Its records are listed under it by others. */
export function lineOf(dialect: Dialect, entry: NewEntry, at: string): Statement {
  const count = entry.recordCount ?? entry.records.length
  const detail = entry.detail === undefined ? null : JSON.stringify(entry.detail)
  const { actorId, kind, tableId, undoes = null, redoes = null, clientId = null, actionId = null } = entry
  const params = [at, actorId, kind, tableId, count, undoes, redoes, detail, clientId, actionId]
  return { sql: textsOf(dialect).line, params }
}

/** Appends an entry and gives its id and time. */
export async function appendChange(
  tx: Transaction,
  dialect: Dialect,
  entry: NewEntry,
): Promise<{ id: number; at: string }> {
  const at = new Date().toISOString()
  const [row] = await tx.all<{ id: number }>(lineOf(dialect, entry, at))
  if (!row) throw new Error('The change log gave no id')
  await logRecords(tx, dialect, row.id, entry.records)
  return { id: row.id, at }
}

/** Lists records, with their values before and after, under a line of the log. */
export async function logRecords(
  tx: Transaction,
  dialect: Dialect,
  changeId: number,
  records: RecordChange[],
): Promise<void> {
  const toJson = (values: Values | null) => values && JSON.stringify(values)
  await tx.runMany(
    textsOf(dialect).record,
    records.map((r) => [changeId, r.tableId, r.recordId, toJson(r.before), toJson(r.after)]),
  )
}

/** The id of the log's newest entry; 0 where there is none. */
export async function lastChangeId(tx: Pick<Transaction, 'all'>): Promise<number> {
  const [row] = await tx.all<{ id: number | null }>({
    sql: 'select max(id) as id from sheaf_changes',
    params: [],
  })
  return row?.id ?? 0
}

/** Appends an entry for something that wrote no record: a rename, a new width, a field in the trash. */
export function logSchemaChange(
  engine: Engine,
  entry: Omit<NewEntry, 'records'>,
): Promise<{ id: number; at: string }> {
  return engine.write((tx) => appendChange(tx, engine.dialect, { ...entry, records: [] }))
}

export function toEntry(row: Row): StoredEntry {
  return {
    id: row.id,
    at: row.at,
    actorId: row.actor_id,
    kind: row.kind,
    tableId: row.table_id,
    records: row.records,
    undoes: row.undoes,
    actionId: row.action_id ?? null,
    detail: row.detail === null ? null : JSON.parse(row.detail),
  }
}
