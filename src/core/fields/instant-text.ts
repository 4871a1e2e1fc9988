import {
  dayIn,
  digitsBelowMs,
  fromStored,
  fromWall,
  isDay,
  resolveZone,
  startOfDay,
  toStored,
  wallIn,
  withDigitsBelowMs,
} from '../dates.ts'
import { trimTrailing } from '../trim-characters.ts'
import { type DateFormat, formatDay, isLasting, parseDay, readDay, STORED_FORMAT } from './date-text.ts'
import type { ReadingOptions } from './field-type.ts'

/** Display options of a field with instants. */
export type InstantOptions = {
  format: DateFormat
  /** 12 hours with am and pm. */
  time12h: boolean
  seconds: boolean
  milliseconds: boolean
  /** `local`, `UTC` or an IANA name. */
  timeZone: string
} & ReadingOptions

const MAX_LENGTH = 64
const STORED = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\+00:00$/
/** A trailing time of day after a T, comma or space, with an optional offset. */
const TIME =
  /[T ](\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(?: ?(am|pm))?(?: ?(Z|(?:UTC|GMT)(?:[+-]\d{1,2}(?::?\d{2})?)?|[+-]\d{2}(?::?\d{2})?))?$/i

interface Parts {
  day: string
  hour: number
  minute: number
  second: number
  ms: number
  /** Fraction digits after the milliseconds. */
  belowMs: string
  /** Minutes ahead of UTC; null without an offset in the text. */
  offset: number | null
}

/** Splits text into day and time; without a time it is midnight. */
function split(text: string): Parts | null {
  const trimmed = text.trim()
  if (trimmed.length > MAX_LENGTH) return null
  const match = TIME.exec(trimmed)
  if (!match) return { day: trimmed, hour: 0, minute: 0, second: 0, ms: 0, belowMs: '', offset: null }
  const day = dayBefore(trimmed, match)
  const [, hour, minute, second = '0', fraction = '0', half, offset] = match
  const hours = to24Hours(Number(hour), half)
  const minutes = offset === undefined ? null : offsetMinutes(offset)
  if (hours === null || Number.isNaN(minutes)) return null
  const ms = Number(fraction.slice(0, 3).padEnd(3, '0'))
  return {
    day,
    hour: hours,
    minute: Number(minute),
    second: Number(second),
    ms,
    belowMs: fraction.slice(3),
    offset: minutes,
  }
}

/** The text before the time, without the comma and spaces between the two. */
function dayBefore(text: string, time: RegExpExecArray): string {
  const day = text.slice(0, time.index)
  return time[0].startsWith(' ') ? trimTrailing(day, ' ').replace(/,$/, '') : day
}

/** The text without a trailing time of day. */
export function withoutTime(text: string): string {
  const match = text.length <= MAX_LENGTH ? TIME.exec(text) : null
  return match ? dayBefore(text, match) : text
}

function to24Hours(hour: number, half: string | undefined): number | null {
  if (half === undefined) return hour
  if (hour < 1 || hour > 12) return null
  return (hour % 12) + (half.toLowerCase() === 'pm' ? 12 : 0)
}

/** Minutes of `Z`, `+02`, `+0230`, `+02:30` or `GMT+2`; NaN beyond 14 hours, the largest offset in use. */
function offsetMinutes(text: string): number {
  const match = /([+-])(\d{1,2}?):?(\d{2})?$/.exec(text)
  if (!match) return 0
  const minutes = Number(match[2]) * 60 + Number(match[3] ?? 0)
  if (minutes > 14 * 60 || Number(match[3] ?? 0) > 59) return Number.NaN
  return match[1] === '-' ? -minutes : minutes
}

/** The milliseconds of a wall time; null for one that clocks skip. Where they skip midnight, a day begins later. */
function msOf(wall: Parameters<typeof fromWall>[0], day: string, zone: string): number | null {
  const ms = fromWall(wall, zone)
  if (ms !== null || wall.hour + wall.minute + wall.second + wall.ms > 0) return ms
  const start = startOfDay(day, zone)
  return dayIn(start, zone) === day ? start : null
}

function toInstant(
  parts: Parts,
  day: string | null,
  zone: string,
  { keepsFraction = false }: ReadingOptions,
): string | null {
  if (day === null) return null
  const [year = 0, month = 0, date = 0] = day.split('-').map(Number)
  const wall = { ...parts, year, month, day: date }
  const ms = msOf(wall, day, parts.offset === null ? zone : 'UTC')
  const stored = ms === null ? null : toStored(ms - (parts.offset ?? 0) * 60_000)
  return stored !== null && keepsFraction ? withDigitsBelowMs(stored, parts.belowMs) : stored
}

/**
 * Parses an instant as people write it: a day in any notation of `parseDay`, optionally with a time. Without
 * an offset, the field's zone applies; without a time, it is midnight.
 */
export function parseInstant(
  text: string,
  { format, timeZone, keepsFraction }: Pick<InstantOptions, 'format' | 'timeZone' | 'keepsFraction'>,
) {
  const parts = split(text)
  return parts && toInstant(parts, parseDay(parts.day, format), resolveZone(timeZone), { keepsFraction })
}

/** Parses an instant from an API client; without an offset it is UTC. */
export function readInstant(text: string, options: ReadingOptions = {}): string | null {
  // Fast path: clients often send values back as they received them.
  if (STORED.test(text) && fromStored(text) !== null) return text
  const parts = split(text)
  return parts && toInstant(parts, readDay(parts.day), 'UTC', options)
}

/** True if the text ends with a time of day. */
export const hasTime = (text: string): boolean => text.length <= MAX_LENGTH && TIME.test(text.trim())

/** The day of a text whose time, if any, is midnight; null if a time would be lost. */
export function parseDayOnly(text: string, toDay: (text: string) => string | null): string | null {
  const parts = split(text)
  if (!parts || parts.hour + parts.minute + parts.second + parts.ms > 0 || Number(parts.belowMs) > 0)
    return null
  return toDay(parts.day)
}

/** Formats a stored instant in the field's zone: `2024-03-05 08:20`. */
export function formatInstant(stored: string, options: InstantOptions): string {
  const ms = fromStored(stored)
  if (ms === null) return stored
  const zone = resolveZone(options.timeZone)
  const { hour, minute, second, ms: rest } = wallIn(ms, zone)
  const pad = (value: number, digits = 2) => String(value).padStart(digits, '0')
  const shownHour = options.time12h ? hour % 12 || 12 : hour
  let time = `${pad(shownHour)}:${pad(minute)}`
  if (options.seconds || options.milliseconds) time += `:${pad(second)}`
  if (options.milliseconds) time += `.${pad(rest, 3)}${digitsBelowMs(stored)}`
  if (options.time12h) time += hour < 12 ? ' am' : ' pm'
  return `${formatDay(dayIn(ms, zone), options.format)} ${time}`
}

const TO_MINUTES = 'YYYY-MM-DD HH:MM'.length
const TO_SECONDS = 'YYYY-MM-DD HH:MM:SS'.length

/** True if the shown text is the beginning of the stored one, which exports of large tables need not parse. */
const isShownAsStored = ({ format, timeZone, time12h, milliseconds }: InstantOptions): boolean =>
  format === STORED_FORMAT && !time12h && !milliseconds && resolveZone(timeZone) === 'UTC'

/** True if the day and the time of a text in the stored form exist. */
const isTime = (stored: string): boolean =>
  isDay(stored.slice(0, 10)) &&
  stored.slice(11, 13) < '24' &&
  stored.charAt(14) < '6' &&
  stored.charAt(17) < '6'

/** Formats a stored instant as displayed, with seconds and their fraction if they are not 0. */
export function formatWithFraction(stored: string, options: InstantOptions): string {
  const ms = fromStored(stored)
  if (ms === null) return stored
  const hasFraction = ms % 1000 !== 0 || digitsBelowMs(stored) !== ''
  return formatInstant(stored, {
    ...options,
    seconds: options.seconds || ms % 60_000 !== 0,
    milliseconds: options.milliseconds || hasFraction,
  })
}

/**
 * Text that parses back to the same instant: as displayed, with seconds if they are not 0. If that is
 * ambiguous (a month without a day, a year with two digits, the repeated hour at the end of summer time), the stored form.
 */
export function exactInstant(stored: string, options: InstantOptions): string {
  if (isShownAsStored(options) && STORED.test(stored) && isTime(stored)) {
    const hasSeconds = options.seconds || !stored.startsWith(':00', TO_MINUTES)
    return stored.slice(0, hasSeconds ? TO_SECONDS : TO_MINUTES)
  }
  const text = formatWithFraction(stored, options)
  const isSame = parseInstant(text, { ...options, keepsFraction: true }) === stored
  return isSame && isLasting(stored, options.format) ? text : stored
}
