import { CHECKBOX_VOCABULARIES } from './checkbox-words.ts'
import { choiceColor } from './choices.ts'
import { detectDates } from './detect-dates.ts'
import { detectNumbers } from './detect-numbers.ts'
import type { FieldOptions } from './field-type.ts'
import { type FieldTypeName, fieldType, readOptions } from './index.ts'
import { cleanTitle, columnNameFor, uniqueName } from './names.ts'
import type { DecimalMark } from './number-text.ts'
import { isEmail, isUrl } from './text-checks.ts'

/** Most rows that are looked at where the caller does not say. */
export const MAX_ROWS_TO_PARSE = 500
/** Most different values that become options (spec §5, §9). */
export const MAX_OPTIONS = 64
/** Longest value of a single-line field (spec §5, §9). */
export const MAX_LINE = 255

/** What a column of a file seems to be. */
export interface DetectedField {
  /** Readable; unique in the table. */
  title: string
  /** For the database; unique in the table. */
  columnName: string
  type: FieldTypeName
  options: FieldOptions
  /** How sure one can be. */
  confidence: {
    /** Rows looked at, and those of them with a value. Every one of these fits the type. */
    rows: number
    filled: number
    /** True where day and month could also be the other way round: worth a question. */
    ambiguous?: true
  }
}

/** What one detector found; null: it is something else. */
export type Detected = { type: FieldTypeName; options?: FieldOptions; ambiguous?: true } | null

export interface DetectOptions {
  maxRowsToParse?: number
  /** Reads `01/02/2024` as 2 January where a column leaves it open; by the list of spec §5 it is 1 February. */
  monthFirst?: boolean
  /** The mark before decimals, where a column leaves it open; a point where nothing is said. */
  decimal?: DecimalMark
}

/**
 * Finds the type of each column from its values (spec §5). A type is chosen only where every sampled value
 * fits it and comes out of it as it went in: codes with leading zeros and numbers beyond 2^53 stay text.
 *
 * @param samples rows of cells, without the header; they need not be of one length
 * @param header titles, or null where the file has none
 */
export function detectFields(
  samples: string[][],
  header: string[] | null,
  { maxRowsToParse = MAX_ROWS_TO_PARSE, monthFirst = false, decimal = '.' }: DetectOptions = {},
): DetectedField[] {
  const rows = samples.slice(0, maxRowsToParse)
  const width = rows.reduce((most, row) => Math.max(most, row.length), header?.length ?? 0)
  const titles = new Set<string>()
  const columnNames = new Set<string>()
  return Array.from({ length: width }, (_, index) => {
    const filled = rows.map((row) => row[index] ?? '').filter((value) => value.trim() !== '')
    const { type, options, ambiguous } = detectType(filled, monthFirst, decimal)
    const title = uniqueName(cleanTitle(header?.[index] ?? '') || `Field ${index + 1}`, titles)
    const confidence = { rows: rows.length, filled: filled.length }
    return {
      title,
      columnName: columnNameFor(title, columnNames),
      type,
      options: readOptions(type, options),
      confidence: ambiguous ? { ...confidence, ambiguous } : confidence,
    }
  })
}

/** The type of a column with these values, none of them empty. */
export function detectType(
  values: string[],
  monthFirst = false,
  decimal: DecimalMark = '.',
): NonNullable<Detected> {
  if (values.length === 0) return { type: 'SingleLineText' }
  const found =
    detectCheckbox(values) ??
    detectNumbers(values, decimal) ??
    detectDates(values, monthFirst) ??
    detectLinks(values) ??
    detectLong(values) ??
    detectSelect(values)
  return found && fitsAll(found, values, decimal) ? found : (detectLong(values) ?? { type: 'SingleLineText' })
}

/** The last word: what the type cannot read is never given to it. */
function fitsAll({ type, options }: NonNullable<Detected>, values: string[], decimal: DecimalMark): boolean {
  const { parse } = fieldType(type)
  const read = readOptions(type, options)
  return values.every((value) => parse(value, read, decimal) !== null)
}

/**
 * All values are of one vocabulary of yes and no. Those that could as well be something else (a column of
 * nothing but 0, an initial) must show both of their words.
 */
function detectCheckbox(values: string[]): Detected {
  const words = new Set(values.map((value) => value.trim().toLowerCase()))
  const vocabulary = CHECKBOX_VOCABULARIES.find(({ yes, no }) =>
    [...words].every((word) => yes.includes(word) || no.includes(word)),
  )
  if (!vocabulary) return null
  const isTelling =
    vocabulary.yes.some((word) => words.has(word)) && vocabulary.no.some((word) => words.has(word))
  const isDoubtful = [...words].every((word) => /^[01yn]$/.test(word))
  return isDoubtful && !isTelling ? null : { type: 'Checkbox' }
}

function detectLinks(values: string[]): Detected {
  const trimmed = values.map((value) => value.trim())
  if (trimmed.every(isEmail)) return { type: 'Email' }
  return trimmed.every((value) => isUrl(value, { scheme: 'required' })) ? { type: 'URL' } : null
}

function detectLong(values: string[]): Detected {
  return values.some((value) => /[\r\n]/.test(value) || value.length > MAX_LINE) ? { type: 'LongText' } : null
}

/** Values that recur: at most 64 different ones, and no more than half of all. */
function detectSelect(values: string[]): Detected {
  const isMulti = values.some((value) => value.includes(','))
  const items = isMulti ? values.map((value) => value.split(',').map((item) => item.trim())) : null
  // A cell that names something twice, or nothing between two commas, is a sentence and not a list.
  if (items?.some((list) => list.includes('') || new Set(list).size < list.length)) return null
  const all = items?.flat() ?? values.map((value) => value.trim())
  const titles = [...new Set(all)]
  if (titles.length > MAX_OPTIONS || titles.length > all.length / 2) return null
  const choices = titles.map((title, index) => ({ title, color: choiceColor(index) }))
  return { type: isMulti ? 'MultiSelect' : 'SingleSelect', options: { choices } }
}
