import type { MouseEvent } from 'react'
import type { RecordId } from '../../../../../src/core/model.ts'
import type { CalendarEvent, DatedRange } from './events.ts'
import type { Slot } from './moves.ts'
import type { Period } from './period.ts'
import type { Place } from './position.ts'

/** Appearance of an event, without its position. */
export interface EventLook {
  title: string
  /** The view's other visible fields, in one line. */
  extra: string
  color: string
}

/** Data and actions shared by all scales of a calendar. */
export interface CalendarContext {
  period: Period
  today: string
  /** Milliseconds since 1970. */
  now: number
  /** Events of the period, with the dragged one at its drop position. */
  events: readonly CalendarEvent[]
  look: (event: CalendarEvent) => EventLook
  /** Why an event cannot be moved; null if it can. */
  fixedBecause: (event: CalendarEvent) => string | null
  /** False if no event can be moved; then single events are not marked as fixed. */
  movesOthers: boolean
  /** The range for the dates of records added by pointer or key; null if none can be added. */
  adds: DatedRange | null
  /** The day that is the tab stop. */
  stopDay: string
  /** The event with the keyboard focus. */
  activeKey: string | null
  /** The event that is being dragged. */
  draggedKey: string | null
  openId: RecordId | null
  /** The record of the side list under the pointer. */
  litId: RecordId | null
  open: (id: RecordId) => void
  openMenu: (event: MouseEvent, id: RecordId) => void
  add: (slot: Slot) => void
  go: (change: Partial<Place>) => void
  /** Opens the list of a day next to an element. */
  showDay: (day: string, anchor: Element) => void
}
