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

/** The elements by their bytes; numbers by their value first. */
export function sortedElements(elements: string[], isNumeric: boolean, isDescending: boolean): string[] {
  const sign = isDescending ? -1 : 1
  const byValue = (left: string, right: string) => (isNumeric ? Number(left) - Number(right) : 0)
  return [...elements].sort((left, right) => sign * (byValue(left, right) || compareText(left, right)))
}

/** The elements from one place to another, both included: whole numbers, counted from 1. */
export const elementsBetween = (elements: string[], from: number, to: number): string[] =>
  elements.slice(Math.max(from, 1) - 1, Math.max(to, 0))
