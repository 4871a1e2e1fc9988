import { type PointerEvent, type RefObject, useCallback, useEffect, useRef, useState } from 'react'
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
  carried,
  type Drag,
  datesBetween,
  dropValues,
  endMovedTo,
  type Grip,
  movedByDays,
  movedTo,
  type Spot,
  STEP_MINUTES,
} from './moves.ts'

/** A press is a click until the pointer has gone this far, in pixels. */
const DISTANCE = 4

/** A finger scrolls until it has rested this long. */
const TOUCH_MS = 350

/** Near the edge of what scrolls it scrolls along, by this much a frame. */
const EDGE = 36
const SCROLL_STEP = 9

export interface Dragging {
  /** The drag under way; a new object whenever the place below the pointer is another. */
  drag: Drag | null
  /** Takes hold of something; a drag begins once the pointer moves on. */
  press: (event: PointerEvent, grip: Grip) => void
  /** Follows the pointer while a record of the list is dragged. */
  chip: RefObject<HTMLDivElement | null>
}

/**
 * Drags with pointer or finger over the places of a calendar: elements with `data-day`, and of those with
 * `data-hours` the height says the minute. Escape lets go without change.
 */
export function useDrag(root: RefObject<HTMLElement | null>, onDrop: (drag: Drag) => void): Dragging {
  const [drag, setDrag] = useState<Drag | null>(null)
  const chip = useRef<HTMLDivElement>(null)
  const drop = useRef(onDrop)
  drop.current = onDrop
  const letGo = useRef<() => void>(() => {})
  useEffect(() => () => letGo.current(), [])

  const press = useCallback(
    (down: PointerEvent, grip: Grip) => {
      // Two fingers zoom, other buttons open menus.
      if (down.button !== 0 || !down.isPrimary) return
      letGo.current()
      const { pointerId } = down
      const isTouch = down.pointerType === 'touch'
      const start = { x: down.clientX, y: down.clientY }
      let at = start
      let current: Drag | null = null
      let frame = 0
      const origin = grip.kind === 'place' ? null : spotAt(root.current, start.x, start.y)

      const see = () => {
        const spot = spotAt(root.current, at.x, at.y)
        if (current && isSame(current.spot, spot)) return
        current = { grip, origin, spot }
        setDrag(current)
      }
      const begin = () => {
        see()
        frame = requestAnimationFrame(scroll)
      }
      const scroll = () => {
        if (scrollAt(root.current, at)) see()
        frame = requestAnimationFrame(scroll)
      }
      const resting = isTouch ? setTimeout(begin, TOUCH_MS) : undefined

      const onMove = (event: globalThis.PointerEvent) => {
        if (event.pointerId !== pointerId) return
        at = { x: event.clientX, y: event.clientY }
        const isFar = Math.hypot(at.x - start.x, at.y - start.y) > DISTANCE
        if (!current && isFar && isTouch) return end()
        if (!current && isFar) begin()
        if (!current) return
        see()
        if (chip.current) chip.current.style.translate = `${at.x}px ${at.y}px`
      }
      const onUp = (event: globalThis.PointerEvent) => {
        if (event.pointerId !== pointerId) return
        const dropped = current
        end()
        if (!dropped) return
        swallowClick()
        drop.current(dropped)
      }
      const onKey = (event: KeyboardEvent) => {
        if (event.key !== 'Escape' || !current) return
        event.preventDefault()
        event.stopPropagation()
        end()
        // The button is still down: its release would be a click on what lies there.
        window.addEventListener('pointerup', swallowClick, { once: true })
      }
      // A finger that rests asks for a menu in some browsers.
      const onMenu = (event: MouseEvent) => {
        if (!isTouch) return
        event.preventDefault()
        event.stopPropagation()
      }
      // A finger that drags must not scroll the page as well.
      const onTouch = (event: TouchEvent) => {
        if (current) event.preventDefault()
      }
      const end = () => {
        letGo.current = () => {}
        clearTimeout(resting)
        cancelAnimationFrame(frame)
        window.removeEventListener('pointermove', onMove)
        window.removeEventListener('pointerup', onUp)
        window.removeEventListener('pointercancel', end)
        window.removeEventListener('keydown', onKey, true)
        window.removeEventListener('touchmove', onTouch)
        window.removeEventListener('contextmenu', onMenu, true)
        current = null
        setDrag(null)
      }
      letGo.current = end
      window.addEventListener('pointermove', onMove)
      window.addEventListener('pointerup', onUp)
      window.addEventListener('pointercancel', end)
      window.addEventListener('keydown', onKey, true)
      window.addEventListener('touchmove', onTouch, { passive: false })
      window.addEventListener('contextmenu', onMenu, true)
    },
    [root],
  )
  return { drag, press, chip }
}

const isSame = (a: Spot | null, b: Spot | null): boolean => a?.day === b?.day && a?.minute === b?.minute

/** The place at a point of the window, also below an event that lies on it; null where the calendar is not. */
function spotAt(root: HTMLElement | null, x: number, y: number): Spot | null {
  const elements = document.elementsFromPoint(x, y)
  if (!root || !elements[0] || !root.contains(elements[0])) return null
  const cell = elements.find((one) => one instanceof HTMLElement && one.dataset.day !== undefined)
  if (!(cell instanceof HTMLElement) || cell.dataset.day === undefined) return null
  if (cell.dataset.hours === undefined) return { day: cell.dataset.day, minute: null }
  const box = cell.getBoundingClientRect()
  const minute = ((y - box.top) / box.height) * DAY_MINUTES
  const held = Math.round(minute / STEP_MINUTES) * STEP_MINUTES
  return { day: cell.dataset.day, minute: Math.min(DAY_MINUTES, Math.max(0, held)) }
}

/** Scrolls the hours while the pointer is at their edge; true where it did. */
function scrollAt(root: HTMLElement | null, { x, y }: { x: number; y: number }): boolean {
  const scroller = root?.querySelector<HTMLElement>('[data-scroller]')
  const box = scroller?.getBoundingClientRect()
  if (!scroller || !box || x < box.left || x > box.right || y < box.top || y > box.bottom) return false
  const by = y < box.top + EDGE ? -SCROLL_STEP : y > box.bottom - EDGE ? SCROLL_STEP : 0
  const before = scroller.scrollTop
  scroller.scrollTop += by
  return scroller.scrollTop !== before
}

/** The release at the end of a drag is no click on what lies below. */
function swallowClick(): void {
  const stop = (event: Event) => {
    event.preventDefault()
    event.stopPropagation()
  }
  window.addEventListener('click', stop, { capture: true, once: true })
  setTimeout(() => window.removeEventListener('click', stop, { capture: true }))
}

interface EditsDeps {
  getContext: GetContext
  ranges: readonly DatedRange[]
  write: (row: DatedRow, values: Values) => void
  titleOf: (row: DatedRow) => string
}

/** The edits of calendar records by pointer and keyboard. */
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
    /** Announcement of the last edit for screen readers. */
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
