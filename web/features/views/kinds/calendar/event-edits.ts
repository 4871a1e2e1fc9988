import { useState } from 'react'
import type { Values } from '../../../../../src/core/changes.ts'
import { addDays } from '../../../../../src/core/dates.ts'
import { m } from '../../../../messages.gen.ts'
import { can, type GetContext } from '../../../records/context/table-context.ts'
import { openNewRecord } from '../../../records/panel/new-record.tsx'
import { draftOf, withType } from '../../../schema/field-draft.ts'
import { fixedReason } from './event-look.ts'
import {
  type CalendarEvent,
  DAY_MINUTES,
  type DatedRange,
  type DatedRow,
  eventOf,
  isMovable,
  withValues,
} from './events.ts'
import { whenName } from './labels.ts'
import {
  type Drag,
  datesBetween,
  draggedStart,
  dropValues,
  endMovedTo,
  movedByDays,
  movedTo,
  type Slot,
  STEP_MINUTES,
} from './moves.ts'

interface EventEditsDeps {
  getContext: GetContext
  ranges: readonly DatedRange[]
  write: (row: DatedRow, values: Values) => void
  titleOf: (row: DatedRow) => string
}

/** Step of a keyboard move: days, or quarter hours. */
export interface KeyboardStep {
  days: number
  quarters: number
}

/** Edits of calendar records by pointer and keyboard. */
export function useEventEdits({ getContext, ranges, write, titleOf }: EventEditsDeps) {
  const [announcement, setAnnouncement] = useState('')

  /** Writes the dates and announces them. */
  function writeDates(row: DatedRow, range: DatedRange, values: Values): void {
    write(row, values)
    const after = eventOf(withValues(row, values), range)
    if (after) setAnnouncement(m.calendar_event_label({ title: titleOf(row), when: whenName(after) }))
  }

  function create(values: Values): void {
    openNewRecord(getContext, { values })
  }

  function stepEvent(event: CalendarEvent, by: KeyboardStep): Values | null {
    if (by.quarters === 0) return movedByDays(event, by.days)
    if (event.isAllDay || event.startMinute === null) return null
    const from: Slot = { day: event.firstDay, minute: 0 }
    return movedTo(event, draggedStart(event, from, { ...from, minute: by.quarters * STEP_MINUTES }))
  }

  function stepEnd(event: CalendarEvent, by: KeyboardStep): Values | null {
    const { lastDay, endMinute } = event
    if (by.quarters === 0) return endMovedTo(event, { day: addDays(lastDay, by.days), minute: null })
    if (endMinute === null) return null
    const minute = Math.min(DAY_MINUTES, Math.max(0, endMinute + by.quarters * STEP_MINUTES))
    return endMovedTo(event, { day: lastDay, minute })
  }

  return {
    /** Announcement of the last edit for screen readers. */
    announcement,
    drop(drag: Drag): void {
      const values = dropValues(drag)
      if (values === null) return
      const { subject } = drag
      if (subject.kind === 'create') {
        create(values)
        return
      }
      const { row, range } = subject.kind === 'schedule' ? subject : subject.event
      writeDates(row, range, values)
    },

    /** Opens the dialog for a new record in a slot; without a date if no date field is writable. */
    add(slot: Slot): void {
      const context = getContext()
      if (!can(context, 'record.create')) return
      const range = ranges.find(({ from }) => from.isWritable)
      create((range && datesBetween(range, slot, slot)) ?? {})
    },

    /** Moves an event, or its end, by a step of the keyboard. True if it moved; announces why it cannot. */
    moveBy(event: CalendarEvent | undefined, by: KeyboardStep, which: 'event' | 'end'): boolean {
      if (!event) return false
      const reason = fixedReason(getContext(), event.range)
      if (reason !== null) {
        setAnnouncement(reason)
        return false
      }
      const values = which === 'end' ? stepEnd(event, by) : stepEvent(event, by)
      if (values) writeDates(event.row, event.range, values)
      return values !== null
    },

    /** The range whose dates a record of the list gets when dropped: one in which it has a date, else the first. */
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
