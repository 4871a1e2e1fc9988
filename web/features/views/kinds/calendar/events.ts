import { addDays, dayIn, fromStored, isDay, resolveZone, wallIn } from '../../../../../src/core/dates.ts'
import { shownType } from '../../../../../src/core/fields/field.ts'
import type { CellValue } from '../../../../../src/core/fields/field-type.ts'
import { fieldType } from '../../../../../src/core/fields/index.ts'
import type { Field, RecordId } from '../../../../../src/core/model.ts'
import { type CalendarRange, isDated } from '../../../../../src/core/views/index.ts'

/** A date field of the calendar. */
export interface DateField {
  field: Field
  hasTime: boolean
  /** Time zone of its cells. */
  zone: string
  /** False for computed and read-only fields. */
  isWritable: boolean
}

/** A date range of the view: a start field and an optional end field. */
export interface DatedRange {
  /** Index among the view's ranges, which determines its colour. */
  index: number
  from: DateField
  to: DateField | null
}

/** The ranges of a view, without those of missing fields. */
export function rangesOf(ranges: readonly CalendarRange[], fields: readonly Field[]): DatedRange[] {
  const dated = (id: string | null): DateField | null => {
    const field = fields.find((one) => one.id === id)
    return field && isDated(field) ? dateField(field) : null
  }
  return ranges.flatMap(({ fromFieldId, toFieldId }, index) => {
    const from = dated(fromFieldId)
    return from ? [{ index, from, to: dated(toFieldId) }] : []
  })
}

function dateField(field: Field): DateField {
  const { type, options } = shownType(field)
  const hasTime = type.storage === 'datetime'
  const zone = typeof options.timeZone === 'string' ? options.timeZone : 'local'
  return { field, hasTime, zone: hasTime ? resolveZone(zone) : 'UTC', isWritable: takesValues(field) }
}

const takesValues = (field: Field): boolean =>
  !field.isSystem && field.readOnlyReason === null && fieldType(field.type).readOnly !== true

/** True if all fields of a range are writable. */
export const isMovable = ({ from, to }: DatedRange): boolean =>
  from.isWritable && (to === null || to.isWritable)

/** The part of a record that the calendar reads. */
export interface DatedRow {
  readonly id: RecordId
  values(fieldId: string): CellValue
}

export const DAY_MINUTES = 1440

/** Displayed length in minutes of an event without an end. */
export const DEFAULT_MINUTES = 60

const DAY_MS = 86_400_000

/** A record in the calendar by one of its ranges. Times are wall times in the range's zone. */
export interface CalendarEvent {
  /** Identifies record and range, because a record may occur several times. */
  key: string
  row: DatedRow
  range: DatedRange
  /** First and last day, inclusive. */
  firstDay: string
  lastDay: string
  /** Minutes since midnight of the first day; null without times. */
  startMinute: number | null
  /** Minutes since midnight of the last day, 1440 at its end; null without times. */
  endMinute: number | null
  /** True if it is shown above the hours: without a time, or at least a day long. */
  isAllDay: boolean
  /** False if the end is missing or invalid. */
  hasEnd: boolean
  /** True if its end is before its start; only the start is then used. */
  isReversed: boolean
}

/** A date of a record: its day, minute of the day (null without a time) and instant. */
interface Moment {
  day: string
  minute: number | null
  ms: number
}

/** The event of a record by a range; null without a start date. */
export function eventOf(row: DatedRow, range: DatedRange): CalendarEvent | null {
  const { from, to } = range
  // Both ends in the zone of the start field, even if the end field has another.
  const start = momentOf(row, from, from.zone)
  if (start === null) return null
  const end = to && momentOf(row, to, from.hasTime ? from.zone : to.zone)
  const isReversed = end !== null && isBefore(end, start)
  const base = { key: `${row.id}:${range.index}`, row, range, firstDay: start.day, isReversed }
  const startMinute = start.minute
  if (end === null || isReversed) {
    // An instant is drawn as an hour, but not into the next day.
    const endMinute = startMinute === null ? null : Math.min(startMinute + DEFAULT_MINUTES, DAY_MINUTES)
    const isAllDay = startMinute === null
    return { ...base, lastDay: start.day, startMinute, endMinute, isAllDay, hasEnd: false }
  }
  if (startMinute === null || end.minute === null) {
    return { ...base, lastDay: end.day, startMinute, endMinute: null, isAllDay: true, hasEnd: true }
  }
  const isAllDay = end.ms - start.ms >= DAY_MS
  // An event that ends at midnight does not touch the next day.
  const endsAtMidnight = end.minute === 0 && end.ms > start.ms
  const lastDay = endsAtMidnight ? addDays(end.day, -1) : end.day
  const endMinute = endsAtMidnight ? DAY_MINUTES : end.minute
  return { ...base, lastDay, startMinute, endMinute, isAllDay, hasEnd: true }
}

function momentOf(row: DatedRow, { field, hasTime }: DateField, zone: string): Moment | null {
  const value = row.values(field.id)
  if (typeof value !== 'string') return null
  if (!hasTime) {
    const day = value.slice(0, 10)
    return isDay(day) ? { day, minute: null, ms: 0 } : null
  }
  const ms = fromStored(value)
  if (ms === null) return null
  const { hour, minute } = wallIn(ms, zone)
  return { day: dayIn(ms, zone), minute: hour * 60 + minute, ms }
}

/** Compares days if either has no time, because an end day counts completely. */
const isBefore = (end: Moment, start: Moment): boolean =>
  end.minute === null || start.minute === null ? end.day < start.day : end.ms < start.ms

/** Events of records by all ranges. */
export const eventsOf = (rows: readonly DatedRow[], ranges: readonly DatedRange[]): CalendarEvent[] =>
  rows.flatMap((row) => ranges.flatMap((range) => eventOf(row, range) ?? []))

/** True if an event overlaps the days from `first` to `last`. */
export const liesIn = (event: CalendarEvent, first: string, last: string): boolean =>
  event.firstDay <= last && event.lastDay >= first

/** The events of a day: all-day events first, then by time. */
export const eventsOn = (events: readonly CalendarEvent[], day: string): CalendarEvent[] =>
  events.filter((event) => liesIn(event, day, day)).sort(byTime)

/** Order of events: earlier days first, then longer ones, then by time, then by key for a stable order. */
export function byTime(a: CalendarEvent, b: CalendarEvent): number {
  if (a.firstDay !== b.firstDay) return a.firstDay < b.firstDay ? -1 : 1
  if (a.lastDay !== b.lastDay) return a.lastDay > b.lastDay ? -1 : 1
  return (a.startMinute ?? -1) - (b.startMinute ?? -1) || (a.key < b.key ? -1 : 1)
}

/** A row with changed values applied. */
export const withValues = (row: DatedRow, values: Readonly<Record<string, CellValue>>): DatedRow => ({
  id: row.id,
  values: (fieldId) => (fieldId in values ? (values[fieldId] ?? null) : row.values(fieldId)),
})
