import { trimTrailing } from './trim-characters.ts'

/** A decimal number without an exponent, such as `-12.50`. */
const PLAIN = /^([+-]?)(\d+)(?:\.(\d*))?$/
/** Decimal digits that a double always preserves. */
const EXACT_DIGITS = 15
const MAX_LENGTH = 400

/**
 * A number that a double would round, such as 9007199254740993, as text without a plus sign, leading zeros or
 * trailing zeros.
 */
export class ExactNumber {
  constructor(readonly text: string) {}

  toString(): string {
    return this.text
  }
}

/** Parses a number that a double would round; null for all other text. */
export function readExactNumber(input: string): ExactNumber | null {
  const text = input.trim()
  const [match, sign = '', whole = '', fraction = ''] =
    text.length <= MAX_LENGTH ? (PLAIN.exec(text) ?? []) : []
  if (match === undefined) return null
  const digits = whole.replace(/^0+(?=\d)/, '')
  const decimals = trimTrailing(fraction, '0')
  const exact = `${sign === '-' ? '-' : ''}${digits}${decimals && `.${decimals}`}`
  if (`${digits}${decimals}`.replace(/^0+/, '').length <= EXACT_DIGITS) return null
  return String(Number(exact)) === exact ? null : new ExactNumber(exact)
}

/** Compares two decimals: negative if the first is smaller, 0 if equal; null if either is not a plain decimal. */
export function compareDecimals(a: string, b: string): number | null {
  const [left, right] = [PLAIN.exec(a), PLAIN.exec(b)]
  if (!left || !right) return null
  const places = Math.max(left[3]?.length ?? 0, right[3]?.length ?? 0)
  const scaled = ([, sign, whole, fraction = '']: RegExpExecArray): bigint =>
    BigInt(`${whole}${fraction.padEnd(places, '0')}`) * (sign === '-' ? -1n : 1n)
  const difference = scaled(left) - scaled(right)
  return difference === 0n ? 0 : difference < 0n ? -1 : 1
}

/** Number of significant decimal digits of a number; infinite for one that is written with an exponent. */
export function significantDigits(number: number): number {
  const [match, , whole = '', fraction = ''] = PLAIN.exec(String(number)) ?? []
  if (match === undefined) return Number.POSITIVE_INFINITY
  const digits = `${whole}${fraction}`.replace(/^0+/, '')
  return fraction === '' ? trimTrailing(digits, '0').length : digits.length
}

/** The exact sum of numbers as they are written; null if a double does not preserve it, or one has an exponent. */
export function sumDecimals(numbers: readonly number[]): number | null {
  const parts = numbers.map((number) => PLAIN.exec(String(number)))
  const places = Math.max(0, ...parts.map((part) => part?.[3]?.length ?? 0))
  let total = 0n
  for (const part of parts) {
    if (!part) return null
    const [, sign, whole, fraction = ''] = part
    total += BigInt(`${whole}${fraction.padEnd(places, '0')}`) * (sign === '-' ? -1n : 1n)
  }
  const sum = Number(`${total}e-${places}`)
  return significantDigits(sum) <= EXACT_DIGITS ? sum : null
}

/**
 * The difference of two numbers without the rounding errors of binary fractions: 0.3 - 0.1 is 0.2. Results
 * with more than 15 digits are those of doubles.
 */
export function subtract(a: number, b: number): number {
  const difference = a - b
  return Math.abs(difference) < 1e15 ? Number(difference.toPrecision(EXACT_DIGITS)) : difference
}
