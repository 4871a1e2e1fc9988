import { DATE_FORMATS, type DateFormat, hasMonthName, parseDay } from './date-text.ts'
import type { Detected } from './detected.ts'
import { hints } from './detected.ts'
import { DURATION_FORMATS, type DurationFormat, parseDuration } from './duration.ts'
import { arePersianOrIslamic, hasEraLetter, isSurelyEra } from './era-days.ts'
import type { FieldOptions } from './field-type.ts'
import { type FieldTypeName, readOptions } from './index.ts'
import { hasTime, parseInstant, withoutTime } from './instant-text.ts'
import { plainDay, plainDuration } from './notations.ts'
import { parseTime } from './time.ts'

/** Pattern of each format; the lengths of the parts distinguish it from a version or a fraction. */
const SHAPES: Partial<Record<DateFormat, RegExp>> = {
  // With dots too, as in Korea and Hungary.
  'YYYY-MM-DD': /^\d{4}([-.])\d{1,2}\1\d{1,2}$/,
  'YYYY/MM/DD': /^\d{4}\/\d{1,2}\/\d{1,2}$/,
  'DD-MM-YYYY': /^\d{1,2}-\d{1,2}-\d{4}$/,
  'MM-DD-YYYY': /^\d{1,2}-\d{1,2}-\d{4}$/,
  // Includes `1/1/20`, but with dots only `01.01.20`: `1.1.20` may be a version number, see `SHORT_DOTTED`.
  'DD/MM/YYYY': /^\d{1,2}\/\d{1,2}\/(?:\d{4}|\d{2})$/,
  'MM/DD/YYYY': /^\d{1,2}\/\d{1,2}\/(?:\d{4}|\d{2})$/,
  'DD MM YYYY': /^\d{1,2} \d{1,2} \d{4}$/,
  'MM DD YYYY': /^\d{1,2} \d{1,2} \d{4}$/,
  'YYYY MM DD': /^\d{4} \d{1,2} \d{1,2}$/,
  'DD.MM.YYYY': /^(?:\d{1,2}\.\d{1,2}\.\d{4}|\d{2}\.\d{2}\.\d{2})$/,
}

/** `1.1.20`, which counts as a day only if the column has a value that cannot be a version number. */
const SHORT_DOTTED = /^\d{1,2}\.\d{1,2}\.\d{2}$/
/**
 * Values that cannot be version numbers: with a leading zero (`01.1.20`), a day after the twelfth
 * (`31.12.24`) or a four-digit year (`1.1.2020`).
 */
const UNAMBIGUOUS_DAY =
  /^(?:(?=0|\d+\.0)\d{1,2}\.\d{1,2}\.\d{2}|(?:1[3-9]|[23]\d)\.\d{2}\.\d{2}|\d{1,2}\.\d{1,2}\.\d{4})$/

/**
 * Detects dates, or instants if any value has a time, in their most common format. All values must agree on
 * the order of day and month: in a column with 25/12 and 12/25, 3/4 is ambiguous.
 */
export function detectDates(written: string[], monthFirst: boolean): Detected {
  if (written.some(hasEraLetter) && !written.some(isSurelyEra)) return null
  const values = written.map(plainDay)
  const days = values.map(withoutTime)
  if (arePersianOrIslamic(days)) return null
  const format = commonFormat(days, monthFirst)
  if (format === null) return null
  const options = { format: format.name }
  const ambiguous = format.ambiguous ? { ambiguous: true as const } : {}
  const times = values.filter((value) => hasTime(value))
  if (times.length === 0) return { type: 'Date', options, ...ambiguous }
  if (!values.every((value) => parseInstant(value, { ...options, timeZone: 'UTC' }) !== null)) return null
  const seconds = times.some((value) => !/:\d{2}:00(?:[.,]0+)?(?!\d)|^[^:]*:\d{2}(?!:|\d)/.test(value))
  return { type: 'DateTime', options: { ...options, seconds }, ...ambiguous }
}

function commonFormat(days: string[], monthFirst: boolean): { name: DateFormat; ambiguous: boolean } | null {
  const isDotted = days.some((day) => UNAMBIGUOUS_DAY.test(day) && fits(day, 'DD.MM.YYYY', true))
  const candidates = DATE_FORMATS.map((name) => ({
    name,
    fitting: days.filter((day) => fits(day, name, isDotted)).length,
  }))
    .filter(({ fitting }) => fitting > 0)
    // The stable sort puts day-first formats first among equals.
    .sort((a, b) => b.fitting - a.fitting)
  const most = candidates.filter(({ fitting }) => fitting === candidates[0]?.fitting)
  const best = (monthFirst && most.find(({ name }) => name.startsWith('MM'))) || most[0]
  if (!best) return null
  // Other unambiguous formats may occur too.
  const others = days.filter((day) => !fits(day, best.name, isDotted))
  if (!others.every((day) => /^\d{4}\D/.test(day) && parseDay(day, best.name) !== null)) return null
  const ambiguous = most.some(({ name }) => name !== best.name) && !best.name.startsWith('YYYY')
  return { name: best.name, ambiguous }
}

/**
 * True if the day can be parsed in that format without swapping day and month. `isDotted`: the column
 * certainly holds days with dots.
 */
function fits(day: string, format: DateFormat, isDotted: boolean): boolean {
  if (format.startsWith('DD MMM'))
    return hasMonthName(day, format === 'DD MMM YY' ? 2 : 4) && parseDay(day, format) !== null
  const isShort = isDotted && format === 'DD.MM.YYYY' && SHORT_DOTTED.test(day)
  if (!isShort && !SHAPES[format]?.test(day)) return false
  const first = Number(/^\d{1,2}(?=\D)/.exec(day)?.[0] ?? 0)
  const second = Number(/^\d{1,2}\D(\d{1,2})\D/.exec(day)?.[1] ?? 0)
  if (format.startsWith('DD') && second > 12) return false
  if (format.startsWith('MM') && first > 12) return false
  return parseDay(day, format) !== null
}

/** `8:05`, `08:05:30`, `8:05 pm`, `8 am`, but not a number alone. */
const TIME = /^(?:\d{1,2}:\d{2}(?::\d{2})?(?: ?[ap]\.?m\.?)?|\d{1,2} ?[ap]\.?m\.?)$/i
const HALF = /[ap]\.?m\.?$/i
/** `1:30`, `36:00:15`, `0:00:01.5`, `-0:30`. */
const CLOCK = /^[-−]?\d{1,6}:[0-5]\d(?::[0-5]\d(?:\.\d{1,3})?)?$/
/** `0:58:10`: a clock shows the hour after midnight as `00` or `12`. */
const UNDER_AN_HOUR = /^0:[0-5]\d:[0-5]\d$/
/** `1h 30m`, `90 min`, `2 hours`. */
const UNITS = /^[-−]?\d{1,9}(?:\.\d{1,3})? ?[a-z]{1,7}(?:,? ?\d{1,9}(?:\.\d{1,3})? ?[a-z]{1,7}){0,4}$/i
/** Single-letter units such as `m`, which may stand for metres, are weak evidence. */
const SINGLE_LETTER_UNIT = /^[-−]?[\d.]+ ?[mdhs]$/i

/** Detects times of day, or durations if a value is not a time of day or the title says so. */
export function detectTimes(values: string[], title: string): Detected {
  const trimmed = values.map((value) => value.trim())
  const isDuration = hints(title, 'duration') || trimmed.some((value) => UNDER_AN_HOUR.test(value))
  if (hints(title, 'score')) return null
  const isTime = trimmed.every((value) => TIME.test(value) && parseTime(value) !== null)
  if (isTime && !(isDuration && trimmed.every((value) => CLOCK.test(value)))) {
    return { type: 'Time', options: { time12h: trimmed.every((value) => HALF.test(value)) } }
  }
  if (trimmed.every((value) => CLOCK.test(value))) {
    const format = clockFormat(trimmed)
    return format === null ? null : { type: 'Duration', options: { format } }
  }
  const written = trimmed.map(plainDuration)
  // `P1D` alone may be a code.
  const isIso =
    written.every((value, at) => value !== trimmed[at]) && trimmed.some((value) => value.includes('T'))
  if (isIso) return { type: 'Duration', options: { format: isoFormat(written) } }
  if (!trimmed.every((value) => UNITS.test(value) && parseDuration(value, 'h:mm') !== null)) return null
  if (!isDuration && trimmed.every((value) => SINGLE_LETTER_UNIT.test(value))) return null
  const hasSeconds = trimmed.some((value) => /\d ?s/i.test(value))
  return { type: 'Duration', options: { format: hasSeconds ? 'h:mm:ss' : 'h:mm' } }
}

/** A column of times as durations, because the file says that they are: `7:30:00` may be both. */
export const asDuration = <Field extends { type: FieldTypeName; options: FieldOptions }>(
  field: Field,
): Field =>
  field.type === 'Time'
    ? { ...field, type: 'Duration', options: readOptions('Duration', { format: 'h:mm:ss' }) }
    : field

function isoFormat(values: string[]): DurationFormat {
  const fractions = values.map((value) => /\d(?:[.,](\d+))?s$/.exec(value))
  if (fractions.every((found) => found === null)) return 'h:mm'
  const decimals = Math.max(...fractions.map((found) => found?.[1]?.length ?? 0))
  return DURATION_FORMATS[1 + Math.min(3, decimals)] ?? 'h:mm:ss'
}

/**
 * The format with seconds and decimals if any value has them. Null if only some values have seconds: a field
 * with seconds parses `1:30` as minutes.
 */
function clockFormat(values: string[]): DurationFormat | null {
  const withSeconds = values.filter((value) => /:\d+:/.test(value)).length
  if (withSeconds === 0) return 'h:mm'
  if (withSeconds < values.length) return null
  const decimals = Math.max(...values.map((value) => /\.(\d+)$/.exec(value)?.[1]?.length ?? 0))
  return DURATION_FORMATS[1 + decimals] ?? null
}
