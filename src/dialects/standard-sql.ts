import { type SQL, sql } from 'drizzle-orm'
import { CasingCache } from 'drizzle-orm/casing'
import { fractionDigits } from '../core/dates.ts'
import { AppError } from '../core/errors.ts'
import { ExactNumber } from '../core/exact-decimal.ts'
import type { FilterValue } from '../core/filters/primitives.ts'
import type { FormulaWords } from '../core/formula/words.ts'
import type { SummaryPart } from '../core/summaries.ts'
import { m } from '../messages.gen.ts'
import type { GroupSummary, QueryDialect, SelectedRows, Statement } from './dialect.ts'

/**
 * Turns composed SQL into text and bound values, with an engine's own quotes and placeholders. What
 * binds more than `maxBound` values is refused with BAD_REQUEST.
 */
export function createRender(
  quote: (name: string) => string,
  placeholder: (index: number) => string,
  maxBound = Number.POSITIVE_INFINITY,
) {
  // Column names stay as they are.
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

/** Most digits in front of and behind the point of a `decimal(65,30)`, which is the largest of MySQL. */
const [MAX_WHOLE, MAX_DECIMALS] = [35, 30]

/** Right side of a comparison. Numbers are bound as doubles, which have fewer digits than some columns. */
function operand(value: FilterValue): SQL {
  if (!(value instanceof ExactNumber)) return sql`${value}`
  const [whole = '', decimals = ''] = value.text.replace('-', '').split('.')
  if (whole.length > MAX_WHOLE || decimals.length > MAX_DECIMALS) return sql`${Number(value.text)}`
  return sql`cast(${value.text} as decimal(65, ${sql.raw(String(decimals.length))}))`
}

/** Vocabulary shared by all engines with a boolean type. */
export const standardWords = {
  isNull: (expression) => sql`${expression} is null`,
  eq: (expression, value) => sql`${expression} = ${operand(value)}`,
  compare: (expression, sign, value) => sql`${expression} ${sql.raw(sign)} ${operand(value)}`,
  inList: (expression, values) => sql`${expression} in (${sql.join(values.map(operand), sql`, `)})`,
  and: (conditions) => sql`(${sql.join(conditions, sql` and `)})`,
  or: (conditions) => sql`(${sql.join(conditions, sql` or `)})`,
  not: (condition) => sql`not (${condition})`,
  constant: (value) => sql.raw(value ? 'true' : 'false'),
  optionOrder,
  exactText: (expression) => expression,
} satisfies Partial<QueryDialect>

/** Vocabulary of formulas that is the same in every engine. */
export const standardFormula = {
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

/** A time of day in its stored form, whose fraction has no zeros too many. A span of MySQL may be negative or days long. */
export function storedTime(text: string): string {
  const [whole = '', fraction = ''] = text.split('.', 2)
  const digits = fractionDigits(fraction)
  return digits === '' ? whole : `${whole}.${digits}`
}

/** Computation of summaries over groups for which the engine has no aggregate. */
type Special = Partial<Record<SummaryPart, (column: SQL, keys: SQL) => GroupSummary>>

/** Summaries of groups by the engine's own aggregates, save for the `special` parts. */
export const groupSummaryBy =
  (summary: QueryDialect['summary'], special: Special = {}): QueryDialect['groupSummary'] =>
  (part, column, keys) =>
    special[part]?.(column, keys) ?? { rows: [], over: () => summary(part, column, sql``) }

/** A median for engines without one, from each row's position in its group and the group's size. */
export function medianByPlace(column: SQL, keys: SQL): GroupSummary {
  // Rows without a value form a partition of their own, so that they are not counted.
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
 * Parameters of a rendered statement for a driver. Each driver has a type of its own for what it binds; dialects encode
 * values before they render, so every value is one that the engine's driver takes.
 */
export const bound = (params: readonly unknown[]): never[] => params as never[]
