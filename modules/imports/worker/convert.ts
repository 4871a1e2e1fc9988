import { readFileList, writeAttachments } from '../../../src/core/fields/attachment-item.ts'
import { titlesIn } from '../../../src/core/fields/choice-titles.ts'
import { otherCurrency } from '../../../src/core/fields/detect-numbers.ts'
import { hints } from '../../../src/core/fields/detected.ts'
import { isEmptyWord, isFormulaError } from '../../../src/core/fields/empty-words.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import { parseCell, parseJsonCell } from '../../../src/core/fields/notations.ts'
import type { DecimalMark } from '../../../src/core/fields/number-text.ts'
import { hasCurrency, holdsFiles, inZone } from '../../../src/core/fields/traits.ts'
import { type FittingReader, fitToColumn } from '../../../src/core/imports/fit-to-column.ts'
import { trimTrailing } from '../../../src/core/trim-characters.ts'
import { m } from '../../../src/messages.gen.ts'
import type { ImportColumn } from '../plan.ts'
import { copyText } from '../readers/index.ts'
import type { Report } from './report.ts'

/** Limit of options that an import creates; beyond it the field becomes text. */
const MAX_CHOICES = 500

/** Size of the parse cache: dates and words repeat often. */
const REMEMBERED = 100_000 // over all columns
const MAX_REMEMBERED_LENGTH = 32

/** Reason for a row that is skipped because of one cell. */
export const rowSkipped = (reason: string): string => m.imports_report_row_skipped({ reason })

export const missingValue = (): string => rowSkipped(m.imports_report_required())

/** The preview reads only part of the file, so codes with a leading zero may turn up in a number column. */
const LEADING_ZERO = /^\s*[-+−]?0\d+(?:[.,]\d+)?\s*$/

const FRACTION_OF_SECOND = /:\d\d[.,](\d{1,9})/

/** True for a moment with more digits of a second than its stored form has. */
function isCut(text: string, value: string): boolean {
  const digitsOf = (clock: string) => trimTrailing(FRACTION_OF_SECOND.exec(clock)?.[1] ?? '', '0').length
  return digitsOf(text) > digitsOf(value)
}

/** True for a number with more zeros at its end than the field shows: the version 1.10 would be 1.1. */
function dropsZero(text: string, { options }: ImportColumn): boolean {
  const [, fraction] = /[.,](\d*0)\s*$/.exec(text) ?? []
  return fraction !== undefined && fraction.length > Number(options.precision ?? 0)
}

/** Converts the file's cells to stored values. */
export interface Converter {
  /** Values in column order, or null for a row that must be skipped. */
  convert(cells: string[], row: number): CellValue[] | null
  /** Options found for select fields, by field id; null: too many. */
  choices(): Record<string, string[] | null>
  /** Reports what concerns columns as a whole, after the last row. */
  reportColumns(): void
  /** Reports a cell that stays empty. */
  refuse(row: number, column: string, value: string, reason: string): void
  cellsRefused: number
  /** Positions of the columns that `convert` refused in its last row. */
  refused: number[]
}

interface ConverterOptions {
  /** Columns of the file when the import was set up. */
  width: number
  timeZone: string
  decimal: DecimalMark
  /** True for the cells of a JSON file. */
  isJson: boolean
  /** False if required values are checked once it is known which rows are new. */
  checksRequired: boolean
}

export function createConverter(
  columns: ImportColumn[],
  { width, timeZone, decimal, isJson, checksRequired }: ConverterOptions,
  report: Report,
): Converter {
  const remembered = Math.min(4000, REMEMBERED / columns.length)
  const readers = columns.map((column) => createCellReader(column, { timeZone, decimal, isJson, remembered }))

  const hasClock = columns.map(({ type, link }) => !link && fieldType(type).storage === 'datetime')
  /** By column: times with more digits of a second than are kept, and the first of them. */
  const cut = columns.map(() => ({ count: 0, row: 0, text: '' }))
  const outlines = columns.map(({ title }) => hints(title, 'outline'))

  const converter: Converter = {
    cellsRefused: 0,
    refused: [],
    refuse,
    convert(cells, row) {
      const values: CellValue[] = new Array(columns.length)
      if (converter.refused.length > 0) converter.refused = []
      for (let at = 0; at < columns.length; at++) {
        const column = columns[at]!
        const text = cells[column.index]
        let value: CellValue = null
        if (text !== undefined && text !== '') {
          value = readers[at]!.read(text)
          if (value === null && text.trim() !== '') {
            const reason = reasonFor(at, text)
            if (reason !== null) {
              refuse(row, column.title, text, reason)
              converter.refused.push(at)
            }
          }
          const note = value === null ? null : readers[at]!.noteFor?.(text)
          if (note) report.add({ row, column: column.title, value: text, reason: note })
          if (typeof value === 'number' && LEADING_ZERO.test(text))
            report.add({ row, column: column.title, value: text, reason: m.imports_report_leading_zeros() })
          if (typeof value === 'number' && outlines[at] && dropsZero(text, column))
            report.add({ row, column: column.title, value: text, reason: m.imports_report_last_zeros() })
        }
        if (hasClock[at] && text && typeof value === 'string' && isCut(text, value)) {
          const known = cut[at]!
          if (known.count++ === 0) Object.assign(known, { row, text: copyText(text) })
        }
        // An empty cell stays empty; only required fields use their default.
        const isRequired = column.required && checksRequired
        if (isRequired) value ??= column.fallback
        if (value === null && isRequired) {
          report.add({ row, column: column.title, value: text ?? '', reason: missingValue() })
          return null
        }
        values[at] = value
      }
      for (let at = width; at < cells.length; at++) {
        if (cells[at] !== '')
          refuse(
            row,
            m.imports_report_cell({ number: at + 1 }),
            cells[at] ?? '',
            m.imports_report_extra_cells(),
          )
      }
      return values
    },
    reportColumns() {
      for (const [at, { count, row, text }] of cut.entries()) {
        if (count === 0) continue
        const reason = m.imports_report_cut_seconds({ count })
        report.add({ row, column: columns[at]!.title, value: text, reason })
      }
    },
    choices: () =>
      Object.fromEntries(
        columns.flatMap(({ fieldId }, at) => {
          const titles = readers[at]?.titles
          return titles ? [[fieldId, titles()]] : []
        }),
      ),
  }

  /** Why a text gives no value; null for words that mean an empty cell. */
  function reasonFor(at: number, text: string): string | null {
    if (isFormulaError(text)) return m.imports_report_formula_error()
    const column = columns[at]!
    if (isEmptyWord(text, fieldType(column.type))) return null
    return readers[at]!.reasonFor?.(text) ?? misfit(column, text, column.decimal ?? decimal)
  }

  function refuse(row: number, column: string, value: string, reason: string): void {
    converter.cellsRefused++
    report.add({ row, column, value, reason })
  }

  return converter
}

function misfit({ type, options }: ImportColumn, text: string, decimal: DecimalMark): string {
  const { label, filters } = fieldType(type)
  const code = String(options.code)
  const other = hasCurrency({ type, options }) ? otherCurrency(text, code, decimal) : null
  if (other !== null) return m.imports_report_other_currency({ other, code })
  const isChoice = filters === 'select' || filters === 'multiSelect'
  return isChoice ? m.imports_report_not_an_option() : m.imports_report_invalid({ type: label() })
}

type CellReader = Pick<FittingReader, 'read'> &
  Partial<FittingReader> & {
    /** Options seen by a growing select; null: too many. */
    titles?(): string[] | null
  }

function createCellReader(
  column: ImportColumn,
  {
    timeZone,
    decimal: decimalOfFile,
    isJson,
    remembered,
  }: Pick<ConverterOptions, 'timeZone' | 'decimal' | 'isJson'> & { remembered: number },
): CellReader {
  const { type: name, options: given, grows, link, decimal: own, dateFormat, connected } = column
  // Names are resolved once all rows are staged, since rows may name each other.
  if (link) return { read: (text) => text }
  // Limits are checked by `fill`, which knows the stored files.
  if (holdsFiles({ type: name })) return { read: (text) => writeAttachments(readFileList(text, 'all') ?? []) }
  const type = fieldType(name)
  const options = {
    ...inZone(given, timeZone),
    ...(dateFormat && { format: dateFormat }),
    ...(connected?.databaseType && { keepsFraction: true }),
  }
  if (grows && Array.isArray(given.choices))
    return createChoiceReader(given.choices, type.filters === 'multiSelect')
  const decimal = own ?? decimalOfFile
  const parseText = isJson ? parseJsonCell : parseCell
  const parse = (text: string) => parseText(type, text, options, decimal, column)
  if (connected) {
    const fitting = fitToColumn(name, connected, parse, decimal)
    return hasCurrency(column) ? withoutCurrency(fitting, parse) : fitting
  }
  // Parsing text and numbers is faster than a cache lookup.
  const isQuick = type.filters === 'text' || type.filters === 'number' || type.filters === 'checkbox'
  return { read: isQuick ? parse : remembering(parse, remembered) }
}

/** Amounts of a workbook: `-12.5 €`. */
const AMOUNT = /^(-?[\d.]+(?:e[-+]?\d+)?) \S+$/

/** Reads amounts in the field's currency like plain numbers, which are checked against the column's digits. */
function withoutCurrency(reader: FittingReader, parse: (text: string) => CellValue): FittingReader {
  const plain = (text: string) => (parse(text) === null ? text : text.replace(AMOUNT, '$1'))
  return {
    read: (text) => reader.read(plain(text)),
    reasonFor: (text) => reader.reasonFor(plain(text)),
    noteFor: (text) => reader.noteFor(plain(text)),
  }
}

/** Accepts every title, since the field is new. Beyond the limit, cells keep their text for a text field. */
function createChoiceReader(choices: { title: string }[], isMultiple: boolean): CellReader {
  const titles = new Set(choices.map(({ title }) => title))
  let isText = false
  const accept = (title: string): string | null => {
    if (titles.has(title)) return title
    if (title.length > 1000 || !title.isWellFormed() || title.includes('\0')) return null
    if (titles.size >= MAX_CHOICES) isText = true
    else titles.add(copyText(title))
    return title
  }
  return {
    titles: () => (isText ? null : [...titles]),
    read(text) {
      if (!isMultiple || isText) return accept(text.trim())
      const found = titlesIn(text).map(accept)
      return found.includes(null) ? null : [...new Set(found)].join(',') || null
    },
  }
}

/** Caches results as long as values repeat. */
function remembering(parse: (text: string) => CellValue, size: number): (text: string) => CellValue {
  const known = new Map<string, CellValue>()
  let hits = 0
  let isWorthIt = true
  return (text) => {
    if (!isWorthIt || text.length > MAX_REMEMBERED_LENGTH) return parse(text)
    const found = known.get(text)
    if (found !== undefined) {
      hits++
      return found
    }
    const value = parse(text)
    if (value === null) return null
    known.set(copyText(text), value)
    if (known.size >= size) {
      isWorthIt = hits > known.size
      hits = 0
      known.clear()
    }
    return value
  }
}
