import type { Detected } from './detect.ts'
import { parseNumber } from './number-text.ts'

/** 1234, 1,234, -1.5, 1.5e-3; an exponent needs a point or a sign beside it, or 12E4 would be a number. */
const ENGLISH = /^[-−]?(?:\d+|\d{1,3}(?:,\d{3})+)(?:\.\d+)?(?:(?<=\.\d+)e[+-]?\d+|e[+-]\d+)?$/i
/** 1234, 1.234, 1 234, -1,5. */
const CONTINENTAL = /^[-−]?(?:\d+|\d{1,3}(?:[.\s\u00a0\u202f]\d{3})+)(?:,\d+)?$/
/** A double keeps no more digits than these. */
const MAX_DIGITS = 17
const MAX_SHOWN = 8

/** Signs that stand for one currency where nothing else is said. */
const SIGNS: Record<string, { code: string; locale: string }> = {
  $: { code: 'USD', locale: 'en-US' },
}

/**
 * Whole numbers, decimals, or amounts where all values begin with $. Leading zeros and plus signs are
 * of codes and telephone numbers, which must come out as they went in.
 */
export function detectNumbers(values: string[]): Detected {
  const trimmed = values.map((value) => value.trim())
  const sign = Object.keys(SIGNS).find((mark) => trimmed.every((value) => unsigned(value).startsWith(mark)))
  const bare = sign === undefined ? trimmed : trimmed.map((value) => value.replace(sign, ''))
  if (!bare.every(isPlain) || !hasOneForm(bare)) return null
  const precision = Math.min(MAX_SHOWN, Math.max(...bare.map(decimalsOf)))
  if (sign !== undefined)
    return { type: 'Currency', options: { ...SIGNS[sign], precision: Math.max(2, precision) } }
  if (bare.every((value) => Number.isSafeInteger(parseNumber(value)))) return { type: 'Number' }
  if (
    bare.some((value) => Number.isInteger(parseNumber(value)) && !Number.isSafeInteger(parseNumber(value)))
  ) {
    return null
  }
  return { type: 'Decimal', options: { precision: Math.max(1, precision) } }
}

const unsigned = (value: string): string => value.replace(/^[-−]\s*/, '')

/** A number of digits that a double keeps, without leading zeros. */
function isPlain(value: string): boolean {
  const digits = value.replace(/e.*$/i, '').replace(/\D/g, '').replace(/^0+/, '')
  return digits.length <= MAX_DIGITS && !/^[-−]?0\d/.test(value) && parseNumber(value) !== null
}

/** All values in one way of writing, and in one that each value alone would be read in, too. */
function hasOneForm(values: string[]): boolean {
  if (values.every((value) => ENGLISH.test(value))) return true
  return values.every((value) => CONTINENTAL.test(value) && parseNumber(value) === parseNumber(value, ','))
}

function decimalsOf(value: string): number {
  const [, fraction = ''] = /[.,](\d+)(?:e.*)?$/i.exec(value) ?? []
  // "1,234" has a group behind its comma, not a fraction.
  return Number.isInteger(parseNumber(value)) ? 0 : fraction.length
}
