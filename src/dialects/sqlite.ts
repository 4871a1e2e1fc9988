import { type SQL, sql } from 'drizzle-orm'
import { ExactNumber } from '../core/exact-decimal.ts'
import type { CellValue, StorageKind } from '../core/fields/field-type.ts'
import { escapeLike, type FilterValue } from '../core/filters/primitives.ts'
import type { SummaryPart } from '../core/summaries.ts'
import { sqliteAverage, sqliteSum } from './decimal-sums.ts'
import type { ColumnDefinition, Dialect, Statement } from './dialect.ts'
import { sqliteForeign } from './foreign.ts'
import { sqliteFormula } from './sqlite-formula.ts'
import { sqliteRelated } from './sqlite-related.ts'
import { sqliteLike, sqlitePrinted } from './sqlite-text.ts'
import {
  createRender,
  groupSummaryBy,
  insertSelected,
  medianByPlace,
  optionOrder,
  quoteText,
  stddevByMean,
} from './standard-sql.ts'

const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`

const MAX_BOUND = 32_766 // https://sqlite.org/limits.html#max_variable_number

/**
 * Titles of the files in a JSON list of `{ title, size }`, one per line. NULL for text of a foreign column that is not
 * such a list.
 */
const sqliteFileNames = (column: SQL): SQL =>
  sql`(select group_concat(json_extract(file.value, '$.title'), char(10)) from ${sqliteFiles(column)})`

/** Sum of the file sizes over all rows of a select. */
const sqliteFileBytes = (column: SQL): SQL =>
  sql`sum((select sum(json_extract(file.value, '$.size')) from ${sqliteFiles(column)}))`

// Only objects: json_each gives other items as plain values, which json_extract cannot parse.
const sqliteFiles = (column: SQL): SQL =>
  sql`json_each(${sqliteList(column)}) as file where file.type = 'object'`

// `json_each` fails on text that is no JSON, and of no text gives no rows.
const sqliteList = (column: SQL): SQL =>
  sql`case when ${column} like '[%' and json_valid(${column}) then ${column} end`

/** SQLite 3.35 or later, as Bun carries it. */
export const sqlite: Dialect = {
  client: 'sqlite3',
  maxBoundParameters: MAX_BOUND,
  columnTypes: {
    id: 'integer primary key autoincrement',
    integer: 'integer',
    real: 'real',
    text: 'text',
    longText: 'text',
    boolean: 'boolean',
    date: 'date',
    datetime: 'datetime',
    time: 'time',
    json: 'text',
  },
  quote,
  render: createRender(quote, () => '?', MAX_BOUND),

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
  createUniqueIndex: (table, ...columns) => [
    ddl(
      `create unique index ${quote(uniqueName(table, columns.join('_')))} on ${quote(table)} (${columns.map(quote).join(', ')})`,
    ),
  ],
  dropUniqueIndex: (table, name) => [ddl(`drop index if exists ${quote(uniqueName(table, name))}`)],
  dropIndexesOf: (table, name) =>
    [uniqueName(table, name), `${table}__${name}`].map((index) =>
      ddl(`drop index if exists ${quote(index)}`),
    ),

  isNull: (expression) => sql`${expression} is null`,
  // A column of a connected file may be declared with a collation that takes "abc" and "ABC" as equal.
  eq: (expression, value) => sql`${expression} = ${exactOperand(value)}`,
  compare: (expression, sign, value) => sql`${expression} ${sql.raw(sign)} ${operand(value)}`,
  inList: (expression, values) =>
    sql`${values.some((value) => typeof value === 'string') ? sql`${expression} collate binary` : expression} in (${sql.join(values.map(operand), sql`, `)})`,
  exactText: (expression) => sql`${expression} collate binary`,
  like: (expression, pattern) => sqliteLike(sqlitePrinted(expression), pattern),
  fileNames: sqliteFileNames,
  // Commas on both sides make the first and the last title like those between.
  hasOption: (expression, title) => sql`instr(',' || ${expression} || ',', ${`,${title},`}) > 0`,
  and: (conditions) => sql`(${balanced(conditions, sql` and `)})`,
  or: (conditions) => sql`(${balanced(conditions, sql` or `)})`,
  not: (condition) => sql`not (${condition})`,
  constant: (value) => (value ? sql`1 = 1` : sql`1 = 0`),

  // SQLite puts NULL first ascending and last descending by itself, as REST clients expect.
  orderBy: (expression, direction) =>
    direction === 'asc' ? sql`${expression} asc` : sql`${expression} desc`,
  optionOrder,
  summary: sqliteSummary,
  groupSummary: groupSummaryBy(sqliteSummary, { median: medianByPlace, stddev: stddevByMean }),
  search(expression, storage, text) {
    // A checkbox shows no text.
    if (storage === 'boolean') return sql`1 = 0`
    // Nobody looks for the zone, and "00" would be in every moment.
    const shown = storage === 'datetime' ? sql`replace(${expression}, '+00:00', '')` : expression
    return sqliteLike(storage === 'real' ? sqlitePrinted(expression) : shown, `%${escapeLike(text)}%`)
  },
  formula: sqliteFormula,
  decode: (storage) => (storage === 'boolean' ? decodeBoolean : null),
  related: sqliteRelated,
  foreign: sqliteForeign,
  isSame: (left, right) => sql`${left} is ${right}`,
  placeholder: () => '?',
  // An infinite number has no text form that a column of numbers would take.
  encode: (storage) => (storage === 'real' ? encodeInfinite : null),
  insertSelected,
  insertDefaults: (table) => `insert into ${quote(table)} default values`,
  listColumns: (table) => ({ sql: 'select name, type from pragma_table_info(?)', params: [table] }),
  // Without a column of the parent, its primary key is meant.
  listReferences: (table) => ({
    sql: `select m.name || '.' || f.id as name, null as child_schema, m.name as child, f."from" as child_column,
        coalesce(f."to", (select name from pragma_table_info(m2.name) where pk = f.seq + 1)) as parent_column,
        f.on_delete as rule
      from sqlite_master m join pragma_foreign_key_list(m.name) f
      join sqlite_master m2 on m2.type = 'table' and lower(m2.name) = lower(f."table")
      where m.type = 'table' and lower(f."table") = lower(?) order by m.name, f.id, f.seq`,
    params: [table],
  }),
  jsonObject(columns) {
    const parts: SQL[] = []
    for (let start = 0; start < columns.length; start += JSON_PAIRS) {
      const pairs = columns.slice(start, start + JSON_PAIRS).map(jsonPair)
      const object = sql`json_object(${sql.join(pairs, sql`, `)})`
      parts.push(columns.length > JSON_PAIRS ? sql`substr(${object}, 2, length(${object}) - 2)` : object)
    }
    return parts.length > 1
      ? sql`'{' || ${sql.join(parts, sql` || ',' || `)} || '}'`
      : (parts[0] ?? sql`'{}'`)
  },
  // The type of a column decides how it keeps a value, whatever JSON calls it.
  jsonValue: (json, key) => sql`json_extract(${json}, ${`$."${key}"`})`,
  logId: (id) => id,

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

  continueIds: (table, from) => [
    { sql: 'delete from sqlite_sequence where name = ?', params: [table] },
    {
      sql: 'insert into sqlite_sequence (name, seq) select ?, seq from sqlite_sequence where name = ?',
      params: [table, from],
    },
  ],

  violation(error) {
    const message = error instanceof Error ? error.message : ''
    const match = /^(UNIQUE|NOT NULL) constraint failed: (.+)$/.exec(message)
    if (!match) return null
    // The message lists `table.column` pairs.
    const columns = (match[2] ?? '').split(', ').map((name) => name.slice(name.lastIndexOf('.') + 1))
    return { kind: match[1] === 'UNIQUE' ? 'unique' : 'required', columns }
  },
  isFullTable: (error) => error instanceof Error && error.message.startsWith('too many columns on '),
}

/** `a or b or c …` as a tree of halves: a chain of it is as deep as it is long, and SQLite goes 1000 deep. */
function balanced(conditions: SQL[], sign: SQL): SQL {
  if (conditions.length <= 16) return sql.join(conditions, sign)
  const middle = conditions.length >> 1
  const halves = [conditions.slice(0, middle), conditions.slice(middle)]
  return sql.join(
    halves.map((half) => sql`(${balanced(half, sign)})`),
    sign,
  )
}

/** Pairs in one call of json_object: a function takes 127 values in older builds of SQLite. */
const JSON_PAIRS = 60

/** JSON has a true of its own where a column has 1. */
function jsonPair({
  key,
  column: value,
  storage,
}: {
  key: string
  column: SQL
  storage: StorageKind | null
}): SQL {
  if (storage !== 'boolean') return sql`${key}, ${value}`
  return sql`${key}, json(case ${value} when 1 then 'true' when 0 then 'false' else 'null' end)`
}

const ddl = (text: string): Statement => ({ sql: text, params: [] })

const uniqueName = (table: string, name: string): string => `${table}__${name}__unique`

/** A whole number of up to eight bytes is kept as it is here; all other numbers are doubles. */
const exactOperand = (value: FilterValue): SQL =>
  typeof value === 'string' ? sql`${operand(value)} collate binary` : operand(value)

function operand(value: FilterValue): SQL {
  if (!(value instanceof ExactNumber)) return sql`${bind(value)}`
  const isLong = /^-?\d{1,18}$/.test(value.text) || isInt64(value.text)
  return isLong ? sql`cast(${value.text} as integer)` : sql`cast(${value.text} as real)`
}

const isInt64 = (text: string): boolean =>
  /^-?\d{19}$/.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text)

const bind = (value: CellValue): CellValue => (typeof value === 'boolean' ? Number(value) : value)

const encodeInfinite = (value: CellValue): CellValue =>
  value === 'Infinity' ? Number.POSITIVE_INFINITY : value === '-Infinity' ? Number.NEGATIVE_INFINITY : value

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

/** Summaries of the grid's footer. */
function sqliteSummary(part: SummaryPart, column: SQL, from: SQL): SQL {
  switch (part) {
    case 'fileBytes':
      return sqliteFileBytes(column)
    case 'count':
      return sql`count(*)`
    case 'filled':
      return sql`count(nullif(${column}, ''))`
    case 'unique':
      return sql`count(distinct nullif(${column}, ''))`
    case 'checked':
      return sql`coalesce(sum(${column} = 1), 0)`
    case 'sum':
      return sql`case when count(${column}) > 0 then ${sqliteSum(column)} end`
    case 'min':
      return sql`min(${column})`
    case 'max':
      return sql`max(${column})`
    case 'avg':
      return sqliteAverage(column)
    case 'median':
      return median(column, from)
    case 'stddev':
      return stddev(column, from)
  }
}

/** The one value in the middle, or the mean of the two. SQLite has no median of its own. */
function median(column: SQL, from: SQL): SQL {
  const values = sql`(select ${column} as x from ${from})`
  const filled = sql`(select count(x) from ${values})`
  return sql`(select ${sqliteAverage(sql`x`)} from (select x from ${values} where x is not null order by x
    limit 2 - ${filled} % 2 offset (${filled} - 1) / 2))`
}

/** Of the whole population, from the distances to the mean: the shorter formula loses digits. */
function stddev(column: SQL, from: SQL): SQL {
  const mean = sql`(select avg(${column}) from ${from})`
  return sql`(select sqrt(avg((x - m) * (x - m))) from (select ${column} as x, ${mean} as m from ${from}))`
}
