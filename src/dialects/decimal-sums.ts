import { type SQL, sql } from 'drizzle-orm'

/**
 * Sums and averages of decimal numbers, which most columns store as doubles: 0.1 + 0.2 is 0.3 on every engine. Plain
 * addition of doubles leaves rounding errors (90.76999999999998), so that a filter for 90.77 would not match. An
 * average is the sum divided by the count, both as doubles, so that all engines round alike.
 */

/** Doubles preserve decimal numbers of 15 digits; whole numbers from this size on need no correction. */
const EXACT_BELOW = sql.raw('1e15')

/** Casts through text: the shortest text that parses to the same double is the decimal that was entered. */
const postgresExact = (value: SQL): SQL => sql`(${value})::text::numeric`

/** The sum of numbers of any type, NULL without values. */
export const postgresSum = (value: SQL, isDistinct = false): SQL =>
  sql`sum(${distinct(isDistinct)}${postgresExact(value)})::double precision`

/** A double rounded to 15 digits. */
export const postgresRounded = (value: SQL): SQL =>
  sql`case when abs(${value}) < ${EXACT_BELOW} then (${value})::numeric::double precision else ${value} end`

/** Range in which `decimal(65,30)` keeps all digits of a double: 35 before the point, 30 after it. */
const [LEAST, MOST] = [sql.raw('1e-14'), sql.raw('1e34')]

/** Options of sums in MySQL. */
interface MysqlNumbers {
  isDistinct?: boolean
  /** True for whole numbers, which MySQL sums exactly. */
  isWhole?: boolean
}

/** The sum of numbers, NULL without values. Numbers outside the range of decimals are added as doubles. */
export function mysqlSum(value: SQL, { isDistinct = false, isWhole = false }: MysqlNumbers = {}): SQL {
  const plain = sql`sum(${distinct(isDistinct)}${value})`
  const exact = sql`sum(${distinct(isDistinct)}cast(${value} as decimal(65, 30)))`
  // Next to another aggregate, MariaDB 10.11 computes a wrong distinct sum.
  if (isDistinct && !isWhole) return sql`cast(${exact} as double)`
  if (isWhole) return sql`cast(${plain} as double)`
  return sql`cast(if(max(abs(${value})) between ${LEAST} and ${MOST}, ${exact}, ${plain}) as double)`
}

/** The average of numbers, NULL without values. */
export const mysqlAverage = (value: SQL, numbers: MysqlNumbers = {}): SQL =>
  sql`(${mysqlSum(value, numbers)} / nullif(count(${distinct(numbers.isDistinct ?? false)}${value}), 0))`

/** A double rounded to 15 digits. */
export const sqliteRounded = (value: SQL): SQL =>
  sql`case when abs(${value}) < ${EXACT_BELOW} then cast(printf('%.15g', ${value}) as real) else ${value} end`

/**
 * The sum of numbers, 0 without values. Unlike `sum()` of whole numbers, `total()` cannot overflow. It uses
 * compensated summation (https://sqlite.org/lang_aggfunc.html), so that only the last digits need rounding.
 */
export const sqliteSum = (value: SQL): SQL => sqliteRounded(sql`total(${value})`)

/** The average of numbers, NULL without values. */
export const sqliteAverage = (value: SQL): SQL => sql`(${sqliteSum(value)} / nullif(count(${value}), 0))`

const distinct = (isDistinct: boolean): SQL => sql.raw(isDistinct ? 'distinct ' : '')
