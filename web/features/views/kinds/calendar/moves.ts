import type { Values } from '../../../../../src/core/changes.ts'
import {
  addDays,
  dayIn,
  daysBetween,
  dayToMs,
  digitsBelowMs,
  fromStored,
  fromWall,
  offsetAt,
  toStored,
  wallIn,
  withDigitsBelowMs,
} from '../../../../../src/core/dates.ts'
import type { CellValue } from '../../../../../src/core/fields/field-type.ts'
import {
  type CalendarEvent,
  DAY_MINUTES,
  type DatedRange,
  type DatedRow,
  type DateField,
  DEFAULT_MINUTES,
  eventOf,
  withValues,
} from './events.ts'

/** A position on the calendar. `minute` is null outside the hours: in a month and in the all-day row. */
export interface Slot {
  day: string
  minute: number | null
}

/** Times are dragged and moved by the keyboard in steps of a quarter hour. */
export const STEP_MINUTES = 15

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
const HALF_DAY_MS = DAY_MS / 2
/** Time of day of new records that are added without one, and of ends on a day. */
const MORNING = 9 * 60
const MORNING_END = MORNING + DEFAULT_MINUTES

/** Rounds a minute of the day to the nearest step. */
export const snapMinute = (minute: number): number =>
  Math.min(DAY_MINUTES, Math.max(0, Math.round(minute / STEP_MINUTES) * STEP_MINUTES))

/**
 * The instant at which clocks in a zone show a minute of a day; `DAY_MINUTES` is the next midnight. A time skipped by a
 * clock change moves forward by the skipped hour: 2:30 becomes 3:30.
 */
export function instantAt({ day, minute }: { day: string; minute: number }, zone: string): number {
  const at = dayToMs(day) + minute * MINUTE_MS
  const date = dayIn(at, 'UTC')
  const [year = 1970, month = 1, dayOfMonth = 1] = date.split('-').map(Number)
  const [hour, rest] = [Math.floor((minute % DAY_MINUTES) / 60), minute % 60]
  const wall = { year, month, day: dayOfMonth, hour, minute: rest, second: 0, ms: 0 }
  return fromWall(wall, zone) ?? at - offsetAt(at - HALF_DAY_MS, zone)
}

/** Values that move an event by days and keep its time of day and length; null if the new date is invalid. */
export function movedByDays({ row, range }: CalendarEvent, days: number): Values | null {
  const { from, to } = range
  const start = shiftByDays(row.values(from.field.id), from, days)
  if (start === null) return null
  const values: Values = { [from.field.id]: start }
  const end = to ? row.values(to.field.id) : null
  if (!to || end === null) return values
  const length = elapsed(row.values(from.field.id), end, range)
  // Across a clock change, events shorter than a day keep their length, longer ones their time of day.
  const isShort = length !== null && length >= 0 && length < DAY_MS
  const shifted = isShort ? later(start, length) : shiftByDays(end, to, days)
  return shifted === null ? null : { ...values, [to.field.id]: shifted }
}

/**
 * The start of an event dragged from one slot to another: moved by quarter hours if the event and both slots have times,
 * else by whole days.
 */
export function draggedStart({ firstDay, startMinute }: CalendarEvent, from: Slot, to: Slot): Slot {
  const days = daysBetween(from.day, to.day)
  if (from.minute === null || to.minute === null || startMinute === null) {
    return { day: addDays(firstDay, days), minute: null }
  }
  const minutes = startMinute + to.minute - from.minute
  const snapped = Math.round(minutes / STEP_MINUTES) * STEP_MINUTES
  const dayOverflow = Math.floor(snapped / DAY_MINUTES)
  return { day: addDays(firstDay, days + dayOverflow), minute: snapped - dayOverflow * DAY_MINUTES }
}

/** Values that move an event's start to a slot. Without a minute it keeps its time of day. */
export function movedTo(event: CalendarEvent, slot: Slot): Values | null {
  const { row, range } = event
  const { from, to } = range
  if (slot.minute === null || !from.hasTime) return movedByDays(event, daysBetween(event.firstDay, slot.day))
  const before = row.values(from.field.id)
  const start = toStored(instantAt({ day: slot.day, minute: slot.minute }, from.zone))
  if (start === null) return null
  const end = to ? row.values(to.field.id) : null
  if (!to || end === null) return { [from.field.id]: start }
  const length = elapsed(before, end, range)
  const moved =
    length === null ? shiftByDays(end, to, daysBetween(event.firstDay, slot.day)) : later(start, length)
  return moved === null ? null : { [from.field.id]: start, [to.field.id]: moved }
}

/** Values that move only the start of an event, at most up to its end. */
export function startMovedTo(event: CalendarEvent, slot: Slot): Values | null {
  const { range, row } = event
  const { field, hasTime, zone } = range.from
  const end = endSlot(event)
  const clamped = slot.day > end.day ? { ...slot, day: end.day } : slot
  if (!hasTime) return { [field.id]: clamped.day }
  const limit = instantAt({ day: end.day, minute: end.minute ?? DAY_MINUTES }, zone)
  const minute = clamped.minute ?? event.startMinute ?? 0
  const start = Math.min(instantAt({ day: clamped.day, minute }, zone), limit - STEP_MINUTES * MINUTE_MS)
  const stored = toStored(start)
  return stored === null || stored === row.values(field.id) ? null : { [field.id]: stored }
}

/** Values that move only the end of an event, at least to its start; null if it has no end field. */
export function endMovedTo(event: CalendarEvent, slot: Slot): Values | null {
  const { to, from } = event.range
  if (!to) return null
  const clamped = slot.day < event.firstDay ? { ...slot, day: event.firstDay } : slot
  if (!to.hasTime) return { [to.field.id]: clamped.day }
  const zone = from.hasTime ? from.zone : to.zone
  const start = instantAt({ day: event.firstDay, minute: event.startMinute ?? 0 }, zone)
  const minute = clamped.minute ?? endSlot(event).minute ?? endMinuteOf(event.row.values(to.field.id), zone)
  const end = Math.max(instantAt({ day: clamped.day, minute }, zone), start + STEP_MINUTES * MINUTE_MS)
  const stored = toStored(end)
  return stored === null ? null : { [to.field.id]: stored }
}

/** The dates of a record created by dragging between two slots, in any order. */
export function datesBetween({ from, to }: DatedRange, one: Slot, other: Slot): Values | null {
  const [first, last] = isBefore(other, one) ? [other, one] : [one, other]
  const start = dateAt(from, first)
  if (start === null) return null
  const values: Values = { [from.field.id]: start }
  if (!to?.isWritable || (first.day === last.day && first.minute === last.minute)) return values
  const zone = from.hasTime ? from.zone : to.zone
  const isWholeDays = last.minute === null
  const end = to.hasTime
    ? toStored(instantAt({ day: last.day, minute: last.minute ?? MORNING_END }, zone))
    : last.day
  return end === null || (isWholeDays && first.day === last.day) ? values : { ...values, [to.field.id]: end }
}

/** The dates of a record without dates that is dropped on a slot. Keeps an end that is later. */
function placedAt(range: DatedRange, slot: Slot): Values | null {
  const start = dateAt(range.from, slot)
  return start === null ? null : { [range.from.field.id]: start }
}

function dateAt({ hasTime, zone }: DateField, { day, minute }: Slot): string | null {
  return hasTime ? toStored(instantAt({ day, minute: minute ?? MORNING }, zone)) : day
}

const isBefore = (one: Slot, other: Slot): boolean =>
  one.day < other.day || (one.day === other.day && (one.minute ?? 0) < (other.minute ?? 0))

/** The minute of the day of an end that is moved by days. A new end is not at midnight, which is on the next day. */
function endMinuteOf(value: CellValue, zone: string): number {
  const ms = typeof value === 'string' ? fromStored(value) : null
  if (ms === null) return MORNING_END
  const { hour, minute } = wallIn(ms, zone)
  return hour * 60 + minute
}

/** The end of an event; without an end, that of its displayed block. */
const endSlot = ({ lastDay, endMinute }: CalendarEvent): Slot => ({ day: lastDay, minute: endMinute })

function shiftByDays(value: CellValue, { hasTime, zone }: DateField, days: number): string | null {
  if (typeof value !== 'string') return null
  if (!hasTime) return within(addDays(value.slice(0, 10), days), value.slice(0, 10), days)
  const ms = fromStored(value)
  if (ms === null) return null
  if (days === 0) return value
  const wall = wallIn(ms, zone)
  const day = within(addDays(dayIn(ms, zone), days), dayIn(ms, zone), days)
  if (day === null) return null
  const start = instantAt({ day, minute: wall.hour * 60 + wall.minute }, zone)
  const shifted = toStored(start + wall.second * 1000 + wall.ms)
  return shifted === null ? null : withDigitsBelowMs(shifted, digitsBelowMs(value))
}

/** Null beyond the first and the last year, at which `addDays` stops. */
const within = (day: string, before: string, days: number): string | null =>
  daysBetween(before, day) === days ? day : null

/** Milliseconds between two instants of a range; null if either field has no time. */
function elapsed(start: CellValue, end: CellValue, { from, to }: DatedRange): number | null {
  if (!from.hasTime || !to?.hasTime || typeof start !== 'string' || typeof end !== 'string') return null
  const [a, b] = [fromStored(start), fromStored(end)]
  return a === null || b === null ? null : b - a
}

function later(start: string, byMs: number): string | null {
  const ms = fromStored(start)
  return ms === null ? null : toStored(ms + byMs)
}

/** Subject of a drag: an event, its start or end, a new record from an empty slot, or a record of the list. */
export type DragSubject =
  | { kind: 'move' | 'start' | 'end'; event: CalendarEvent }
  | { kind: 'create'; range: DatedRange }
  | { kind: 'schedule'; row: DatedRow; range: DatedRange }

/** A drag in progress. */
export interface Drag {
  subject: DragSubject
  /** The slot where it started; null outside the calendar. */
  origin: Slot | null
  /** The slot under the pointer; null outside the calendar. */
  slot: Slot | null
}

/** Values to write if the drag ended now; null if nothing would change. */
export function dropValues({ subject, origin, slot }: Drag): Values | null {
  if (slot === null) return null
  switch (subject.kind) {
    case 'move':
      return origin === null || isSame(origin, slot)
        ? null
        : movedTo(subject.event, draggedStart(subject.event, origin, slot))
    case 'start':
      return startMovedTo(subject.event, slot)
    case 'end':
      return endMovedTo(subject.event, slot)
    case 'create':
      return origin && datesBetween(subject.range, origin, slot)
    case 'schedule': {
      const event = eventOf(subject.row, subject.range)
      return event ? movedTo(event, slot) : placedAt(subject.range, slot)
    }
  }
}

/** Preview of the event if the drag ended now; null if there is none. */
export function dropPreview(drag: Drag): CalendarEvent | null {
  const values = dropValues(drag)
  if (values === null) return null
  const { subject } = drag
  if (subject.kind === 'create') return eventOf(withValues(NEW_ROW, values), subject.range)
  if (subject.kind === 'schedule') return eventOf(withValues(subject.row, values), subject.range)
  return eventOf(withValues(subject.event.row, values), subject.event.range)
}

/** Record id of the preview of a new record. */
export const NEW_ID = 'new'
const NEW_ROW: DatedRow = { id: NEW_ID, values: () => null }

const isSame = (a: Slot, b: Slot): boolean => a.day === b.day && a.minute === b.minute
