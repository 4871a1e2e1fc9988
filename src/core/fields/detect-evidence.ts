import { titlesIn } from './choice-titles.ts'
import { choiceColor } from './choices.ts'
import type { DetectedField } from './detect.ts'
import { hints } from './detected.ts'
import { isEmptyWord } from './empty-words.ts'
import { fieldType, readOptions } from './index.ts'
import { parseCell } from './notations.ts'
import type { DecimalMark } from './number-text.ts'

/** Values kept per column and reason. */
const MAX_KEPT = 8
/** Options of a detected select field (spec §5). */
const MAX_CHOICES = 64
/** Longest value of a single-line field (spec §5, §9). */
const MAX_LINE = 255
/** Length of a kept value. */
const MAX_LENGTH = 1000

/** Values outside of the samples that decide about a column's type. */
export interface Evidence {
  /** The values as rows of samples. */
  rows(width: number): string[][]
  /** Checks rows against the types of their columns, and keeps the values that do not fit. */
  checker(fields: DetectedField[], decimal: DecimalMark): TypeChecker
  /** The field as text, long if a value of its column needs that. */
  asText(field: DetectedField, index: number): DetectedField
}

/** Checks rows against types that were detected from samples. */
export interface TypeChecker {
  row(cells: string[]): void
  /** By column: true if a value does not fit its type, or may be read in another way. */
  misfits(): boolean[]
  /** The fields, with all options that occur. */
  withChoices(fields: DetectedField[]): DetectedField[]
}

/**
 * Collects the values that the samples of a large file lack, for detecting its types again until they fit every row.
 */
export function createEvidence(): Evidence {
  /** By column and reason. */
  const kept: Map<string, string[]>[] = []

  function keep(index: number, reason: string, value: string): boolean {
    kept[index] ??= new Map()
    const column = kept[index]
    const values = column.get(reason) ?? []
    if (values.length >= MAX_KEPT || values.includes(value)) return false
    column.set(reason, [...values, value])
    return true
  }

  const valuesOf = (index: number): string[] => [...(kept[index]?.values() ?? [])].flat()

  return {
    rows(width) {
      const columns = Array.from({ length: width }, (_, index) => valuesOf(index))
      const count = columns.reduce((most, values) => Math.max(most, values.length), 0)
      return Array.from({ length: count }, (_, at) => columns.map((values) => values[at] ?? ''))
    },
    asText(field, index) {
      const type = valuesOf(index).some(isLong) ? 'LongText' : 'SingleLineText'
      return { ...field, type, options: readOptions(type, undefined) }
    },
    checker(fields, decimal) {
      const misfits = fields.map(() => false)
      const checks = fields.map((field) => createCheck(field, decimal))
      return {
        misfits: () => misfits,
        row(cells) {
          for (let at = 0; at < checks.length; at++) {
            const text = cells[at]
            if (text === undefined || text === '') continue
            const reason = checks[at]?.reasonAgainst(text) ?? null
            if (reason !== null && keep(at, reason, text.slice(0, MAX_LENGTH))) misfits[at] = true
          }
        },
        withChoices: (all) =>
          all.map((field, at) => {
            const titles = checks[at]?.titles
            if (!titles) return field
            const choices = [...titles].map((title, index) => ({ title, color: choiceColor(index) }))
            return { ...field, options: readOptions(field.type, { ...field.options, choices }) }
          }),
      }
    },
  }
}

const isLong = (text: string): boolean => text.length > MAX_LINE || /[\r\n]/.test(text)

interface Check {
  /** Why the value may need another type, or null. */
  reasonAgainst(text: string): string | null
  /** Options of a select field so far. */
  titles?: Set<string>
}

function createCheck(field: DetectedField, decimalOfFile: DecimalMark): Check {
  const { title, type: name, options, confidence, decimal: own } = field
  const decimal = own ?? decimalOfFile
  const type = fieldType(name)
  if (name === 'LongText') return { reasonAgainst: () => null }
  if (name === 'SingleLineText') return { reasonAgainst: (text) => (isLong(text) ? 'long' : null) }
  if (type.choices !== undefined) {
    const titles = new Set(((options.choices ?? []) as { title: string }[]).map(({ title }) => title))
    return {
      titles,
      reasonAgainst(text) {
        if (isLong(text)) return 'long'
        for (const title of type.choices === 'multiple' ? titlesIn(text) : [text.trim()]) titles.add(title)
        if (titles.size <= MAX_CHOICES) return null
        titles.delete(text.trim())
        return `option ${text.slice(0, 40)}`
      },
    }
  }
  const isOutline = hints(title, 'outline')
  return {
    reasonAgainst(text) {
      if (text.trim() === '') return null
      if (parseCell(type, text, options, decimal, field) === null && !isEmptyWord(text, type)) return 'misfit'
      if (type.filters === 'date') {
        if (field.yearFirst) return null
        const order = dayOrder(text)
        const isSure = !confidence.ambiguous || field.orders?.includes('month') === false
        const isKnown = isSure && String(options.format ?? '').startsWith(order ?? '')
        return isKnown ? null : order
      }
      if (type.filters !== 'number') return null
      if (isOutline && /[.,]\d*0\s*$/.test(text)) return 'zeros'
      const mark = decimalMark(text)
      return mark === decimal ? null : mark
    },
  }
}

/** `D` or `M` by what must come first. Parsing swaps day and month where only that makes a date. */
function dayOrder(text: string): string | null {
  const [, first, second] = /^\s*(\d{1,2})\D(\d{1,2})\D/.exec(text) ?? []
  if (Number(first) > 12) return 'D'
  return Number(second) > 12 ? 'M' : null
}

/** A mark that can only be the decimal one: without three digits after it. */
function decimalMark(text: string): string | null {
  const [, mark] = /([.,])(?:\d{1,2}|\d{4,})\D*$/.exec(text) ?? []
  return mark ?? null
}
