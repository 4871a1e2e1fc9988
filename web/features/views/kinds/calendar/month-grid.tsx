import { useMemo, useRef, useState } from 'react'
import { m } from '../../../../messages.gen.ts'
import { GridBox, GridText } from '../../../../ui/composite.tsx'
import { useLayoutOnChange } from '../../../../ui/effects.ts'
import type { CalendarContext } from './calendar-context.ts'
import { type ChipStyle, EventChip } from './event-chip.tsx'
import { countByDay, fitLanes, type LaneSegment, packLanes } from './event-layout.ts'
import { dayName, dayNumber, monthDay, periodName, weekdayName } from './labels.ts'
import styles from './month.module.css'
import { isoWeek, isWeekend } from './period.ts'

/** Heights in pixels; month.module.css draws by the same. */
const HEAD_PX = 28
const LANE_PX = 22

/** A month in rows of weeks that fill the window; a day shows the number of events that do not fit, which opens it. */
export function MonthGrid({ calendar }: { calendar: CalendarContext }) {
  const { period, events } = calendar
  const counts = useMemo(() => countByDay(events, period.first, period.last), [events, period])
  const { grid, lanes } = useLanes(period.weeks.length)
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
          <Week key={week[0]} week={week} lanes={lanes} calendar={calendar} counts={counts} />
        ))}
      </GridBox>
    </GridBox>
  )
}

/** How many lanes fit into a week at the present height of the window. */
function useLanes(weeks: number) {
  const grid = useRef<HTMLDivElement>(null)
  const [lanes, setLanes] = useState(3)
  useLayoutOnChange([weeks], () => {
    const row = grid.current?.querySelector('[data-week]')
    if (!row) return
    const measure = () => setLanes(Math.max(1, Math.floor((row.clientHeight - HEAD_PX - 2) / LANE_PX)))
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(row)
    return () => observer.disconnect()
  })
  return { grid, lanes }
}

interface WeekProps {
  week: readonly string[]
  lanes: number
  calendar: CalendarContext
  counts: ReadonlyMap<string, number>
}

function Week({ week, lanes, calendar, counts }: WeekProps) {
  const { events } = calendar
  const segments = useMemo(() => packLanes(events, week), [events, week])
  const { shown, hidden } = fitLanes(segments, week.length, lanes)
  return (
    <GridBox role="row" className={styles.week} data-week>
      <GridText
        role="rowheader"
        className={styles.weekNumber}
        data-tip={m.calendar_week_number({ n: isoWeek(week[0] ?? '') })}
      >
        {isoWeek(week[0] ?? '')}
      </GridText>
      {week.map((day, column) => (
        <Day
          key={day}
          day={day}
          calendar={calendar}
          segments={shown.filter((segment) => segment.firstColumn === column)}
          hidden={hidden[column] ?? 0}
          count={counts.get(day) ?? 0}
          lanes={lanes}
        />
      ))}
    </GridBox>
  )
}

interface DayProps {
  day: string
  calendar: CalendarContext
  segments: readonly LaneSegment[]
  hidden: number
  /** Its events, including hidden ones. */
  count: number
  lanes: number
}

function Day({ day, calendar, segments, hidden, count, lanes }: DayProps) {
  const { period, today, adds } = calendar
  const isOther = day.slice(0, 7) !== period.day.slice(0, 7)
  const label = `${dayName(day)}, ${m.common_records_count({ count })}`
  return (
    <GridBox
      role="gridcell"
      className={styles.day}
      aria-current={day === today ? 'date' : undefined}
      tabIndex={day === calendar.stopDay ? 0 : -1}
      data-day={day}
      data-other={isOther || undefined}
      data-weekend={isWeekend(day) || undefined}
      data-adds={adds !== null || undefined}
      onClick={() => calendar.add({ day, minute: null })}
    >
      {/* Not its label, which would hide from speech control what is written in the cell. */}
      <span className="visually-hidden">{label}</span>
      <button
        type="button"
        tabIndex={-1}
        className={styles.number}
        onClick={(click) => {
          click.stopPropagation()
          calendar.go({ scale: 'day', day })
        }}
      >
        <span className="visually-hidden">{m.calendar_show_day({ day: dayName(day) })}</span>
        <span aria-hidden>{day.endsWith('-01') ? monthDay(day) : dayNumber(day)}</span>
      </button>
      {segments.map(({ event, lane, firstColumn, lastColumn, continuesBefore, continuesAfter }) => (
        <EventChip
          key={event.key}
          event={event}
          calendar={calendar}
          day={day}
          continuesBefore={continuesBefore}
          continuesAfter={continuesAfter}
          shape={event.isAllDay || event.firstDay < event.lastDay ? 'bar' : 'line'}
          style={{ '--lane': lane, '--span': lastColumn - firstColumn + 1 }}
        />
      ))}
      {hidden > 0 && (
        <button
          type="button"
          tabIndex={-1}
          className={styles.more}
          style={{ '--lane': lanes - 1 } as ChipStyle}
          data-more
          aria-label={m.calendar_more_on_day({ count: hidden, day: dayName(day) })}
          onClick={(click) => {
            click.stopPropagation()
            calendar.showDay(day, click.currentTarget)
          }}
        >
          {m.common_more_count({ count: hidden })}
        </button>
      )}
    </GridBox>
  )
}
