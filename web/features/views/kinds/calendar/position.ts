import { useCallback, useEffect, useRef, useState } from 'react'
import { dayIn, resolveZone } from '../../../../../src/core/dates.ts'
import type { RecordId } from '../../../../../src/core/model.ts'
import type { CalendarScale } from '../../../../../src/core/views/index.ts'
import { isOffline } from '../../../../errors.ts'
import { recordsApi } from '../../../../records/api.ts'
import { selectionOf } from '../../../../records/record-order.ts'
import type { StoreQuery } from '../../../../records/types.ts'
import { timeZone } from '../../../../time-zone.ts'
import { cache, isMissing } from '../../../../trpc.ts'
import { type DatedRange, type DatedRow, eventsOf } from './events.ts'
import { followingFilter } from './period.ts'

/** The scale and the selected day of a calendar. */
export interface CalendarPosition {
  scale: CalendarScale
  day: string
}

/** Last position per view, until the page is reloaded. */
const positions = new Map<string, CalendarPosition>()

/** The current day in the user's time zone. */
export const todayHere = (): string => dayIn(Date.now(), resolveZone('local'))

/** The position in a view, restored when the user returns to it. The first visit starts today, in the view's scale. */
export function usePosition(
  viewId: string,
  scale: CalendarScale,
): [CalendarPosition, (change: Partial<CalendarPosition>) => void] {
  const [position, setPosition] = useState(() => positions.get(viewId) ?? { scale, day: todayHere() })
  const goTo = useCallback(
    (change: Partial<CalendarPosition>) =>
      setPosition((before) => {
        const next = { ...before, ...change }
        positions.set(viewId, next)
        return next
      }),
    [viewId],
  )
  return [position, goTo]
}

/** The current time in milliseconds since 1970, updated every minute. */
export function useNow(): number {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    const timer = setTimeout(() => setNow(Date.now()), 60_000 - (now % 60_000))
    return () => clearTimeout(timer)
  }, [now])
  return now
}

/** When the screen opens with a record in its URL, goes to the day of that record. */
export function useDayOfOpenRecord(
  tableId: string,
  recordId: RecordId | null,
  ranges: readonly DatedRange[],
  goToDay: (day: string) => void,
): void {
  const initial = useRef({ recordId, ranges, goToDay })
  useEffect(() => {
    const { recordId, ranges, goToDay } = initial.current
    if (recordId === null) return
    let isUnmounted = false
    // The record panel reads the same cached query.
    cache.records.get
      .fetch({ tableId, recordId, timeZone })
      .then(({ values }) => {
        const row: DatedRow = { id: recordId, values: (fieldId) => values[fieldId] ?? null }
        const [event] = eventsOf([row], ranges)
        if (event && !isUnmounted) goToDay(event.firstDay)
      })
      .catch((error) => {
        // The record panel shows that the record is deleted or unreadable.
        if (!isOffline(error) && !isMissing(error))
          console.warn('failed to read the open record’s day', error)
      })
    return () => {
      isUnmounted = true
    }
  }, [tableId])
}

interface FirstPeriodDeps {
  tableId: string
  viewId: string
  openId: RecordId | null
  ranges: readonly DatedRange[]
  /** The records of the view, of all periods. */
  query: StoreQuery
  /** Records in the current period. */
  records: { count: number | null; isReading: boolean }
  goToDay: (day: string) => void
}

/**
 * On the first visit of a view whose current period is empty, goes to the record nearest to today. A record in the URL
 * and navigation by the user take precedence.
 *
 * @returns true while the nearest record is being searched
 */
export function useFirstPeriod(deps: FirstPeriodDeps): boolean {
  const { tableId, viewId, openId, ranges, records } = deps
  const isPending = useRef(!positions.has(viewId) && openId === null)
  const search = useRef(new AbortController())
  const [isSearching, setSearching] = useState(false)
  const isLoaded = records.count !== null && !records.isReading
  const isEmpty = isLoaded && records.count === 0 && ranges.length > 0
  const latest = useRef(deps)
  latest.current = deps

  useEffect(() => {
    if (!isPending.current || !isLoaded) return
    isPending.current = false
    if (!isEmpty) return
    const { signal } = search.current
    const { ranges, query } = latest.current
    setSearching(true)
    findNearestDay(tableId, ranges, query, signal)
      .then((day) => {
        // A stored position means that the user has navigated during the request.
        if (day !== null && !signal.aborted && !positions.has(viewId)) latest.current.goToDay(day)
      })
      .catch((error) => {
        if (!signal.aborted) console.warn('failed to find the record nearest to today', error)
      })
      .finally(() => setSearching(false))
  }, [isLoaded, isEmpty, tableId, viewId])
  // Aborted on unmount only: the period may reload during the search.
  useEffect(() => {
    const controller = new AbortController()
    search.current = controller
    return () => controller.abort()
  }, [])
  return isSearching
}

/** The start day nearest to today among the view's records, the later of two equally near; null without dates. */
async function findNearestDay(
  tableId: string,
  ranges: readonly DatedRange[],
  query: StoreQuery,
  signal: AbortSignal,
): Promise<string | null> {
  const today = todayHere()
  async function findFirst(range: DatedRange, direction: 'asc' | 'desc'): Promise<string[]> {
    const fieldId = range.from.field.id
    const page = await recordsApi.list(
      {
        ...selectionOf(tableId, {
          ...query,
          filter: followingFilter(query.filter, range, today, direction),
        }),
        sorts: [{ fieldId, direction }],
        fieldIds: [fieldId],
        limit: 1,
        offset: 0,
      },
      signal,
    )
    const column = page.fieldIds.indexOf(fieldId)
    const rows = page.ids.map(
      (id, index): DatedRow => ({
        id,
        values: (otherId) => (otherId === fieldId ? page.rows[index]?.[column] : null) ?? null,
      }),
    )
    return eventsOf(rows, [{ ...range, to: null }]).map(({ firstDay }) => firstDay)
  }
  const days = await Promise.all(
    ranges.flatMap((range) => [findFirst(range, 'asc'), findFirst(range, 'desc')]),
  )
  const distance = (day: string) => Math.abs(Date.parse(day) - Date.parse(today))
  const [nearest = null] = days.flat().toSorted((a, b) => distance(a) - distance(b) || (a < b ? 1 : -1))
  return nearest
}
