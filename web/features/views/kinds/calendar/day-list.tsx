import { Plus } from 'lucide-react'
import { m } from '../../../../messages.gen.ts'
import { Button } from '../../../../ui/button.tsx'
import { GridBox, GridButton, GridText } from '../../../../ui/composite.tsx'
import type { CalendarContext } from './calendar-context.ts'
import styles from './day-list.module.css'
import type { ChipStyle } from './event-chip.tsx'
import { eventsOn } from './events.ts'
import { dayName, dayNumber, periodName, timeOn, weekdayName, whenName } from './labels.ts'

/** List of all events of a day. */
export function DayList({
  day,
  calendar,
  onOpen,
}: {
  day: string
  calendar: CalendarContext
  onOpen?: () => void
}) {
  const events = eventsOn(calendar.events, day)
  return (
    <section className={styles.list} aria-label={dayName(day)} data-testid="calendar-day-list">
      <header className={styles.head}>
        <h2>{dayName(day)}</h2>
        {calendar.adds && (
          <Button
            size="small"
            icon={Plus}
            onClick={() => {
              onOpen?.()
              calendar.add({ day, minute: null })
            }}
          >
            {m.common_add()}
          </Button>
        )}
      </header>
      {events.length === 0 && <p className={styles.empty}>{m.calendar_no_records_on_this_day()}</p>}
      <ul>
        {events.map((event) => {
          const { title, extra, color } = calendar.look(event)
          const style: ChipStyle = { '--event': color }
          return (
            <li key={event.key}>
              <button
                type="button"
                className={styles.line}
                style={style}
                data-open={calendar.openId === event.row.id || undefined}
                onClick={() => {
                  onOpen?.()
                  calendar.open(event.row.id)
                }}
                onContextMenu={(click) => calendar.openMenu(click, event.row.id)}
              >
                <span className="visually-hidden">
                  {[title, whenName(event), extra].filter(Boolean).join(', ')}
                </span>
                <time aria-hidden>{timeOn(event, day) ?? m.calendar_all_day()}</time>
                <span className={styles.text} aria-hidden>
                  <span className={styles.title} dir="auto">
                    {title}
                  </span>
                  {extra && (
                    <span className={styles.extra} dir="auto">
                      {extra}
                    </span>
                  )}
                </span>
              </button>
            </li>
          )
        })}
      </ul>
    </section>
  )
}

/** Maximum dots below a day. */
const MOST_DOTS = 3

/** A month in a narrow window: dots mark days with events, and the selected day is listed below. */
export function MonthDots({ calendar }: { calendar: CalendarContext }) {
  const { period, today } = calendar
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
              const events = eventsOn(calendar.events, day)
              return (
                <GridButton
                  key={day}
                  type="button"
                  role="gridcell"
                  className={styles.day}
                  aria-label={`${dayName(day)}, ${m.common_records_count({ count: events.length })}`}
                  aria-current={day === today ? 'date' : undefined}
                  aria-selected={day === period.day}
                  tabIndex={day === calendar.stopDay ? 0 : -1}
                  data-day={day}
                  data-other={day.slice(0, 7) !== period.day.slice(0, 7) || undefined}
                  onClick={() => calendar.go({ day })}
                >
                  <span>{dayNumber(day)}</span>
                  <span className={styles.marks}>
                    {events.slice(0, MOST_DOTS).map((event) => {
                      const dot: ChipStyle = { '--event': calendar.look(event).color }
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
        <DayList day={period.day} calendar={calendar} />
      </div>
    </div>
  )
}
