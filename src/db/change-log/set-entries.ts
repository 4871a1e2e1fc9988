import { type SQL, sql } from 'drizzle-orm'
import type { Dialect } from '../../dialects/dialect.ts'
import { LAST_ENTRY_ID, type NewEntry } from './append.ts'
import { FINAL } from './entry.ts'

/*
 * Appends the entry of a set write, whose records only the database knows, by statements of the write's script.
 */

/** The entry of a set write; `logRows` adds its records. */
interface NewSetEntry extends Omit<NewEntry, 'records' | 'recordCount'> {
  at: string
}

/** The statements that begin a set write: the first appends its entry, the second returns the id. */
export const beginSetEntry = ({
  at,
  actorId,
  kind,
  tableId,
  undoes,
  redoes,
  detail,
  clientId,
  actionId,
  isFinal,
}: NewSetEntry): SQL[] => [
  sql`insert into sheaf_changes (at, actor_id, kind, table_id, records, undoes, redoes, detail, client_id, action_id, undone_by)
    values (${at}, ${actorId}, ${kind}, ${tableId}, 0, ${undoes ?? null}, ${redoes ?? null},
      ${detail === undefined ? null : JSON.stringify(detail)}, ${clientId ?? null}, ${actionId ?? null},
      ${isFinal ? FINAL : null})`,
  sql`select max(id) as id from sheaf_changes`,
]

export const DROP_EMPTY_ENTRY = sql`delete from sheaf_changes where id = ${LAST_ENTRY_ID} and records = 0`

/**
 * The statements that end a set write: they count its records and mark the entry that it undoes or redoes. An entry
 * that is no undo or redo is deleted again if the write touched no record.
 */
export function endSetEntry({ undoes, redoes }: Pick<NewEntry, 'undoes' | 'redoes'>): SQL[] {
  const original = undoes ?? redoes
  return [
    sql`update sheaf_changes set records = (select count(*) from sheaf_change_records where change_id = ${LAST_ENTRY_ID})
      where id = ${LAST_ENTRY_ID}`,
    original === undefined
      ? DROP_EMPTY_ENTRY
      : sql`update sheaf_changes set undone_by = ${undoes ? LAST_ENTRY_ID : null}
          where id = ${original} ${undoes ? sql`and undone_by is null` : sql``}`,
  ]
}

/** SQL expressions over a row of `source` that give the logged records of a set write. */
interface LoggedRows {
  changeId: SQL
  tableId: SQL
  recordId: SQL
  before: SQL
  after: SQL
  /** `from … where …` */
  source: SQL
}

const RECORD_COLUMNS = ['change_id', 'table_id', 'record_id', 'before', 'after'].map((name) => sql.raw(name))

/** The statement that lists the records of a set write under its entry. */
export const logRows = (
  { insertSelected }: Pick<Dialect, 'insertSelected'>,
  { changeId, tableId, recordId, before, after, source }: LoggedRows,
): SQL =>
  insertSelected({
    into: sql.raw('sheaf_change_records'),
    columns: RECORD_COLUMNS,
    constants: [],
    // Selected with the other columns: Citus rejects a subquery next to already selected values.
    values: [sql`cast(${changeId} as bigint)`, sql`cast(${tableId} as text)`, recordId, before, after],
    source,
  })
