import { ChevronLeft, ChevronRight, PanelRight } from 'lucide-react'
import { CALENDAR_SCALES, type CalendarScale } from '../../../../../src/core/views/index.ts'
import { t } from '../../../../i18n.ts'
import { Button, IconButton } from '../../../../ui/button.tsx'
import styles from './calendar.module.css'
import { type Period, stepPeriod } from './period.ts'
import type { Place } from './use-place.ts'
import { dayName, periodName } from './words.ts'

/** Words of the scales, each with its key. */
export const scaleName = (scale: CalendarScale): string =>
  ({ day: t('Day'), week: t('Week'), month: t('Month'), year: t('Year') })[scale]

export const SCALE_KEYS: Record<CalendarScale, string> = { day: 'd', week: 'w', month: 'm', year: 'y' }

export interface PeriodBarProps {
  period: Period
  today: string
  isReading: boolean
  onGo: (change: Partial<Place>) => void
  isListOpen: boolean
  onListOpen: (open: boolean) => void
}

/** Which days are shown, and the ways to others. */
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
        {t('Today')}
      </Button>
      <span className={styles.steps}>
        <IconButton
          icon={ChevronLeft}
          size="small"
          label={t('Earlier')}
          className="flip-in-rtl"
          data-testid="calendar-previous"
          onClick={() => step(-1)}
        />
        <IconButton
          icon={ChevronRight}
          size="small"
          label={t('Later')}
          className="flip-in-rtl"
          data-testid="calendar-next"
          onClick={() => step(1)}
        />
      </span>
      <h2 className={styles.title} aria-live="polite" data-testid="calendar-title">
        {periodName(period)}
      </h2>
      <span className={styles.space} />
      <div className={styles.scales} role="radiogroup" aria-label={t('Scale')}>
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
        label={isListOpen ? t('Hide the list') : t('Show the list')}
        aria-pressed={isListOpen}
        className="flip-in-rtl"
        data-testid="calendar-list-button"
        onClick={() => onListOpen(!isListOpen)}
      />
      {isReading && <span className={styles.progress} aria-hidden />}
    </div>
  )
}
