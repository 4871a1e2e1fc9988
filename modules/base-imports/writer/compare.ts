import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { readList } from '../../../src/core/fields/list-value.ts'

/** Difference of numbers that is due to the order of operations. */
const TOLERANCE = 1e-9
const INSTANT = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}.*)?$/

/**
 * True if a computed value here is that of the source. Numbers may differ in their last digits, dates in their notation and
 * in fractions of seconds, and a truth is the number 1; a value that the source could not compute is empty here. Lists are
 * compared without order.
 */
export function isSameValue(
  expected: unknown,
  ours: CellValue,
  { isList = false, emptyIsZero = false } = {},
): boolean {
  const wanted = flat(expected)
  const found = (isList ? readList(ours) : [ours]).filter((one) => !isEmpty(one))
  if (wanted.length === 0) {
    return found.every((one) => one === false || (emptyIsZero && one === 0))
  }
  if (found.length === wanted.length) {
    if (wanted.length === 1) return isSameScalar(wanted[0], found[0])
    const texts = (list: unknown[]) => list.map(textOf).toSorted()
    const [these, those] = [texts(wanted), texts(found)]
    return these.every((text, index) => isSameScalar(text, those[index]))
  }
  // A list as one text.
  return !isList && found.length === 1 && wanted.map(textOf).join(', ') === textOf(found[0])
}

const isEmpty = (value: unknown): boolean =>
  value === null || value === undefined || value === '' || isFault(value)

/** What Airtable gives for a value that it cannot compute: `{ error: '#ERROR!' }` and `{ specialValue: 'NaN' }`. */
const isFault = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && ('error' in value || 'specialValue' in value)

function flat(value: unknown): unknown[] {
  const list = Array.isArray(value) ? value.flat(Number.POSITIVE_INFINITY) : [value]
  return list.filter((one) => !isEmpty(one))
}

function isSameScalar(expected: unknown, ours: unknown): boolean {
  const [wanted, found] = [textOf(expected), textOf(ours)]
  if (wanted === found) return true
  const [a, b] = [numberOf(wanted), numberOf(found)]
  if (a !== null && b !== null) return Math.abs(a - b) <= TOLERANCE * Math.max(1, Math.abs(a), Math.abs(b))
  // NaN, for a text that is no instant, is not equal to itself.
  if (INSTANT.test(wanted) && INSTANT.test(found)) return secondOf(wanted) === secondOf(found)
  return false
}

/** Seconds since 1970, without fractions: the creation times of records have none here. */
function secondOf(text: string): number {
  const hasZone = text.length <= 10 || /(?:Z|[+-]\d{2}:?\d{2})$/.test(text)
  return Math.floor(Date.parse(`${text.replace(' ', 'T')}${hasZone ? '' : 'Z'}`) / 1000)
}

const numberOf = (text: string): number | null =>
  /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(text) ? Number(text) : null

function textOf(value: unknown): string {
  if (value === true) return '1'
  if (value === false) return '0'
  if (typeof value !== 'object' || value === null) return String(value ?? '').trim()
  const { name, text, label, filename, url, email } = value as Record<string, unknown>
  return String(name ?? text ?? label ?? filename ?? url ?? email ?? JSON.stringify(value))
}
