import type { Datum } from './functions/define.ts'
import { compareText } from './semantics.ts'

/*
 * Lists of formulas, as `evaluate` and SQLite compute them: JSON text of an array of texts. A list without elements is null.
 */

/** Most elements that SPLIT gives. */
export const MAX_ELEMENTS = 1000

/** The elements of a list. */
export const elementsOf = (list: Datum): string[] => (list === null ? [] : JSON.parse(String(list)))

/** The elements as a list. */
export const listOf = (elements: readonly string[]): string | null =>
  elements.length === 0 ? null : JSON.stringify(elements)

/** The parts of a text between the separators; null where there are too many. An empty separator separates nothing. */
export function splitText(text: string, separator: string): string[] | null {
  const parts = separator === '' ? [text] : text.split(separator)
  return parts.length > MAX_ELEMENTS ? null : parts
}

/** Each element once, at its first place. */
export const uniqueElements = (elements: string[]): string[] => [...new Set(elements)]

/** The elements that are not empty. */
export const filledElements = (elements: string[]): string[] => elements.filter((element) => element !== '')

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i

/** Compares numbers by all of their digits, of which a double has 15 for certain. */
function compareNumbers(left: string, right: string): number {
  const apart = Number(left) - Number(right)
  const [a, b] = [NUMBER.exec(left), NUMBER.exec(right)]
  if (apart !== 0 || !a || !b) return apart
  const decimalsOf = ([, , , fraction = '', exponent = '0']: RegExpExecArray) =>
    fraction.length - Number(exponent)
  const decimals = Math.max(decimalsOf(a), decimalsOf(b))
  const scaled = (found: RegExpExecArray) => {
    const [, sign, whole, fraction = ''] = found
    return BigInt(`${sign}${whole}${fraction}${'0'.repeat(decimals - decimalsOf(found))}`)
  }
  const [first, second] = [scaled(a), scaled(b)]
  return first === second ? 0 : first < second ? -1 : 1
}

/** The elements by their bytes; numbers by their value first. */
export function sortedElements(elements: string[], isNumeric: boolean, isDescending: boolean): string[] {
  const sign = isDescending ? -1 : 1
  const byValue = (left: string, right: string) => (isNumeric ? compareNumbers(left, right) : 0)
  return [...elements].sort((left, right) => sign * (byValue(left, right) || compareText(left, right)))
}

/** The elements from one place to another, both included: whole numbers, counted from 1. */
export const elementsBetween = (elements: string[], from: number, to: number): string[] =>
  elements.slice(Math.max(from, 1) - 1, Math.max(to, 0))
