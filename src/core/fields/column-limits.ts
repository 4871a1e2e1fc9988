import { fractionDigits } from '../dates.ts'
import { readExactNumber } from '../exact-decimal.ts'
import { m } from '../messages.gen.ts'
import type { Field } from './field.ts'
import { type Read, readFail, readOk } from './field-type.ts'
import { fieldType } from './index.ts'

/** Byte sizes of integer types in PostgreSQL and MySQL. `bigint` is handled by `readLong`. */
const BYTES: Record<string, number> = { tinyint: 1, smallint: 2, mediumint: 3, int: 4, integer: 4 }
const WHOLE = /^(tinyint|smallint|mediumint|int|integer)\b(?:\(\d+\))?( unsigned)?/i
const DECIMAL = /^(?:numeric|decimal)\s*\((\d+)(?:,\s*(\d+))?\)( unsigned)?/i

const LONG = /^bigint\b(?:\(\d+\))?( unsigned)?/i
const LONG_TEXT = /^[+-]?\d{16,30}$/

const EXACT_DECIMAL = /^(numeric|decimal)\b/i
const FLOATING = /^(real|double|float|numeric|decimal)\b/i
/** Cell text of numbers that JSON cannot represent. */
const NO_NUMBER = /^(-?Infinity|NaN)$/

/**
 * Reads a number that a double cannot represent exactly, for `bigint` and exact decimal columns; it stays text. So do
 * `Infinity` and `NaN` in floating-point columns. Null for other input, which the field's type reads.
 */
export function readLong(
  { databaseType, type }: Pick<Field, 'databaseType' | 'type'>,
  input: unknown,
): Read | null {
  if (databaseType === null || databaseType.endsWith(']') || typeof input !== 'string') return null
  const { storage } = fieldType(type)
  if (FLOATING.test(databaseType) && storage === 'real' && NO_NUMBER.test(input)) return readOk(input)
  if (EXACT_DECIMAL.test(databaseType) && (storage === 'real' || storage === 'integer')) {
    const exact = readExactNumber(input)
    return exact && (storage === 'real' || !exact.text.includes('.')) ? readOk(exact.text) : null
  }
  const [column, unsigned] = LONG.exec(databaseType) ?? []
  if (column === undefined || type !== 'Number' || !LONG_TEXT.test(input.trim())) return null
  const value = BigInt(input.trim().replace('+', ''))
  if (value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER)) return null
  const [least, most] = unsigned ? [0n, 2n ** 64n - 1n] : [-(2n ** 63n), 2n ** 63n - 1n]
  if (value < least || value > most)
    return readFail(m.value_error_column_range({ least: String(least), most: String(most) }))
  return readOk(String(value))
}

interface NumberRange {
  least: number
  most: number
}

/**
 * The range of numbers that a connected database's column accepts, from its type; null if unlimited.
 * @example numberRange({ databaseType: 'smallint' }) // { least: -32768, most: 32767 }
 */
export function numberRange({ databaseType }: Pick<Field, 'databaseType'>): NumberRange | null {
  if (databaseType === null || databaseType.endsWith(']')) return null
  const [whole, type = '', unsigned] = WHOLE.exec(databaseType) ?? []
  if (whole) {
    const span = 2 ** (8 * (BYTES[type.toLowerCase()] ?? 4))
    return unsigned ? { least: 0, most: span - 1 } : { least: -span / 2, most: span / 2 - 1 }
  }
  const [decimal, digits, scale = '0', positive] = DECIMAL.exec(databaseType) ?? []
  if (!decimal) return null
  const most = 10 ** (Number(digits) - Number(scale)) - 10 ** -Number(scale)
  return { least: positive ? 0 : -most, most }
}

/** Checks a number against its column's range, because a database's own error would not name the field. */
export function withinRange(range: NumberRange | null, read: Read): Read {
  if (range === null || !read.ok || typeof read.value !== 'number') return read
  const { least, most } = range
  if (read.value >= least && read.value <= most) return read
  return readFail(m.value_error_column_range({ least: String(least), most: String(most) }))
}

const SIZED_TEXT = /^(?:n?(?:var)?char|character(?: varying)?)\s*\((\d+)\)$/i

/**
 * Maximum characters in a connected database's column, from its type; null if unlimited.
 * @example lengthLimit({ databaseType: 'character varying(45)' }) // 45
 */
export function lengthLimit({ databaseType }: Pick<Field, 'databaseType'>): number | null {
  const [, size] = (databaseType && SIZED_TEXT.exec(databaseType)) || []
  return size === undefined ? null : Number(size)
}

/** Checks a text against its column's length, because a database's own error would not name the field. */
export function withinColumn(limit: number | null, read: Read): Read {
  if (limit === null || !read.ok || typeof read.value !== 'string') return read
  // Databases count code points; a JavaScript string may need two units for one.
  const isLong = read.value.length > limit && [...read.value].length > limit
  return isLong ? readFail(m.value_error_column_length({ max: limit })) : read
}

/** `time(0) without time zone`, `timestamp with time zone` in PostgreSQL; `time`, `datetime(6)` in MySQL. */
const CLOCK = /^(?:time|timestamp|datetime)(?:tz)?(?:\((\d)\))?( with(?:out)? time zone)?$/i
/** Default fraction digits of PostgreSQL types; MySQL's default is 0. */
const POSTGRES_DIGITS = 6

/**
 * Number of fraction digits of a second in a connected database's column, from its type; null for types
 * without a time.
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
 * Fits a time to its column's precision, as in base tables: truncates instants and rejects times of day with
 * too many digits. Databases would round both silently, 23:59:59.9 to the next day.
 */
export function withinFraction(
  { type, databaseType }: Pick<Field, 'type' | 'databaseType'>,
  limit: number | null,
  read: Read,
): Read {
  if (limit === null || !read.ok || typeof read.value !== 'string') return read
  const digits = FRACTION.exec(read.value)?.[1]
  if (digits === undefined) return read
  const fraction = fractionDigits(digits.slice(0, limit))
  if (fraction === fractionDigits(digits)) return read
  if (fieldType(type).storage === 'time')
    return readFail(
      limit === 0
        ? m.value_error_whole_seconds({ type: String(databaseType) })
        : m.value_error_second_decimals({ type: String(databaseType), max: limit }),
    )
  return readOk(read.value.replace(FRACTION, fraction && `.${fraction}`))
}
