import { type SQL, sql } from 'drizzle-orm'
import { ExactNumber } from '../core/exact-decimal.ts'
import type { CellValue, StorageKind } from '../core/fields/field-type.ts'
import { escapeLike, type FilterValue } from '../core/filters/primitives.ts'
import { unfinishedTable } from './automatic-index.ts'
import { sqliteAverage, sqliteSum } from './decimal-sums.ts'
import type { Dialect, QueryPlan } from './dialect.ts'
import { sqliteForeign } from './foreign.ts'
import { sqliteFormula } from './sqlite-formula.ts'
import { sqliteIndexedFormula } from './sqlite-indexed-formula.ts'
import { sqliteRelated } from './sqlite-related.ts'
import { sqliteSearchIndexes } from './sqlite-search.ts'
import { sqliteLike, sqlitePrinted } from './sqlite-text.ts'
import { changeTriggers, isUnfinishedOf } from './sqlite-unfinished-index.ts'
import {
  createRender,
  ddl,
  groupSummaryBy,
  insertSelected,
  medianByPlace,
  optionOrder,
  quoteText,
  standardTables,
  stddevByMean,
  summaryBy,
  whereSelected,
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

// Only objects: json_each returns other items as plain values, which json_extract cannot parse.
const sqliteFiles = (column: SQL): SQL =>
  sql`json_each(${sqliteList(column)}) as file where file.type = 'object'`

// `json_each` fails for invalid JSON, and returns no rows for NULL.
const sqliteList = (column: SQL): SQL =>
  sql`case when ${column} like '[%' and json_valid(${column}) then ${column} end`

const COLUMN_TYPES: Record<StorageKind, string> = {
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
}

/** The beginning of the statement that creates a table, up to its columns. */
const TABLE_HEAD = /^create table (?:"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|'(?:[^']|'')*'|[\w$]+)\s*\(/i

/** A name at the beginning of a text, in any of the quotes that SQLite takes. */
const NAME = /^(?:"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|'(?:[^']|'')*'|[\w$]+)\s*/

/** Splits a stored `create index` at its list of columns; null for one that is written in another way. */
function readIndex(definition: string): { isUnique: boolean; columns: string } | null {
  const start = /^create (unique )?index /i.exec(definition)
  if (!start) return null
  const named = withoutName(definition.slice(start[0].length))
  const on = named && /^on\s+/i.exec(named)
  const columns = named && on && withoutName(named.slice(on[0].length))
  return columns?.startsWith('(') ? { isUnique: start[1] !== undefined, columns } : null
}

/** Comments, texts, names and single characters of a statement. */
const TOKENS =
  /--[^\n]*|\/\*(?:[^*]|\*(?!\/))*(?:\*\/)?|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|'(?:[^']|'')*'|[\w$\u0080-\uffff]+|\s+|./gs

/** The columns of a `create table` with its references to itself as references to its copy. */
function referringTo(copy: string, columns: string, original: string): string {
  let isReference = false
  return columns.replace(TOKENS, (token) => {
    if (/^(?:\s|--|\/\*)/.test(token)) return token
    const isSelf = isReference && unquoted(token).toLowerCase() === original.toLowerCase()
    isReference = token.toLowerCase() === 'references'
    return isSelf ? quote(copy) : token
  })
}

/** A name as written in a statement, without its quotes. */
function unquoted(name: string): string {
  const [first = ''] = name
  if (first === '[') return name.slice(1, -1)
  return '"`\''.includes(first) ? name.slice(1, -1).replaceAll(first + first, first) : name
}

function withoutName(text: string): string | null {
  const name = NAME.exec(text)
  return name && text.slice(name[0].length)
}

const indexName = (table: string, name: string): string => quote(`${table}__${name}`)

function defaultLiteral(value: Exclude<CellValue, null>): string {
  return typeof value === 'string' ? quoteText(value) : String(Number(value))
}

function searchedText(expression: SQL, storage: StorageKind | 'files'): SQL | null {
  if (storage === 'files') return sqliteFileNames(expression)
  // Checkboxes have no text.
  if (storage === 'boolean') return null
  // Removes the zone, in which "00" would always match.
  if (storage === 'datetime') return sql`replace(${expression}, '+00:00', '')`
  return storage === 'real' ? sqlitePrinted(expression) : expression
}

const summary = summaryBy({
  value: (column) => sql`nullif(${column}, '')`,
  fileBytes: sqliteFileBytes,
  checked: (column) => sql`coalesce(sum(${column} = 1), 0)`,
  sum: (column) => sql`case when count(${column}) > 0 then ${sqliteSum(column)} end`,
  median,
  stddev,
})

/** SQLite 3.35 or later, as built into Bun. */
export const sqlite: Dialect = {
  client: 'sqlite3',
  maxBoundParameters: MAX_BOUND,
  columnTypes: COLUMN_TYPES,
  quote,
  render: createRender(quote, () => '?', MAX_BOUND),

  ...standardTables({ quote, types: COLUMN_TYPES, indexName, literal: defaultLiteral }),
  // Those of an index under construction go first: they read the columns of its table.
  dropAutomaticIndex: (name) => [
    ...changeTriggers(name).map((trigger) => ddl(`drop trigger if exists ${quote(trigger)}`)),
    ddl(`drop index if exists ${quote(name)}`),
    ddl(`drop table if exists ${quote(unfinishedTable(name))}`),
  ],
  dropIndexesOf: (table, name) =>
    [`${name}__unique`, name].map((suffix) => ddl(`drop index if exists ${indexName(table, suffix)}`)),
  isNull: (expression) => sql`${expression} is null`,
  // Columns of connected files may have a collation that equates "abc" and "ABC".
  eq: (expression, value) => sql`${expression} = ${exactOperand(value)}`,
  compare: (expression, sign, value) => sql`${expression} ${sql.raw(sign)} ${operand(value)}`,
  inList: (expression, values) =>
    sql`${values.some((value) => typeof value === 'string') ? sql`${expression} collate binary` : expression} in (${sql.join(values.map(operand), sql`, `)})`,
  exactText: (expression) => sql`${expression} collate binary`,
  emptyAsNull: (expression) => sql`nullif(${expression}, '')`,
  like: (expression, pattern) => sqliteLike(sqlitePrinted(expression), pattern),
  fileNames: sqliteFileNames,
  // Outer commas let one pattern match the first, middle and last title.
  hasOption: (expression, title) => sql`instr(',' || ${expression} || ',', ${`,${title},`}) > 0`,
  and: (conditions) => sql`(${balanced(conditions, sql` and `)})`,
  or: (conditions) => sql`(${balanced(conditions, sql` or `)})`,
  not: (condition) => sql`not (${condition})`,
  constant: (value) => (value ? sql`1 = 1` : sql`1 = 0`),

  // NULL sorts first ascending and last descending by default, as REST clients expect.
  orderBy: (expression, direction) =>
    direction === 'asc' ? sql`${expression} asc` : sql`${expression} desc`,
  // A unary plus changes no value, and no index has the expression.
  unindexed: (expression) => sql`+${expression}`,
  unindexedCondition: (condition) => sql`+(${condition})`,
  readsIndexedExpressions: true,
  dropsBlockWriters: true,
  random: sql`random()`,
  optionOrder,
  summary,
  groupSummary: groupSummaryBy(summary, { median: medianByPlace, stddev: stddevByMean }),
  search: (expression, storage, text) =>
    sqliteLike(searchedText(expression, storage) ?? expression, `%${escapeLike(text)}%`),
  searchedText,
  searchIndexes: sqliteSearchIndexes,
  formula: sqliteFormula,
  indexedFormula: sqliteIndexedFormula,
  decode: (storage) => (storage === 'boolean' ? decodeBoolean : null),
  related: sqliteRelated,
  foreign: sqliteForeign,
  explain: ({ sql: text, params }) => ({ sql: `explain query plan ${text}`, params }),
  readPlan: readSqlitePlan,
  isSame: (left, right) => sql`${left} is ${right}`,
  placeholder: () => '?',
  // Infinity cannot be bound as text: SQLite would store the text.
  encode: (storage) => (storage === 'real' ? encodeInfinite : null),
  insertSelected,
  whereSelected,
  insertDefaults: (table) => `insert into ${quote(table)} default values`,
  listColumns: (table) => ({ sql: 'select name, type from pragma_table_info(?)', params: [table] }),
  listIndexes: (table) => ({
    sql: `select name, tbl_name <> ? as isUnfinished, (select sum(pgsize) from dbstat where dbstat.name = i.name) as bytes
      from sqlite_master i where type = 'index' and (tbl_name = ? or ${isUnfinishedOf}) order by name`,
    params: [table, table, table],
  }),
  listTablesIndexedAs: (prefix) => ({
    sql: `select distinct tbl_name as name from sqlite_master where type = 'index' and substr(name, 1, length(?)) = ?`,
    params: [prefix, prefix],
  }),
  // A foreign key without a parent column references the primary key.
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
  // The column's type determines how the value is stored, whatever its JSON type.
  jsonValue: (json, key) => sql`json_extract(${json}, ${`$."${key}"`})`,
  // Other kinds have columns of numeric affinity, in which their texts and truth values stay as they are.
  asColumn: (value, storage) => {
    const type = storage === 'id' ? 'integer' : COLUMN_TYPES[storage]
    return type === 'text' || type === 'integer' || type === 'real'
      ? sql`cast(${value} as ${sql.raw(type)})`
      : value
  },
  repeatedKey: 'first',
  logId: (id) => id,

  async allocateIds(tx, table, count) {
    if (count === 0) return []
    // `sqlite_sequence` keeps the last assigned id, even of deleted records. The caller's transaction
    // excludes other writers, and inserting the ids updates it.
    const [row] = await tx.all<{ seq: number }>({
      sql: 'select seq from sqlite_sequence where name = ?',
      params: [table],
    })
    const last = row?.seq ?? 0
    return Array.from({ length: count }, (_, index) => last + index + 1)
  },

  tableCopy: {
    read: (table) => ({
      sql: `select c.name as name, 0 as isNumbered, m.sql as definition from pragma_table_xinfo(?) c
        join sqlite_schema m on m.type = 'table' and lower(m.name) = lower(?) where c.hidden = 0 order by c.cid`,
      params: [table, table],
    }),
    write(from, to, columns, withRows) {
      const definition = columns[0]?.definition ?? ''
      const head = TABLE_HEAD.exec(definition)?.[0]
      if (head === undefined) return null
      const list = columns.map(({ name }) => quote(name)).join(', ')
      // A table that refers to itself refers to its copy there, also once this has its name.
      const create = ddl(`create table ${quote(to)} (${referringTo(to, definition.slice(head.length), from)}`)
      if (!withRows) return [create]
      return [create, ddl(`insert into ${quote(to)} (${list}) select ${list} from ${quote(from)}`)]
    },
    // The table's own statement has its keys, rules and references.
    readAdditions: (from) => ({
      sql: `select 'index' as kind, name, sql as definition from sqlite_schema
        where type = 'index' and lower(tbl_name) = lower(?) and sql is not null order by name`,
      params: [from],
    }),
    add({ name, definition }, to) {
      const index = readIndex(definition)
      if (!index) return null
      // Names of indexes are unique in a file.
      const copy = quote(`${name}_${to.slice(-6)}`)
      return ddl(
        `create ${index.isUnique ? 'unique index' : 'index'} ${copy} on ${quote(to)} ${index.columns}`,
      )
    },
    readLeftOut: (table) => ({
      sql: `select 'trigger' as kind, name from sqlite_schema
        where type = 'trigger' and lower(tbl_name) = lower(?) order by name`,
      params: [table],
    }),
  },
  // Inserting the id has updated `sqlite_sequence`.
  // Tables without `autoincrement` continue after their highest id by themselves.
  numberAfter: (table, lastId) => [
    { sql: 'delete from sqlite_sequence where name = ?', params: [table] },
    {
      sql: `insert into sqlite_sequence (name, seq)
        select name, ? from sqlite_schema where name = ? and sql like '%autoincrement%'`,
      params: [lastId, table],
    },
  ],
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

/** Nests a long chain `a or b or c …` as a balanced tree: SQLite limits expression depth to 1000. */
function balanced(conditions: SQL[], sign: SQL): SQL {
  if (conditions.length <= 16) return sql.join(conditions, sign)
  const middle = conditions.length >> 1
  const halves = [conditions.slice(0, middle), conditions.slice(middle)]
  return sql.join(
    halves.map((half) => sql`(${balanced(half, sign)})`),
    sign,
  )
}

/** Pairs per call of json_object: older builds of SQLite allow 127 arguments. */
const JSON_PAIRS = 60

/** Converts booleans, which columns store as 1 and 0, to JSON booleans. */
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

/** The median, which SQLite lacks: the middle value, or the mean of the middle two. */
function median(column: SQL, from: SQL): SQL {
  const values = sql`(select ${column} as x from ${from})`
  const filled = sql`(select count(x) from ${values})`
  return sql`(select ${sqliteAverage(sql`x`)} from (select x from ${values} where x is not null order by x
    limit 2 - ${filled} % 2 offset (${filled} - 1) / 2))`
}

/** Population standard deviation from the distances to the mean; the one-pass formula loses digits. */
function stddev(column: SQL, from: SQL): SQL {
  const mean = sql`(select avg(${column}) from ${from})`
  return sql`(select sqrt(avg((x - m) * (x - m))) from (select ${column} as x, ${mean} as m from ${from}))`
}

/** The lines of `explain query plan`: https://sqlite.org/eqp.html */
function readSqlitePlan(rows: Record<string, unknown>[], table: string): QueryPlan {
  const lines = rows.map(({ detail }) => String(detail))
  // The page's columns are read by key; the line names the table first.
  const reads = lines.filter(
    (line) => line.startsWith(`SCAN ${table}`) || line.startsWith(`SEARCH ${table} `),
  )
  return {
    readsAll: reads.some((line) => line.startsWith('SCAN ')),
    sorts: lines.some((line) => /^USE TEMP B-TREE FOR (ORDER|GROUP) BY/.test(line)),
    indexes: reads.flatMap((line) => / USING (?:COVERING )?INDEX (\S+)/.exec(line)?.[1] ?? []),
  }
}
