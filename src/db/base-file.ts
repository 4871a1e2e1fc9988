import type { Database } from 'bun:sqlite'
import { AppError } from '../core/errors.ts'
import { VERSION } from '../version.ts'
import { writtenLater } from './written-later.ts'

/**
 * What a base's file holds beside the tables that people made: the change log. It lies in the same
 * file so that it commits with the records it tells of, and goes with them when the file is copied.
 *
 * `sheaf_changes` has a line per action, `sheaf_change_records` one per record that it touched, with
 * the values of the touched fields (JSON, by field id) before and after; null means that the record
 * did not exist. A change that adds many records at once keeps only their range, in `detail`.
 */
const CHANGE_LOG = [
  `create table sheaf_changes (
    id integer primary key,
    at text not null,
    actor_id text,
    kind text not null,
    table_id text,
    records integer not null,
    undone_by integer,
    undoes integer,
    redoes integer,
    detail text,
    client_id text,
    action_id text
  )`,
  `create table sheaf_change_records (
    change_id integer not null,
    table_id text not null,
    record_id not null,
    before text,
    after text,
    primary key (change_id, table_id, record_id)
  ) without rowid`,
  `create index sheaf_change_records_record
    on sheaf_change_records (table_id, record_id, change_id)`,
  `create index sheaf_changes_actor on sheaf_changes (actor_id, id)`,
  // A browser that lost the answer sends its change again under the same id.
  `create unique index sheaf_changes_client on sheaf_changes (client_id, actor_id)
    where client_id is not null`,
  // Only lines that keep a range are looked for by their table; the others need no place in it.
  `create index sheaf_changes_ranges on sheaf_changes (table_id, kind) where detail is not null`,
]

/** One step in the layout of bases' files. Plain data, so that its hash can be compared with the released one. */
interface BaseFileStep {
  /** Columns by table that some files already have: each is added where it is missing. */
  missingColumns?: Record<string, Record<string, string>>
  statements: readonly string[]
}

/**
 * Development builds before 0.2.0 changed the first step in place: files exist that lack these columns, and files whose
 * steps were never counted (see `countSteps`). From 0.2.0 on, released steps do not change.
 */
const COMPLETE_EARLY_LOGS: BaseFileStep = {
  missingColumns: { sheaf_changes: { client_id: 'text', action_id: 'text' } },
  statements: [
    `create unique index if not exists sheaf_changes_client on sheaf_changes (client_id, actor_id)
      where client_id is not null`,
    // The version of Sheaf that took the last step.
    'create table sheaf_release (version text not null)',
  ],
}

/** What the history of a table and its trash of records are read by. */
const HISTORY_AND_TRASH: BaseFileStep = {
  statements: [
    'create index sheaf_changes_table on sheaf_changes (table_id, id)',
    `create index sheaf_change_records_deleted on sheaf_change_records (table_id, change_id)
      where after is null`,
  ],
}

/**
 * The manual order of views. Positions share the number space of `nc_order`: a record without a line here is at its
 * `nc_order`. Lines of deleted views and records stay as long as undo could bring these back.
 */
const MANUAL_ORDER: BaseFileStep = {
  statements: [
    `create table sheaf_places (
      view_id text not null,
      record_id integer not null,
      table_id text not null,
      place real not null,
      primary key (view_id, record_id)
    ) without rowid`,
    'create index sheaf_places_order on sheaf_places (view_id, place, record_id)',
    'create index sheaf_places_table on sheaf_places (table_id, place)',
  ],
}

/**
 * What each version added to the files of the one before, oldest first. Append only: a step that has been released
 * never changes, because files exist that have taken it. A test compares released steps with their hashes.
 */
export const BASE_FILE_STEPS: readonly BaseFileStep[] = [
  { statements: CHANGE_LOG },
  COMPLETE_EARLY_LOGS,
  HISTORY_AND_TRASH,
  MANUAL_ORDER,
]

/**
 * Brings a base's file up to what this version expects, each step whole or not at all. The file
 * remembers in `user_version` how many steps it has taken.
 *
 * @throws DATABASE_ERROR for a file that a later version has upgraded, naming that version
 */
export function upgradeBaseFile(file: Database): void {
  const taken = countSteps(file)
  if (taken > BASE_FILE_STEPS.length) {
    throw new AppError('DATABASE_ERROR', writtenLater(`The file ${file.filename}`, releaseOf(file)))
  }
  BASE_FILE_STEPS.slice(taken).forEach((step, index) => {
    file.transaction(() => takeStep(file, step, taken + index + 1)).immediate()
  })
}

function takeStep(file: Database, { missingColumns = {}, statements }: BaseFileStep, count: number): void {
  for (const [table, columns] of Object.entries(missingColumns)) {
    const known = new Set(
      file
        .query<{ name: string }, []>(`pragma table_info(${table})`)
        .all()
        .map((c) => c.name),
    )
    for (const [column, type] of Object.entries(columns)) {
      if (!known.has(column)) file.run(`alter table ${table} add column ${column} ${type}`)
    }
  }
  for (const statement of statements) file.run(statement)
  file.run(`pragma user_version = ${count}`)
  if (!hasTable(file, 'sheaf_release')) return
  file.run('delete from sheaf_release')
  file.run('insert into sheaf_release values (?)', [VERSION])
}

/** How many steps a file has taken. Early builds made the log without counting: that is the first step. */
function countSteps(file: Database): number {
  const counted = file.query<{ user_version: number }, []>('pragma user_version').get()?.user_version ?? 0
  return counted === 0 && hasTable(file, 'sheaf_changes') ? 1 : counted
}

const hasTable = (file: Database, name: string): boolean =>
  file.query(`select 1 from sqlite_master where type = 'table' and name = ?`).get(name) !== null

const releaseOf = (file: Database): string | null =>
  hasTable(file, 'sheaf_release')
    ? (file.query<{ version: string }, []>('select version from sheaf_release').get()?.version ?? null)
    : null
