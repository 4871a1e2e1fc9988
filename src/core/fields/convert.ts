import { dayIn, fromStored, startOfDay, toStored, wallIn } from '../dates.ts'
import { readAttachments } from './attachment-item.ts'
import type { CellValue, FieldOptions } from './field-type.ts'
import { type FieldTypeName, fieldType } from './index.ts'
import { parseNumber, parseShare } from './number-text.ts'

/** Result of converting a value to another type. */
export interface Conversion {
  /** Null if no part of the value fits. */
  value: CellValue
  /** True if information was lost: the whole value, the time of a DateTime converted to a Date, the files. */
  lost: boolean
}

/**
 * Converts a value to another type. A value that would be truncated, rounded or reinterpreted (1.9 as an integer, 7
 * of five stars, two tags as one option, 5 as five o'clock) becomes null and counts as lost. Partial conversions that
 * the target type implies keep the day, year or time of an instant, the name of a file, or the number in `0301`; they
 * count as lost too.
 *
 * Selects accept only existing options: add them first (`withChoices`) to keep all values. Days and hours of instants
 * are those of the zones in the options: put the caller's in place of `local` (`inZone`), which is UTC here.
 */
export function convert(
  value: CellValue,
  fromType: FieldTypeName,
  fromOptions: FieldOptions,
  toType: FieldTypeName,
  toOptions: FieldOptions,
): Conversion {
  if (value === null) return { value: null, lost: false }
  if (fieldType(toType).readOnly) return { value: null, lost: true }
  const converted = special(value, fromType, fromOptions, toType, toOptions)
  // Nothing is lost when an empty text becomes null.
  return { value: converted.value, lost: converted.lost || (converted.value === null && value !== '') }
}

const NUMERIC: readonly FieldTypeName[] = [
  'ID',
  'Number',
  'Decimal',
  'Currency',
  'Percent',
  'Rating',
  'Year',
  'Duration',
  'AutoNumber',
  'ForeignKey',
  'Order',
]
const INSTANTS: readonly FieldTypeName[] = ['DateTime', 'CreatedTime', 'LastModifiedTime']

function special(
  value: Exclude<CellValue, null>,
  fromType: FieldTypeName,
  fromOptions: FieldOptions,
  toType: FieldTypeName,
  toOptions: FieldOptions,
): Conversion {
  if (fromType === 'Password' || toType === 'Password') return lossless(null)
  const clock = clockValue(value, fromType, fromOptions, toType)
  if (clock) return clock
  const files = filesAs(value, fromType, toType, toOptions)
  if (files) return files
  // Text such as 1:30 is parsed as a duration; numbers are seconds.
  const toNumeric = NUMERIC.includes(toType) && (toType !== 'Duration' || NUMERIC.includes(fromType))
  if (fromType === 'Checkbox' && toNumeric) return lossless(value === true || value === 1 ? 1 : 0)
  if (NUMERIC.includes(fromType) && toType === 'Checkbox') return lossless(asCheckmark(value))
  if (toNumeric && (toType !== 'Year' || NUMERIC.includes(fromType))) {
    // "0301" is probably a code or telephone number, which 301 no longer shows.
    const hasZeros = !NUMERIC.includes(fromType) && /^\s*[+-]?0\d/.test(String(value))
    return { value: asNumber(value, fromType, fromOptions, toType, toOptions), lost: hasZeros }
  }
  if (INSTANTS.includes(fromType) && toType === 'DateTime') return lossless(value)
  if (INSTANTS.includes(fromType) && toType === 'Date') return asDay(String(value), fromOptions)
  if (fromType === 'Date' && toType === 'DateTime')
    return lossless(toStored(startOfDay(String(value), zoneOf(toOptions.timeZone))))
  const text = fieldType(fromType).format(value, fromOptions)
  const converted = fieldType(toType).parse(text, toOptions)
  // For stored files, only the names remain.
  const isName = fromType === 'Attachment' && readAttachments(value).some(({ path }) => path)
  return { value: converted, lost: isName }
}

/** Converts external files to URLs, and files to and from JSON; null for other pairs of types. */
function filesAs(
  value: CellValue,
  fromType: FieldTypeName,
  toType: FieldTypeName,
  toOptions: FieldOptions,
): Conversion | null {
  if (fromType === 'Attachment' && toType === 'JSON') return lossless(value)
  const files = readAttachments(value)
  if (fromType === 'Attachment' && toType === 'URL')
    return lossless(files.length === 1 ? (files[0]?.url ?? null) : null)
  if (fromType !== 'JSON' || toType !== 'Attachment') return null
  const read = fieldType(toType).read(files, toOptions)
  // Access to stored files is checked in the write door, which conversions bypass.
  return lossless(read.ok && !files.some(({ path }) => path) ? read.value : null)
}

const lossless = (converted: CellValue): Conversion => ({ value: converted, lost: false })

/** Converts between times, durations, instants and years; null for other pairs of types. */
function clockValue(
  value: Exclude<CellValue, null>,
  fromType: FieldTypeName,
  { timeZone }: FieldOptions,
  toType: FieldTypeName,
): Conversion | null {
  if (fromType === 'Time' && toType === 'Duration') return lossless(secondsOf(String(value)))
  if (fromType === 'Duration' && toType === 'Time') return lossless(timeOf(Number(value)))
  // A number is not a time of day, although typing 5 into a Time field gives five o'clock.
  if (toType === 'Time' && NUMERIC.includes(fromType)) return lossless(null)
  const isInstant = INSTANTS.includes(fromType)
  if (toType === 'Year' && (isInstant || fromType === 'Date')) {
    const day = isInstant ? asDay(String(value), { timeZone }).value : value
    return day === null ? { value: null, lost: true } : { value: Number(String(day).slice(0, 4)), lost: true }
  }
  if (toType !== 'Time' || !isInstant) return null
  const ms = fromStored(String(value))
  if (ms === null) return { value: null, lost: true }
  const { hour, minute, second } = wallIn(ms, zoneOf(timeZone))
  // Converting an instant to a time of day drops the day.
  return { value: timeOf(hour * 3600 + minute * 60 + second), lost: true }
}

function secondsOf(time: string): number {
  const [hours = 0, minutes = 0, seconds = 0] = time.split(':').map(Number)
  return hours * 3600 + minutes * 60 + seconds
}

/** The time of day at a number of seconds after midnight; null outside a day. */
function timeOf(seconds: number): string | null {
  if (!Number.isInteger(seconds) || seconds < 0 || seconds >= 86_400) return null
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
  return parts.map((part) => String(part).padStart(2, '0')).join(':')
}

/** Only 1 and 0 convert without loss; 5 would come back as 1. */
function asCheckmark(value: CellValue): boolean | null {
  return value === 1 ? true : value === 0 ? false : null
}

/** The value as a number, if the target type accepts exactly that number; else null. */
function asNumber(
  value: Exclude<CellValue, null>,
  fromType: FieldTypeName,
  fromOptions: FieldOptions,
  toType: FieldTypeName,
  toOptions: FieldOptions,
): CellValue {
  const text = fromType === 'Duration' ? String(value) : fieldType(fromType).format(value, fromOptions)
  const number = numberIn(text, toType, toOptions)
  if (number === null) return null
  const read = fieldType(toType).read(number, toOptions)
  return read.ok ? read.value : null
}

function numberIn(text: string, toType: FieldTypeName, toOptions: FieldOptions): CellValue {
  // Also parses its code, "EUR 12".
  if (toType === 'Currency') return fieldType(toType).parse(text, toOptions)
  return toType === 'Percent' ? parseNumber(text) : parseShare(text)
}

/** The day of an instant in the field's zone. Nothing is lost at the beginning of the day, which days convert to. */
function asDay(instant: string, { timeZone }: FieldOptions): Conversion {
  const ms = fromStored(instant)
  if (ms === null) return { value: null, lost: true }
  const zone = zoneOf(timeZone)
  const day = dayIn(ms, zone)
  return { value: day, lost: instant !== toStored(startOfDay(day, zone)) }
}

const zoneOf = (timeZone: unknown): string =>
  typeof timeZone === 'string' && timeZone !== 'local' ? timeZone : 'UTC'
