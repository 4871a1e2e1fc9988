import { type ReactNode, useLayoutEffect, useMemo, useRef } from 'react'
import { dayIn, wallIn } from '../../../../../src/core/dates.ts'
import { direction, formatNumber } from '../../../../i18n.ts'
import { m } from '../../../../messages.gen.ts'
import { GridBox, GridText } from '../../../../ui/composite.tsx'
import type { CalendarContext } from './calendar-context.ts'
import { MoreButton, StackedDay } from './day-cells.tsx'
import { type ChipStyle, EventChip } from './event-chip.tsx'
import { countByDay, fitRows, packHours, stackBars } from './event-layout.ts'
import { DAY_MINUTES } from './events.ts'
import { dayName, dayNumber, hourName, periodName, weekdayName } from './labels.ts'
import { isoWeek, isWeekend } from './period.ts'
import styles from './time.module.css'

/** Rows of bars in the all-day row; further events are behind a button with their number. */
const MAX_ROWS = 5

/** The hour at the top when the grid opens. */
const FIRST_HOUR = 7.5

/** A click adds a record at the half hour that it hits. */
const CLICK_MINUTES = 30

/** Events side by side; further ones are behind a button with their number. */
const MAX_COLUMNS = { day: 12, week: 4 }

/** Shorter blocks have room for one line only. */
const SHORT_MINUTES = 45

const HOURS = Array.from({ length: 24 }, (_, hour) => hour)

interface TimeGridProps {
  calendar: CalendarContext
  is12h: boolean
  /** Time zone of the line at the current time. */
  zone: string
}

/** The hours of a week or of one day, below a row of all-day events. */
export function TimeGrid({ calendar, is12h, zone }: TimeGridProps) {
  const { period, events } = calendar
  const [days = []] = period.weeks
  const scroller = useRef<HTMLDivElement>(null)
  const openedOn = useRef(calendar.tabStopDay)
  const counts = useMemo(() => countByDay(events, period.first, period.last), [events, period])
  useLayoutEffect(() => {
    const box = scroller.current
    if (!box) return
    box.scrollTop = (box.scrollHeight * FIRST_HOUR) / 24
    // A narrow window does not show all days: scroll to the selected one.
    const column = box.querySelector<HTMLElement>(`[data-hours][data-day="${openedOn.current}"]`)
    const labels = box.querySelector<HTMLElement>('[data-labels]')
    if (!column || !labels) return
    const [from, edge] = [column.getBoundingClientRect(), labels.getBoundingClientRect()]
    box.scrollLeft += direction() === 'rtl' ? from.right - edge.left : from.left - edge.right
  }, [])
  return (
    <GridBox
      className={styles.time}
      role="grid"
      aria-label={periodName(period)}
      style={{ '--days': days.length } as ChipStyle}
      data-testid="calendar-time"
    >
      <div ref={scroller} className={styles.scroller} data-scroller>
        <div className={styles.top}>
          <GridBox role="row" className={styles.head}>
            <GridText role="columnheader" className={styles.corner}>
              {m.calendar_week_number({ n: isoWeek(days[0] ?? period.day) })}
            </GridText>
            {days.map((day) => (
              <DayHead key={day} day={day} calendar={calendar} />
            ))}
          </GridBox>
          <AllDay days={days} calendar={calendar} counts={counts} />
        </div>
        <GridBox role="row" className={styles.hours}>
          <GridText role="rowheader" className={styles.labels} data-labels>
            {HOURS.slice(1).map((hour) => (
              <span key={hour} style={{ '--hour-at': hour } as ChipStyle}>
                {hourName(hour, is12h)}
              </span>
            ))}
          </GridText>
          {days.map((day) => (
            <Hours key={day} day={day} calendar={calendar}>
              <NowLine day={day} now={calendar.now} zone={zone} />
            </Hours>
          ))}
        </GridBox>
      </div>
    </GridBox>
  )
}

function DayHead({ day, calendar }: { day: string; calendar: CalendarContext }) {
  return (
    <GridText role="columnheader" className={styles.dayHead}>
      <button
        type="button"
        tabIndex={-1}
        aria-current={day === calendar.today ? 'date' : undefined}
        onClick={() => calendar.goTo({ scale: 'day', day })}
      >
        <span className="visually-hidden">{m.calendar_show_day({ day: dayName(day) })}</span>
        <span aria-hidden>{weekdayName(day)}</span>
        <b aria-hidden>{dayNumber(day)}</b>
      </button>
    </GridText>
  )
}

function AllDay(props: {
  days: readonly string[]
  calendar: CalendarContext
  counts: ReadonlyMap<string, number>
}) {
  const { days, calendar, counts } = props
  const { events } = calendar
  const segments = useMemo(
    () =>
      stackBars(
        events.filter((event) => event.isAllDay),
        days,
      ),
    [events, days],
  )
  const { shown, hidden } = fitRows(segments, days.length, MAX_ROWS)
  const rows = shown.reduce((most, { row }) => Math.max(most, row + 1), 0)
  const hasMore = hidden.some((count) => count > 0)
  return (
    <GridBox role="row" className={styles.allDay} style={{ '--rows': rows + (hasMore ? 1 : 0) } as ChipStyle}>
      <GridText role="rowheader" className={styles.allDayLabel}>
        {m.calendar_all_day()}
      </GridText>
      {days.map((day, column) => (
        <StackedDay
          key={day}
          day={day}
          calendar={calendar}
          className={styles.allDayCell}
          count={counts.get(day) ?? 0}
          bars={shown.filter(({ firstColumn }) => firstColumn === column)}
          hidden={hidden[column] ?? 0}
          moreRow={rows}
          moreClassName={styles.more}
        />
      ))}
    </GridBox>
  )
}

interface HoursProps {
  day: string
  calendar: CalendarContext
  children: ReactNode
}

function Hours({ day, calendar, children }: HoursProps) {
  const { events, newRecordRange } = calendar
  const most = MAX_COLUMNS[calendar.period.scale === 'day' ? 'day' : 'week']
  const {
    blocks,
    hidden,
    columns: columnsShown,
  } = useMemo(() => packHours(events, day, most), [events, day, most])
  return (
    <GridBox
      role="gridcell"
      tabIndex={-1}
      className={styles.column}
      data-day={day}
      data-hours
      data-weekend={isWeekend(day) || undefined}
      data-adds={newRecordRange?.from.hasTime || undefined}
      onClick={(click) => {
        calendar.add({ day, minute: minuteOf(click) })
      }}
    >
      <span className="visually-hidden">{dayName(day)}</span>
      {blocks.map(({ event, from, to, column, columns, span, continuesBefore, continuesAfter }) => (
        <EventChip
          key={event.key}
          event={event}
          calendar={calendar}
          day={day}
          continuesBefore={continuesBefore}
          continuesAfter={continuesAfter}
          shape="block"
          isShort={to - from < SHORT_MINUTES}
          style={{
            '--from': from,
            '--length': to - from,
            '--column': column,
            '--columns': columns,
            '--span': span,
          }}
        />
      ))}
      {hidden.map(({ from, to, count }) => (
        <MoreButton
          key={from}
          day={day}
          count={count}
          calendar={calendar}
          className={styles.crowd}
          style={{
            '--from': from,
            '--length': to - from,
            '--column': columnsShown - 1,
            '--columns': columnsShown,
          }}
        >
          +{formatNumber(count)}
        </MoreButton>
      ))}
      {children}
    </GridBox>
  )
}

/** Start of the half hour that a click hits, in minutes since midnight. */
function minuteOf({ clientY, currentTarget }: { clientY: number; currentTarget: Element }): number {
  const box = currentTarget.getBoundingClientRect()
  const minute = ((clientY - box.top) / box.height) * DAY_MINUTES
  return Math.min(DAY_MINUTES - CLICK_MINUTES, Math.floor(minute / CLICK_MINUTES) * CLICK_MINUTES)
}

/** A line at the current time, in the column of today. */
function NowLine({ day, now, zone }: { day: string; now: number; zone: string }) {
  if (dayIn(now, zone) !== day) return null
  const { hour, minute } = wallIn(now, zone)
  return (
    <span
      className={styles.now}
      style={{ '--from': hour * 60 + minute } as ChipStyle}
      data-testid="calendar-now"
      aria-hidden
    />
  )
}
