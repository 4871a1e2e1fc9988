import { useMemo } from 'react'
import { m } from '../../../../messages.gen.ts'
import { GridBox, GridButton, GridText } from '../../../../ui/composite.tsx'
import type { CalendarContext } from './calendar-context.ts'
import { countByDay, densityLevel } from './event-layout.ts'
import { dayName, dayNumber, monthName, WEEKDAYS, weekdayName } from './labels.ts'
import { monthsOf, monthWeeks, WEEK } from './period.ts'
import styles from './year.module.css'

/** Twelve small months, shaded by number of events. Click a day or month to open it. */
export function YearGrid({ calendar }: { calendar: CalendarContext }) {
  const { period, events } = calendar
  const counts = useMemo(() => countByDay(events, period.first, period.last), [events, period])
  const most = useMemo(() => Math.max(0, ...counts.values()), [counts])
  return (
    <div className={styles.year} data-testid="calendar-year">
      {monthsOf(period.day).map((month) => (
        <Month key={month} month={month} calendar={calendar} counts={counts} most={most} />
      ))}
    </div>
  )
}

interface MonthProps {
  month: string
  calendar: CalendarContext
  counts: ReadonlyMap<string, number>
  /** The count of the fullest day. */
  most: number
}

function Month({ month, calendar, counts, most }: MonthProps) {
  const { today } = calendar
  const weeks = useMemo(() => monthWeeks(month), [month])
  return (
    <section className={styles.month} aria-label={monthName(month)}>
      <button
        type="button"
        className={styles.title}
        aria-label={m.calendar_show_day({ day: monthName(month) })}
        onClick={() => calendar.go({ scale: 'month', day: month })}
      >
        {monthName(month)}
      </button>
      <GridBox role="grid" aria-label={monthName(month)}>
        <GridBox role="row" className={styles.week}>
          {WEEKDAYS.map((day) => (
            <GridText
              key={day}
              role="columnheader"
              aria-label={weekdayName(day, 'long')}
              className={styles.weekday}
            >
              {weekdayName(day, 'narrow')}
            </GridText>
          ))}
        </GridBox>
        {weeks.map((week) => (
          <GridBox key={week[0]} role="row" className={styles.week}>
            {week.slice(0, WEEK).map((day) => {
              // Omits days of other months.
              if (day.slice(0, 7) !== month.slice(0, 7))
                return <GridText key={day} role="gridcell" tabIndex={-1} />
              const count = counts.get(day) ?? 0
              const label = `${dayName(day)}, ${m.common_records_count({ count })}`
              return (
                <GridButton
                  key={day}
                  type="button"
                  role="gridcell"
                  className={styles.day}
                  aria-label={label}
                  aria-current={day === today ? 'date' : undefined}
                  data-tip={count > 0 ? label : undefined}
                  tabIndex={day === calendar.stopDay ? 0 : -1}
                  data-day={day}
                  data-level={densityLevel(count, most) || undefined}
                  onClick={() => calendar.go({ scale: 'day', day })}
                >
                  {dayNumber(day)}
                </GridButton>
              )
            })}
          </GridBox>
        ))}
      </GridBox>
    </section>
  )
}
