import { type SQL, sql } from 'drizzle-orm'
import type { CellValue, StorageKind } from '../core/fields/field-type.ts'
import { escapeLike, type FilterValue } from '../core/filters/primitives.ts'
import { mysqlAverage, mysqlSum } from './decimal-sums.ts'
import type { Dialect, QueryPlan } from './dialect.ts'
import { mysqlForeign } from './foreign.ts'
import { mariadbFormula, mysqlFormula } from './mysql-formula.ts'
import { mariadbRelated, mysqlRelated } from './mysql-related.ts'
import { MYSQL_TYPES, mysqlTables, mysqlWrites, quoteMysql } from './mysql-tables.ts'
import { createRender, groupSummaryBy, medianByPlace, standardPrimitives, summaryBy } from './standard-sql.ts'

/** True for text that no number, date or time has. Collations may equate it with other text, and '' with spaces. */
const isPlainText = (value: FilterValue): boolean =>
  typeof value === 'string' && !/^[\d.:+-](?:[\d.:+ -]*[\d.:+-])?$/.test(value)

/** True for text as digits have it: of ASCII, without spaces at the end. Collations equate `１２` and `12 ` with `12`. */
const isAscii = (expression: SQL): SQL =>
  sql`length(convert(${expression} using utf8mb4)) = char_length(trim(trailing ' ' from ${expression}))`

/** Text as UTF-8 bytes, whatever the column's character set. */
const bytesOf = (expression: SQL): SQL => sql`cast(convert(${expression} using utf8mb4) as binary)`

const MAX_BOUND = 65_535 // a 16-bit count in the prepared-statement protocol

/**
 * Titles of the files in a JSON list of `{ title, size }`, one per line. NULL for text of a foreign column that is not
 * such a list.
 */
const mysqlFileNames = (column: SQL): SQL =>
  sql`(select group_concat(file.title separator '\n') from json_table(${mysqlList(column)}, '$[*]' columns (title text path '$.title')) as file)`

/** Sum of the file sizes over all rows of a select. */
const mysqlFileBytes = (column: SQL): SQL =>
  sql`cast(sum((select sum(file.size) from json_table(${mysqlList(column)}, '$[*]' columns (size bigint path '$.size')) as file)) as double)`

const mysqlList = (column: SQL): SQL => sql`case when json_valid(${column}) then ${column} end`

const summary = summaryBy({
  // As bytes, because the connection's collation would equate "abc" and "ABC".
  value: (expression) => sql`nullif(cast(${expression} as binary), '')`,
  fileBytes: mysqlFileBytes,
  checked: (expression) => sql`coalesce(cast(sum(${expression} = 1) as double), 0)`,
  sum: (expression) => mysqlSum(expression),
  median,
  stddev: (expression) => sql`stddev_pop(${expression} + 0e0)`,
})

/** MySQL 8, MariaDB 10.6, and engines that speak their protocol. */
export const mysql: Dialect = {
  client: 'mysql2',
  maxBoundParameters: MAX_BOUND,
  columnTypes: MYSQL_TYPES,
  quote: quoteMysql,
  render: createRender(quoteMysql, () => '?', MAX_BOUND),
  ...mysqlTables,
  ...mysqlWrites,

  ...standardPrimitives,
  // Compares by the column's collation first, which an index may support, then exactly.
  eq(expression, value) {
    const found = standardPrimitives.eq(expression, value)
    if (isPlainText(value)) return sql`(${found} and ${bytesOf(expression)} = ${bytesOf(sql`${value}`)})`
    return typeof value === 'string' ? sql`(${found} and ${isAscii(expression)})` : found
  },
  inList(expression, values) {
    const found = standardPrimitives.inList(expression, values)
    if (values.some(isPlainText)) {
      const exact = values.map((value) => bytesOf(sql`${value}`))
      return sql`(${found} and ${bytesOf(expression)} in (${sql.join(exact, sql`, `)}))`
    }
    return values.some((value) => typeof value === 'string')
      ? sql`(${found} and ${isAscii(expression)})`
      : found
  },
  exactText: (expression) => sql`convert(${expression} using utf8mb4) collate utf8mb4_nopad_bin`,
  // By its length: collations take spaces for nothing.
  emptyAsNull: (expression) => sql`if(length(${expression}) > 0, ${expression}, null)`,
  like: (expression, pattern) => like(expression, pattern),
  fileNames: mysqlFileNames,
  // Compares bytes, whatever the connection's collation.
  hasOption: (expression, title) => sql`locate(${`,${title},`}, binary concat(',', ${expression}, ',')) > 0`,

  // NULL sorts first ascending and last descending by default.
  orderBy: (expression, direction) =>
    direction === 'asc' ? sql`${expression} asc` : sql`${expression} desc`,
  random: sql`rand()`,
  summary,
  groupSummary: groupSummaryBy(summary, { median: medianByPlace }),
  search: (expression, _storage, text) => like(expression, `%${escapeLike(text)}%`),
  formula: mariadbFormula,
  decode: (storage) => DECODERS[storage] ?? null,
  related: mariadbRelated,
  foreign: mysqlForeign,
  explain: ({ sql: text, params }) => ({ sql: `explain ${text}`, params }),
  readPlan: readMysqlPlan,
}

/** The rows of `explain`: https://mariadb.com/kb/en/explain/ */
function readMysqlPlan(rows: Record<string, unknown>[], table: string): QueryPlan {
  const reads = rows.filter((row) => row.table === table)
  return {
    readsAll: reads.some(({ type }) => type === 'ALL' || type === 'index'),
    sorts: rows.some(({ Extra }) => /filesort|temporary/.test(String(Extra))),
    indexes: reads.flatMap(({ key }) => (typeof key === 'string' ? [key] : [])),
  }
}

/** The dialect for a server version such as `8.0.36` or `10.11.6-MariaDB`. */
export const mysqlFor = (version: string): Dialect => (/mariadb/i.test(version) ? mysql : mysql8)

const mysql8: Dialect = {
  ...mysql,
  related: mysqlRelated,
  formula: mysqlFormula,
  exactText: (expression) => sql`convert(${expression} using utf8mb4) collate utf8mb4_0900_bin`,
}

const DECODERS: Partial<Record<StorageKind, (value: unknown) => CellValue>> = {
  boolean: (value) => (value === null ? null : Boolean(value)),
}

/** Case-insensitive but accent-sensitive, unlike a language's collation. */
function like(expression: SQL, pattern: string): SQL {
  const folded = sql`lower(convert(${expression} using utf8mb4)) collate utf8mb4_bin`
  return sql`${folded} like ${pattern.toLowerCase()}`
}

/** The median, which MySQL lacks: the middle value by rank, or the mean of the middle two. */
function median(expression: SQL, from: SQL): SQL {
  const ranked = sql`select x, row_number() over (order by x) as place, count(*) over () as size
    from (select ${expression} as x from ${from}) as valued where x is not null`
  return sql`(select ${mysqlAverage(sql`x`)} from (${ranked}) as ranked
    where place in (floor((size + 1) / 2), floor((size + 2) / 2)))`
}
