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

/** A place on the calendar: a day, and a minute of it where it has hours. */
export interface Spot {
  day: string
  minute: number | null
}

/** The grain of the hours. */
export const STEP_MINUTES = 15

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
const HALF_DAY_MS = DAY_MS / 2
/** New records without a given time begin then. */
const MORNING = 9 * 60

/** The minute, held to the grain of the hours. */
export const snap = (minute: number): number =>
  Math.min(DAY_MINUTES, Math.max(0, Math.round(minute / STEP_MINUTES) * STEP_MINUTES))

/**
 * The instant at which clocks in a zone show a minute of a day; `DAY_MINUTES` is the next midnight. An hour
 * that is skipped in spring counts on from the time before it: 2:30 is then what becomes 3:30.
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
 * Where an event begins after the pointer took it from one place to another. Between hours it goes by
 * quarters, everywhere else by days.
 */
export function carried({ firstDay, startMinute }: CalendarEvent, from: Spot, to: Spot): Spot {
  const days = daysBetween(from.day, to.day)
  if (from.minute === null || to.minute === null || startMinute === null) {
    return { day: addDays(firstDay, days), minute: null }
  }
  const minutes = startMinute + to.minute - from.minute
  const held = Math.round(minutes / STEP_MINUTES) * STEP_MINUTES
  const over = Math.floor(held / DAY_MINUTES)
  return { day: addDays(firstDay, days + over), minute: held - over * DAY_MINUTES }
}

/** Values that move an event's start to a spot. Without a minute it keeps its time of day. */
export function movedTo(event: CalendarEvent, spot: Spot): Values | null {
  const { row, range } = event
  const { from, to } = range
  if (spot.minute === null || !from.hasTime) return movedByDays(event, daysBetween(event.firstDay, spot.day))
  const before = row.values(from.field.id)
  const start = toStored(instantAt({ day: spot.day, minute: spot.minute }, from.zone))
  if (start === null) return null
  const end = to ? row.values(to.field.id) : null
  if (!to || end === null) return { [from.field.id]: start }
  const length = elapsed(before, end, range)
  const moved =
    length === null ? shiftByDays(end, to, daysBetween(event.firstDay, spot.day)) : later(start, length)
  return moved === null ? null : { [from.field.id]: start, [to.field.id]: moved }
}

/** Values that move only the start of an event, at most up to its end. */
export function startMovedTo(event: CalendarEvent, spot: Spot): Values | null {
  const { range, row } = event
  const { field, hasTime, zone } = range.from
  const end = endSpot(event)
  const wanted = spot.day > end.day ? { ...spot, day: end.day } : spot
  if (!hasTime) return { [field.id]: wanted.day }
  const limit = instantAt({ day: end.day, minute: end.minute ?? DAY_MINUTES }, zone)
  const minute = wanted.minute ?? event.startMinute ?? 0
  const start = Math.min(instantAt({ day: wanted.day, minute }, zone), limit - STEP_MINUTES * MINUTE_MS)
  const stored = toStored(start)
  return stored === null || stored === row.values(field.id) ? null : { [field.id]: stored }
}

/** Values that move only the end of an event, at least to its start; null if it has no end field. */
export function endMovedTo(event: CalendarEvent, spot: Spot): Values | null {
  const { to, from } = event.range
  if (!to) return null
  const wanted = spot.day < event.firstDay ? { ...spot, day: event.firstDay } : spot
  if (!to.hasTime) return { [to.field.id]: wanted.day }
  const zone = from.hasTime ? from.zone : to.zone
  const start = instantAt({ day: event.firstDay, minute: event.startMinute ?? 0 }, zone)
  const minute = wanted.minute ?? endSpot(event).minute ?? minuteOf(event.row.values(to.field.id), zone)
  const end = Math.max(instantAt({ day: wanted.day, minute }, zone), start + STEP_MINUTES * MINUTE_MS)
  const stored = toStored(end)
  return stored === null ? null : { [to.field.id]: stored }
}

/** The dates of a record that is put on the calendar from one place to another; the second may lie before the first. */
export function datesBetween({ from, to }: DatedRange, one: Spot, other: Spot): Values | null {
  const [first, last] = isBefore(other, one) ? [other, one] : [one, other]
  const start = dateAt(from, first)
  if (start === null) return null
  const values: Values = { [from.field.id]: start }
  if (!to?.isWritable || (first.day === last.day && first.minute === last.minute)) return values
  const zone = from.hasTime ? from.zone : to.zone
  const isWholeDays = last.minute === null
  const end = to.hasTime
    ? toStored(
        instantAt(
          { day: last.day, minute: last.minute ?? (from.hasTime ? MORNING + DEFAULT_MINUTES : DAY_MINUTES) },
          zone,
        ),
      )
    : last.day
  return end === null || (isWholeDays && first.day === last.day) ? values : { ...values, [to.field.id]: end }
}

/** The dates of a record that had none, put on a place. What it holds of an end stays where it lies after that. */
function placedAt(range: DatedRange, spot: Spot): Values | null {
  const start = dateAt(range.from, spot)
  return start === null ? null : { [range.from.field.id]: start }
}

function dateAt({ hasTime, zone }: DateField, { day, minute }: Spot): string | null {
  return hasTime ? toStored(instantAt({ day, minute: minute ?? MORNING }, zone)) : day
}

const isBefore = (one: Spot, other: Spot): boolean =>
  one.day < other.day || (one.day === other.day && (one.minute ?? 0) < (other.minute ?? 0))

/** The minute of the day of an instant; the day's end where there is none. */
function minuteOf(value: CellValue, zone: string): number {
  const ms = typeof value === 'string' ? fromStored(value) : null
  if (ms === null) return DAY_MINUTES
  const { hour, minute } = wallIn(ms, zone)
  return hour * 60 + minute
}

/** Where an event ends; one that is drawn without an end, where it is drawn to. */
const endSpot = ({ lastDay, endMinute }: CalendarEvent): Spot => ({ day: lastDay, minute: endMinute })

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

/** `addDays` stops at the first and the last year that there is; an event does not. */
const within = (day: string, before: string, days: number): string | null =>
  daysBetween(before, day) === days ? day : null

/** Milliseconds between two instants of a range; null where either is a day. */
function elapsed(start: CellValue, end: CellValue, { from, to }: DatedRange): number | null {
  if (!from.hasTime || !to?.hasTime || typeof start !== 'string' || typeof end !== 'string') return null
  const [a, b] = [fromStored(start), fromStored(end)]
  return a === null || b === null ? null : b - a
}

function later(start: string, byMs: number): string | null {
  const ms = fromStored(start)
  return ms === null ? null : toStored(ms + byMs)
}

/** The dragged object: an event, one of its ends, an empty spot, or a record of the list. */
export type Grip =
  | { kind: 'move' | 'start' | 'end'; event: CalendarEvent }
  | { kind: 'create'; range: DatedRange }
  | { kind: 'place'; row: DatedRow; range: DatedRange }

/** A drag under way. */
export interface Drag {
  grip: Grip
  /** Where it was begun; null outside the calendar. */
  origin: Spot | null
  /** Where the pointer is; null outside the calendar. */
  spot: Spot | null
}

/** Values to write if the drag ended now; null if nothing would change. */
export function dropValues({ grip, origin, spot }: Drag): Values | null {
  if (spot === null) return null
  switch (grip.kind) {
    case 'move':
      return origin === null || isSame(origin, spot)
        ? null
        : movedTo(grip.event, carried(grip.event, origin, spot))
    case 'start':
      return startMovedTo(grip.event, spot)
    case 'end':
      return endMovedTo(grip.event, spot)
    case 'create':
      return origin && datesBetween(grip.range, origin, spot)
    case 'place': {
      const event = eventOf(grip.row, grip.range)
      return event ? movedTo(event, spot) : placedAt(grip.range, spot)
    }
  }
}

/** The event as it would look if the drag ended now; null where there would be none. */
export function dropPreview(drag: Drag): CalendarEvent | null {
  const values = dropValues(drag)
  if (values === null) return null
  const { grip } = drag
  if (grip.kind === 'create') return eventOf(withValues(NEW_ROW, values), grip.range)
  if (grip.kind === 'place') return eventOf(withValues(grip.row, values), grip.range)
  return eventOf(withValues(grip.event.row, values), grip.event.range)
}

/** The id of the record that a drag on an empty place draws. */
export const NEW_ID = 'new'
const NEW_ROW: DatedRow = { id: NEW_ID, values: () => null }

const isSame = (a: Spot, b: Spot): boolean => a.day === b.day && a.minute === b.minute
