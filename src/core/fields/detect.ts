import { CHECKBOX_VOCABULARIES } from './checkbox.ts'
import { isEmail, isPhone, isUrl } from './checked-text.ts'
import { detectDates, detectTimes } from './detect-dates.ts'
import { detectLabels, isCode } from './detect-labels.ts'
import { detectNumbers } from './detect-numbers.ts'
import type { Detected } from './detected.ts'
import { hints } from './detected.ts'
import { isEmptyWord, isMissingWord, isNullWord } from './empty-words.ts'
import type { FieldOptions } from './field-type.ts'
import { type FieldTypeName, fieldType, readOptions } from './index.ts'
import { jsonProblem } from './json.ts'
import type { DecimalMark } from './number-text.ts'

/** Most rows that are looked at where the caller does not say. */
export const MAX_ROWS_TO_PARSE = 500
/** Longest value of a single-line field (spec §5, §9). */
export const MAX_LINE = 255

/** The detected type of a file's column. */
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
  /** How well the values name their records: the column with the most is the display field of a new table. */
  readability: number
}

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
    const title = uniqueName(cleanTitle(header?.[index] ?? '') || `Field ${index + 1}`, titles)
    const { type, options, ambiguous } = detectType(filled, {
      monthFirst,
      decimal,
      title: header === null ? '' : title,
    })
    const confidence = { rows: rows.length, filled: filled.length }
    return {
      title,
      columnName: columnNameFor(title, columnNames),
      type,
      options: readOptions(type, options),
      confidence: ambiguous ? { ...confidence, ambiguous } : confidence,
      readability: readabilityOf(filled, { type, title, rows: rows.length, index }),
    }
  })
}

/** Facts about a column besides its values. */
export interface ColumnHints extends Pick<DetectOptions, 'monthFirst' | 'decimal'> {
  /** The header's; '' where the file has none. */
  title?: string
}

/** The type of a column with these values, none of them blank. */
export function detectType(
  values: string[],
  { monthFirst = false, decimal = '.', title = '' }: ColumnHints = {},
): NonNullable<Detected> {
  if (values.length === 0) return { type: 'SingleLineText' }
  const answers = values.filter((value) => !isNullWord(value))
  const given = values.filter((value) => !isMissingWord(value))
  const attempts: (() => Detected)[] = [
    () => (answers.length > 0 ? detectCheckbox(answers) : null),
    () => (given.length > 0 ? detectMeasures(given, { monthFirst, decimal, title }) : null),
    () => detectPhones(values, title),
    () => detectLinks(values),
    () => detectJson(values),
    () => detectLong(values),
    () => detectLabels(values, title),
  ]
  for (const attempt of attempts) {
    const found = attempt()
    if (found && fitsAll(found, values, decimal)) return found
  }
  return { type: 'SingleLineText' }
}

/** Numbers, dates and times: the types that have no place for `n/a`, which is empty there. */
function detectMeasures(values: string[], { monthFirst, decimal, title }: Required<ColumnHints>): Detected {
  if (hints(title, 'digits') || hints(title, 'phone')) return null
  return (
    detectYears(values, title) ??
    detectNumbers(values, decimal) ??
    detectDates(values, monthFirst) ??
    detectTimes(values, title)
  )
}

/** The last word: what the type cannot read is never given to it. */
function fitsAll({ type, options }: NonNullable<Detected>, values: string[], decimal: DecimalMark): boolean {
  const fieldOf = fieldType(type)
  const read = readOptions(type, options)
  return values.every((value) => fieldOf.parse(value, read, decimal) !== null || isEmptyWord(value, fieldOf))
}

/** Years alone look like any number: only a title tells them. */
function detectYears(values: string[], title: string): Detected {
  if (!hints(title, 'year')) return null
  return values.every((value) => /^\s*[12]\d{3}\s*$/.test(value)) ? { type: 'Year' } : null
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

/**
 * Telephone numbers that show themselves to be some: with a plus or an area code in brackets, in the groups of North
 * America, or with a leading zero and a mark behind the area code. Other digits need a title that says so: a postal
 * code and a part number have as many.
 */
const PHONE = /^(?:\+\d|\(\d|(?:1[-. ])?\d{3}([-. ])\d{3}\1\d{4}$|00?\d{1,5}[ /(])/

function detectPhones(values: string[], title: string): Detected {
  const trimmed = values.map((value) => value.trim())
  const isTold = hints(title, 'phone')
  return trimmed.every((value) => isPhone(value) && (isTold || PHONE.test(value)))
    ? { type: 'PhoneNumber' }
    : null
}

/** Objects and lists, some of them missing; a number or a word alone is JSON, too, but says nothing. */
function detectJson(values: string[]): Detected {
  const given = values.filter((value) => !isNullWord(value))
  const isJson = given.every((value) => /^\s*[{[]/.test(value) && jsonProblem(value) === null)
  return given.length > 0 && isJson ? { type: 'JSON' } : null
}

/** Longest column name: PostgreSQL cuts names at 63 bytes, and a suffix needs room. */
const MAX_COLUMN_NAME = 55

/** Longest title, less the room for a suffix (spec §5: 255). */
const MAX_TITLE = 250

/** A title as people read it: without spaces around it, line breaks or control characters. */
export const cleanTitle = (text: string): string =>
  text
    .replace(/^\ufeff/, '')
    .normalize('NFC')
    .replace(/[\s\p{Cc}\p{Cs}]+/gu, ' ')
    .trim()
    .slice(0, MAX_TITLE)
    .replace(/\p{Cs}$/u, '') // half of a character that the cut went through
    .trim()

/** The name with `_1`, `_2`, … until it is not taken, in any case of its letters; it is then taken, too. */
export function uniqueName(name: string, taken: Set<string>): string {
  let unique = name
  for (let suffix = 1; taken.has(unique.toLowerCase()); suffix++) unique = `${name}_${suffix}`
  taken.add(unique.toLowerCase())
  return unique
}

/**
 * A column name made from a title: special characters become underscores (spec §5).
 * `Cost Total $` gives `Cost_Total__`; a title of nothing else gives `field`.
 */
export function columnNameFor(title: string, taken: Set<string>): string {
  const name = title.replace(/\W/g, '_').slice(0, MAX_COLUMN_NAME)
  return uniqueName(/^_*$/.test(name) ? 'field' : name, taken)
}

/** How readily a type names records. Types that are not here do so only where there is nothing else. */
const BY_TYPE: Partial<Record<FieldTypeName, number>> = {
  SingleLineText: 3,
  SingleSelect: 2,
  LongText: 1.5,
  Email: 2,
  Date: 1.5,
  DateTime: 1.5,
  Year: 1.5,
  PhoneNumber: 0.5,
  URL: 0.5,
}
/** A name is shorter than this; what is twice as long is a text. */
const MAX_NAME = 60

/**
 * How well a column names the records of its table. Names and titles lead, then other text by how much it differs from
 * record to record; ids, codes and hashes come last, however unique.
 *
 * @param values the cells that are not blank
 */
export function readabilityOf(
  values: string[],
  { type, title, rows, index }: { type: FieldTypeName; title: string; rows: number; index: number },
): number {
  const byType = BY_TYPE[type]
  // The first of several that are as good.
  const byPlace = -Math.min(index, 50) / 100
  if (byType === undefined || values.length === 0) return byPlace
  const distinct = new Set(values)
  const isWords = type === 'SingleLineText' || type === 'SingleSelect' || type === 'LongText'
  const codes = isWords ? [...distinct].filter(isUnreadable).length / distinct.size : 0
  const length = values.reduce((sum, value) => sum + value.length, 0) / values.length
  const byTitle = (hints(title, 'main') ? 2 : 0) - (isWords && hints(title, 'code') ? 3 : 0)
  const byLength = length > MAX_NAME ? -1.5 * Math.min(2, length / MAX_NAME) : 0
  const differing = (3 * distinct.size) / values.length
  return byType + byTitle + byLength + byPlace + differing + values.length / rows - 5 * codes
}

const isUnreadable = (value: string): boolean => !/\p{L}/u.test(value) || isCode(value)
