import { useMemo } from 'react'
import { m } from '../../../../messages.gen.ts'
import { GridText } from '../../../../ui/composite.tsx'
import type { CalendarContext } from './calendar-context.ts'
import { MiniDay, MiniMonth } from './day-cells.tsx'
import { countByDay, densityLevel } from './event-layout.ts'
import { dayNumber, monthName } from './labels.ts'
import { isSameMonth, monthsOf, monthWeeks } from './period.ts'
import styles from './year.module.css'

/** Twelve small months whose days are shaded by their number of events. A click on a day or month opens it. */
export function YearGrid({ calendar }: { calendar: CalendarContext }) {
  const { period, events } = calendar
  const counts = useMemo(() => countByDay(events, period.first, period.last), [events, period])
  const most = useMemo(() => Math.max(0, ...counts.values()), [counts])
  return (
    <div className={styles.year} data-testid="calendar-year">
      {monthsOf(period.day).map((month) => (
        <section key={month} className={styles.month} aria-label={monthName(month)}>
          <button
            type="button"
            className={styles.title}
            aria-label={m.calendar_show_day({ day: monthName(month) })}
            onClick={() => calendar.goTo({ scale: 'month', day: month })}
          >
            {monthName(month)}
          </button>
          <MiniMonth
            label={monthName(month)}
            weeks={monthWeeks(month)}
            weekClassName={styles.week}
            weekdayClassName={styles.weekday}
            renderDay={(day) =>
              isSameMonth(day, month) ? (
                <MiniDay
                  key={day}
                  day={day}
                  calendar={calendar}
                  className={styles.day}
                  count={counts.get(day) ?? 0}
                  level={densityLevel(counts.get(day) ?? 0, most)}
                  hasTip
                  onClick={() => calendar.goTo({ scale: 'day', day })}
                >
                  {dayNumber(day)}
                </MiniDay>
              ) : (
                // Days of other months appear in their own month only.
                <GridText key={day} role="gridcell" tabIndex={-1} />
              )
            }
          />
        </section>
      ))}
    </div>
  )
}
