import { type SQL, sql } from 'drizzle-orm'
import { fractionDigits } from '../core/dates.ts'
import { ExactNumber } from '../core/exact-decimal.ts'
import type { FilterValue } from '../core/filters/dialect-words.ts'
import type { QueryDialect, SelectedRows } from './dialect.ts'

/** Most digits in front of and behind the point of a `decimal(65,30)`, which is the largest of MySQL. */
const [MAX_WHOLE, MAX_DECIMALS] = [35, 30]

/** What a column is compared with. A number is bound as a double, which has fewer digits than some columns. */
function operand(value: FilterValue): SQL {
  if (!(value instanceof ExactNumber)) return sql`${value}`
  const [whole = '', decimals = ''] = value.text.replace('-', '').split('.')
  if (whole.length > MAX_WHOLE || decimals.length > MAX_DECIMALS) return sql`${Number(value.text)}`
  return sql`cast(${value.text} as decimal(65, ${sql.raw(String(decimals.length))}))`
}

/** The words that are the same in every engine which binds truth values as such. */
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

/** The usual `insert … select`. */
export const insertSelected = ({ into, columns, constants, values, source }: SelectedRows): SQL =>
  sql`insert into ${into} (${sql.join(columns, sql`, `)})
    select ${sql.join([...constants, ...values], sql`, `)} ${source}`

/** Place of an option in its field's list; NULL for what is none of them. */
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
