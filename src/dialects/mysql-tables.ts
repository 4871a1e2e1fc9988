import { createHash } from 'node:crypto'
import { type SQL, sql } from 'drizzle-orm'
import type { CellValue, StorageKind } from '../core/fields/field-type.ts'
import type { Dialect } from './dialect.ts'
import { ddl, insertSelected, quoteText, standardTables, whereSelected } from './standard-sql.ts'

/** Column types of created tables. */
export const MYSQL_TYPES: Record<StorageKind, string> = {
  id: 'bigint auto_increment primary key',
  integer: 'bigint',
  real: 'double',
  // Binary collation: case and trailing spaces are significant, as in every other dialect.
  text: 'longtext character set utf8mb4 collate utf8mb4_bin',
  longText: 'longtext character set utf8mb4 collate utf8mb4_bin',
  boolean: 'boolean',
  date: 'date',
  datetime: 'datetime(3)',
  time: 'time(3)',
  // Text: the JSON type would reorder keys and reformat numbers.
  json: 'longtext character set utf8mb4 collate utf8mb4_bin',
}

export const quoteMysql = (name: string): string => `\`${name.replaceAll('`', '``')}\``
const quote = quoteMysql

/**
 * DDL of MySQL. Each statement commits implicitly and cannot be rolled back: an interrupted schema change leaves its
 * additions, which no metadata references.
 */
export const mysqlTables = {
  ...standardTables({
    quote,
    types: MYSQL_TYPES,
    indexName: (_table, name) => indexName(name),
    // A backslash escapes in our sessions' `sql_mode` (`src/db/mysql/driver.ts`).
    literal: (value) =>
      typeof value === 'string' ? `(${quoteText(value.replaceAll('\\', '\\\\'))})` : String(Number(value)),
  }),
  dropUniqueIndex: (table, name) => [ddl(`drop index ${indexName(`${name}__unique`)} on ${quote(table)}`)],
} satisfies Partial<Dialect>

/** Statements of the write door in MySQL. */
export const mysqlWrites = {
  placeholder: () => '?',
  insertSelected,
  whereSelected,
  insertDefaults: (table) => `insert into ${quote(table)} () values ()`,
  encode: (storage) => (storage === 'datetime' ? withoutZone : null),
  isSame: (left, right) => sql`${left} <=> ${right}`,
  listColumns: (table) => ({
    sql: `select column_name as name, column_type as type from information_schema.columns
      where table_schema = database() and table_name = ? order by ordinal_position`,
    params: [table],
  }),
  listIndexes: (table) => ({
    sql: `select distinct index_name as name, null as bytes from information_schema.statistics
      where table_schema = database() and table_name = ? order by index_name`,
    params: [table],
  }),
  listTablesIndexedAs: (prefix) => ({
    sql: `select distinct table_name as name from information_schema.statistics
      where table_schema = database() and left(index_name, char_length(?)) = ?`,
    params: [prefix, prefix],
  }),
  listReferences: (table) => ({
    sql: `select concat(k.constraint_schema, '.', k.table_name, '.', k.constraint_name) as name,
        nullif(k.table_schema, database()) as child_schema, k.table_name as child, k.column_name as child_column,
        k.referenced_column_name as parent_column, r.delete_rule as rule
      from information_schema.key_column_usage k
      join information_schema.referential_constraints r on r.constraint_schema = k.constraint_schema
        and r.table_name = k.table_name and r.constraint_name = k.constraint_name
      where k.referenced_table_schema = database() and k.referenced_table_name = ?
      order by 1, k.ordinal_position`,
    params: [table],
  }),
  jsonObject(columns) {
    const pairs = columns.map(({ key, column, storage }) => sql`${key}, ${jsonMember(column, storage)}`)
    return pairs.length === 0 ? sql`'{}'` : sql`json_object(${sql.join(pairs, sql`, `)})`
  },
  jsonValue(json, key, as) {
    const value = sql`json_value(${json}, ${`$."${key}"`})`
    if (as === 'boolean') return sql`(${value} in ('1', 'true'))`
    const type = typeof as === 'string' ? CAST_TYPES[as] : numberCast(as.databaseType)
    return type ? sql`cast(${value} as ${sql.raw(type)})` : value
  },
  logId: (id) => sql`cast(${id} as char)`,

  async allocateIds() {
    throw new Error('MySQL numbers records only as they are inserted')
  },

  // AUTO_INCREMENT already continues from the greatest number.
  continueIds: () => [],
  numberAfter: () => [],
  tableCopy: {
    read: (table) => ({
      sql: `select column_name as name, 0 as isNumbered, null as definition from information_schema.columns
        where table_schema = database() and table_name = ? and coalesce(generation_expression, '') = ''
        order by ordinal_position`,
      params: [table],
    }),
    write(from, to, columns, withRows) {
      const [source, target] = [quote(from), quote(to)]
      const list = columns.map(({ name }) => quote(name)).join(', ')
      const create = ddl(`create table ${target} like ${source}`)
      if (!withRows) return [create]
      return [create, ddl(`insert into ${target} (${list}) select ${list} from ${source}`)]
    },
    // `like` includes all but these. A reference to the table itself becomes one to the copy.
    readAdditions: (from, to) => ({
      sql: `select 'reference' as kind, max(k.constraint_name) as name, concat('alter table ', ?, ' add foreign key (',
          group_concat(concat('\`', replace(k.column_name, '\`', '\`\`'), '\`') order by k.ordinal_position separator ', '),
          ') references ',
          case when max(k.referenced_table_schema) = database() and max(k.referenced_table_name) = ? then ?
            else concat('\`', replace(max(k.referenced_table_schema), '\`', '\`\`'), '\`.\`',
              replace(max(k.referenced_table_name), '\`', '\`\`'), '\`') end,
          ' (', group_concat(concat('\`', replace(k.referenced_column_name, '\`', '\`\`'), '\`')
            order by k.ordinal_position separator ', '),
          ') on delete ', max(r.delete_rule), ' on update ', max(r.update_rule)) as definition
        from information_schema.key_column_usage k
          join information_schema.referential_constraints r on r.constraint_schema = k.constraint_schema
            and r.constraint_name = k.constraint_name and r.table_name = k.table_name
        where k.table_schema = database() and k.table_name = ? and k.referenced_table_name is not null
        group by k.constraint_schema, k.constraint_name order by k.constraint_name`,
      params: [quote(to), from, quote(to), from],
    }),
    add: ({ definition }) => ddl(definition),
    readLeftOut: (table) => ({
      sql: `select 'trigger' as kind, trigger_name as name from information_schema.triggers
        where event_object_schema = database() and event_object_table = ? order by trigger_name`,
      params: [table],
    }),
  },

  violation(error) {
    if (!(error instanceof Error) || !('code' in error)) return null
    if (error.code === 'ER_BAD_NULL_ERROR' || error.code === 'ER_NO_DEFAULT_FOR_FIELD') {
      return { kind: 'required', columns: [/'([^']+)'/.exec(error.message)?.[1] ?? ''] }
    }
    if (error.code !== 'ER_DUP_ENTRY') return null
    // The message names the index, which is named after its column.
    const key = /for key '(?:[^']+\.)?([^'.]+)'$/.exec(error.message)?.[1] ?? ''
    return { kind: 'unique', columns: [key.replace(/__unique$/, '')] }
  },
  isFullTable: (error) => error instanceof Error && 'code' in error && error.code === 'ER_TOO_MANY_FIELDS',
} satisfies Partial<Dialect>

/** MySQL stores instants without a zone; all connections use UTC. */
const withoutZone = (value: CellValue): CellValue =>
  typeof value === 'string' ? value.replace(/\+00:00$/, '') : value

const CAST_TYPES: Partial<Record<StorageKind, string>> = {
  id: 'signed',
  integer: 'signed',
  real: 'double',
  date: 'date',
  time: 'time(3)',
}

/** What a number of a column is cast to, whose JSON would stay text; undefined for columns of other types. */
function numberCast(databaseType: string): string | undefined {
  const type = databaseType.toLowerCase()
  if (/^(tiny|small|medium|big)?int|^year/.test(type))
    return type.includes('unsigned') ? 'unsigned' : 'signed'
  if (/^(float|double|real)/.test(type)) return 'double'
  return /^decimal\(\d+,\d+\)/.exec(type)?.[0]
}

/** Encodes a value as in cells: instants in their stored form, booleans as such. */
function jsonMember(value: SQL, storage: StorageKind | null): SQL {
  if (storage === 'boolean') {
    return sql`if(${value} is null, null, json_extract(if(${value}, 'true', 'false'), '$'))`
  }
  if (storage === 'datetime') return instantText(value)
  if (storage === 'time') return timeText(value)
  return storage === 'json' || storage === null ? sql`cast(${value} as char)` : value
}

/** Milliseconds or microseconds with the point; '' for a zero fraction. */
const fractionText = (value: SQL): SQL =>
  sql`case when microsecond(${value}) = 0 then ''
    when microsecond(${value}) % 1000 = 0 then concat('.', lpad(microsecond(${value}) div 1000, 3, '0'))
    else concat('.', lpad(microsecond(${value}), 6, '0')) end`

/** `YYYY-MM-DD HH:MM:SS+00:00`, with a fraction if it is not 0. */
export const instantText = (value: SQL): SQL =>
  sql`concat(date_format(${value}, '%Y-%m-%d %H:%i:%s'), ${fractionText(value)}, '+00:00')`

/** `HH:MM:SS`, with a fraction if it is not 0. */
export const timeText = (value: SQL): SQL =>
  sql`concat(time_format(${value}, '%H:%i:%s'), ${fractionText(value)})`

const MAX_NAME = 64 // https://dev.mysql.com/doc/refman/8.4/en/identifier-length.html

function indexName(name: string): string {
  if (name.length <= MAX_NAME) return quote(name)
  return quote(`${name.slice(0, 40)}_${createHash('sha256').update(name).digest('hex').slice(0, 12)}`)
}
