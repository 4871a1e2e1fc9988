import { m } from '../../../../messages.gen.ts'
import { GridBox, GridButton, GridText } from '../../../../ui/composite.tsx'
import styles from './day-list.module.css'
import { DayList } from './day-list.tsx'
import type { ChipStyle } from './event-chip.tsx'
import { eventsOn } from './events.ts'
import type { Scene } from './scene.ts'
import { dayName, dayNumber, periodName, weekdayName } from './words.ts'

/** Most dots below a day. */
const MOST_DOTS = 3

/** A month in a narrow window: dots say which days hold something, and the chosen day is listed below. */
export function MonthDots({ scene }: { scene: Scene }) {
  const { period, today } = scene
  const [days = []] = period.weeks
  const columns: ChipStyle = { '--days': days.length }
  return (
    <div className={styles.month} data-testid="calendar-dots">
      <GridBox className={styles.dots} role="grid" aria-label={periodName(period)} style={columns}>
        <GridBox role="row" className={styles.week}>
          {days.map((day) => (
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
        {period.weeks.map((week) => (
          <GridBox key={week[0]} role="row" className={styles.week}>
            {week.map((day) => {
              const events = eventsOn(scene.events, day)
              return (
                <GridButton
                  key={day}
                  type="button"
                  role="gridcell"
                  className={styles.day}
                  aria-label={`${dayName(day)}, ${m.common_records_count({ count: events.length })}`}
                  aria-current={day === today ? 'date' : undefined}
                  aria-selected={day === period.day}
                  tabIndex={day === scene.stopDay ? 0 : -1}
                  data-day={day}
                  data-other={day.slice(0, 7) !== period.day.slice(0, 7) || undefined}
                  onClick={() => scene.go({ day })}
                >
                  <span>{dayNumber(day)}</span>
                  <span className={styles.marks}>
                    {events.slice(0, MOST_DOTS).map((event) => {
                      const dot: ChipStyle = { '--event': scene.look(event).color }
                      return <i key={event.key} style={dot} />
                    })}
                  </span>
                </GridButton>
              )
            })}
          </GridBox>
        ))}
      </GridBox>
      <div className={styles.chosen}>
        <DayList day={period.day} scene={scene} />
      </div>
    </div>
  )
}
