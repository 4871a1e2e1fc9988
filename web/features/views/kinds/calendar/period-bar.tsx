import { ChevronLeft, ChevronRight, PanelRight } from 'lucide-react'
import { CALENDAR_SCALES, type CalendarScale } from '../../../../../src/core/views/index.ts'
import { m } from '../../../../messages.gen.ts'
import { Button, IconButton } from '../../../../ui/button.tsx'
import type { ViewState } from '../../state/view-state.ts'
import styles from './calendar.module.css'
import { dayName, periodName } from './labels.ts'
import { type Period, stepPeriod } from './period.ts'
import type { CalendarPosition } from './position.ts'
import type { CalendarRecords } from './use-calendar.ts'

/** Name of a scale. */
export const scaleName = (scale: CalendarScale): string =>
  ({ day: m.calendar_day(), week: m.calendar_week(), month: m.calendar_month(), year: m.calendar_year() })[
    scale
  ]

/** Shortcut of each scale. */
export const SCALE_KEYS: Record<CalendarScale, string> = { day: 'd', week: 'w', month: 'm', year: 'y' }

interface PeriodBarProps {
  period: Period
  today: string
  isReading: boolean
  onGo: (change: Partial<CalendarPosition>) => void
  isListOpen: boolean
  onListOpen: (open: boolean) => void
}

/** Heading of the period, with buttons for the previous and next one, today and the scales. */
export function PeriodBar({ period, today, isReading, onGo, isListOpen, onListOpen }: PeriodBarProps) {
  const { scale, day } = period
  const step = (by: 1 | -1) => onGo({ day: stepPeriod(scale, day, by) })
  return (
    <div className={styles.bar} aria-busy={isReading}>
      <Button
        size="small"
        data-tip={dayName(today)}
        data-tip-keys="T"
        data-testid="calendar-today"
        onClick={() => onGo({ day: today })}
      >
        {m.calendar_today()}
      </Button>
      <span className={styles.steps}>
        <IconButton
          icon={ChevronLeft}
          size="small"
          label={m.calendar_earlier()}
          className="flip-in-rtl"
          data-testid="calendar-previous"
          onClick={() => step(-1)}
        />
        <IconButton
          icon={ChevronRight}
          size="small"
          label={m.calendar_later()}
          className="flip-in-rtl"
          data-testid="calendar-next"
          onClick={() => step(1)}
        />
      </span>
      <h2 className={styles.title} aria-live="polite" data-testid="calendar-title">
        {periodName(period)}
      </h2>
      <span className={styles.space} />
      <div className={styles.scales} role="radiogroup" aria-label={m.calendar_scale()}>
        {CALENDAR_SCALES.map((one) => (
          // biome-ignore lint/a11y/useSemanticElements: a row of buttons, of which one is pressed in
          <button
            key={one}
            type="button"
            role="radio"
            aria-checked={scale === one}
            data-tip={scaleName(one)}
            data-tip-keys={SCALE_KEYS[one].toUpperCase()}
            onClick={() => onGo({ scale: one })}
          >
            {scaleName(one)}
          </button>
        ))}
      </div>
      <IconButton
        icon={PanelRight}
        size="small"
        label={isListOpen ? m.calendar_hide_the_list() : m.calendar_show_the_list()}
        aria-pressed={isListOpen}
        className="flip-in-rtl"
        data-testid="calendar-list-button"
        onClick={() => onListOpen(!isListOpen)}
      />
      {isReading && <span className={styles.progress} aria-hidden />}
    </div>
  )
}

interface PeriodNoticeProps {
  records: CalendarRecords
  /** The period has no events. */
  isEmpty: boolean
  state: ViewState
}

/** Notice above the period: empty, truncated, or failed to load. */
export function PeriodNotice({ records, isEmpty, state }: PeriodNoticeProps) {
  const { count, limit, error, isReading, store } = records
  if (error !== null && count !== null) {
    return (
      <div className={styles.notice} role="alert" data-tone="danger">
        <span>{m.calendar_records_load_failed_sentence()}</span>
        <Button size="small" onClick={() => void store.reload()}>
          {m.common_try_again()}
        </Button>
      </div>
    )
  }
  if (count !== null && count > limit) {
    return (
      <div className={styles.notice} role="status" data-testid="calendar-more">
        <span>
          {m.calendar_showing_first_shown_total_records({
            shown: limit,
            total: count,
          })}
        </span>
        <Button size="small" onClick={records.readMore}>
          {m.calendar_show_more()}
        </Button>
      </div>
    )
  }
  if (!isEmpty || isReading || count === null) return null
  return (
    <div className={styles.notice} role="status" data-testid="calendar-empty">
      <span>
        {state.view.filter
          ? m.calendar_no_matching_records_period()
          : m.calendar_no_records_in_this_period_sentence()}
      </span>
      {state.view.filter && (
        <Button size="small" onClick={() => state.update({ filter: null })}>
          {m.calendar_clear_filter()}
        </Button>
      )}
    </div>
  )
}
