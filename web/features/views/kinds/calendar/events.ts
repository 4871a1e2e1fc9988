import { addDays, dayIn, fromStored, isDay, resolveZone, wallIn } from '../../../../../src/core/dates.ts'
import { shownType } from '../../../../../src/core/fields/field.ts'
import type { CellValue } from '../../../../../src/core/fields/field-type.ts'
import { fieldType } from '../../../../../src/core/fields/index.ts'
import type { Field, RecordId } from '../../../../../src/core/model.ts'
import { type CalendarRange, isDated } from '../../../../../src/core/views/index.ts'

/** A field whose values are days or instants, as the calendar reads it. */
export interface DateField {
  field: Field
  hasTime: boolean
  /** The zone whose clocks its cells show. */
  zone: string
  /** False for what is computed, or read-only in its database. */
  isWritable: boolean
}

/** Two fields between which records lie, or one on which they lie. */
export interface DatedRange {
  /** Its place among the ranges of the view, which gives it its colour. */
  index: number
  from: DateField
  to: DateField | null
}

/** The ranges of a view over the fields that there are; those whose field is gone are left out. */
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

/** True where a record can be moved: all that it is moved by can be written. */
export const isMovable = ({ from, to }: DatedRange): boolean =>
  from.isWritable && (to === null || to.isWritable)

/** The part of a record that the calendar reads. */
export interface DatedRow {
  readonly id: RecordId
  values(fieldId: string): CellValue
}

/** Minutes of a day. */
export const DAY_MINUTES = 1440

/** How long a moment without an end is drawn. */
export const DEFAULT_MINUTES = 60

const DAY_MS = 86_400_000

/** A record on the calendar, by one of its ranges. Times are those that clocks in the range's zone show. */
export interface CalendarEvent {
  /** Of the record and the range: a record may stand on the calendar several times. */
  key: string
  row: DatedRow
  range: DatedRange
  /** The days that it lies on, both included. */
  firstDay: string
  lastDay: string
  /** Minutes since midnight of the first day; null where the range has no times. */
  startMinute: number | null
  /** Minutes since midnight of the last day, 1440 at its end; null where the range has no times. */
  endMinute: number | null
  /** True where it stands beside the hours: without a time, or a day long and more. */
  isAllDay: boolean
  /** False where the end is not given, or is unusable. */
  hasEnd: boolean
  /** True where its end lies before its start, which it is drawn by. */
  isReversed: boolean
}

/** A date of a record: the day, the minute of it where it has a time, and the instant. */
interface Moment {
  day: string
  minute: number | null
  ms: number
}

/** Where a record lies by a range; null where it has no date to begin with. */
export function eventOf(row: DatedRow, range: DatedRange): CalendarEvent | null {
  const { from, to } = range
  // Both ends by the clocks of the first: the second may be shown in another zone, but is no other moment.
  const start = momentOf(row, from, from.zone)
  if (start === null) return null
  const end = to && momentOf(row, to, from.hasTime ? from.zone : to.zone)
  const isReversed = end !== null && isBefore(end, start)
  const base = { key: `${row.id}:${range.index}`, row, range, firstDay: start.day, isReversed }
  const startMinute = start.minute
  if (end === null || isReversed) {
    // A moment is drawn for an hour, but not into the next day.
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

/** Days are compared where either has no time: the day of an end is meant as a whole. */
const isBefore = (end: Moment, start: Moment): boolean =>
  end.minute === null || start.minute === null ? end.day < start.day : end.ms < start.ms

/** The events of records by every range. */
export const eventsOf = (rows: readonly DatedRow[], ranges: readonly DatedRange[]): CalendarEvent[] =>
  rows.flatMap((row) => ranges.flatMap((range) => eventOf(row, range) ?? []))

/** True where an event lies on one of the days from `first` to `last`. */
export const liesIn = (event: CalendarEvent, first: string, last: string): boolean =>
  event.firstDay <= last && event.lastDay >= first

/** The events of a day in the order of its list: those of whole days first, then by the clock. */
export const eventsOn = (events: readonly CalendarEvent[], day: string): CalendarEvent[] =>
  events.filter((event) => liesIn(event, day, day)).sort(byTime)

/** Earlier days first, longer ones first among those, then by the clock; equal ones by key, so that nothing jumps. */
export function byTime(a: CalendarEvent, b: CalendarEvent): number {
  if (a.firstDay !== b.firstDay) return a.firstDay < b.firstDay ? -1 : 1
  if (a.lastDay !== b.lastDay) return a.lastDay > b.lastDay ? -1 : 1
  return (a.startMinute ?? -1) - (b.startMinute ?? -1) || (a.key < b.key ? -1 : 1)
}

/** A row with other values laid over it, as it would look after a change. */
export const withValues = (row: DatedRow, values: Readonly<Record<string, CellValue>>): DatedRow => ({
  id: row.id,
  values: (fieldId) => (fieldId in values ? (values[fieldId] ?? null) : row.values(fieldId)),
})
