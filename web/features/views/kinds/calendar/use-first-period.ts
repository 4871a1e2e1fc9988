import { useEffect, useRef, useState } from 'react'
import type { RecordId } from '../../../../../src/core/model.ts'
import { recordsApi } from '../../../records/server/api.ts'
import { type DatedRow, eventsOf } from './events.ts'
import { followingFilter } from './period-filter.ts'
import type { DatedRange } from './ranges.ts'
import type { CalendarQueries } from './use-calendar-queries.ts'
import type { CalendarRecords } from './use-calendar-records.ts'
import { hasPlace, todayHere } from './use-place.ts'

interface FirstPeriod {
  tableId: string
  viewId: string
  /** The record that the address names: its day is shown then. */
  openId: RecordId | null
  ranges: readonly DatedRange[]
  queries: CalendarQueries
  records: Pick<CalendarRecords, 'count' | 'isReading'>
  go: (day: string) => void
}

/**
 * Opens a calendar where its records are. The period of today is shown if it has any; else the calendar goes, once, to
 * the record nearest to today. A place that was left before, an open record and a step of the person win.
 *
 * @returns true while the nearest record is being looked for
 */
export function useFirstPeriod(parts: FirstPeriod): boolean {
  const { tableId, viewId, openId, ranges, queries, records, go } = parts
  const isNew = useRef(!hasPlace(viewId) && openId === null)
  const looking = useRef(new AbortController())
  const [isLooking, setLooking] = useState(false)
  const isEmpty = records.count === 0 && !records.isReading && ranges.length > 0
  const isKnown = records.count !== null && !records.isReading
  const latest = useRef({ queries, ranges, go })
  latest.current = { queries, ranges, go }

  useEffect(() => {
    if (!isNew.current || !isKnown) return
    isNew.current = false
    if (!isEmpty) return
    const { signal } = looking.current
    setLooking(true)
    nearestDay(tableId, latest.current.ranges, latest.current.queries, signal)
      .then((day) => {
        // Whoever has gone elsewhere meanwhile stays there.
        if (day !== null && !signal.aborted && !hasPlace(viewId)) latest.current.go(day)
      })
      .catch((error) => {
        if (!signal.aborted) console.warn('the nearest record could not be found', error)
      })
      .finally(() => setLooking(false))
  }, [isKnown, isEmpty, tableId, viewId])
  // Only leaving ends the search: the period may be read anew meanwhile.
  useEffect(() => {
    const controller = new AbortController()
    looking.current = controller
    return () => controller.abort()
  }, [])
  return isLooking
}

/** The day nearest to today on which a record of the view begins; the later one of two. Null where none has a date. */
async function nearestDay(
  tableId: string,
  ranges: readonly DatedRange[],
  { list }: CalendarQueries,
  signal: AbortSignal,
): Promise<string | null> {
  const today = todayHere()
  const first = async (range: DatedRange, direction: 'asc' | 'desc'): Promise<string[]> => {
    const fieldId = range.from.field.id
    const page = await recordsApi.list(
      {
        tableId,
        filter: followingFilter(list.filter, range, today, direction),
        sorts: [{ fieldId, direction }],
        fieldIds: [fieldId],
        limit: 1,
        offset: 0,
      },
      signal,
    )
    const at = page.fieldIds.indexOf(fieldId)
    const rows = page.ids.map(
      (id, index): DatedRow => ({
        id,
        values: (asked) => (asked === fieldId ? page.rows[index]?.[at] : null) ?? null,
      }),
    )
    return eventsOf(rows, [{ ...range, to: null }]).map(({ firstDay }) => firstDay)
  }
  const found = await Promise.all(ranges.flatMap((range) => [first(range, 'asc'), first(range, 'desc')]))
  const distance = (day: string) => Math.abs(Date.parse(day) - Date.parse(today))
  const [nearest = null] = found.flat().toSorted((a, b) => distance(a) - distance(b) || (a < b ? 1 : -1))
  return nearest
}
