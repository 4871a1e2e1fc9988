import type { Database } from 'bun:sqlite'
import { AppError } from '../core/errors.ts'
import { VERSION } from '../version.ts'
import {
  CHANGES_TABLE,
  COMPLETE_EARLY_LOG,
  createChangeLog,
  indexHistoryAndTrash,
  SQLITE_LOG_COLUMNS,
} from './change-log/tables.ts'
import { writtenLater } from './written-later.ts'

/** One upgrade step of base files. Plain data, so that a test can compare its hash with the released one. */
interface BaseFileStep {
  /** Columns by table; each is added only where it is missing. */
  missingColumns?: Record<string, Record<string, string>>
  statements: readonly string[]
}

/**
 * Development builds before 0.2.0 changed the first step in place, so that some files lack these columns or a
 * step count (see `countSteps`). From 0.2.0 on, released steps do not change.
 */
const COMPLETE_EARLY_LOGS: BaseFileStep = {
  missingColumns: COMPLETE_EARLY_LOG.missingColumns,
  statements: [
    COMPLETE_EARLY_LOG.uniqueClient,
    // The version of Sheaf that took the last step.
    'create table sheaf_release (version text not null)',
  ],
}

/**
 * The manual order of views. Positions share the number space of `nc_order`: a record without a row here is
 * at its `nc_order`. Rows of deleted views and records stay as long as undo can restore them.
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
 * Upgrade steps of base files, oldest first. Append only: released steps never change, because existing files have
 * taken them. A test compares released steps with their hashes.
 */
export const BASE_FILE_STEPS: readonly BaseFileStep[] = [
  // The log is in the base's own file, so it commits with the records and is copied with them.
  { statements: createChangeLog(SQLITE_LOG_COLUMNS) },
  COMPLETE_EARLY_LOGS,
  { statements: indexHistoryAndTrash('      ') },
  MANUAL_ORDER,
]

/**
 * Upgrades a base's file to this version, one transaction per step. `user_version` counts the steps taken.
 *
 * @returns the number of steps that were missing
 * @throws DATABASE_ERROR for a file that a later version has upgraded, naming that version
 */
export function upgradeBaseFile(file: Database): number {
  const taken = countSteps(file)
  if (taken > BASE_FILE_STEPS.length) {
    throw new AppError('DATABASE_ERROR', writtenLater(`The file ${file.filename}`, releaseOf(file)))
  }
  BASE_FILE_STEPS.slice(taken).forEach((step, index) => {
    file.transaction(() => takeStep(file, step, taken + index + 1)).immediate()
  })
  return BASE_FILE_STEPS.length - taken
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

/** The number of steps a file has taken. Early builds created the log, the first step, without counting it. */
function countSteps(file: Database): number {
  const counted = file.query<{ user_version: number }, []>('pragma user_version').get()?.user_version ?? 0
  return counted === 0 && hasTable(file, CHANGES_TABLE) ? 1 : counted
}

const hasTable = (file: Database, name: string): boolean =>
  file.query(`select 1 from sqlite_master where type = 'table' and name = ?`).get(name) !== null

const releaseOf = (file: Database): string | null =>
  hasTable(file, 'sheaf_release')
    ? (file.query<{ version: string }, []>('select version from sheaf_release').get()?.version ?? null)
    : null
