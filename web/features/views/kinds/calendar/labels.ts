import { addDays, dayToMs } from '../../../../../src/core/dates.ts'
import { DATE_FORMATS, type DateFormat, formatDay } from '../../../../../src/core/fields/date-text.ts'
import { shownType } from '../../../../../src/core/fields/field.ts'
import { localeTag } from '../../../../i18n.ts'
import { m } from '../../../../messages.gen.ts'
import { type CalendarEvent, DAY_MINUTES, type DateField } from './events.ts'
import type { Period } from './period.ts'

const MINUTE_MS = 60_000
const formats = new Map<string, Intl.DateTimeFormat>()

/** Formats days and wall times as UTC, so that no zone conversion applies. */
function format(options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = localeTag() + JSON.stringify(options)
  let known = formats.get(key)
  // The calendar is Gregorian, in Farsi and Thai too.
  known ??= new Intl.DateTimeFormat(localeTag(), { calendar: 'gregory', ...options, timeZone: 'UTC' })
  formats.set(key, known)
  return known
}

/** `Friday, November 20, 2026`. */
export const dayName = (day: string): string => format({ dateStyle: 'full' }).format(dayToMs(day))

/** `20`, in the digits of the language. */
export const dayNumber = (day: string): string =>
  new Intl.NumberFormat(localeTag()).format(Number(day.slice(8)))

/** `Fri`. */
export const weekdayName = (day: string, style: 'short' | 'narrow' | 'long' = 'short'): string =>
  format({ weekday: style }).format(dayToMs(day))

/** `Nov 1`, for the first day of a month within another one. */
export const monthDay = (day: string): string =>
  format({ month: 'short', day: 'numeric' }).format(dayToMs(day))

/** `November`. */
export const monthName = (day: string): string => format({ month: 'long' }).format(dayToMs(day))

/** `9:30 AM` or `09:30`, as in the field's cells. */
const timeName = (minute: number, is12h: boolean): string =>
  format({ hour: is12h ? 'numeric' : '2-digit', minute: '2-digit', hour12: is12h }).format(minute * MINUTE_MS)

/** `9 AM` or `09:00`, for the hour axis. */
export const hourName = (hour: number, is12h: boolean): string =>
  is12h ? format({ hour: 'numeric', hour12: true }).format(hour * 60 * MINUTE_MS) : timeName(hour * 60, false)

/** Heading of the shown period: `November 2026`, `Nov 16 – 22, 2026`, `Friday, November 20, 2026`, `2026`. */
export function periodName({ scale, day, first, last }: Period): string {
  if (scale === 'day') return dayName(day)
  if (scale === 'year') return format({ year: 'numeric' }).format(dayToMs(day))
  if (scale === 'month') return format({ month: 'long', year: 'numeric' }).format(dayToMs(day))
  return format({ month: 'short', day: 'numeric', year: 'numeric' }).formatRange(
    dayToMs(first),
    dayToMs(last),
  )
}

/** True if the range's start field uses 12-hour time. */
const shows12h = ({ range }: Pick<CalendarEvent, 'range'>): boolean => {
  const { field } = range.from
  return (field.result?.options ?? field.options).time12h === true
}

/**
 * The full time of an event in the format of its fields: `2026-11-20`, `2026-11-20 09:00 – 10:30`, `20/11/2026 –
 * 22/11/2026`.
 */
export function whenName({
  firstDay,
  lastDay,
  startMinute,
  endMinute,
  hasEnd,
  range,
}: CalendarEvent): string {
  const from = formatOf(range.from)
  const to = formatOf(range.to ?? range.from)
  const start = formatDay(firstDay, from.format)
  if (startMinute === null || (hasEnd && endMinute === null)) {
    return firstDay === lastDay ? start : `${start} – ${formatDay(lastDay, to.format)}`
  }
  const at = `${start} ${clockText(startMinute, from.time12h)}`
  if (!hasEnd || endMinute === null) return at
  // The end of a day is midnight of the next one.
  const endDay = endMinute === DAY_MINUTES ? addDays(lastDay, 1) : lastDay
  const end = clockText(endMinute % DAY_MINUTES, to.time12h)
  return endDay === firstDay ? `${at} – ${end}` : `${at} – ${formatDay(endDay, to.format)} ${end}`
}

/** Display format of a date field. */
function formatOf({ field }: DateField): { format: DateFormat; time12h: boolean } {
  const { format, time12h } = shownType(field).options
  const known = DATE_FORMATS.find((one) => one === format)
  return { format: known ?? 'YYYY-MM-DD', time12h: time12h === true }
}

/** A time of day as `formatInstant` writes it: `09:30`, `09:30 am`. */
function clockText(minutes: number, is12h: boolean): string {
  const hour = Math.floor(minutes / 60)
  const two = (value: number) => String(value).padStart(2, '0')
  const time = `${two(is12h ? hour % 12 || 12 : hour)}:${two(minutes % 60)}`
  return is12h ? `${time} ${hour < 12 ? 'am' : 'pm'}` : time
}

/** Start time of an event on its first day; null on other days and without a time. */
export const startOn = (event: CalendarEvent, day: string): string | null =>
  event.startMinute === null || event.firstDay !== day ? null : timeName(event.startMinute, shows12h(event))

/** Time of an event for a line of a day: its start, or start and end. */
export function timeOn(event: CalendarEvent, day: string): string | null {
  const { firstDay, lastDay, startMinute, endMinute, hasEnd } = event
  const is12h = shows12h(event)
  if (startMinute === null || (firstDay < day && lastDay > day)) return null
  if (firstDay < day) {
    return endMinute === null ? null : m.calendar_until_time({ time: timeName(endMinute, is12h) })
  }
  if (!hasEnd || endMinute === null || lastDay > day) return timeName(startMinute, is12h)
  const from = dayToMs(day) + startMinute * MINUTE_MS
  const to = dayToMs(day) + endMinute * MINUTE_MS
  return format({ hour: is12h ? 'numeric' : '2-digit', minute: '2-digit', hour12: is12h }).formatRange(
    from,
    to,
  )
}
