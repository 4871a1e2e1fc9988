import type { Database } from 'bun:sqlite'

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

/**
 * What each version added to the files of the one before, oldest first. A step that has been released
 * is never changed: files out there have taken it.
 */
const STEPS: readonly string[][] = [CHANGE_LOG]

/**
 * Brings a base's file up to what this version expects, each step whole or not at all. The file
 * remembers in `user_version` how many steps it has taken.
 *
 * @throws Error for a file that a later version has opened: what it added would be ignored here
 */
export function upgradeBaseFile(file: Database): void {
  const taken = file.query<{ user_version: number }, []>('pragma user_version').get()?.user_version ?? 0
  if (taken > STEPS.length) throw new Error(`${file.filename} was made by a later version of Sheaf`)
  STEPS.slice(taken).forEach((statements, index) => {
    file
      .transaction(() => {
        for (const statement of statements) file.run(statement)
        file.run(`pragma user_version = ${taken + index + 1}`)
      })
      .immediate()
  })
}
