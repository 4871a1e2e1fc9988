import { ChevronLeft, ChevronRight } from 'lucide-react'
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import { addDays, addMonths, dayToMs } from '../../src/core/dates.ts'
import { direction, localeTag } from '../i18n.ts'
import { m } from '../messages.gen.ts'
import { GridBox, GridButton, GridText } from '../ui/composite.tsx'
import { useOnChange } from '../ui/effects.ts'
import styles from './calendar.module.css'

interface CalendarProps {
  /** The selected day. */
  day: string | null
  today: string
  onChoose(day: string): void
  /** True if the calendar has the focus; arrow keys then move between days. */
  focused: boolean
  onLeave(): void
}

/**
 * A month of days; weeks start on Monday (spec §1). Arrows move by days and weeks, PageUp and PageDown by months, Home
 * and End within the week; Enter selects.
 */
export function Calendar({ day, today, onChoose, focused, onLeave }: CalendarProps): ReactNode {
  const [at, setAt] = useState(day ?? today)
  const grid = useRef<HTMLDivElement>(null)
  // Typing a date moves the calendar to it.
  useEffect(() => {
    if (day) setAt(day)
  }, [day])
  useOnChange([focused, at], () => {
    if (focused) grid.current?.querySelector<HTMLElement>('[tabindex="0"]')?.focus()
  })

  const onKeyDown = (event: KeyboardEvent) => {
    const target = walk(at, event.key)
    if (target !== null) setAt(target)
    else if (event.key === 'Enter' || event.key === ' ') onChoose(at)
    else if (event.key === 'Tab') onLeave()
    else return
    event.preventDefault()
  }
  const first = `${at.slice(0, 8)}01`
  const start = addDays(first, -weekday(first))
  return (
    <div className={styles.calendar}>
      <div className={styles.calendarHead}>
        <button
          type="button"
          tabIndex={-1}
          aria-label={m.cells_previous_month()}
          onClick={() => setAt(addMonths(at, -1))}
        >
          <ChevronLeft size={16} aria-hidden />
        </button>
        <span aria-live="polite">{monthName(first)}</span>
        <button
          type="button"
          tabIndex={-1}
          aria-label={m.cells_next_month()}
          onClick={() => setAt(addMonths(at, 1))}
        >
          <ChevronRight size={16} aria-hidden />
        </button>
      </div>
      <GridBox ref={grid} role="grid" tabIndex={-1} aria-label={monthName(first)} onKeyDown={onKeyDown}>
        <GridBox role="row" tabIndex={-1} className={styles.week}>
          {WEEK.map((offset) => (
            <GridText key={offset} role="columnheader" tabIndex={-1} className={styles.weekday}>
              {weekdayName(addDays(start, offset))}
            </GridText>
          ))}
        </GridBox>
        {[0, 1, 2, 3, 4, 5].map((week) => (
          <GridBox key={week} role="row" tabIndex={-1} className={styles.week}>
            {WEEK.map((offset) => {
              const each = addDays(start, week * 7 + offset)
              return (
                <GridButton
                  key={each}
                  type="button"
                  role="gridcell"
                  className={styles.day}
                  tabIndex={each === at ? 0 : -1}
                  aria-selected={each === day}
                  aria-current={each === today ? 'date' : undefined}
                  aria-label={dayName(each)}
                  data-other={each.slice(0, 7) !== at.slice(0, 7) || undefined}
                  data-day={each}
                  onMouseDown={(event) => event.preventDefault()}
                  onClick={() => onChoose(each)}
                >
                  {Number(each.slice(8))}
                </GridButton>
              )
            })}
          </GridBox>
        ))}
      </GridBox>
    </div>
  )
}

/** The day a key moves to; null for other keys. */
function walk(day: string, key: string): string | null {
  const forward = direction() === 'rtl' ? -1 : 1
  const days = new Map([
    ['ArrowLeft', -forward],
    ['ArrowRight', forward],
    ['ArrowUp', -7],
    ['ArrowDown', 7],
    ['Home', -weekday(day)],
    ['End', 6 - weekday(day)],
  ])
  const count = days.get(key)
  if (count !== undefined) return addDays(day, count)
  if (key === 'PageUp') return addMonths(day, -1)
  return key === 'PageDown' ? addMonths(day, 1) : null
}

const WEEK = [0, 1, 2, 3, 4, 5, 6]

/** Days since Monday. */
const weekday = (day: string): number => (new Date(dayToMs(day)).getUTCDay() + 6) % 7

const named = (day: string, options: Intl.DateTimeFormatOptions): string =>
  new Intl.DateTimeFormat(localeTag(), { ...options, timeZone: 'UTC' }).format(dayToMs(day))

const monthName = (day: string) => named(day, { month: 'long', year: 'numeric' })
const weekdayName = (day: string) => named(day, { weekday: 'short' })
const dayName = (day: string) => named(day, { dateStyle: 'full' })
