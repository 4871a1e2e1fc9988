import type { Values } from '../../../../../src/core/changes.ts'
import { type CalendarEvent, type DatedRow, eventOf, withValues } from './events.ts'
import { carried, datesBetween, endMovedTo, movedTo, placedAt, type Spot, startMovedTo } from './moves.ts'
import type { DatedRange } from './ranges.ts'

/** What the pointer has taken hold of: an event or one of its ends, an empty place, a record of the list. */
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

/** What would be written if the drag ended now; null: nothing. */
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
