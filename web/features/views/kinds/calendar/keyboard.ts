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
import { type Place, todayHere } from './position.ts'

/** Keyboard focus: a day, or an event in it. */
interface Focus {
  day: string
  key: string | null
}

interface WalkDeps {
  root: RefObject<HTMLElement | null>
  period: Period
  hideWeekends: boolean
  /** Called when the focus moves to a day, possibly of another period, or to an event. */
  onGo: (focus: Focus) => void
  /** Enter on a day. */
  onAdd: (day: string) => void
  /** Ctrl and an arrow on an event: moves it by days or quarter hours, with Shift its end. */
  onMove: (key: string, by: KeyboardStep, which: 'event' | 'end') => void
  onDelete: (key: string) => void
}

/**
 * Arrow keys move between days; up and down also visit the events of a day. Home and End go to the ends of a week,
 * PageUp and PageDown to other periods. The calendar is one tab stop.
 */
export function useWalk(deps: WalkDeps): (event: KeyboardEvent) => void {
  const { root, period, onGo } = deps
  /** Focus target that may not be mounted yet: a moved event or another period. */
  const wanted = useRef<Focus | null>(null)
  useLayoutEffect(() => {
    if (!wanted.current) return
    const element = find(root.current, wanted.current)
    if (!element) return
    wanted.current = null
    element.focus({ preventScroll: element.dataset.hours !== undefined })
  })

  function go(focus: Focus): void {
    wanted.current = focus
    onGo(focus)
  }

  function visible(day: string, by: 1 | -1): string {
    const isHidden = deps.hideWeekends && period.scale !== 'day' && period.scale !== 'year'
    let next = day
    while (isHidden && isWeekend(next)) next = addDays(next, by)
    return next
  }

  function walk(event: KeyboardEvent, at: Focus): Focus | null {
    const forward = direction() === 'rtl' ? -1 : 1
    const stops = stopsOf(root.current, at.day)
    const stop = at.key === null ? -1 : stops.findIndex((one) => one.dataset.key === at.key)
    const byWeek = period.scale === 'month' || period.scale === 'year'
    const days = (by: number): Focus => ({
      day: visible(addDays(at.day, by), by < 0 ? -1 : 1),
      key: null,
    })
    switch (event.key) {
      case 'ArrowLeft':
        return days(-forward)
      case 'ArrowRight':
        return days(forward)
      case 'ArrowDown': {
        const next = stops[stop + 1]?.dataset.key
        if (next !== undefined) return { day: at.day, key: next }
        return byWeek ? days(WEEK) : null
      }
      case 'ArrowUp':
        if (at.key !== null) return { day: at.day, key: stops[stop - 1]?.dataset.key ?? null }
        return byWeek ? days(-WEEK) : null
      case 'Home':
        return { day: addDays(at.day, -weekdayOf(at.day)), key: null }
      case 'End':
        return { day: visible(addDays(at.day, WEEK - 1 - weekdayOf(at.day)), -1), key: null }
      case 'PageUp':
      case 'PageDown':
        return {
          day: visible(stepPeriod(period.scale, at.day, event.key === 'PageUp' ? -1 : 1), 1),
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
      deps.onMove(at.key, by, event.shiftKey ? 'end' : 'event')
      // The event is mounted again at its new position, so the focus follows it.
      if (!event.shiftKey) go({ day: addDays(at.day, by.days), key: at.key })
      return
    }
    if (event.shiftKey) return
    // Buttons are left to the browser.
    if (event.key === 'Enter' && at.key === null && !isButton(event.target)) deps.onAdd(at.day)
    else if ((event.key === 'Delete' || event.key === 'Backspace') && at.key !== null) deps.onDelete(at.key)
    else {
      const next = walk(event, at)
      if (!next) return
      go(next)
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

/** The event elements of a day, from the top. */
const stopsOf = (root: HTMLElement | null, day: string): HTMLElement[] => [
  ...(root?.querySelectorAll<HTMLElement>(`[data-day="${day}"] [data-key]`) ?? []),
]

const find = (root: HTMLElement | null, { day, key }: Focus): HTMLElement | null =>
  key === null
    ? (root?.querySelector<HTMLElement>(`[data-day="${day}"]`) ?? null)
    : (stopsOf(root, day).find((one) => one.dataset.key === key) ?? null)

/** Label of the command that switches to a scale. */
const showScale = (scale: CalendarScale): string =>
  ({
    day: m.calendar_show_the_day(),
    week: m.calendar_show_the_week(),
    month: m.calendar_show_the_month(),
    year: m.calendar_show_the_year(),
  })[scale]

/** Commands for the scales and today. */
export function useCalendarActions(go: (change: Partial<Place>) => void): void {
  const latest = useRef(go)
  latest.current = go
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
