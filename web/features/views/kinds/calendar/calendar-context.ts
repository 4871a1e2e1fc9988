import type { MouseEvent } from 'react'
import type { RecordId } from '../../../../../src/core/model.ts'
import type { CalendarEvent, DatedRange } from './events.ts'
import type { Slot } from './moves.ts'
import type { Period } from './period.ts'
import type { CalendarPosition } from './position.ts'

/** Text and colour of an event. */
export interface EventLook {
  title: string
  /** Values of the view's other shown fields, in one line. */
  extra: string
  color: string
}

/** Data and actions shared by all scales of a calendar. */
export interface CalendarContext {
  period: Period
  today: string
  /** Milliseconds since 1970. */
  now: number
  /** Events of the period; a dragged one is at its drop position. */
  events: readonly CalendarEvent[]
  look: (event: CalendarEvent) => EventLook
  /** Why an event cannot be moved; null if it can. */
  fixedReason: (event: CalendarEvent) => string | null
  /** False if no event can be moved at all: then fixed events are not marked. */
  canMove: boolean
  /** The range whose dates a new record gets; null if the user cannot add records with dates. */
  newRecordRange: DatedRange | null
  /** The day that Tab focuses. */
  tabStopDay: string
  /** Key of the focused event. */
  activeKey: string | null
  /** Key of the dragged event. */
  draggedKey: string | null
  openId: RecordId | null
  /** The record under the pointer in the record list. */
  highlightedId: RecordId | null
  open: (id: RecordId) => void
  openMenu: (event: MouseEvent, id: RecordId) => void
  add: (slot: Slot) => void
  goTo: (change: Partial<CalendarPosition>) => void
  /** Opens the list of a day beside an element. */
  showDay: (day: string, anchor: Element) => void
}
