import { sqlite } from '../../dialects/sqlite.ts'

/**
 * The file of a whole base, `.sheaf`: an SQLite database that people can read with any tool, and that another Sheaf
 * opens as a base with identical cells. `docs/base-file.md` describes it.
 */

/** `application_id` of the file: `SHEF`. */
export const APPLICATION_ID = 0x53484546

/** Number of the format, in `user_version`. A reader refuses files with a higher one. */
export const FORMAT_VERSION = 1

/** Bytes of a file's content per row of `sheaf_contents`. */
export const PART_BYTES = 1024 * 1024

/** The tables of definitions and everything else that is no record, with their columns. */
export const META_TABLES = {
  /** Facts about the file, one per row. */
  sheaf_base: ['key text primary key', 'value text'],
  sheaf_tables: [
    'id text primary key',
    'title text not null',
    'file_table text not null',
    'is_junction integer not null',
    'description text',
    'meta text not null',
    'position real not null',
    'last_id integer',
  ],
  sheaf_fields: [
    'id text primary key',
    'table_id text not null',
    'title text not null',
    'file_column text',
    'is_derived integer not null',
    'type text not null',
    'options text not null',
    'description text',
    'required integer not null',
    'is_unique integer not null',
    'default_value text',
    'wire_meta text',
    'position real not null',
    'is_display integer not null',
    'is_primary_key integer not null',
    'is_system integer not null',
  ],
  sheaf_views: [
    'id text primary key',
    'table_id text not null',
    'title text not null',
    'description text',
    'kind text not null',
    'is_default integer not null',
    'position real not null',
    'lock text not null',
    'meta text not null',
    'show_system_fields integer',
    'row_height text not null',
    'frozen integer not null',
    'filter text',
    'sorts text not null',
    'groups text',
    'coloring text',
    'options text',
    'hidden_from text',
    'owner text',
  ],
  sheaf_view_fields: [
    'view_id text not null',
    'field_id text not null',
    'show integer not null',
    'position real not null',
    'width integer not null',
    'summary text',
    'form text',
    'primary key (view_id, field_id)',
  ],
  /** `id` is how cells name the person: the e-mail address. `user_id` is how mentions in comments do. */
  sheaf_people: ['id text primary key', 'name text', 'user_id text not null'],
  /** The manual order of views. */
  sheaf_places: [
    'view_id text not null',
    'record_id integer not null',
    'place real not null',
    'primary key (view_id, record_id)',
  ],
  sheaf_attachments: [
    'path text primary key',
    'title text not null',
    'mimetype text not null',
    'size integer not null',
    'content text not null',
  ],
  /** Contents by their SHA-256, so that equal files are stored once. */
  sheaf_contents: [
    'content text not null',
    'part integer not null',
    'bytes blob not null',
    'primary key (content, part)',
  ],
  sheaf_comments: [
    'id text primary key',
    'table_id text not null',
    'record_id integer not null',
    'field_id text',
    'parent_id text',
    'text text not null',
    'author text',
    'author_name text',
    'created_at text not null',
    'updated_at text',
    'resolved_by text',
    'resolved_at text',
  ],
  sheaf_comment_reactions: [
    'comment_id text not null',
    'author text not null',
    'emoji text not null',
    'created_at text not null',
    'primary key (comment_id, author, emoji)',
  ],
  /** The change log. An entry that added many records has the range of their ids instead of a row for each. */
  sheaf_history: [
    'id integer primary key',
    'at text not null',
    'author text',
    'kind text not null',
    'table_id text',
    'records integer not null',
    'first_record_id integer',
    'last_record_id integer',
  ],
  sheaf_history_records: [
    'change_id integer not null',
    'table_id text not null',
    'record_id integer not null',
    'before text',
    'after text',
    'primary key (change_id, table_id, record_id)',
  ],
} as const satisfies Record<string, readonly string[]>

export type MetaTable = keyof typeof META_TABLES

/** The names of a table's columns, in order. */
export const columnsOf = (table: MetaTable): string[] =>
  META_TABLES[table]
    .filter((column) => !column.startsWith('primary key'))
    .map((column) => column.slice(0, column.indexOf(' ')))

/** A value as SQLite stores it. */
export type FileValue = string | number | bigint | null | Uint8Array

/** A column of a table of records in the file. */
export interface FileColumn {
  name: string
  /** Empty for values of any type. */
  declaredType: 'integer' | 'real' | 'text' | ''
}

/** The statement that creates a table of records; its first column is the record id. */
export const createRecordTable = (name: string, columns: readonly FileColumn[]): string => {
  const declared = columns.map(({ name, declaredType }, at) =>
    `${sqlite.quote(name)} ${declaredType}${at === 0 ? ' primary key' : ''}`.trimEnd(),
  )
  return `create table ${sqlite.quote(name)} (${declared.join(', ')})`
}

/**
 * Names of tables and columns in the file: the titles, so that people find them. A title that SQLite or this format
 * reserves, or that differs from another only in case, gets a suffix.
 */
export function fileNames(titles: readonly string[]): string[] {
  const taken = new Set<string>()
  return titles.map((title) => {
    const plain = /^(sqlite_|sheaf_)/i.test(title) ? `_${title}` : title
    for (let number = 1; ; number++) {
      const name = number === 1 ? plain : `${plain}_${number}`
      const key = name.toLowerCase()
      if (taken.has(key)) continue
      taken.add(key)
      return name
    }
  })
}
