import * as z from 'zod/mini'
import { m } from '../messages.gen.ts'
import { defineFieldType, describeValue, formatPlain, type Read, readFail, readOk } from './field-type.ts'
import { parseNumber, parseShare, readNumberText } from './number-text.ts'

/** Reads a finite number from the API: a JSON number, or text such as `"1.5"`. */
export function readNumber(input: unknown): Read {
  const value = typeof input === 'string' ? readNumberText(input) : input
  if (typeof value !== 'number' || !Number.isFinite(value)) {
    return readFail(m.value_error_number({ value: describeValue(input) }))
  }
  return readOk(value === 0 ? 0 : value) // normalizes -0, which text storage would distinguish from 0
}

/** Reads a whole number within ±2^53 - 1, which every engine and JSON keep exactly. */
export function readInteger(input: unknown): Read {
  const read = readNumber(input)
  if (!read.ok) return read
  if (!Number.isInteger(read.value))
    return readFail(m.value_error_whole_number({ value: describeValue(input) }))
  return Number.isSafeInteger(read.value)
    ? read
    : readFail(m.value_error_number_size({ value: describeValue(input) }))
}

/** An integer. Fractions are rejected, never truncated. */
export const number = defineFieldType({
  name: 'Number',
  label: m.field_type_number,
  group: 'number',
  help: m.field_type_number_help,
  example: '1,250',
  storage: 'integer',
  options: z.object({ thousands: z._default(z.boolean(), false) }),
  filters: 'number',
  summaries: 'number',
  naming: 'possible',
  family: 'integer',
  fractional: 'Decimal',
  isAmount: true,
  fill: 'number',
  scannable: true,
  formRules: ['number', 'step'],
  read: readInteger,
  parse(text, _options, decimal) {
    const value = parseShare(text, decimal)
    return Number.isSafeInteger(value) ? value : null
  },
  format: formatPlain,
  databaseTypes: { sqlite3: 'integer', pg: 'bigint' },
})

/** Maximum decimals that a cell shows; the stored value is never rounded (ui §6). */
export const MAX_PRECISION = 8

const decimals = z.int().check(z.minimum(0), z.maximum(MAX_PRECISION))

/** Schema of the number of displayed decimals. */
export const precision = (fallback: number) => z._default(decimals, fallback)

/** Shows all digits without rounding errors of binary fractions: 0.1 + 0.2 is 0.3. */
export const ALL_DIGITS = {
  maximumSignificantDigits: 15,
  maximumFractionDigits: 0,
  roundingPriority: 'morePrecision',
} as const satisfies Intl.NumberFormatOptions

/** Formats a sum or average with the decimals of the cells, and with two for the average of whole numbers. */
const formatSummary = (value: number, precision: number | null, locale: string): string =>
  new Intl.NumberFormat(
    locale,
    precision === null ? ALL_DIGITS : { maximumFractionDigits: Math.max(2, precision) },
  ).format(value)

/** A number with a fraction. */
export const decimal = defineFieldType({
  name: 'Decimal',
  label: m.field_type_decimal,
  group: 'number',
  help: m.field_type_decimal_help,
  example: '31.95',
  storage: 'real',
  options: z.object({
    /** Displayed decimals; null: all that the value has. */
    precision: z._default(z.nullable(decimals), 2),
    thousands: z._default(z.boolean(), false),
  }),
  filters: 'number',
  summaries: 'number',
  naming: 'possible',
  family: 'decimal',
  isAmount: true,
  fill: 'number',
  formRules: ['number', 'step'],
  read: readNumber,
  parse: (text, _options, decimal) => parseShare(text, decimal),
  format: formatPlain,
  summaryText: (value, { precision }, locale) => formatSummary(value, precision, locale),
  databaseTypes: { sqlite3: 'decimal', pg: 'decimal' },
})

/** A percentage: the stored value 42 is shown as `42%`. */
export const percent = defineFieldType({
  name: 'Percent',
  label: m.field_type_percent,
  group: 'number',
  help: m.field_type_percent_help,
  example: '42%',
  storage: 'real',
  options: z.object({ bar: z._default(z.boolean(), false), precision: precision(2) }),
  filters: 'number',
  summaries: 'number',
  family: 'decimal',
  isAmount: true,
  fill: 'number',
  formRules: ['number', 'step'],
  read: readNumber,
  // An amount of money is not a percentage.
  parse: (text, _options, decimal) => (/\p{Sc}/u.test(text) ? null : parseNumber(text, decimal)),
  format: formatPlain,
  summaryText: (value, { precision }, locale) => `${formatSummary(value, precision, locale)}%`,
  databaseTypes: { sqlite3: 'double', pg: 'double precision' },
})
