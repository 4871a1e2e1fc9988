import { type SQL, sql } from 'drizzle-orm'
import { mapBreathing } from '../breathe.ts'
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
    await mapBreathing(records, (r) => [changeId, r.tableId, r.recordId, toJson(r.before), toJson(r.after)]),
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

/**
 * The newest entry before a moment, and which columns the entries up to it speak of: what their undo would have needed.
 * The log's last entry is always kept, so that its numbers go on. Null where nothing is that old.
 *
 * @param before ISO 8601
 */
export async function oldEntries(
  engine: Engine,
  before: string,
): Promise<{ lastId: number; columns: { tableId: string; columnName: string }[] } | null> {
  const { placeholder } = engine.dialect
  const [row] = await engine.all<{ id: number | null }>(
    {
      sql: `select max(id) as id from sheaf_changes where at < ${placeholder(0)} and id < (select max(id) from sheaf_changes)`,
      params: [before],
    },
    { scan: true },
  )
  const lastId = row?.id ?? null
  if (lastId === null) return null
  return { lastId: Number(lastId), columns: await columnsIn(engine, `id <= ${placeholder(0)}`, [lastId]) }
}

/** The columns that the entries which are left speak of. */
export const columnsInLog = (engine: Engine): Promise<{ tableId: string; columnName: string }[]> =>
  columnsIn(engine, '1 = 1', [])

async function columnsIn(engine: Engine, condition: string, params: unknown[]) {
  const entries = await engine.all<{ table_id: string | null; detail: string }>(
    {
      sql: `select table_id, detail from sheaf_changes where ${condition} and kind = 'field.update' and detail is not null`,
      params,
    },
    { scan: true },
  )
  return entries.flatMap(({ table_id: tableId, detail }) => {
    const { before, after } = JSON.parse(detail) as Partial<
      Record<'before' | 'after', { columnName?: unknown }>
    >
    return [before, after].flatMap((definition) =>
      tableId !== null && typeof definition?.columnName === 'string' && definition.columnName !== ''
        ? [{ tableId, columnName: definition.columnName }]
        : [],
    )
  })
}

/** Records of the log that one transaction removes: other writers wait for no longer than that takes. */
const RECORDS_AT_ONCE = 20_000

/** Removes the entries up to one, and the records under them a part at a time. Gives how many entries went. */
export async function removeEntries(engine: Engine, lastId: number): Promise<number> {
  const { placeholder } = engine.dialect
  // Lines first: an entry without some of its records could be undone in part. What a stop leaves goes the next time.
  const [removed] = await engine.writeScript([
    { sql: `delete from sheaf_changes where id <= ${placeholder(0)}`, params: [lastId] },
  ])
  await removeRecords(engine, {
    sql: 'change_id < (select min(id) from sheaf_changes) order by change_id',
    params: [],
  })
  return Number(removed?.changes ?? 0)
}

/** In `undone_by` of an entry: it cannot be undone. */
const FINAL = -1

/**
 * What was deleted forever cannot come back: entries of the tables, and entries that alter the fields, are final from
 * now on. Removes the log's records of the tables a part at a time.
 */
export async function forgetParts(
  engine: Engine,
  { tableIds, fieldIds }: { tableIds: readonly string[]; fieldIds: readonly string[] },
): Promise<void> {
  const { placeholder } = engine.dialect
  const finish = (condition: string, param: string): Statement => ({
    sql: `update sheaf_changes set undone_by = ${FINAL} where ${condition}`,
    params: [param],
  })
  // Entries first: one without some of its records could be undone in part.
  await engine.writeScript([
    ...tableIds.map((id) => finish(`table_id = ${placeholder(0)}`, id)),
    ...fieldIds.map((id) => finish(`kind like 'field.%' and detail like ${placeholder(0)}`, `%"${id}"%`)),
  ])
  for (const id of tableIds) {
    const condition = `table_id = ${placeholder(0)}`
    await removeRecords(engine, { sql: `${condition} order by record_id, change_id`, params: [id] })
  }
}

/** Removes records of the log, `RECORDS_AT_ONCE` in each transaction. @param where a condition, and its order */
async function removeRecords(engine: Engine, where: Statement): Promise<void> {
  for (;;) {
    const [part] = await engine.writeScript([
      {
        sql: `delete from sheaf_change_records where (change_id, table_id, record_id) in (
          select change_id, table_id, record_id from sheaf_change_records
          where ${where.sql} limit ${RECORDS_AT_ONCE})`,
        params: where.params,
      },
    ])
    if ((part?.changes ?? 0) === 0) return
  }
}

/** How many entries the log has, and when the first of them was written. */
export async function logExtent(engine: Engine): Promise<{ entries: number; oldest: string | null }> {
  const [row] = await engine.all<{ n: number; oldest: string | null }>(
    { sql: 'select count(*) as n, min(at) as oldest from sheaf_changes', params: [] },
    { scan: true },
  )
  return { entries: Number(row?.n ?? 0), oldest: row?.oldest ?? null }
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

/** Records of a set as the log keeps them: expressions over a row of `source`. */
export interface LoggedRows {
  changeId: SQL
  tableId: SQL
  recordId: SQL
  before: SQL
  after: SQL
  /** `from … where …` */
  source: SQL
}

const LOG_COLUMNS = ['change_id', 'table_id', 'record_id', 'before', 'after'].map((name) => sql.raw(name))

/** The statement that logs what a set write does to records. */
export const logRows = (
  { insertSelected }: Pick<Dialect, 'insertSelected'>,
  { changeId, tableId, recordId, before, after, source }: LoggedRows,
): SQL =>
  insertSelected({
    into: sql.raw('sheaf_change_records'),
    columns: LOG_COLUMNS,
    constants: [],
    // Worked out with the others: Citus takes no subquery beside what it has selected already.
    values: [sql`cast(${changeId} as bigint)`, sql`cast(${tableId} as text)`, recordId, before, after],
    source,
  })
