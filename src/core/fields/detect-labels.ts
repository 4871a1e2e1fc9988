import { choiceColor } from './choices.ts'
import type { Detected } from './detected.ts'
import { hints } from './detected.ts'

/** Most different values that become options (spec §5, §9). */
const MAX_OPTIONS = 64
/** A label is a word or a few; what is longer is a text. */
const MAX_LABEL = 50
const MAX_WORDS = 6
/** Fewer values than these do not show that they recur. */
const MIN_VALUES = 3
/** Up to this many different values are few, whatever the number of rows. */
const ALWAYS_FEW = 8

/**
 * Options, where the values look like labels: short, recurring, few compared to the rows, and neither codes, versions,
 * names nor dates. A file in which each value has to come back as it went in: what a select field would trim stays text.
 *
 * @param values the cells that are not empty
 */
export function detectLabels(values: string[], title: string): Detected {
  if (hints(title, 'name') || hints(title, 'code')) return null
  if (values.length < MIN_VALUES || values.some((value) => value !== value.trim())) return null
  const withComma = new Set(values.filter((value) => value.includes(',')))
  if (withComma.size === 0) return optionsOf('SingleSelect', values)
  // Places and people ("Hong Kong, China", "Smith, John") are names, and no lists.
  return isLists(values) ? optionsOf('MultiSelect', values.flatMap(itemsOf)) : null
}

function optionsOf(type: 'SingleSelect' | 'MultiSelect', items: string[]): Detected {
  const counts = countsOf(items)
  const titles = [...counts.keys()]
  if (titles.length > MAX_OPTIONS || !isFew(titles.length, items.length)) return null
  // A list of options has a few rare ones; notes and names have little else.
  const rare = titles.filter((title) => counts.get(title) === 1).length
  if (rare > Math.max(titles.length / 2, items.length / 100) || !titles.every(isShort)) return null
  if (!titles.some((title) => /[\p{L}\p{N}\p{S}]/u.test(title))) return null
  const odd = titles.filter((title) => isCode(title) || isPartOfDate(title)).length
  if (odd >= titles.length / 2) return null
  return { type, options: { choices: titles.map((title, at) => ({ title, color: choiceColor(at) })) } }
}

/** Half of the values in a short file, a fifth in a long one. */
const isFew = (distinct: number, count: number): boolean =>
  distinct <= count / 2 && distinct <= Math.max(ALWAYS_FEW, count / 5)

const itemsOf = (value: string): string[] => value.split(',')

/**
 * Lists of labels, as a multi select writes them: no spaces beside the commas, nothing twice, and the same items in
 * other places and other company. In `Berlin,Germany` each item keeps to its place.
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
  const companies = countsOf(distinct.flat())
  const mixed = [...companies.values()].filter((count) => count > 1).length
  return moving >= later.size / 2 && mixed >= companies.size / 2
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

/** An id, a product code, a hash or a version: one word in which digits are more than a mark of rank (`Q1`, `P0`). */
export function isCode(text: string): boolean {
  if (/\s/.test(text)) return false
  const digits = text.replace(/\D/g, '').length
  if (/^v?\d+(?:\.\d+)+(?:[-+][\w.]+)?$/i.test(text) || /^v\d+$/i.test(text)) return true
  if (/^\d+$/.test(text) || /^[a-z]+[A-Z]{2,}[a-z]+$/.test(text)) return true
  if (/^[A-Za-z]{2,}[-_#]\d+$/.test(text)) return true
  return /\p{L}/u.test(text) ? digits >= 2 : digits >= 7
}

/** A month with its year, or a day, in a form that no date field reads. */
const isPartOfDate = (text: string): boolean =>
  /^(?:\d{4}[-/.]\d{1,2}|\d{1,2}[-/.]\d{4}|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4})$/.test(text) ||
  /^(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}[ .'’-]{1,2}(?:19|20)?\d{2}$/i.test(text)
