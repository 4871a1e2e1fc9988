import { DATE_FORMATS, type DateFormat, parseDay } from './date-text.ts'
import type { Detected } from './detected.ts'
import { hints } from './detected.ts'
import { DURATION_FORMATS, type DurationFormat, parseDuration } from './duration.ts'
import { hasTime, parseInstant, withoutTime } from './instant-text.ts'
import { parseTime } from './time.ts'

/** Pattern of each format; the lengths of the parts distinguish it from a version or a fraction. */
const SHAPES: Partial<Record<DateFormat, RegExp>> = {
  // With points, too, as in Korea and Hungary.
  'YYYY-MM-DD': /^\d{4}([-.])\d{1,2}\1\d{1,2}$/,
  'YYYY/MM/DD': /^\d{4}\/\d{1,2}\/\d{1,2}$/,
  'DD-MM-YYYY': /^\d{1,2}-\d{1,2}-\d{4}$/,
  'MM-DD-YYYY': /^\d{1,2}-\d{1,2}-\d{4}$/,
  // `1/1/20` too; with points only `01.01.20`, because `1.1.20` is a version as well; see `SHORT_POINTED`.
  'DD/MM/YYYY': /^\d{1,2}\/\d{1,2}\/(?:\d{4}|\d{2})$/,
  'MM/DD/YYYY': /^\d{1,2}\/\d{1,2}\/(?:\d{4}|\d{2})$/,
  'DD MM YYYY': /^\d{1,2} \d{1,2} \d{4}$/,
  'MM DD YYYY': /^\d{1,2} \d{1,2} \d{4}$/,
  'YYYY MM DD': /^\d{4} \d{1,2} \d{1,2}$/,
  'DD.MM.YYYY': /^(?:\d{1,2}\.\d{1,2}\.\d{4}|\d{2}\.\d{2}\.\d{2})$/,
  'DD MMM YYYY': /^(?:\d{1,2}[ -][a-z]{3,9}[ -]\d{4}|[a-z]{3,9} \d{1,2},? \d{4})$/i,
}

/** A day such as `1.1.20`, which is one where another value of the column cannot be a version. */
const SHORT_POINTED = /^\d{1,2}\.\d{1,2}\.\d{2}$/
/** With a leading zero (`01.1.20`), a day behind the twelfth in full (`31.12.24`) or the whole year (`1.1.2020`). */
const SURELY_DAY =
  /^(?:(?=0|\d+\.0)\d{1,2}\.\d{1,2}\.\d{2}|(?:1[3-9]|[23]\d)\.\d{2}\.\d{2}|\d{1,2}\.\d{1,2}\.\d{4})$/

/**
 * Dates, or dates with a time where any value has one, in the most common of their formats. All values
 * must agree on the order of day and month: in a column of both 25/12 and 12/25 nobody knows what 3/4 is.
 */
export function detectDates(values: string[], monthFirst: boolean): Detected {
  const days = values.map((value) => withoutTime(value.trim()))
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
  const isPointed = days.some((day) => SURELY_DAY.test(day) && fits(day, 'DD.MM.YYYY', true))
  const candidates = DATE_FORMATS.map((name) => ({
    name,
    fitting: days.filter((day) => fits(day, name, isPointed)).length,
  }))
    .filter(({ fitting }) => fitting > 0)
    // The sort keeps the list's order among equals, which puts the day first.
    .sort((a, b) => b.fitting - a.fitting)
  const most = candidates.filter(({ fitting }) => fitting === candidates[0]?.fitting)
  const best = (monthFirst && most.find(({ name }) => name.startsWith('MM'))) || most[0]
  if (!best) return null
  // Values in another format are fine as long as it is one that can be read in a single way.
  const others = days.filter((day) => !fits(day, best.name, isPointed))
  if (!others.every((day) => /^\d{4}\D/.test(day) && parseDay(day, best.name) !== null)) return null
  const ambiguous = most.some(({ name }) => name !== best.name) && !best.name.startsWith('YYYY')
  return { name: best.name, ambiguous }
}

/**
 * True where the day can be read in that format, and not only in one with day and month the other way round.
 * `isPointed` tells that the column holds days with points for certain.
 */
function fits(day: string, format: DateFormat, isPointed: boolean): boolean {
  const isShort = isPointed && format === 'DD.MM.YYYY' && SHORT_POINTED.test(day)
  if (!isShort && !SHAPES[format]?.test(day)) return false
  const first = Number(/^\d{1,2}(?=\D)/.exec(day)?.[0] ?? 0)
  const second = Number(/^\d{1,2}\D(\d{1,2})\D/.exec(day)?.[1] ?? 0)
  if (format.startsWith('DD') && second > 12) return false
  if (format.startsWith('MM') && first > 12) return false
  return parseDay(day, format) !== null
}

/** `8:05`, `08:05:30`, `8:05 pm`, `8 am`. A number alone is no time. */
const TIME = /^(?:\d{1,2}:\d{2}(?::\d{2})?(?: ?[ap]\.?m\.?)?|\d{1,2} ?[ap]\.?m\.?)$/i
const HALF = /[ap]\.?m\.?$/i
/** `1:30`, `36:00:15`, `0:00:01.5`, `-0:30`. */
const CLOCK = /^[-−]?\d{1,6}:[0-5]\d(?::[0-5]\d(?:\.\d{1,3})?)?$/
/** `0:58:10`: a clock shows the hour after midnight as `00` or `12`. */
const UNDER_AN_HOUR = /^0:[0-5]\d:[0-5]\d$/
/** `1h 30m`, `90 min`, `2 hours`. */
const UNITS = /^[-−]?\d{1,9}(?:\.\d{1,3})? ?[a-z]{1,7}(?:,? ?\d{1,9}(?:\.\d{1,3})? ?[a-z]{1,7}){0,4}$/i
/** A unit that could be a metre, or a mark of anything else, says little by itself. */
const DOUBTFUL = /^[-−]?[\d.]+ ?[mdhs]$/i

/** Times of day; lengths of time where a clock shows no such time, or the title says so. */
export function detectTimes(values: string[], title: string): Detected {
  const trimmed = values.map((value) => value.trim())
  const isLength = hints(title, 'duration') || trimmed.some((value) => UNDER_AN_HOUR.test(value))
  if (hints(title, 'score')) return null
  const isTime = trimmed.every((value) => TIME.test(value) && parseTime(value) !== null)
  if (isTime && !(isLength && trimmed.every((value) => CLOCK.test(value)))) {
    return { type: 'Time', options: { time12h: trimmed.every((value) => HALF.test(value)) } }
  }
  if (trimmed.every((value) => CLOCK.test(value))) {
    const format = clockFormat(trimmed)
    return format === null ? null : { type: 'Duration', options: { format } }
  }
  if (!trimmed.every((value) => UNITS.test(value) && parseDuration(value, 'h:mm') !== null)) return null
  if (!isLength && trimmed.every((value) => DOUBTFUL.test(value))) return null
  const hasSeconds = trimmed.some((value) => /\d ?s/i.test(value))
  return { type: 'Duration', options: { format: hasSeconds ? 'h:mm:ss' : 'h:mm' } }
}

/**
 * With seconds, and as many of their decimals, as any value has. Null where some have seconds and others do not: a
 * field with seconds reads `1:30` as minutes.
 */
function clockFormat(values: string[]): DurationFormat | null {
  const withSeconds = values.filter((value) => /:\d+:/.test(value)).length
  if (withSeconds === 0) return 'h:mm'
  if (withSeconds < values.length) return null
  const decimals = Math.max(...values.map((value) => /\.(\d+)$/.exec(value)?.[1]?.length ?? 0))
  return DURATION_FORMATS[1 + decimals] ?? null
}
