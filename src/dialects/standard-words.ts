import { type SQL, sql } from 'drizzle-orm'
import type { CellValue } from '../core/fields/field-type.ts'
import type { QueryDialect } from './dialect.ts'

/** The words that are the same in every engine which binds truth values as such. */
export const standardWords = {
  isNull: (expression) => sql`${expression} is null`,
  eq: (expression, value) => sql`${expression} = ${value}`,
  compare: (expression, sign, value) => sql`${expression} ${sql.raw(sign)} ${value}`,
  inList: (expression, values) =>
    sql`${expression} in (${sql.join(
      values.map((value) => sql`${value}`),
      sql`, `,
    )})`,
  and: (conditions) => sql`(${sql.join(conditions, sql` and `)})`,
  or: (conditions) => sql`(${sql.join(conditions, sql` or `)})`,
  not: (condition) => sql`not (${condition})`,
  constant: (value) => sql.raw(value ? 'true' : 'false'),
  optionOrder,
} satisfies Partial<QueryDialect>

/** Place of an option in its field's list; NULL for what is none of them. */
export function optionOrder(column: SQL, titles: string[]): SQL {
  if (titles.length === 0) return column
  const cases = titles.map((title, index) => sql`when ${title} then ${sql.raw(String(index))}`)
  return sql`case ${column} ${sql.join(cases, sql` `)} end`
}

/** A time of day as fields keep it, `HH:MM:SS`: an engine may add fractions of a second. MySQL's spans stay whole. */
export const wholeSeconds = (value: unknown): CellValue =>
  value === null ? null : (String(value).split('.', 1)[0] ?? '')
