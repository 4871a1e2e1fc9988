import { formatNumber, t } from '../../../../i18n.ts'
import { Button } from '../../../../ui/button.tsx'
import type { ViewState } from '../../state/view-state.ts'
import styles from './calendar.module.css'
import type { CalendarRecords } from './use-calendar-records.ts'

export interface PeriodNoticeProps {
  records: CalendarRecords
  /** Nothing lies in the period. */
  isEmpty: boolean
  state: ViewState
}

/** What one must know of the period: that it is empty, too full to be shown whole, or could not be read. */
export function PeriodNotice({ records, isEmpty, state }: PeriodNoticeProps) {
  const { count, limit, error, isReading, store } = records
  if (error !== null && count !== null) {
    return (
      <div className={styles.notice} role="alert" data-tone="danger">
        <span>{t('Some records could not be loaded.')}</span>
        <Button size="small" onClick={() => void store.reload()}>
          {t('Try again')}
        </Button>
      </div>
    )
  }
  if (count !== null && count > limit) {
    return (
      <div className={styles.notice} role="status" data-testid="calendar-more">
        <span>
          {t('Showing the first {shown} of {total} records.', {
            shown: formatNumber(limit),
            total: formatNumber(count),
          })}
        </span>
        <Button size="small" onClick={records.readMore}>
          {t('Show more')}
        </Button>
      </div>
    )
  }
  if (!isEmpty || isReading || count === null) return null
  return (
    <div className={styles.notice} role="status" data-testid="calendar-empty">
      <span>
        {state.view.filter ? t('No matching records in this period.') : t('No records in this period.')}
      </span>
      {state.view.filter && (
        <Button size="small" onClick={() => state.update({ filter: null })}>
          {t('Clear filter')}
        </Button>
      )}
    </div>
  )
}
