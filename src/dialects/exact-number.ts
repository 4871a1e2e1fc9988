import type { CellValue } from '../core/fields/field-type.ts'
import { trimTrailing } from '../core/trim-characters.ts'

/** Decimal digits that a double always preserves. */
const EXACT_DIGITS = 15
const PLAIN = /^-?\d+(?:\.\d+)?$/

/**
 * Converts a number that a driver returns as text if JavaScript represents it exactly. Otherwise it stays
 * text, as does infinity, which JSON lacks. Other values are unchanged.
 * @example exactNumber('12.50') // 12.5
 * @example exactNumber('9007199254740993') // '9007199254740993'
 */
export function exactNumber(value: unknown): CellValue {
  if (typeof value === 'bigint') return exactNumber(String(value))
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value)
  if (typeof value !== 'string') return (value ?? null) as CellValue
  // Nearly all numbers of a database: fewer digits than a double preserves.
  if (value.length <= EXACT_DIGITS && PLAIN.test(value)) return Number(value)
  const match = /^-?(\d+)(?:\.(\d+))?$/.exec(value)
  // "NaN" and other non-numbers stay text.
  if (!match) return value
  const [, whole = '', fraction = ''] = match
  const decimals = trimTrailing(fraction, '0')
  const number = Number(value)
  if (decimals === '') return Number.isSafeInteger(number) ? number : value
  const digits = `${whole}${decimals}`.replace(/^0+/, '').length
  return digits <= EXACT_DIGITS || String(number) === value ? number : value
}
