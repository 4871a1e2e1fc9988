import type { MouseEvent } from 'react'
import type { RecordId } from '../../../../../src/core/model.ts'
import type { CalendarEvent, DatedRange } from './events.ts'
import type { Slot } from './moves.ts'
import type { Period } from './period.ts'
import type { Place } from './position.ts'

/** How an event looks, apart from where it lies. */
export interface EventLook {
  title: string
  /** The other fields that the view shows, in one line. */
  extra: string
  color: string
}

/** Data and actions shared by all scales of a calendar. */
export interface CalendarContext {
  period: Period
  today: string
  /** Milliseconds since 1970. */
  now: number
  /** Those of the period, with the one that is being dragged where it would come to lie. */
  events: readonly CalendarEvent[]
  look: (event: CalendarEvent) => EventLook
  /** Why an event cannot be moved; null where it can. */
  fixedBecause: (event: CalendarEvent) => string | null
  /** False where nothing can be moved: then it need not be marked on each event. */
  movesOthers: boolean
  /** The range that a record added by pointer or key gets its dates by; null: none may be added. */
  adds: DatedRange | null
  /** The day that takes the focus by Tab. */
  stopDay: string
  /** The event that the keyboard is on. */
  activeKey: string | null
  /** The event that is being dragged. */
  draggedKey: string | null
  openId: RecordId | null
  /** The record of the side list that the pointer is on. */
  litId: RecordId | null
  open: (id: RecordId) => void
  openMenu: (event: MouseEvent, id: RecordId) => void
  add: (slot: Slot) => void
  go: (change: Partial<Place>) => void
  /** Opens the list of a day beside an element. */
  showDay: (day: string, anchor: Element) => void
}
