import { trimTrailing } from './trim-characters.ts'

/** The English names of the months, in small letters. */
export const MONTHS = [
  'january',
  'february',
  'march',
  'april',
  'may',
  'june',
  'july',
  'august',
  'september',
  'october',
  'november',
  'december',
]

/**
 * Calendar days and instants in their stored forms: a day is `YYYY-MM-DD`, an instant is `YYYY-MM-DD
 * HH:MM:SS+00:00` in UTC. A nonzero fraction of a second precedes the offset with 3 digits (milliseconds); in
 * columns of connected databases it may have 6 or 9 digits. Both forms sort chronologically as text.
 */

const DAY_MS = 86_400_000
const DAY = /^(\d{4})-(\d{2})-(\d{2})$/
const INSTANT = /^(\d{4})-(\d{2})-(\d{2}) (\d{2}):(\d{2}):(\d{2})(?:\.(\d{3})(?:\d{3}){0,2})?\+00:00$/

/** Date and time of day without a time zone. Months count from 1. */
interface WallTime {
  year: number
  month: number
  day: number
  hour: number
  minute: number
  second: number
  ms: number
}

const pad = (value: number, digits: number): string => String(value).padStart(digits, '0')

/** Milliseconds since 1970 of a wall time in UTC. Years below 100 are not mapped to 1900 to 1999. */
export function utcOf({ year, month, day, hour, minute, second, ms }: WallTime): number {
  const date = new Date(Date.UTC(2000, month - 1, day, hour, minute, second, ms))
  // Date.UTC maps years 0 to 99 to 1900 to 1999, so set the year separately, together with its month.
  date.setUTCFullYear(year, month - 1, day)
  return date.getTime()
}

/** The UTC wall time of an instant in milliseconds. */
export function wallOf(ms: number): WallTime {
  const date = new Date(ms)
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    second: date.getUTCSeconds(),
    ms: date.getUTCMilliseconds(),
  }
}

/** The stored form `2024-03-05`; null for a day that does not exist or a year outside 1 to 9999. */
export function makeDay(year: number, month: number, day: number): string | null {
  return exists(year, month, day) ? `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}` : null
}

function exists(year: number, month: number, day: number): boolean {
  if (year < 1 || year > 9999 || month < 1 || month > 12 || day < 1) return false
  return day <= daysInMonth(year, month)
}

/** Number of days in a month counted from 1. */
export function daysInMonth(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28
  return [4, 6, 9, 11].includes(month) ? 30 : 31
}

/** True for the stored form of an existing day. */
export const isDay = (text: string): boolean => {
  const match = DAY.exec(text)
  return match !== null && exists(Number(match[1]), Number(match[2]), Number(match[3]))
}

/** Milliseconds since 1970 at the start of a stored day in UTC. */
export function dayToMs(day: string): number {
  const [year = 1970, month = 1, date = 1] = day.split('-').map(Number)
  return utcOf({ year, month, day: date, hour: 0, minute: 0, second: 0, ms: 0 })
}

/** The UTC day of an instant; null outside the years 1 to 9999. */
export function msToDay(ms: number): string | null {
  const { year, month, day } = wallOf(ms)
  return Number.isFinite(ms) ? makeDay(year, month, day) : null
}

/** The day `count` days later (earlier if negative), clamped to the years 1 to 9999. */
export function addDays(day: string, count: number): string {
  return msToDay(dayToMs(day) + count * DAY_MS) ?? (count < 0 ? '0001-01-01' : '9999-12-31')
}

/** The same day `count` months later, or the last day of that month if it is shorter. */
export function addMonths(day: string, count: number): string {
  const [year = 1970, month = 1, date = 1] = day.split('-').map(Number)
  const months = year * 12 + (month - 1) + count
  const [newYear, newMonth] = [Math.floor(months / 12), (((months % 12) + 12) % 12) + 1]
  const newDay = Math.min(date, daysInMonth(newYear, newMonth))
  return makeDay(newYear, newMonth, newDay) ?? (count < 0 ? '0001-01-01' : '9999-12-31')
}

/** Whole days from one stored day to another. */
export const daysBetween = (from: string, to: string): number =>
  Math.round((dayToMs(to) - dayToMs(from)) / DAY_MS)

/** The stored form of an instant; null outside the years 1 to 9999. */
export function toStored(ms: number): string | null {
  const day = msToDay(ms)
  if (day === null) return null
  const { hour, minute, second, ms: rest } = wallOf(ms)
  const fraction = rest === 0 ? '' : `.${pad(rest, 3)}`
  return `${day} ${pad(hour, 2)}:${pad(minute, 2)}:${pad(second, 2)}${fraction}+00:00`
}

/**
 * The stored digits of a second's fraction: '' if all are 0, else 3, 6 or 9 digits. Digits after the ninth
 * are dropped.
 *
 * @example fractionDigits('5') // '500'
 * @example fractionDigits('123456') // '123456'
 */
export function fractionDigits(digits: string): string {
  const significant = trimTrailing(digits.slice(0, 9), '0')
  return significant.padEnd(Math.ceil(significant.length / 3) * 3, '0')
}

/** Index of the fraction in a stored instant that has one. */
const FRACTION_AT = 'YYYY-MM-DD HH:MM:SS.'.length

/**
 * The digits of a stored instant after its milliseconds: `456` of `2024-01-02 03:04:05.123456+00:00`; ''
 * without such digits.
 */
export const digitsBelowMs = (instant: string): string =>
  instant[FRACTION_AT - 1] === '.' ? instant.slice(FRACTION_AT + 3, -'+00:00'.length) : ''

/** Appends digits after the milliseconds of a stored instant. */
export function withDigitsBelowMs(instant: string, digits: string): string {
  if (trimTrailing(digits, '0') === '') return instant
  const ms = instant[FRACTION_AT - 1] === '.' ? instant.slice(FRACTION_AT, FRACTION_AT + 3) : '000'
  return `${instant.slice(0, FRACTION_AT - 1)}.${fractionDigits(ms + digits)}+00:00`
}

/** Whole milliseconds since 1970 of a stored instant; null for any other text. */
export function fromStored(text: string): number | null {
  const match = INSTANT.exec(text)
  if (!match) return null
  const [year, month, day, hour, minute, second, ms] = match.slice(1).map((part) => Number(part ?? 0))
  return toMs({ year, month, day, hour, minute, second, ms } as WallTime)
}

/** Milliseconds of a UTC wall time; null for times that do not exist, such as 25:00 or 30 February. */
function toMs(wall: WallTime): number | null {
  const { year, month, day, hour, minute, second } = wall
  if (!exists(year, month, day) || hour > 23 || minute > 59 || second > 59) return null
  return utcOf(wall)
}

let local = 'UTC'

/**
 * Sets the zone that `timeZone: 'local'` refers to. The web app calls it once at start with the browser's
 * zone; the server keeps UTC, so that its results do not depend on the host.
 */
export function setLocalZone(zone: string): void {
  local = isTimeZone(zone) ? zone : 'UTC'
}

/** Resolves a field's `timeZone` option to an IANA name. */
export const resolveZone = (zone: string): string => (zone === 'local' ? local : zone)

const zoneFormats = new Map<string, Intl.DateTimeFormat>()

function zoneFormat(zone: string): Intl.DateTimeFormat {
  let format = zoneFormats.get(zone)
  if (!format) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      era: 'short',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
    zoneFormats.set(zone, format)
  }
  return format
}

/** True for a zone that this runtime knows, e.g. `Europe/Berlin`. */
export function isTimeZone(zone: string): boolean {
  try {
    zoneFormat(zone)
    return true
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}

/** Offsets by zone and UTC day; null if the offset changes on that day. */
const dayOffsets = new Map<string, Map<number, number | null>>()
const MAX_DAYS = 20_000

/** The zone's offset from UTC at an instant, in milliseconds. */
export function offsetAt(ms: number, zone: string): number {
  if (zone === 'UTC') return 0
  const days = dayOffsets.get(zone) ?? new Map<number, number | null>()
  const day = Math.floor(ms / DAY_MS)
  let offset = days.get(day)
  if (offset === undefined) {
    // A call of `Intl` takes microseconds: too slow for a column of a million instants.
    const first = computeOffset(day * DAY_MS, zone)
    offset = first === computeOffset((day + 1) * DAY_MS, zone) ? first : null
    if (days.size >= MAX_DAYS) days.clear()
    dayOffsets.set(zone, days.set(day, offset))
  }
  return offset ?? computeOffset(ms, zone)
}

function computeOffset(ms: number, zone: string): number {
  const part: Record<string, string> = {}
  for (const { type, value } of zoneFormat(zone).formatToParts(ms)) part[type] = value
  const year = part.era === 'BC' ? 1 - Number(part.year) : Number(part.year)
  const wall = {
    year,
    month: Number(part.month),
    day: Number(part.day),
    hour: Number(part.hour),
    minute: Number(part.minute),
    second: Number(part.second),
    ms: 0,
  }
  return utcOf(wall) - Math.floor(ms / 1000) * 1000
}

/**
 * Converts a wall time in the zone to an instant: the first if it occurs twice (end of summer time), null if
 * it is skipped (start of summer time).
 */
export function fromWall(wall: WallTime, zone: string): number | null {
  const asUtc = toMs(wall)
  if (asUtc === null || zone === 'UTC') return asUtc
  // The valid offset is one of those half a day before and after.
  const offsets = [offsetAt(asUtc - DAY_MS / 2, zone), offsetAt(asUtc + DAY_MS / 2, zone)]
  const instants = offsets.map((offset) => asUtc - offset)
  const fitting = instants.filter((ms) => ms + offsetAt(ms, zone) === asUtc)
  return fitting.length === 0 ? null : Math.min(...fitting)
}

/** The wall time of an instant in the zone. */
export const wallIn = (ms: number, zone: string): WallTime => wallOf(ms + offsetAt(ms, zone))

/** The calendar day in the zone at an instant. */
export const dayIn = (ms: number, zone: string): string => {
  const day = msToDay(ms + offsetAt(ms, zone))
  return day ?? (ms < 0 ? '0001-01-01' : '9999-12-31')
}

/** The instant at which a day begins in the zone: the first midnight if there are two, 1 o'clock if it is skipped. */
export function startOfDay(day: string, zone: string): number {
  const asUtc = dayToMs(day)
  return fromWall(wallOf(asUtc), zone) ?? asUtc - offsetAt(asUtc - DAY_MS / 2, zone)
}
