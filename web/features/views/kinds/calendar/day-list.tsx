import { Plus } from 'lucide-react'
import { m } from '../../../../messages.gen.ts'
import { Button } from '../../../../ui/button.tsx'
import type { CalendarContext } from './calendar-context.ts'
import { MiniDay, MiniMonth } from './day-cells.tsx'
import styles from './day-list.module.css'
import type { ChipStyle } from './event-chip.tsx'
import { eventsOn } from './events.ts'
import { dayName, dayNumber, periodName, timeOn, whenName } from './labels.ts'
import { isSameMonth } from './period.ts'

/** All events of a day. */
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
        {calendar.newRecordRange && (
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

const MAX_DOTS = 3

/** A month for narrow windows: dots mark days with events, and the selected day is listed below. */
export function MonthDots({ calendar }: { calendar: CalendarContext }) {
  const { period } = calendar
  const [days = []] = period.weeks
  return (
    <div className={styles.month} data-testid="calendar-dots">
      <MiniMonth
        label={periodName(period)}
        weeks={period.weeks}
        className={styles.dots}
        weekClassName={styles.week}
        weekdayClassName={styles.weekday}
        style={{ '--days': days.length }}
        renderDay={(day) => {
          const events = eventsOn(calendar.events, day)
          return (
            <MiniDay
              key={day}
              day={day}
              calendar={calendar}
              className={styles.day}
              count={events.length}
              isSelected={day === period.day}
              isOtherMonth={!isSameMonth(day, period.day)}
              onClick={() => calendar.goTo({ day })}
            >
              <span>{dayNumber(day)}</span>
              <span className={styles.marks}>
                {events.slice(0, MAX_DOTS).map((event) => {
                  const dot: ChipStyle = { '--event': calendar.look(event).color }
                  return <i key={event.key} style={dot} />
                })}
              </span>
            </MiniDay>
          )
        }}
      />
      <div className={styles.chosen}>
        <DayList day={period.day} calendar={calendar} />
      </div>
    </div>
  )
}
