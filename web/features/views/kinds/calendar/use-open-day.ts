import { useEffect, useRef } from 'react'
import type { RecordId } from '../../../../../src/core/model.ts'
import { isOffline } from '../../../../errors.ts'
import { cache, isMissing } from '../../../../trpc.ts'
import { type DatedRow, eventsOf } from './events.ts'
import type { DatedRange } from './ranges.ts'

/** Goes to the day of the record that the address names, once, when the screen opens with one. */
export function useOpenDay(
  tableId: string,
  recordId: RecordId | null,
  ranges: readonly DatedRange[],
  go: (day: string) => void,
): void {
  const first = useRef({ recordId, ranges, go })
  useEffect(() => {
    const { recordId, ranges, go } = first.current
    if (recordId === null) return
    let isGone = false
    // The open record reads the same, and finds it there.
    cache.records.get
      .fetch({ tableId, recordId })
      .then(({ values }) => {
        const row: DatedRow = { id: recordId, values: (fieldId) => values[fieldId] ?? null }
        const [event] = eventsOf([row], ranges)
        if (event && !isGone) go(event.firstDay)
      })
      .catch((error) => {
        // That it is gone, or cannot be read, is said beside the calendar.
        if (!isOffline(error) && !isMissing(error)) console.warn('the day of the record is not known', error)
      })
    return () => {
      isGone = true
    }
  }, [tableId])
}
