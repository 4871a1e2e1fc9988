import { useCallback, useRef, useState } from 'react'
import type { Values } from '../../../../../src/core/changes.ts'
import type { RecordId } from '../../../../../src/core/model.ts'
import type { RecordStore } from '../../../records/record-store.ts'
import { type DatedRow, withValues } from './events.ts'

export interface CalendarWrites {
  /** Writes dates of a record: shown at once, one request, one step to undo; put back where it is refused. */
  write: (row: DatedRow, values: Values) => void
  /** Records of the list on their way onto the calendar, as they will be. */
  placed: readonly DatedRow[]
}

/**
 * Changes of dates. A record that is not among those of the period is written by the list that it comes
 * from, and drawn from here until the period is read again.
 */
export function useCalendarWrites(
  tableId: string,
  period: RecordStore,
  list: RecordStore | null,
): CalendarWrites {
  const [placed, setPlaced] = useState<readonly DatedRow[]>([])
  const stores = useRef({ period, list })
  stores.current = { period, list }
  const write = useCallback(
    (row: DatedRow, values: Values) => {
      const changed = Object.entries(values).filter(([fieldId, value]) => row.values(fieldId) !== value)
      if (changed.length === 0) return
      const { period, list } = stores.current
      const change = (id: RecordId) => ({
        kind: 'update' as const,
        tableId,
        rows: [{ id, values: Object.fromEntries(changed) }],
      })
      if (period.source.indexOf(row.id) !== undefined || !list) {
        void period.apply([change(row.id)], { rollsBack: true })
        return
      }
      const shown = withValues(row, values)
      setPlaced((now) => [...now, shown])
      void list
        .apply([change(row.id)], { rollsBack: true })
        .then(async (written) => {
          if (!written) return
          list.refreshSoon()
          await period.reload()
        })
        .finally(() => setPlaced((now) => now.filter((one) => one !== shown)))
    },
    [tableId],
  )
  return { write, placed }
}
