import { type SQL, sql } from 'drizzle-orm'
import type { CellValue, StorageKind } from '../core/fields/field-type.ts'
import { escapeLike } from '../core/filters/dialect-words.ts'
import type { SummaryPart } from '../core/summaries.ts'
import type { ColumnDefinition, QueryDialect } from './dialect.ts'
import { createRender, quoteText } from './render.ts'
import { standardWords } from './standard-words.ts'

const quote = (name: string): string => `\`${name.replaceAll('`', '``')}\``

/** MySQL 8, MariaDB 10.6, and engines that speak their protocol. */
export const mysql: QueryDialect = {
  client: 'mysql2',
  maxBoundParameters: 65_535, // a 16-bit count in the prepared-statement protocol
  columnTypes: {
    id: 'bigint auto_increment primary key',
    integer: 'bigint',
    real: 'double',
    // Compares bytes: upper and lower case, and trailing spaces, are told apart as in every other dialect.
    text: 'longtext character set utf8mb4 collate utf8mb4_bin',
    longText: 'longtext character set utf8mb4 collate utf8mb4_bin',
    boolean: 'boolean',
    date: 'date',
    datetime: 'datetime(3)',
    time: 'time(3)',
    json: 'json',
  },
  quote,
  render: createRender(quote, () => '?'),
  createTable: (name, columns) => [
    { sql: `create table ${quote(name)} (${columns.map(column).join(', ')})`, params: [] },
  ],

  ...standardWords,
  like: (expression, pattern) => like(expression, pattern),
  // The comparison is of bytes whatever the connection's collation is.
  hasOption: (expression, title) => sql`locate(${`,${title},`}, binary concat(',', ${expression}, ',')) > 0`,

  // NULL stands first ascending and last descending by itself.
  orderBy: (expression, direction) =>
    direction === 'asc' ? sql`${expression} asc` : sql`${expression} desc`,
  summary,
  search: (expression, _storage, text) => like(expression, `%${escapeLike(text)}%`),
  decode: (storage) => DECODERS[storage] ?? null,
}

const DECODERS: Partial<Record<StorageKind, (value: unknown) => CellValue>> = {
  boolean: (value) => (value === null ? null : Boolean(value)),
}

/** In any case of the letters, but telling accents apart, which a language's collation would not. */
function like(expression: SQL, pattern: string): SQL {
  const folded = sql`lower(convert(${expression} using utf8mb4)) collate utf8mb4_bin`
  return sql`${folded} like ${pattern.toLowerCase()}`
}

/** As bytes: the letters of a connection's collation would make "abc" and "ABC" one. */
const filled = (expression: SQL): SQL => sql`nullif(cast(${expression} as binary), '')`

function summary(part: SummaryPart, expression: SQL, from: SQL): SQL {
  switch (part) {
    case 'count':
      return sql`count(*)`
    case 'filled':
      return sql`count(${filled(expression)})`
    case 'unique':
      return sql`count(distinct ${filled(expression)})`
    case 'checked':
      return sql`coalesce(cast(sum(${expression} = 1) as double), 0)`
    case 'sum':
      return sql`cast(sum(${expression}) as double)`
    case 'avg':
      return sql`cast(avg(${expression}) as double)`
    case 'min':
      return sql`min(${expression})`
    case 'max':
      return sql`max(${expression})`
    case 'median':
      return median(expression, from)
    case 'stddev':
      return sql`stddev_pop(${expression})`
  }
}

/** MySQL has no median: the one value in the middle by rank, or the mean of the two. */
function median(expression: SQL, from: SQL): SQL {
  const ranked = sql`select x, row_number() over (order by x) as place, count(*) over () as size
    from (select ${expression} as x from ${from}) as valued where x is not null`
  return sql`(select cast(avg(x) as double) from (${ranked}) as ranked
    where place in (floor((size + 1) / 2), floor((size + 2) / 2)))`
}

function column({ name, storage, required, defaultValue }: ColumnDefinition): string {
  const parts = [quote(name), mysql.columnTypes[storage]]
  if (required) parts.push('not null')
  if (defaultValue !== null) {
    parts.push(
      `default ${typeof defaultValue === 'string' ? `(${quoteText(defaultValue)})` : String(Number(defaultValue))}`,
    )
  }
  return parts.join(' ')
}
