import { CHECKBOX_VOCABULARIES } from './checkbox.ts'
import { isEmail, isPhone, isUrl } from './checked-text.ts'
import { hasShortYear, parseDay, STORED_FORMAT } from './date-text.ts'
import { asRead, type DayOrder, monthLanguageOf, shortYearOrders } from './day-reading.ts'
import { detectDates, detectTimes } from './detect-dates.ts'
import { detectLabels, isCode } from './detect-labels.ts'
import { detectNumbers, hasDecimalComma, hasUnclearMark, requiredDecimalMark } from './detect-numbers.ts'
import type { Detected } from './detected.ts'
import { hints, isPhoneTitle, isYearTitle } from './detected.ts'
import { isEmptyWord, isMissingDay, isMissingWord, isNullWord } from './empty-words.ts'
import { areBuddhist } from './era-days.ts'
import type { FieldOptions } from './field-type.ts'
import { type FieldTypeName, fieldType, readOptions } from './index.ts'
import { withoutTime } from './instant-text.ts'
import { jsonProblem } from './json.ts'
import { parseCell, plainDay } from './notations.ts'
import type { DecimalMark } from './number-text.ts'

/** Default number of rows to sample. */
const MAX_ROWS_TO_PARSE = 500
/** Longest value of a single-line field (spec §5, §9). */
const MAX_LINE = 255

/** The detected type of a file's column. */
export interface DetectedField {
  /** Display title, unique in the table. */
  title: string
  /** Database column name, unique in the table. */
  columnName: string
  type: FieldTypeName
  options: FieldOptions
  /** Decimal mark of the column's numbers where it is not that of the file. */
  decimal?: DecimalMark
  /** True if all days have years of the Thai Buddhist era, such as 2567 for 2024, which the user may want as they are. */
  isBuddhist?: true
  /** True if days such as `24/3/13` have the year first. */
  yearFirst?: true
  /** The orders in which all days can be read, if the year may be first. */
  orders?: DayOrder[]
  /** Language of the names of months, where they mean other months in another one. */
  monthLanguage?: string
  /** True for days of birth with two-digit years, which are not in the future. */
  isPast?: true
  /** Symbols or codes of currencies in which a workbook shows the column's numbers; the cells are plain numbers. */
  currencies?: string[]
  /** Cells of a workbook with links that their texts do not show, as far as it was read. */
  links?: number
  /** Evidence for the detected type. */
  confidence: {
    /** Sampled rows, and those with a value; all values fit the type. */
    rows: number
    filled: number
    /** True where the order of day and month, or the currency, is ambiguous and the user should confirm it. */
    ambiguous?: true
    /** True where the numbers are others with the other decimal mark, of which nothing in the column tells: `1.234`. */
    unclearMark?: true
  }
  /** Suitability as display field: a new table uses the column with the highest score. */
  readability: number
}

interface DetectOptions {
  maxRowsToParse?: number
  /** Decimal mark for columns whose numbers can be read with both; a point by default. */
  decimal?: DecimalMark
  /** True if a person has set the decimal mark, which then also holds for amounts of countries that use the other one. */
  isDecimalChosen?: boolean
  /** Positions of columns whose numbers have a decimal point, whatever mark those in texts have. */
  pointColumns?: ReadonlySet<number>
}

/**
 * Detects the type of each column from its values (spec §5). A type is chosen only if every sampled value fits it
 * without loss: codes with leading zeros and numbers beyond 2^53 stay text.
 *
 * @param samples rows of cells, without the header; their lengths may differ
 * @param header titles, or null if the file has no header
 */
export function detectFields(
  samples: string[][],
  header: string[] | null,
  {
    maxRowsToParse = MAX_ROWS_TO_PARSE,
    decimal = '.',
    isDecimalChosen = false,
    pointColumns,
  }: DetectOptions = {},
): DetectedField[] {
  const rows = samples.slice(0, maxRowsToParse)
  const width = rows.reduce((most, row) => Math.max(most, row.length), header?.length ?? 0)
  const titles = new Set<string>()
  const columnNames = new Set<string>()
  const columns = Array.from({ length: width }, (_, index) => {
    const filled = rows.map((row) => row[index] ?? '').filter((value) => value.trim() !== '')
    const title = uniqueName(cleanTitle(header?.[index] ?? '') || `Field ${index + 1}`, titles)
    const hasUnclear = !pointColumns?.has(index) && hasUnclearMark(filled)
    const usual = hasUnclear && !isDecimalChosen ? markOf(filled, decimal) : decimal
    const own = requiredDecimalMark(filled) ?? (pointColumns?.has(index) ? '.' : usual)
    const hints = { decimal: own, title: header === null ? '' : title }
    const days = filled.filter((value) => !isMissingWord(value) && !isMissingDay(value)).map(plainDay)
    const { orders, ...reading } = readingOf(days, filled, hints.title)
    const isAsWritten = Object.keys(reading).length === 0
    const values = isAsWritten ? filled : filled.map((value) => asRead(plainDay(value), reading))
    const found = { own, hints, reading, orders, hasUnclear }
    return { filled, values, title, ...found, detected: detectAsRead(values, filled, hints) }
  })
  const monthFirst = areMonthFirst(columns.map(({ detected }) => detected))
  return columns.map((column, index) => {
    const { filled, values, title, own, hints, reading, orders = [], hasUnclear, detected } = column
    const {
      type,
      options,
      ambiguous = orders.length > 1 || undefined,
    } = detected.ambiguous && monthFirst ? detectType(values, { ...hints, monthFirst }) : detected
    const isDay = fieldType(type).filters === 'date'
    const confidence = {
      rows: rows.length,
      filled: filled.length,
      ...(hasUnclear && fieldType(type).isAmount && { unclearMark: true as const }),
    }
    return {
      title,
      columnName: columnNameFor(title, columnNames),
      type,
      options: readOptions(type, options),
      ...(own !== decimal &&
        (pointColumns?.has(index) || fieldType(type).filters === 'number') && { decimal: own }),
      ...(isDay && reading),
      ...(isDay && orders.length > 1 && { orders }),
      ...(isOfBirth(filled, { type, title: hints.title }) && { isPast: true as const }),
      confidence: ambiguous && (isDay || detected.ambiguous) ? { ...confidence, ambiguous } : confidence,
      readability: readabilityOf(filled, { type, title, rows: rows.length, index }),
    }
  })
}

/** How the days of a column are read, and the orders of their parts if the year may be first. */
function readingOf(
  days: readonly string[],
  filled: readonly string[],
  title: string,
): Pick<DetectedField, 'isBuddhist' | 'yearFirst' | 'orders' | 'monthLanguage'> {
  if (areBuddhist(days)) return { isBuddhist: true }
  const plain = days.map(withoutTime)
  // Numbers such as `62.01.11` also name products and chapters.
  const areCodes =
    !hints(title, 'date') && (['code', 'outline', 'score'] as const).some((kind) => hints(title, kind))
  const orders = areCodes ? null : shortYearOrders(plain, filled)
  if (orders) return { ...(orders[0] === 'year' && { yearFirst: true as const }), orders }
  const monthLanguage = monthLanguageOf(plain, filled)
  return monthLanguage === undefined ? {} : { monthLanguage }
}

/** The type of a column whose days are read in a way of their own. If it has no days, its texts are as they were. */
function detectAsRead(
  values: string[],
  filled: string[],
  hints: Required<Pick<ColumnHints, 'decimal' | 'title'>>,
): NonNullable<Detected> {
  const isDay = ({ type }: NonNullable<Detected>) => fieldType(type).filters === 'date'
  const found = detectType(values, hints)
  if (values === filled || isDay(found)) return found
  const asWritten = detectType(filled, hints)
  return isDay(asWritten) ? found : asWritten
}

/** True for days of birth that have two-digit years. */
const isOfBirth = (values: string[], { type, title }: { type: FieldTypeName; title: string }): boolean =>
  fieldType(type).filters === 'date' &&
  hints(title, 'birth') &&
  values.some((value) => hasShortYear(plainDay(value)))

/** The mark of numbers that may have either: amounts with commas are whole if their currency is of countries with decimal points. */
function markOf(values: string[], decimal: DecimalMark): DecimalMark {
  if (decimal === '.' || !values.some((value) => value.includes(','))) return decimal
  const found = detectNumbers(
    values.filter((value) => !isMissingWord(value)),
    decimal,
  )
  return found?.type === 'Currency' && !hasDecimalComma(String(found.options?.locale)) ? '.' : decimal
}

/** True if the dates that are not ambiguous show the month first: those of one file are written in one way. */
function areMonthFirst(columns: readonly NonNullable<Detected>[]): boolean {
  const formats = columns.flatMap(({ options, ambiguous }) =>
    ambiguous ? [] : String(options?.format ?? ''),
  )
  const order = (first: string) => formats.some((format) => format.startsWith(first))
  return order('MM') && !order('DD')
}

/** Facts about a column besides its values. */
interface ColumnHints extends Pick<DetectOptions, 'decimal'> {
  /** Reads `01/02/2024` as 2 January in an ambiguous column; by default it is 1 February (spec §5). */
  monthFirst?: boolean
  /** Title from the header; '' if the file has no header. */
  title?: string
}

/** Detects the type of a column from its non-blank values. */
export function detectType(
  values: string[],
  { monthFirst = false, decimal = '.', title = '' }: ColumnHints = {},
): NonNullable<Detected> {
  if (values.length === 0) return { type: 'SingleLineText' }
  const nonNull = values.filter((value) => !isNullWord(value))
  const given = values.filter((value) => !isMissingWord(value))
  const attempts: (() => Detected)[] = [
    () => (nonNull.length > 0 ? detectCheckbox(nonNull) : null),
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

/** Numbers, dates and times: types in which words such as `n/a` count as empty. */
function detectMeasures(values: string[], { monthFirst, decimal, title }: Required<ColumnHints>): Detected {
  if (hints(title, 'digits') || arePhones(values, title)) return null
  if (
    hints(title, 'outline') &&
    values.some((value) => /[.,]\d*0\s*$/.test(value)) &&
    !hasEqualDecimals(values)
  )
    return null
  return (
    detectYears(values, title) ??
    detectCompactDays(values, title) ??
    detectNumbers(values, decimal) ??
    detectDates(
      values.filter((value) => !isMissingDay(value)),
      monthFirst,
    ) ??
    detectTimes(values, title)
  )
}

/**
 * True for digits that are telephone numbers by their title: some have as many as those have. A whole title such as `Phone` is enough for fewer,
 * as of extensions.
 */
function arePhones(values: string[], title: string): boolean {
  if (!isPhoneTitle(title)) return false
  const isOnlyPhone = /^\s*(?:tele)?(?:phone|fon|fax|fono|tel)\.?\s*$/i.test(title)
  return (
    values.some((value) => isPhone(value.trim()) && parseDay(value) === null) ||
    (isOnlyPhone && !values.some((value) => /[.,]\d/.test(value)))
  )
}

/** Final check that the detected type can parse every value. */
function fitsAll({ type, options }: NonNullable<Detected>, values: string[], decimal: DecimalMark): boolean {
  const fieldOf = fieldType(type)
  const read = readOptions(type, options)
  return values.every(
    (value) => parseCell(fieldOf, value, read, decimal) !== null || isEmptyWord(value, fieldOf),
  )
}

/** True if all values have as many digits after the point. */
const hasEqualDecimals = (values: string[]): boolean =>
  new Set(values.map((value) => /[.,](\d*)\s*$/.exec(value)?.[1]?.length ?? 0)).size === 1

/** Years look like any other number, so the title must say so. */
function detectYears(values: string[], title: string): Detected {
  if (!isYearTitle(title)) return null
  return values.every((value) => /^\s*[12]\d{3}\s*$/.test(value)) ? { type: 'Year' } : null
}

/** `20240103` looks like any other number, so the title must say that it is a date. */
function detectCompactDays(values: string[], title: string): Detected {
  const isDay = (value: string) => /^\s*(?:19|20)\d{6}\s*$/.test(value) && parseDay(plainDay(value)) !== null
  return hints(title, 'date') && values.every(isDay)
    ? { type: 'Date', options: { format: STORED_FORMAT } }
    : null
}

/** Words that tell alone; those of other languages may mean something else: `sand`, `no`. */
const ENGLISH_OR_SIGN: ReadonlySet<string> = new Set(
  CHECKBOX_VOCABULARIES.filter(({ isForeign }) => !isForeign).flatMap(({ yes, no }) => [...yes, ...no]),
)

/**
 * Detects values from one yes/no vocabulary. Ambiguous words (0, 1, y, n, t, f, j, and those of other languages) count only if the column contains
 * both a yes and a no.
 */
function detectCheckbox(values: string[]): Detected {
  const words = new Set(values.map((value) => value.trim().toLowerCase()))
  const vocabulary = CHECKBOX_VOCABULARIES.find(({ yes, no }) =>
    [...words].every((word) => yes.includes(word) || no.includes(word)),
  )
  if (!vocabulary) return null
  const hasBoth =
    vocabulary.yes.some((word) => words.has(word)) && vocabulary.no.some((word) => words.has(word))
  const isAmbiguous = [...words].every((word) => /^[01yntfj]$/.test(word) || !ENGLISH_OR_SIGN.has(word))
  return isAmbiguous && !hasBoth ? null : { type: 'Checkbox' }
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
 * Unmistakable telephone numbers: a plus sign or an area code in brackets, North American grouping, or a leading zero
 * and a separator after the area code. Other digits need a matching title, because postal codes and part numbers
 * look alike.
 */
const PHONE = /^(?:\+\d|\(\d|(?:1[-. ])?\d{3}([-. ])\d{3}\1\d{4}$|00?\d{1,5}[ /(])/

function detectPhones(values: string[], title: string): Detected {
  const trimmed = values.map((value) => value.trim())
  const isHinted = isPhoneTitle(title)
  return trimmed.every((value) => isPhone(value) && (isHinted || PHONE.test(value)))
    ? { type: 'PhoneNumber' }
    : null
}

/** Objects and lists, with NULL words allowed. Scalars are valid JSON too, but no evidence for the type. */
function detectJson(values: string[]): Detected {
  const given = values.filter((value) => !isNullWord(value))
  const isJson = given.every((value) => /^\s*[{[]/.test(value) && jsonProblem(value) === null)
  return given.length > 0 && isJson ? { type: 'JSON' } : null
}

/** Maximum column name length: PostgreSQL truncates names at 63 bytes, and a suffix needs room. */
const MAX_COLUMN_NAME = 55

/** Longest title, less the room for a suffix (spec §5: 255). */
const MAX_TITLE = 250

/** Normalizes a title: NFC, no line breaks or control characters, trimmed, at most 250 characters. */
const cleanTitle = (text: string): string =>
  text
    .replace(/^\ufeff/, '')
    .normalize('NFC')
    .replace(/[\s\p{Cc}\p{Cs}]+/gu, ' ')
    .trim()
    .slice(0, MAX_TITLE)
    .replace(/\p{Cs}$/u, '') // unpaired surrogate left by the cut
    .trim()

/** Appends `_1`, `_2`, … until the name is unique, ignoring case, and adds it to `taken`. */
export function uniqueName(name: string, taken: Set<string>): string {
  let unique = name
  for (let suffix = 1; taken.has(unique.toLowerCase()); suffix++) unique = `${name}_${suffix}`
  taken.add(unique.toLowerCase())
  return unique
}

/**
 * Derives a unique column name from a title: special characters become underscores (spec §5).
 * `Cost Total $` gives `Cost_Total__`; a title of only special characters gives `field`.
 */
function columnNameFor(title: string, taken: Set<string>): string {
  const name = title.replace(/\W/g, '_').slice(0, MAX_COLUMN_NAME)
  return uniqueName(/^_*$/.test(name) ? 'field' : name, taken)
}

/** Base scores of types as display field. Other types are used only as a last resort. */
const BY_TYPE: Partial<Record<FieldTypeName, number>> = {
  SingleLineText: 3,
  SingleSelect: 2,
  LongText: 1.5,
  Email: 2,
  PhoneNumber: 0.5,
  URL: 0.5,
  // After all text that names records, and after codes that do, but before amounts.
  Date: -5.5,
  DateTime: -5.5,
  Year: -5.5,
}
/** Score of other types, and of whole numbers whose title says that they identify something, if they do. */
const LEAST = -7
const NUMBERED = -1.3
/** Taken off for a column without values, and in proportion for one with blanks: a record without a name cannot be told apart. */
const BLANK = 15
/** Typical maximum length of a name. Longer averages reduce the score. */
const MAX_NAME = 60

/**
 * Scores a column as display field. Names and titles score highest, then other text by how distinct its values are;
 * ids, codes and hashes score lowest, however unique, and so do columns that are mostly blank.
 *
 * @param values the non-blank cells
 */
function readabilityOf(
  values: string[],
  { type, title, rows, index }: { type: FieldTypeName; title: string; rows: number; index: number },
): number {
  const byType = BY_TYPE[type]
  // Breaks ties in favour of the leftmost column.
  const byPlace = -Math.min(index, 50) / 100
  const distinct = new Set(values)
  if (byType === undefined || values.length === 0) {
    const isNumbered = type === 'Number' && hints(title, 'code') && distinct.size === rows
    return (isNumbered ? NUMBERED : LEAST) + byPlace
  }
  const isWords = type === 'SingleLineText' || type === 'SingleSelect' || type === 'LongText'
  const codes = isWords ? [...distinct].filter(isUnreadable).length / distinct.size : 0
  const length = values.reduce((sum, value) => sum + value.length, 0) / values.length
  const byTitle = (hints(title, 'main') ? 2 : 0) - (isWords && hints(title, 'code') ? 3 : 0)
  const byLength = length > MAX_NAME ? -1.5 * Math.min(2, length / MAX_NAME) : 0
  const differing = (3 * distinct.size) / values.length
  const byItems = isWords && areLists(distinct) ? -2 : 0
  const isUnique = isWords && distinct.size === values.length
  // People put what names a row first, also a number such as `A-1`.
  const byUse = (isUnique ? 2 : 0) + (isUnique && index === 0 ? 2 : 0)
  const byLabels = type === 'SingleSelect' && distinct.size < values.length / 5 ? -5 : 0
  return (
    byType +
    byTitle +
    byLength +
    byPlace +
    byItems +
    byUse +
    byLabels +
    differing +
    1 -
    BLANK * (1 - values.length / rows) -
    5 * codes
  )
}

/** True for values that list the same items again and again, separated by commas. */
function areLists(values: ReadonlySet<string>): boolean {
  const items = [...values].flatMap((value) => value.split(',').map((item) => item.trim()))
  return items.length > values.size && new Set(items).size < items.length * 0.8
}

const isUnreadable = (value: string): boolean =>
  !/\p{L}/u.test(value) || /^[A-Z0-9]{2,4}$/.test(value) || isCode(value)
