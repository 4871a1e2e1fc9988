import { TriangleAlert } from 'lucide-react'
import type { CSSProperties } from 'react'
import { m } from '../../../../messages.gen.ts'
import { RecordMark } from '../../../presence/others-at.tsx'
import type { CalendarContext } from './calendar-context.ts'
import styles from './event.module.css'
import type { CalendarEvent } from './events.ts'
import { startOn, timeOn, whenName } from './labels.ts'

/** CSS variables of an event chip: its colour and position. */
export type ChipStyle = CSSProperties & Record<`--${string}`, string | number>

export interface EventChipProps {
  event: CalendarEvent
  calendar: CalendarContext
  /** The day whose cell contains the chip. */
  day: string
  /** `bar`: across days; `line`: with its start time; `block`: over hours. */
  shape: 'bar' | 'line' | 'block'
  /** A block of one line, with the time beside the title. */
  isShort?: boolean
  style: ChipStyle
  continuesBefore: boolean
  continuesAfter: boolean
}

/** An event on the calendar. Its `data-` attributes tell the drag and the keyboard which event it is. */
export function EventChip(props: EventChipProps) {
  const { event, calendar, day, shape, isShort = false, style, continuesBefore, continuesAfter } = props
  const { title, extra, color } = calendar.look(event)
  const fixed = calendar.fixedReason(event)
  const when = whenName(event)
  const time = shape === 'block' ? timeOn(event, day) : startOn(event, day)
  const { range, row } = event
  const reversed = event.isReversed ? m.calendar_ends_before_it_starts() : null
  const coloredStyle: ChipStyle = { ...style, '--event': color }
  return (
    <button
      type="button"
      className={styles.event}
      style={coloredStyle}
      tabIndex={calendar.activeKey === event.key ? 0 : -1}
      data-key={event.key}
      data-record={row.id}
      data-shape={shape}
      data-short={isShort || undefined}
      data-before={continuesBefore || undefined}
      data-after={continuesAfter || undefined}
      data-fixed={(fixed !== null && calendar.canMove) || undefined}
      data-open={calendar.openId === row.id || undefined}
      data-highlighted={calendar.highlightedId === row.id || undefined}
      data-dragged={calendar.draggedKey === event.key || undefined}
      data-testid="calendar-event"
      data-tip={[title, when, reversed, fixed].filter(Boolean).join('\n')}
      onClick={(click) => {
        click.stopPropagation()
        calendar.open(row.id)
      }}
      onContextMenu={(click) => calendar.openMenu(click, row.id)}
    >
      <RecordMark recordId={row.id} isSmall />
      {shape === 'line' && <span className={styles.dot} aria-hidden />}
      <span className={styles.text}>
        {event.isReversed && <TriangleAlert size={12} aria-hidden />}
        {shape !== 'block' && time && (
          <time className={styles.time} aria-hidden>
            {time}
          </time>
        )}
        <span className={styles.title} dir="auto">
          {title}
        </span>
        {/* The accessible name replaces the short time by the full dates. */}
        <span className="visually-hidden">
          {`, ${[when, reversed].filter(Boolean).join(', ')}${extra ? ', ' : ''}`}
        </span>
        {shape === 'block' && time && (
          <time className={styles.time} aria-hidden>
            {time}
          </time>
        )}
        {extra && (
          <span className={styles.extra} dir="auto">
            {extra}
          </span>
        )}
      </span>
      {fixed === null && range.from.isWritable && range.to && !continuesBefore && shape !== 'line' && (
        <span className={styles.edge} data-edge="start" aria-hidden />
      )}
      {fixed === null && range.to?.isWritable && !continuesAfter && shape !== 'line' && (
        <span className={styles.edge} data-edge="end" aria-hidden />
      )}
    </button>
  )
}
