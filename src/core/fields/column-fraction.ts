import { fractionDigits } from '../dates.ts'
import type { Field } from './field.ts'
import { type Read, readFail, readOk } from './field-type.ts'
import { fieldType } from './index.ts'

/** `time(0) without time zone`, `timestamp with time zone` in PostgreSQL; `time`, `datetime(6)` in MySQL. */
const CLOCK = /^(?:time|timestamp|datetime)(?:tz)?(?:\((\d)\))?( with(?:out)? time zone)?$/i
/** Digits that PostgreSQL keeps where a type names none; MySQL keeps none then. */
const POSTGRES_DIGITS = 6

/**
 * How many digits of a second's fraction the column of a connected database keeps, from its type; null for a column
 * without a clock.
 * @example fractionLimit({ databaseType: 'time(0) without time zone' }) // 0
 */
export function fractionLimit({ databaseType }: Pick<Field, 'databaseType'>): number | null {
  const [whole, digits, zone] = (databaseType && CLOCK.exec(databaseType)) || []
  if (whole === undefined) return null
  if (digits !== undefined) return Number(digits)
  return zone === undefined ? 0 : POSTGRES_DIGITS
}

/** A fraction at the end of a stored time of day or instant. */
const FRACTION = /\.(\d+)(?=$|\+00:00$)/

/**
 * Fits a time to its column, as in the base's own tables: an instant loses the digits that the column has no room for,
 * a time of day with such digits is refused. Databases would round either silently, 23:59:59.9 to the next day.
 */
export function withinFraction(
  { type, databaseType }: Pick<Field, 'type' | 'databaseType'>,
  limit: number | null,
  read: Read,
): Read {
  if (limit === null || !read.ok || typeof read.value !== 'string') return read
  const digits = FRACTION.exec(read.value)?.[1]
  if (digits === undefined) return read
  const kept = fractionDigits(digits.slice(0, limit))
  if (kept === fractionDigits(digits)) return read
  if (fieldType(type).storage === 'time')
    return readFail(
      limit === 0
        ? `The column (${databaseType}) keeps whole seconds only`
        : `The column (${databaseType}) keeps up to ${limit} decimal places of a second`,
    )
  return readOk(read.value.replace(FRACTION, kept && `.${kept}`))
}
