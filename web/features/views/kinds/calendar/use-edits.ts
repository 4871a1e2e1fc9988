import { useState } from 'react'
import type { Values } from '../../../../../src/core/changes.ts'
import { addDays } from '../../../../../src/core/dates.ts'
import { m } from '../../../../messages.gen.ts'
import { can, type GetContext } from '../../../records/context/table-context.ts'
import { openNewRecord } from '../../../records/panel/new-record.tsx'
import { draftOf, withType } from '../../../schema/field-draft.ts'
import { type Drag, dropValues } from './drop.ts'
import { type CalendarEvent, DAY_MINUTES, type DatedRow, eventOf, withValues } from './events.ts'
import { carried, datesBetween, endMovedTo, movedByDays, movedTo, type Spot, STEP_MINUTES } from './moves.ts'
import { type DatedRange, isMovable } from './ranges.ts'
import { fixedReason } from './use-look.ts'
import { whenName } from './words.ts'

export interface EditsDeps {
  getContext: GetContext
  ranges: readonly DatedRange[]
  write: (row: DatedRow, values: Values) => void
  titleOf: (row: DatedRow) => string
}

/** What pointer and keys do to the records of a calendar. */
export function useEdits({ getContext, ranges, write, titleOf }: EditsDeps) {
  const [said, setSaid] = useState('')

  /** Writes, and says where the event lies now. */
  function carryOut(row: DatedRow, range: DatedRange, values: Values): void {
    write(row, values)
    const after = eventOf(withValues(row, values), range)
    if (after) setSaid(m.calendar_event_label({ title: titleOf(row), when: whenName(after) }))
  }

  function create(values: Values): void {
    openNewRecord(getContext, { values })
  }

  function moved(event: CalendarEvent, by: { days: number; quarters: number }): Values | null {
    if (by.quarters === 0) return movedByDays(event, by.days)
    if (event.isAllDay || event.startMinute === null) return null
    const from: Spot = { day: event.firstDay, minute: 0 }
    return movedTo(event, carried(event, from, { ...from, minute: by.quarters * STEP_MINUTES }))
  }

  function ended(event: CalendarEvent, by: { days: number; quarters: number }): Values | null {
    const { lastDay, endMinute } = event
    if (by.quarters === 0) return endMovedTo(event, { day: addDays(lastDay, by.days), minute: null })
    if (endMinute === null) return null
    const minute = Math.min(DAY_MINUTES, Math.max(0, endMinute + by.quarters * STEP_MINUTES))
    return endMovedTo(event, { day: lastDay, minute })
  }

  return {
    /** What was done last, for those who do not see it. */
    said,

    /** A drag ended. */
    drop(drag: Drag): void {
      const values = dropValues(drag)
      if (values === null) return
      const { grip } = drag
      if (grip.kind === 'create') create(values)
      else if (grip.kind === 'place') carryOut(grip.row, grip.range, values)
      else carryOut(grip.event.row, grip.event.range, values)
    },

    /** Asks for a new record on a day; by a calendar whose dates cannot be written, without one. */
    add(spot: Spot): void {
      const context = getContext()
      if (!can(context, 'record.create')) return
      const range = ranges.find(({ from }) => from.isWritable)
      create((range && datesBetween(range, spot, spot)) ?? {})
    },

    /** Moves an event, or its end, by a step of the keyboard. */
    moveBy(
      event: CalendarEvent | undefined,
      by: { days: number; quarters: number },
      which: 'event' | 'end',
    ): void {
      if (!event) return
      const reason = fixedReason(getContext(), event.range)
      if (reason !== null) {
        setSaid(reason)
        return
      }
      const values = which === 'end' ? ended(event, by) : moved(event, by)
      if (values) carryOut(event.row, event.range, values)
    },

    /** The range that a record of the list is put on the calendar by: the one that it lies on, else the first. */
    rangeFor(row: DatedRow): DatedRange | null {
      if (!can(getContext(), 'record.update')) return null
      const movable = ranges.filter(isMovable)
      return movable.find((range) => eventOf(row, range)) ?? movable[0] ?? null
    },

    /** Opens the editor of a new date field. */
    addDateField: (anchor: Element): void =>
      getContext().editField({ field: null, anchor, start: withType(draftOf(null), 'Date') }),
  }
}
