import type { Detected } from './detect.ts'
import { type DecimalMark, parseNumber } from './number-text.ts'

/** 1234, 1,234, -1.5, .5, 1.5e-3; an exponent needs a point or a sign beside it, or 12E4 would be a number. */
const ENGLISH = /^[-−]?(?:(?:\d+|\d{1,3}(?:,\d{3})+)(?:\.\d+)?|\.\d+)(?:(?<=\.\d+)e[+-]?\d+|e[+-]\d+)?$/i
/** 1234, 1.234, 1 234, -1,5, ,5. */
const CONTINENTAL = /^[-−]?(?:(?:\d+|\d{1,3}(?:[.\s\u00a0\u202f]\d{3})+)(?:,\d+)?|,\d+)$/
/** A comma, or a point, behind which decimals stand whatever the rest of the file is like: not three digits. */
const COMMA_DECIMALS = /,(?:\d{1,2}|\d{4,})$|\.\d{3},\d+$|^[-−]?0?,\d+$/
const POINT_DECIMALS = /\.(?:\d{1,2}|\d{4,})$|,\d{3}\.\d+$|^[-−]?0?\.\d+$/
/** A double keeps no more digits than these. */
const MAX_DIGITS = 17
const MAX_SHOWN = 8

/** Signs that stand for one currency where nothing else is said, and the decimals that its amounts have. */
const SIGNS: Record<string, { code: string; locale: string; decimals: number }> = {
  $: { code: 'USD', locale: 'en-US', decimals: 2 },
  '€': { code: 'EUR', locale: 'de-DE', decimals: 2 },
  '£': { code: 'GBP', locale: 'en-GB', decimals: 2 },
  '¥': { code: 'JPY', locale: 'ja-JP', decimals: 0 },
  '₹': { code: 'INR', locale: 'en-IN', decimals: 2 },
}

/**
 * Whole numbers, decimals, amounts where all values have one currency's sign, or shares where all end with %.
 * Leading zeros and plus signs are of codes and telephone numbers, which must come out as they went in.
 *
 * @param decimal the mark before the decimals in this file, where a number leaves it open
 */
export function detectNumbers(values: string[], decimal: DecimalMark = '.'): Detected {
  const trimmed = values.map((value) => value.trim())
  const sign = [...Object.keys(SIGNS), '%'].find((mark) => hasSign(trimmed[0] ?? '', mark))
  if (sign !== undefined && !trimmed.every((value) => hasSign(value, sign))) return null
  const bare = sign === undefined ? trimmed : trimmed.map((value) => withoutSign(value, sign))
  if (!bare.every((value) => isPlain(value, decimal)) || !hasOneForm(bare, decimal)) return null
  const precision = Math.min(MAX_SHOWN, Math.max(...bare.map((value) => decimalsOf(value, decimal))))
  if (sign === '%') return { type: 'Percent', options: { precision } }
  const currency = sign === undefined ? undefined : SIGNS[sign]
  if (currency !== undefined) {
    const { decimals, ...options } = currency
    return { type: 'Currency', options: { ...options, precision: Math.max(decimals, precision) } }
  }
  const numbers = bare.map((value) => parseNumber(value, decimal))
  if (numbers.every((number) => Number.isSafeInteger(number))) return { type: 'Number' }
  if (numbers.some((number) => Number.isInteger(number) && !Number.isSafeInteger(number))) return null
  return { type: 'Decimal', options: { precision: Math.max(1, precision) } }
}

/**
 * The mark before the decimals of a file: a comma where some column can be read in no other way and none has
 * a point there. It says what 1.000 is in a column that leaves it open.
 */
export function detectDecimalMark(columns: string[][]): DecimalMark {
  let isComma = false
  for (const values of columns) {
    const bare = values.map(withoutUnit)
    if (bare.every((value) => ENGLISH.test(value)) && bare.some((value) => POINT_DECIMALS.test(value)))
      return '.'
    isComma ||=
      bare.every((value) => CONTINENTAL.test(value)) && bare.some((value) => COMMA_DECIMALS.test(value))
  }
  return isComma ? ',' : '.'
}

const withoutUnit = (value: string): string => {
  const trimmed = value.trim()
  const sign = [...Object.keys(SIGNS), '%'].find((mark) => hasSign(trimmed, mark))
  return sign === undefined ? trimmed : withoutSign(trimmed, sign)
}

/** In front of an amount, behind it, or within the brackets of a loss; a percent sign stands behind. */
function hasSign(value: string, sign: string): boolean {
  const inside = value.replace(/^\((.+)\)$/, '$1')
  if (sign === '%') return value.endsWith(sign)
  return inside.replace(/^[-−]\s*/, '').startsWith(sign) || inside.endsWith(sign)
}

const withoutSign = (value: string, sign: string): string =>
  value
    .replace(/^\((.+)\)$/, '-$1')
    .replace(sign, '')
    .trim()
    .replace(/^([-−])\s+/, '$1')

/** A number of digits that a double keeps, without leading zeros. */
function isPlain(value: string, decimal: DecimalMark): boolean {
  const digits = value.replace(/e.*$/i, '').replace(/\D/g, '').replace(/^0+/, '')
  return digits.length <= MAX_DIGITS && !/^[-−]?0\d/.test(value) && parseNumber(value, decimal) !== null
}

/** All values in one way of writing, and in one that each value alone would be read in, too. */
function hasOneForm(values: string[], decimal: DecimalMark): boolean {
  if (decimal === ',') return values.every((value) => CONTINENTAL.test(value))
  if (values.every((value) => ENGLISH.test(value))) return true
  return values.every((value) => CONTINENTAL.test(value) && parseNumber(value) === parseNumber(value, ','))
}

function decimalsOf(value: string, decimal: DecimalMark): number {
  const [, fraction = ''] = /[.,](\d+)(?:e.*)?$/i.exec(value) ?? []
  // "1,234" has a group behind its comma, not a fraction.
  return Number.isInteger(parseNumber(value, decimal)) ? 0 : fraction.length
}
