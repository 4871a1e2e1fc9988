import { CalendarDays } from 'lucide-react'
import { type KeyboardEvent, type RefObject, useLayoutEffect, useMemo, useRef } from 'react'
import { addDays } from '../../../../../src/core/dates.ts'
import { CALENDAR_SCALES, type CalendarScale } from '../../../../../src/core/views/index.ts'
import type { Action } from '../../../../actions/action.ts'
import { useScreenActions } from '../../../../actions/index.ts'
import { direction } from '../../../../i18n.ts'
import { m } from '../../../../messages.gen.ts'
import type { KeyboardStep } from './event-edits.ts'
import { isWeekend, type Period, stepPeriod, WEEK, weekdayOf } from './period.ts'
import { SCALE_KEYS } from './period-bar.tsx'
import { type CalendarPosition, todayHere } from './position.ts'

/** The focused day, or the focused event on that day. */
interface Focus {
  day: string
  key: string | null
}

interface CalendarKeysDeps {
  root: RefObject<HTMLElement | null>
  period: Period
  hideWeekends: boolean
  /** The focus moved to an event or a day, which may be in another period. */
  onGo: (focus: Focus) => void
  /** Enter on a day. */
  onAdd: (day: string) => void
  /** Ctrl and an arrow key on an event; with Shift only its end moves. True if it moved. */
  onMove: (key: string, by: KeyboardStep, which: 'event' | 'end') => boolean
  onDelete: (key: string) => void
}

/**
 * Key handler of a calendar. Left and right step through the days; up and down through the events of a day, then to the
 * next week. Home and End go to the ends of the week, PageUp and PageDown to another period.
 */
export function useCalendarKeys(deps: CalendarKeysDeps): (event: KeyboardEvent) => void {
  const { root, period, onGo } = deps
  /** Focused once it is rendered: a moved event or another period appears later. */
  const pendingFocus = useRef<Focus | null>(null)
  useLayoutEffect(() => {
    if (!pendingFocus.current) return
    const element = findElement(root.current, pendingFocus.current)
    if (!element) return
    pendingFocus.current = null
    element.focus({ preventScroll: element.dataset.hours !== undefined })
  })

  function moveFocus(focus: Focus): void {
    pendingFocus.current = focus
    onGo(focus)
  }

  /** Skips hidden weekends. */
  function shownDay(day: string, by: 1 | -1): string {
    const isHidden = deps.hideWeekends && period.scale !== 'day' && period.scale !== 'year'
    let next = day
    while (isHidden && isWeekend(next)) next = addDays(next, by)
    return next
  }

  function nextFocus(event: KeyboardEvent, at: Focus): Focus | null {
    const forward = direction() === 'rtl' ? -1 : 1
    const elements = eventElements(root.current, at.day)
    const index = at.key === null ? -1 : elements.findIndex((element) => element.dataset.key === at.key)
    const byWeek = period.scale === 'month' || period.scale === 'year'
    const days = (by: number): Focus => ({
      day: shownDay(addDays(at.day, by), by < 0 ? -1 : 1),
      key: null,
    })
    switch (event.key) {
      case 'ArrowLeft':
        return days(-forward)
      case 'ArrowRight':
        return days(forward)
      case 'ArrowDown': {
        const next = elements[index + 1]?.dataset.key
        if (next !== undefined) return { day: at.day, key: next }
        return byWeek ? days(WEEK) : null
      }
      case 'ArrowUp':
        if (at.key !== null) return { day: at.day, key: elements[index - 1]?.dataset.key ?? null }
        return byWeek ? days(-WEEK) : null
      case 'Home':
        return { day: addDays(at.day, -weekdayOf(at.day)), key: null }
      case 'End':
        return { day: shownDay(addDays(at.day, WEEK - 1 - weekdayOf(at.day)), -1), key: null }
      case 'PageUp':
      case 'PageDown':
        return {
          day: shownDay(stepPeriod(period.scale, at.day, event.key === 'PageUp' ? -1 : 1), 1),
          key: null,
        }
      default:
        return null
    }
  }

  return (event) => {
    const at = focusOf(event.target)
    if (!at || event.altKey || event.defaultPrevented) return
    if (event.ctrlKey || event.metaKey) {
      const by = stepOf(event.key, period.scale === 'month')
      if (!by || at.key === null) return
      event.preventDefault()
      const hasMoved = deps.onMove(at.key, by, event.shiftKey ? 'end' : 'event')
      // The event is rendered in another cell: the focus follows it.
      if (hasMoved && !event.shiftKey) moveFocus({ day: addDays(at.day, by.days), key: at.key })
      return
    }
    if (event.shiftKey) return
    // On a button, Enter is the browser's click.
    if (event.key === 'Enter' && at.key === null && !isButton(event.target)) deps.onAdd(at.day)
    else if ((event.key === 'Delete' || event.key === 'Backspace') && at.key !== null) deps.onDelete(at.key)
    else {
      const next = nextFocus(event, at)
      if (!next) return
      moveFocus(next)
    }
    event.preventDefault()
  }
}

/** Step of Ctrl and an arrow key: days and weeks in a month, days and quarter hours in a day or week. */
function stepOf(key: string, isMonth: boolean): KeyboardStep | null {
  const forward = direction() === 'rtl' ? -1 : 1
  if (key === 'ArrowLeft') return { days: -forward, quarters: 0 }
  if (key === 'ArrowRight') return { days: forward, quarters: 0 }
  const down = key === 'ArrowDown' ? 1 : key === 'ArrowUp' ? -1 : 0
  if (down === 0) return null
  return isMonth ? { days: down * WEEK, quarters: 0 } : { days: 0, quarters: down }
}

const isButton = (target: EventTarget): boolean => target instanceof HTMLElement && target.matches('button')

function focusOf(target: EventTarget): Focus | null {
  if (!(target instanceof Element)) return null
  const day = target.closest<HTMLElement>('[data-day]')?.dataset.day
  const key = target.closest<HTMLElement>('[data-key]')?.dataset.key ?? null
  return day === undefined ? null : { day, key }
}

/** Event elements in the cells of a day, from the top. */
const eventElements = (root: HTMLElement | null, day: string): HTMLElement[] => [
  ...(root?.querySelectorAll<HTMLElement>(`[data-day="${day}"] [data-key]`) ?? []),
]

const findElement = (root: HTMLElement | null, { day, key }: Focus): HTMLElement | null =>
  key === null
    ? (root?.querySelector<HTMLElement>(`[data-day="${day}"]`) ?? null)
    : (eventElements(root, day).find((element) => element.dataset.key === key) ?? null)

/** Label of the command that switches to a scale. */
const showScale = (scale: CalendarScale): string =>
  ({
    day: m.calendar_show_the_day(),
    week: m.calendar_show_the_week(),
    month: m.calendar_show_the_month(),
    year: m.calendar_show_the_year(),
  })[scale]

/** Registers the scales and “Today” in the command palette and as shortcuts. */
export function useCalendarActions(goTo: (change: Partial<CalendarPosition>) => void): void {
  const latest = useRef(goTo)
  latest.current = goTo
  const actions = useMemo(() => {
    const group = () => m.calendar_calendar()
    const scales = CALENDAR_SCALES.map(
      (scale): Action => ({
        id: `calendar.${scale}`,
        label: () => showScale(scale),
        group,
        icon: CalendarDays,
        shortcut: SCALE_KEYS[scale],
        run: () => latest.current({ scale }),
      }),
    )
    const today: Action = {
      id: 'calendar.today',
      label: () => m.calendar_go_to_today(),
      group,
      icon: CalendarDays,
      shortcut: 't',
      run: () => latest.current({ day: todayHere() }),
    }
    return [...scales, today]
  }, [])
  useScreenActions(actions)
}
