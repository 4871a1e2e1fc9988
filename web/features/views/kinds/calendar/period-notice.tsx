import { m } from '../../../../messages.gen.ts'
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
