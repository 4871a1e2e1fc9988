import { type SQL, sql } from 'drizzle-orm'
import { CasingCache } from 'drizzle-orm/casing'
import { fractionDigits } from '../core/dates.ts'
import { AppError } from '../core/errors.ts'
import { ExactNumber } from '../core/exact-decimal.ts'
import type { CellValue, StorageKind } from '../core/fields/field-type.ts'
import type { FilterValue } from '../core/filters/primitives.ts'
import type { CellForm } from '../core/formula/ast.ts'
import { PLAIN_IN_URLS } from '../core/formula/encode-url.ts'
import type { FormulaWords } from '../core/formula/words.ts'
import type { SummaryPart } from '../core/summaries.ts'
import { m } from '../messages.gen.ts'
import type {
  ColumnDefinition,
  Dialect,
  GroupSummary,
  QueryDialect,
  SelectedRows,
  Statement,
} from './dialect.ts'

/**
 * Creates a renderer of SQL to text and bound values, with an engine's quotes and placeholders. The renderer
 * throws BAD_REQUEST for more than `maxBound` values.
 */
export function createRender(
  quote: (name: string) => string,
  placeholder: (index: number) => string,
  maxBound = Number.POSITIVE_INFINITY,
) {
  // Keeps the case of column names.
  const casing = new CasingCache()
  return (query: SQL): Statement => {
    const { sql, params } = query.toQuery({
      escapeName: quote,
      escapeParam: placeholder,
      escapeString: quoteText,
      casing,
    })
    if (params.length > maxBound) throw new AppError('BAD_REQUEST', m.request_error_too_many_values())
    return { sql, params }
  }
}

/** Text as a literal of standard SQL. */
export const quoteText = (text: string): string => `'${text.replaceAll("'", "''")}'`

/**
 * True where any of the conditions holds, nested by halves: SQLite allows expressions of 1,000 levels, and a chain of `or`
 * has one for each condition.
 */
export function anyOf(conditions: readonly SQL[]): SQL {
  const [only] = conditions
  if (!only) return sql`1 = 0`
  if (conditions.length === 1) return only
  const middle = Math.ceil(conditions.length / 2)
  return sql`(${anyOf(conditions.slice(0, middle))} or ${anyOf(conditions.slice(middle))})`
}

/** Maximum digits before and after the point of `decimal(65,30)`, MySQL's largest decimal type. */
const [MAX_WHOLE, MAX_DECIMALS] = [35, 30]

/** Right side of a comparison. Numbers are bound as doubles, which have fewer digits than some columns. */
function operand(value: FilterValue): SQL {
  if (!(value instanceof ExactNumber)) return sql`${value}`
  const [whole = '', decimals = ''] = value.text.replace('-', '').split('.')
  if (whole.length > MAX_WHOLE || decimals.length > MAX_DECIMALS) return sql`${Number(value.text)}`
  return sql`cast(${value.text} as decimal(65, ${sql.raw(String(decimals.length))}))`
}

/** Filter primitives shared by all engines with a boolean type. */
export const standardPrimitives = {
  isNull: (expression) => sql`${expression} is null`,
  eq: (expression, value) => sql`${expression} = ${operand(value)}`,
  compare: (expression, sign, value) => sql`${expression} ${sql.raw(sign)} ${operand(value)}`,
  inList: (expression, values) => sql`${expression} in (${sql.join(values.map(operand), sql`, `)})`,
  and: (conditions) => sql`(${sql.join(conditions, sql` and `)})`,
  or: (conditions) => sql`(${sql.join(conditions, sql` or `)})`,
  not: (condition) => sql`not (${condition})`,
  constant: (value) => sql.raw(value ? 'true' : 'false'),
  random: sql`random()`,
  optionOrder,
  exactText: (expression) => expression,
  emptyAsNull: (expression) => sql`nullif(${expression}, '')`,
} satisfies Partial<QueryDialect>

/** Decodes the percent-encoded characters that URLs need not encode. */
export const decodePlain = (encoded: SQL): SQL =>
  PLAIN_IN_URLS.reduce(
    (inner, character) =>
      sql`replace(${inner}, ${sql.raw(`'%${character.charCodeAt(0).toString(16).toUpperCase()}'`)}, ${sql.raw(quoteText(character))})`,
    encoded,
  )

/** Formula expressions that are the same in most engines. */
export const standardFormula = {
  arithmetic: (sign, left, right) => sql`(${left} ${sql.raw(sign)} ${right})`,
  negate: (value) => sql`(-${value})`,
  abs: (value) => sql`abs(${value})`,
  sqrt: (value) => sql`sqrt(${value})`,
  ln: (value) => sql`ln(${value})`,
  exp: (value) => sql`exp(${value})`,
  power: (base, exponent) => sql`power(${base}, ${exponent})`,
  floor: (value) => sql`floor(${value})`,
  ceil: (value) => sql`ceil(${value})`,
  compare: (sign, left, right) => sql`(${left} ${sql.raw(sign)} ${right})`,
  isNull: (value) => sql`(${value} is null)`,
  coalesce: (value, otherwise) => sql`coalesce(${value}, ${otherwise})`,
  and: (conditions) => sql`(${sql.join(conditions, sql` and `)})`,
  or: (conditions) => sql`(${sql.join(conditions, sql` or `)})`,
  not: (condition) => sql`(not ${condition})`,
  choose: (cases, otherwise) =>
    cases.length === 0
      ? otherwise
      : sql`case ${sql.join(
          cases.map(([condition, value]) => sql`when ${condition} then ${value}`),
          sql` `,
        )} else ${otherwise} end`,
} satisfies Partial<FormulaWords<SQL>>

/** The parts in which the engines' DDL differs. */
interface TableStyle {
  quote(name: string): string
  types: Record<StorageKind, string>
  /** Quoted name of the index over these columns. */
  indexName(table: string, name: string): string
  /** A default value as a literal, because DDL takes no bound values. */
  literal(value: Exclude<CellValue, null>): string
}

/** DDL that all engines share. */
export function standardTables({ quote, types, indexName, literal }: TableStyle) {
  const list = (columns: string[]) => columns.map(quote).join(', ')
  const uniqueName = (table: string, name: string) => indexName(table, `${name}__unique`)
  function column({ name, storage, required, defaultValue, references }: ColumnDefinition): string {
    const parts = [quote(name), references?.type ?? types[storage]]
    if (required) parts.push('not null')
    if (defaultValue !== null) parts.push(`default ${literal(defaultValue)}`)
    return parts.join(' ')
  }
  // MySQL ignores references that are part of a column.
  const foreignKey = ({ name, references }: ColumnDefinition): string[] =>
    references
      ? [`foreign key (${quote(name)}) references ${quote(references.table)} (${quote(references.column)})`]
      : []
  return {
    createTable: (name, columns) => [
      ddl(
        `create table ${quote(name)} (${[...columns.map(column), ...columns.flatMap(foreignKey)].join(', ')})`,
      ),
    ],
    addColumn: (table, definition) => [ddl(`alter table ${quote(table)} add column ${column(definition)}`)],
    renameColumn: (table, from, to) => [
      ddl(`alter table ${quote(table)} rename column ${quote(from)} to ${quote(to)}`),
    ],
    dropColumn: (table, name) => [ddl(`alter table ${quote(table)} drop column ${quote(name)}`)],
    renameTable: (from, to) => [ddl(`alter table ${quote(from)} rename to ${quote(to)}`)],
    dropTable: (table) => [ddl(`drop table if exists ${quote(table)}`)],
    createIndex: (table, columns, namedAfter = table) => [
      ddl(`create index ${indexName(namedAfter, columns.join('_'))} on ${quote(table)} (${list(columns)})`),
    ],
    createUniqueIndex: (table, columns, namedAfter = table) => [
      ddl(
        `create unique index ${uniqueName(namedAfter, columns.join('_'))} on ${quote(table)} (${list(columns)})`,
      ),
    ],
    dropUniqueIndex: (table, name) => [ddl(`drop index if exists ${uniqueName(table, name)}`)],
    // Indexes are dropped with the column.
    dropIndexesOf: () => [],
    dropAutomaticIndex: (name) => [ddl(`drop index if exists ${quote(name)}`)],
  } satisfies Partial<Dialect>
}

/** A DDL statement, which has no bound values. */
export const ddl = (text: string): Statement => ({ sql: text, params: [] })

/** The usual condition of an update. */
export const whereSelected: Dialect['whereSelected'] = ({ where }) => where

/** The usual `insert … select`. */
export const insertSelected = ({ into, columns, constants, values, source }: SelectedRows): SQL =>
  sql`insert into ${into} (${sql.join(columns, sql`, `)})
    select ${sql.join([...constants, ...values], sql`, `)} ${source}`

/** Index of an option in its field's list; NULL for other values. */
export function optionOrder(column: SQL, titles: string[]): SQL {
  if (titles.length === 0) return column
  const cases = titles.map((title, index) => sql`when ${title} then ${sql.raw(String(index))}`)
  return sql`case ${column} ${sql.join(cases, sql` `)} end`
}

/** Normalizes the fraction of a time of day to the stored form. MySQL's times may be negative or exceed a day. */
export function storedTime(text: string): string {
  const [whole = '', fraction = ''] = text.split('.', 2)
  const digits = fractionDigits(fraction)
  return digits === '' ? whole : `${whole}.${digits}`
}

/** `cell` and `once` of engines that name values in a subquery. */
export function namedValues(
  cell: (column: SQL | undefined, form: CellForm) => SQL,
  bound: (values: SQL[], names: string[], use: (values: SQL[]) => SQL) => SQL,
): Pick<FormulaWords<SQL>, 'cell' | 'once'> {
  return {
    cell: (column, form, name) =>
      name === null ? cell(column, form) : bound([column], [name], ([value]) => cell(value, form)),
    once: (values, names, use) =>
      bound(
        values.map((value) => value.sql),
        names,
        use,
      ),
  }
}

/** The summaries that engines write differently; `value` is a value, or NULL if it is empty. */
type EngineSummaries = Record<
  Exclude<SummaryPart, 'count' | 'filled' | 'unique' | 'min' | 'max'>,
  (column: SQL, from: SQL) => SQL
> & { value(column: SQL): SQL }

/** All summaries of an engine: its own, and those that are the same everywhere. */
export function summaryBy({ value, ...parts }: EngineSummaries): QueryDialect['summary'] {
  const all: Record<SummaryPart, (column: SQL, from: SQL) => SQL> = {
    ...parts,
    count: () => sql`count(*)`,
    filled: (column) => sql`count(${value(column)})`,
    unique: (column) => sql`count(distinct ${value(column)})`,
    min: (column) => sql`min(${column})`,
    max: (column) => sql`max(${column})`,
  }
  return (part, column, from) => all[part](column, from)
}

/** Group summaries for which the engine has no aggregate. */
type Special = Partial<Record<SummaryPart, (column: SQL, keys: SQL) => GroupSummary>>

/** Group summaries by the engine's aggregates, except for the `special` parts. */
export const groupSummaryBy =
  (summary: QueryDialect['summary'], special: Special = {}): QueryDialect['groupSummary'] =>
  (part, column, keys) =>
    special[part]?.(column, keys) ?? { rows: [], over: () => summary(part, column, sql``) }

/** A median for engines without one, from each row's position in its group and the group's size. */
export function medianByPlace(column: SQL, keys: SQL): GroupSummary {
  // Rows without a value are in a separate partition, so that they are not counted.
  const place = sql`row_number() over (partition by ${keys}, ${column} is null order by ${column})`
  const size = sql`count(${column}) over (partition by ${keys})`
  return {
    rows: [place, size],
    over: ([
      at,
      all,
    ]) => sql`avg(case when ${column} is not null and ${at} * 2 >= ${all} and ${at} * 2 <= ${all} + 2
      then ${column} + 0e0 end)`,
  }
}

/** The standard deviation of a population, from each row's distance to the mean of its group. */
export const stddevByMean = (column: SQL, keys: SQL): GroupSummary => ({
  rows: [sql`avg(${column}) over (partition by ${keys})`],
  over: ([mean]) => sql`sqrt(avg((${column} - ${mean}) * (${column} - ${mean})))`,
})

/**
 * Casts the parameters of a rendered statement to the driver's type. Dialects encode values before rendering,
 * so that the driver accepts each.
 */
export const bound = (params: readonly unknown[]): never[] => params as never[]
