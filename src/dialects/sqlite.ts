import { type SQL, sql } from 'drizzle-orm'
import type { CellValue, StorageKind } from '../core/fields/field-type.ts'
import { escapeLike } from '../core/filters/dialect-words.ts'
import type { ColumnDefinition, Dialect, Statement } from './dialect.ts'
import { createRender, quoteText } from './render.ts'
import { sqliteSummary } from './sqlite-summary.ts'

const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`

/** SQLite 3.35 or later, as Bun carries it. */
export const sqlite: Dialect = {
  client: 'sqlite3',
  maxBoundParameters: 32_766, // https://sqlite.org/limits.html#max_variable_number
  columnTypes: {
    id: 'integer primary key autoincrement',
    integer: 'integer',
    real: 'real',
    text: 'text',
    longText: 'text',
    boolean: 'boolean',
    date: 'date',
    datetime: 'datetime',
  },
  quote,
  render: createRender(quote, () => '?'),

  createTable: (name, columns) => [ddl(`create table ${quote(name)} (${columns.map(column).join(', ')})`)],
  addColumn: (table, definition) => [ddl(`alter table ${quote(table)} add column ${column(definition)}`)],
  renameColumn: (table, from, to) => [
    ddl(`alter table ${quote(table)} rename column ${quote(from)} to ${quote(to)}`),
  ],
  dropColumn: (table, name) => [ddl(`alter table ${quote(table)} drop column ${quote(name)}`)],
  renameTable: (from, to) => [ddl(`alter table ${quote(from)} rename to ${quote(to)}`)],
  dropTable: (table) => [ddl(`drop table if exists ${quote(table)}`)],
  createIndex: (table, columns) => [
    ddl(
      `create index ${quote(`${table}__${columns.join('_')}`)} on ${quote(table)} (${columns.map(quote).join(', ')})`,
    ),
  ],
  createUniqueIndex: (table, name) => [
    ddl(`create unique index ${quote(uniqueName(table, name))} on ${quote(table)} (${quote(name)})`),
  ],
  dropUniqueIndex: (table, name) => [ddl(`drop index if exists ${quote(uniqueName(table, name))}`)],

  isNull: (expression) => sql`${expression} is null`,
  eq: (expression, value) => sql`${expression} = ${bind(value)}`,
  compare: (expression, sign, value) => sql`${expression} ${sql.raw(sign)} ${bind(value)}`,
  inList: (expression, values) =>
    sql`${expression} in (${sql.join(
      values.map((v) => sql`${bind(v)}`),
      sql`, `,
    )})`,
  // LIKE has no default escape character in SQLite: without one, "50%" would match "500".
  like: (expression, pattern) => sql`${asText(expression)} like ${pattern} escape '\\'`,
  // Commas on both sides make the first and the last title like those between.
  hasOption: (expression, title) => sql`instr(',' || ${expression} || ',', ${`,${title},`}) > 0`,
  and: (conditions) => sql`(${sql.join(conditions, sql` and `)})`,
  or: (conditions) => sql`(${sql.join(conditions, sql` or `)})`,
  not: (condition) => sql`not (${condition})`,
  constant: (value) => (value ? sql`1 = 1` : sql`1 = 0`),

  // SQLite puts NULL first ascending and last descending by itself, as REST clients expect.
  orderBy: (expression, direction) =>
    direction === 'asc' ? sql`${expression} asc` : sql`${expression} desc`,
  optionOrder(expression, titles) {
    if (titles.length === 0) return expression
    const cases = titles.map((title, index) => sql`when ${title} then ${sql.raw(String(index))}`)
    return sql`case ${expression} ${sql.join(cases, sql` `)} end`
  },
  summary: sqliteSummary,
  search: (expression, storage, text) =>
    sql`${storage === 'real' ? asText(expression) : expression} like ${`%${escapeLike(text)}%`} escape '\\'`,
  decode: (storage) => (storage === 'boolean' ? decodeBoolean : null),
  jsonObject: (columns) =>
    sql`json_object(${sql.join(
      columns.map(({ key, column: expression }) => sql`${key}, ${expression}`),
      sql`, `,
    )})`,
  jsonValue: (json, key) => sql`json_extract(${json}, ${`$."${key}"`})`,

  async allocateIds(tx, table, count) {
    if (count === 0) return []
    // AUTOINCREMENT keeps the last id given out, also of records since deleted; the caller's transaction
    // keeps others from taking one in between, and inserting the ids moves it on.
    const [row] = await tx.all<{ seq: number }>({
      sql: 'select seq from sqlite_sequence where name = ?',
      params: [table],
    })
    const last = row?.seq ?? 0
    return Array.from({ length: count }, (_, index) => last + index + 1)
  },

  violation(error) {
    const message = error instanceof Error ? error.message : ''
    const match = /^(UNIQUE|NOT NULL) constraint failed: (.+)$/.exec(message)
    if (!match) return null
    // The message lists `table.column` pairs.
    const columns = (match[2] ?? '').split(', ').map((name) => name.slice(name.lastIndexOf('.') + 1))
    return { kind: match[1] === 'UNIQUE' ? 'unique' : 'required', columns }
  },
}

const ddl = (text: string): Statement => ({ sql: text, params: [] })

const uniqueName = (table: string, name: string): string => `${table}__${name}__unique`

/** A whole number in a column of reals would print as "10.0". */
const asText = (expression: SQL): SQL =>
  sql`iif(typeof(${expression}) = 'real' and ${expression} = cast(${expression} as integer), cast(${expression} as integer), ${expression})`

const bind = (value: CellValue): CellValue => (typeof value === 'boolean' ? Number(value) : value)

const decodeBoolean = (value: unknown): CellValue => (value === null ? null : Boolean(value))

function column({ name, storage, required, defaultValue }: ColumnDefinition): string {
  const parts = [quote(name), columnType(storage)]
  if (required) parts.push('not null')
  if (defaultValue !== null) parts.push(`default ${defaultLiteral(defaultValue)}`)
  return parts.join(' ')
}

const columnType = (storage: StorageKind): string => sqlite.columnTypes[storage]

function defaultLiteral(value: Exclude<CellValue, null>): string {
  if (typeof value === 'string') return quoteText(value)
  return String(Number(value))
}
