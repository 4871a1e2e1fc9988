import { Plus } from 'lucide-react'
import { m } from '../../../../messages.gen.ts'
import { Button } from '../../../../ui/button.tsx'
import styles from './day-list.module.css'
import type { ChipStyle } from './event-chip.tsx'
import { eventsOn } from './events.ts'
import type { Scene } from './scene.ts'
import { dayName, timeOn, whenName } from './words.ts'

/** The events of one day in a list, all of them. */
export function DayList({ day, scene, onOpen }: { day: string; scene: Scene; onOpen?: () => void }) {
  const events = eventsOn(scene.events, day)
  return (
    <section className={styles.list} aria-label={dayName(day)} data-testid="calendar-day-list">
      <header className={styles.head}>
        <h2>{dayName(day)}</h2>
        {scene.adds && (
          <Button
            size="small"
            icon={Plus}
            onClick={() => {
              onOpen?.()
              scene.add({ day, minute: null })
            }}
          >
            {m.common_add()}
          </Button>
        )}
      </header>
      {events.length === 0 && <p className={styles.empty}>{m.calendar_no_records_on_this_day()}</p>}
      <ul>
        {events.map((event) => {
          const { title, extra, color } = scene.look(event)
          const style: ChipStyle = { '--event': color }
          return (
            <li key={event.key}>
              <button
                type="button"
                className={styles.line}
                style={style}
                data-open={scene.openId === event.row.id || undefined}
                onClick={() => {
                  onOpen?.()
                  scene.open(event.row.id)
                }}
                onContextMenu={(click) => scene.openMenu(click, event.row.id)}
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
