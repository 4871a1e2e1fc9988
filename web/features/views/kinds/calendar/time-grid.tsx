import { type ReactNode, useLayoutEffect, useMemo, useRef } from 'react'
import { dayIn, wallIn } from '../../../../../src/core/dates.ts'
import { direction, formatNumber } from '../../../../i18n.ts'
import { m } from '../../../../messages.gen.ts'
import { GridBox, GridText } from '../../../../ui/composite.tsx'
import type { CalendarContext } from './calendar-context.ts'
import { type ChipStyle, EventChip } from './event-chip.tsx'
import { countByDay, fitLanes, packHours, packLanes } from './event-layout.ts'
import { DAY_MINUTES } from './events.ts'
import { dayName, dayNumber, hourName, periodName, weekdayName } from './labels.ts'
import { isoWeek, isWeekend } from './period.ts'
import styles from './time.module.css'

/** Lanes of all-day events before the rest is shown as "+n". */
const MOST_LANES = 5

/** Initially visible first hour. */
const FIRST_HOUR = 7.5

/** A click means the half hour that it falls into. */
const CLICK_MINUTES = 30

/** Events side by side before the rest is a number. */
const MOST_COLUMNS = { day: 12, week: 4 }

/** Blocks of less have room for one line. */
const SHORT_MINUTES = 45

const HOURS = Array.from({ length: 24 }, (_, hour) => hour)

/** Days side by side over their hours: a week, or one of its days. */
export function TimeGrid({
  calendar,
  is12h,
  zone,
}: {
  calendar: CalendarContext
  is12h: boolean
  zone: string
}) {
  const { period, events } = calendar
  const [days = []] = period.weeks
  const scroller = useRef<HTMLDivElement>(null)
  const first = useRef(calendar.stopDay)
  const counts = useMemo(() => countByDay(events, period.first, period.last), [events, period])
  useLayoutEffect(() => {
    const box = scroller.current
    if (!box) return
    box.scrollTop = (box.scrollHeight * FIRST_HOUR) / 24
    // Scrolls to the selected day in a narrow window.
    const column = box.querySelector<HTMLElement>(`[data-hours][data-day="${first.current}"]`)
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
        onClick={() => calendar.go({ scale: 'day', day })}
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
  const { events, adds } = calendar
  const segments = useMemo(
    () =>
      packLanes(
        events.filter((event) => event.isAllDay),
        days,
      ),
    [events, days],
  )
  const { shown, hidden } = fitLanes(segments, days.length, MOST_LANES)
  const lanes = shown.reduce((most, { lane }) => Math.max(most, lane + 1), 0)
  const hasMore = hidden.some((count) => count > 0)
  return (
    <GridBox
      role="row"
      className={styles.allDay}
      style={{ '--lanes': lanes + (hasMore ? 1 : 0) } as ChipStyle}
    >
      <GridText role="rowheader" className={styles.allDayLabel}>
        {m.calendar_all_day()}
      </GridText>
      {days.map((day, column) => (
        <GridBox
          key={day}
          role="gridcell"
          className={styles.allDayCell}
          aria-current={day === calendar.today ? 'date' : undefined}
          tabIndex={day === calendar.stopDay ? 0 : -1}
          data-day={day}
          data-weekend={isWeekend(day) || undefined}
          data-adds={adds !== null || undefined}
          onClick={() => calendar.add({ day, minute: null })}
        >
          <span className="visually-hidden">
            {`${dayName(day)}, ${m.common_records_count({ count: counts.get(day) ?? 0 })}`}
          </span>
          {shown
            .filter((segment) => segment.firstColumn === column)
            .map(({ event, lane, firstColumn, lastColumn, continuesBefore, continuesAfter }) => (
              <EventChip
                key={event.key}
                event={event}
                calendar={calendar}
                day={day}
                continuesBefore={continuesBefore}
                continuesAfter={continuesAfter}
                shape="bar"
                style={{ '--lane': lane, '--span': lastColumn - firstColumn + 1 }}
              />
            ))}
          {(hidden[column] ?? 0) > 0 && (
            <button
              type="button"
              tabIndex={-1}
              className={styles.more}
              style={{ '--lane': lanes } as ChipStyle}
              data-more
              aria-label={m.calendar_more_on_day({ count: hidden[column] ?? 0, day: dayName(day) })}
              onClick={(click) => {
                click.stopPropagation()
                calendar.showDay(day, click.currentTarget)
              }}
            >
              {m.common_more_count({ count: hidden[column] ?? 0 })}
            </button>
          )}
        </GridBox>
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
  const { events, adds } = calendar
  const most = MOST_COLUMNS[calendar.period.scale === 'day' ? 'day' : 'week']
  const { blocks, hidden, columns: all } = useMemo(() => packHours(events, day, most), [events, day, most])
  return (
    <GridBox
      role="gridcell"
      tabIndex={-1}
      className={styles.column}
      data-day={day}
      data-hours
      data-weekend={isWeekend(day) || undefined}
      data-adds={adds?.from.hasTime || undefined}
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
        <button
          key={from}
          type="button"
          tabIndex={-1}
          className={styles.crowd}
          style={
            { '--from': from, '--length': to - from, '--column': all - 1, '--columns': all } as ChipStyle
          }
          data-more
          onClick={(click) => {
            click.stopPropagation()
            calendar.showDay(day, click.currentTarget)
          }}
        >
          <span className="visually-hidden">{m.calendar_more_on_day({ count, day: dayName(day) })}</span>
          <span aria-hidden>+{formatNumber(count)}</span>
        </button>
      ))}
      {children}
    </GridBox>
  )
}

/** The half hour that a click falls into. */
function minuteOf({ clientY, currentTarget }: { clientY: number; currentTarget: Element }): number {
  const box = currentTarget.getBoundingClientRect()
  const minute = ((clientY - box.top) / box.height) * DAY_MINUTES
  return Math.min(DAY_MINUTES - CLICK_MINUTES, Math.floor(minute / CLICK_MINUTES) * CLICK_MINUTES)
}

/** Where the present moment is among the hours of today. */
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
