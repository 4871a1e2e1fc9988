import { sql } from 'drizzle-orm'
import { mapBreathing } from '../../breathe.ts'
import { nowIso } from '../../clock.ts'
import type { RecordChange, Values } from '../../core/changes.ts'
import type { Dialect, Statement, Transaction } from '../../dialects/dialect.ts'
import { FINAL } from './entry.ts'

/*
 * Appends entries to the change log, with the records that the caller lists.
 */

/** An entry to be appended to a base's log, in the transaction of the write it records. */
export interface NewEntry {
  actorId: string | null
  /** Action: `records.update`, `field.delete`, `view.arrange`, … The part before the dot is the owner. */
  kind: string
  tableId: string | null
  /** Records with their values before and after; empty if the owner stores everything in `detail`. */
  records: RecordChange[]
  /** Number of touched records, if they are not listed. */
  recordCount?: number
  /** Data that the owner needs to undo it. Stored as JSON. */
  detail?: unknown
  /** The entry that this one undoes or redoes. */
  undoes?: number
  redoes?: number
  /** The client's id of the change, unique per actor. */
  clientId?: string
  /** As `Actor.actionId`. */
  actionId?: string
  /** True for an entry that cannot be undone. */
  isFinal?: boolean
}

/** The statements that append an entry and its records, cached per dialect because every write runs them. */
const insertTexts = new WeakMap<Dialect, { entry: string; record: string }>()

export function insertTextsOf(dialect: Dialect): { entry: string; record: string } {
  const known = insertTexts.get(dialect)
  if (known) return known
  const placeholders = (count: number) =>
    Array.from({ length: count }, (_, index) => dialect.placeholder(index)).join(', ')
  const texts = {
    entry: `insert into sheaf_changes (at, actor_id, kind, table_id, records, undoes, redoes, detail, client_id, action_id, undone_by)
      values (${placeholders(11)}) returning id`,
    record: `insert into sheaf_change_records (change_id, table_id, record_id, before, after) values (${placeholders(5)})`,
  }
  insertTexts.set(dialect, texts)
  return texts
}

/** The statement that appends an entry and returns its id, without its records: for scripts. */
export function insertEntry(dialect: Dialect, entry: NewEntry, at: string): Statement {
  const count = entry.recordCount ?? entry.records.length
  const detail = entry.detail === undefined ? null : JSON.stringify(entry.detail)
  const { actorId, kind, tableId, undoes = null, redoes = null, clientId = null, actionId = null } = entry
  const undoneBy = entry.isFinal ? FINAL : null
  const params = [at, actorId, kind, tableId, count, undoes, redoes, detail, clientId, actionId, undoneBy]
  return { sql: insertTextsOf(dialect).entry, params }
}

/** Appends an entry with its records. Returns its id and time. */
export async function appendChange(
  tx: Transaction,
  dialect: Dialect,
  entry: NewEntry,
): Promise<{ id: number; at: string }> {
  const at = nowIso()
  const [row] = await tx.all<{ id: number }>(insertEntry(dialect, entry, at))
  if (!row) throw new Error('The change log returned no id')
  await logRecords(tx, dialect, row.id, entry.records)
  return { id: row.id, at }
}

/** Lists records, with their values before and after, under an entry. */
export async function logRecords(
  tx: Transaction,
  dialect: Dialect,
  changeId: number,
  records: RecordChange[],
): Promise<void> {
  const [before, after] = [createJsonWriter(), createJsonWriter()]
  await tx.runMany(
    insertTextsOf(dialect).record,
    await mapBreathing(records, (r) => [changeId, r.tableId, r.recordId, before(r.before), after(r.after)]),
  )
}

/** Writes values as JSON; the same object in a row once. */
function createJsonWriter(): (values: Values | null) => string | null {
  let last: Values | null = null
  let text: string | null = null
  return (values) => {
    if (values !== last) {
      last = values
      text = values && JSON.stringify(values)
    }
    return text
  }
}

/**
 * Marks an entry as undone by another, or with null as in effect again. The first undo counts: a repeated call may reach
 * two servers.
 */
export async function markUndone(
  tx: Transaction,
  dialect: Dialect,
  entryId: number,
  undoneBy: number | null,
): Promise<void> {
  const isFirst = undoneBy === null ? sql`` : sql`and undone_by is null`
  await tx.run(
    dialect.render(sql`update sheaf_changes set undone_by = ${undoneBy} where id = ${entryId} ${isFirst}`),
  )
}

/** SQL text of the id of the newest entry in a statement's snapshot. */
export const NEWEST_ENTRY = '(select max(id) from sheaf_changes)'

/**
 * The id of the entry that a script appended last, for the script's later statements: the write lease keeps every
 * other writer out.
 */
export const LAST_ENTRY_ID = sql.raw(NEWEST_ENTRY)
