import { choiceColor } from './choices.ts'
import type { Detected } from './detected.ts'
import { hints } from './detected.ts'

/** Maximum number of distinct values that become options (spec §5, §9). */
const MAX_OPTIONS = 64
/** Longer values are text, not labels. */
const MAX_LABEL = 50
const MAX_WORDS = 6
/** Minimum number of values that can show repetition. */
const MIN_VALUES = 3
/** Number of distinct values that counts as few for any number of rows. */
const ALWAYS_FEW = 8

/**
 * Detects select options: values that are short, recurring, few compared to the rows, and neither codes,
 * versions, names nor dates. Values with outer whitespace, which a select field would trim, stay text.
 *
 * @param values the non-blank cells
 */
export function detectLabels(values: string[], title: string): Detected {
  if (hints(title, 'name') || hints(title, 'code')) return null
  if (values.length < MIN_VALUES || values.some((value) => value !== value.trim())) return null
  const withComma = new Set(values.filter((value) => value.includes(',')))
  if (withComma.size === 0) return optionsOf('SingleSelect', values)
  // Locations and people ("Hong Kong, China", "Smith, John") are names, not lists.
  return isLists(values) ? optionsOf('MultiSelect', values.flatMap(itemsOf)) : null
}

function optionsOf(type: 'SingleSelect' | 'MultiSelect', items: string[]): Detected {
  const counts = countsOf(items)
  const titles = [...counts.keys()]
  if (titles.length > MAX_OPTIONS || !isFew(titles.length, items.length)) return null
  // Few options are unique to one row; most notes and names are.
  const rare = titles.filter((title) => counts.get(title) === 1).length
  if (rare > Math.max(titles.length / 2, items.length / 100) || !titles.every(isShort)) return null
  if (!titles.some((title) => /[\p{L}\p{N}\p{S}]/u.test(title))) return null
  const codes = titles.filter((title) => isCode(title) || isPartOfDate(title)).length
  if (codes >= titles.length / 2) return null
  return { type, options: { choices: titles.map((title, at) => ({ title, color: choiceColor(at) })) } }
}

/** At most half of the values in a short file, a fifth in a long one. */
const isFew = (distinct: number, count: number): boolean =>
  distinct <= count / 2 && distinct <= Math.max(ALWAYS_FEW, count / 5)

const itemsOf = (value: string): string[] => value.split(',')

/**
 * True for lists as multi selects write them: no spaces around commas, no duplicates, and items that recur in
 * different positions and combinations. In `Berlin,Germany` each item always has the same position.
 */
function isLists(values: string[]): boolean {
  const distinct = [...new Set(values)].map(itemsOf)
  const isWritable = (items: string[]) =>
    new Set(items).size === items.length &&
    items.every((item) => item !== '' && item === item.trim() && /\p{L}/u.test(item))
  if (!distinct.every(isWritable)) return false
  const first = new Set(distinct.map(([item]) => item))
  const later = new Set(distinct.flatMap((items) => items.slice(1)))
  const moving = [...later].filter((item) => first.has(item)).length
  const counts = countsOf(distinct.flat())
  const recurring = [...counts.values()].filter((count) => count > 1).length
  return moving >= later.size / 2 && recurring >= counts.size / 2
}

function countsOf(items: string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1)
  return counts
}

function isShort(label: string): boolean {
  const words = label.split(/\s+/).length
  const isSentence = words > 2 && /[.!?…]$/.test(label)
  return label.length <= MAX_LABEL && words <= MAX_WORDS && !isSentence && !/[\r\n\t]/.test(label)
}

/** True for an id, product code, hash or version: one word with more digits than a rank such as `Q1` or `P0`. */
export function isCode(text: string): boolean {
  if (/\s/.test(text)) return false
  const digits = text.replace(/\D/g, '').length
  if (/^v?\d+(?:\.\d+)+(?:[-+][\w.]+)?$/i.test(text) || /^v\d+$/i.test(text)) return true
  if (/^\d+$/.test(text) || /^[a-z]+[A-Z]{2,}[a-z]+$/.test(text)) return true
  if (/^[A-Za-z]{2,}[-_#]\d+$/.test(text)) return true
  return /\p{L}/u.test(text) ? digits >= 2 : digits >= 7
}

/** A day or month in a notation that date fields cannot parse. */
const isPartOfDate = (text: string): boolean =>
  /^(?:\d{4}[-/.]\d{1,2}|\d{1,2}[-/.]\d{4}|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4})$/.test(text) ||
  /^(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}[ .'’-]{1,2}(?:19|20)?\d{2}$/i.test(text)
