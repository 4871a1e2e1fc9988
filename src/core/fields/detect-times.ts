import type { Detected } from './detected.ts'
import { DURATION_FORMATS, type DurationFormat, parseDuration } from './duration-text.ts'
import { parseTime } from './time-text.ts'
import { hints } from './title-words.ts'

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
