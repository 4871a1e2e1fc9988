/**
 * What a base's file holds beside the tables that people made: the change log. It lies in the same
 * file so that it commits with the records it tells of, and goes with them when the file is copied.
 *
 * `sheaf_changes` has a line per action, `sheaf_change_records` one per record that it touched, with
 * the values of the touched fields (JSON, by field id) before and after; null means that the record
 * did not exist. A change that adds many records at once keeps only their range, in `detail`.
 */
export const BASE_FILE_SETUP = [
  `create table if not exists sheaf_changes (
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
    client_id text
  )`,
  `create table if not exists sheaf_change_records (
    change_id integer not null,
    table_id text not null,
    record_id not null,
    before text,
    after text,
    primary key (change_id, table_id, record_id)
  ) without rowid`,
  `create index if not exists sheaf_change_records_record
    on sheaf_change_records (table_id, record_id, change_id)`,
  `create index if not exists sheaf_changes_actor on sheaf_changes (actor_id, id)`,
  // A browser that lost the answer sends its change again under the same id.
  `create unique index if not exists sheaf_changes_client on sheaf_changes (client_id, actor_id)
    where client_id is not null`,
  // Only lines that keep a range are looked for by their table; the others need no place in it.
  `create index if not exists sheaf_changes_ranges on sheaf_changes (table_id, kind) where detail is not null`,
]
