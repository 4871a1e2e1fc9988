import { useMemo, useRef, useState } from 'react'
import { m } from '../../../../messages.gen.ts'
import { GridBox, GridText } from '../../../../ui/composite.tsx'
import { useLayoutOnChange } from '../../../../ui/effects.ts'
import type { CalendarContext } from './calendar-context.ts'
import { StackedDay } from './day-cells.tsx'
import type { ChipStyle } from './event-chip.tsx'
import { countByDay, fitRows, stackBars } from './event-layout.ts'
import { dayName, dayNumber, monthDay, periodName, weekdayName } from './labels.ts'
import styles from './month.module.css'
import { isoWeek, isSameMonth } from './period.ts'

/** Heights in pixels of a day's header and of a row of bars, as in month.module.css. */
const HEAD_PX = 28
const ROW_PX = 22

/** A month as weeks that fill the window. Events that do not fit into a day are behind a button with their number. */
export function MonthGrid({ calendar }: { calendar: CalendarContext }) {
  const { period, events } = calendar
  const counts = useMemo(() => countByDay(events, period.first, period.last), [events, period])
  const { grid, rows } = useRowsPerWeek(period.weeks.length)
  const [days = []] = period.weeks
  return (
    <GridBox
      ref={grid}
      className={styles.month}
      role="grid"
      aria-label={periodName(period)}
      style={{ '--days': days.length } as ChipStyle}
      data-testid="calendar-month"
    >
      <GridBox role="row" className={styles.head}>
        <GridText role="columnheader" className={styles.corner}>
          <span className="visually-hidden">{m.calendar_week()}</span>
        </GridText>
        {days.map((day) => (
          <GridText key={day} role="columnheader" aria-label={weekdayName(day, 'long')}>
            {weekdayName(day)}
          </GridText>
        ))}
      </GridBox>
      <GridBox className={styles.weeks} role="rowgroup">
        {period.weeks.map((week) => (
          <Week key={week[0]} week={week} rows={rows} calendar={calendar} counts={counts} />
        ))}
      </GridBox>
    </GridBox>
  )
}

/** How many rows of bars fit into a week at the window's current height. */
function useRowsPerWeek(weeks: number) {
  const grid = useRef<HTMLDivElement>(null)
  const [rows, setRows] = useState(3)
  useLayoutOnChange([weeks], () => {
    const week = grid.current?.querySelector('[data-week]')
    if (!week) return
    const measure = () => setRows(Math.max(1, Math.floor((week.clientHeight - HEAD_PX - 2) / ROW_PX)))
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(week)
    return () => observer.disconnect()
  })
  return { grid, rows }
}

interface WeekProps {
  week: readonly string[]
  rows: number
  calendar: CalendarContext
  /** Events per day. */
  counts: ReadonlyMap<string, number>
}

function Week({ week, rows, calendar, counts }: WeekProps) {
  const { events, period } = calendar
  const segments = useMemo(() => stackBars(events, week), [events, week])
  const { shown, hidden } = fitRows(segments, week.length, rows)
  const number = isoWeek(week[0] ?? '')
  return (
    <GridBox role="row" className={styles.week} data-week>
      <GridText
        role="rowheader"
        className={styles.weekNumber}
        data-tip={m.calendar_week_number({ n: number })}
      >
        {number}
      </GridText>
      {week.map((day, column) => (
        <StackedDay
          key={day}
          day={day}
          calendar={calendar}
          className={styles.day}
          isOtherMonth={!isSameMonth(day, period.day)}
          count={counts.get(day) ?? 0}
          bars={shown.filter(({ firstColumn }) => firstColumn === column)}
          hidden={hidden[column] ?? 0}
          moreRow={rows - 1}
          moreClassName={styles.more}
        >
          <button
            type="button"
            tabIndex={-1}
            className={styles.number}
            onClick={(click) => {
              click.stopPropagation()
              calendar.goTo({ scale: 'day', day })
            }}
          >
            <span className="visually-hidden">{m.calendar_show_day({ day: dayName(day) })}</span>
            <span aria-hidden>{day.endsWith('-01') ? monthDay(day) : dayNumber(day)}</span>
          </button>
        </StackedDay>
      ))}
    </GridBox>
  )
}
