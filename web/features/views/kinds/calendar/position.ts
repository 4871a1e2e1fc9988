import { useCallback, useEffect, useRef, useState } from 'react'
import { dayIn, resolveZone } from '../../../../../src/core/dates.ts'
import type { RecordId } from '../../../../../src/core/model.ts'
import type { CalendarScale } from '../../../../../src/core/views/index.ts'
import { isOffline } from '../../../../errors.ts'
import { cache, isMissing } from '../../../../trpc.ts'
import { type DatedRange, type DatedRow, eventsOf } from './events.ts'

/** The position in a calendar: scale and day. */
export interface Place {
  scale: CalendarScale
  day: string
}

/** Where each view was left, for the way back to it in this visit. */
const places = new Map<string, Place>()

/** True where the person has been in the view before, in this visit. */
export const hasPlace = (viewId: string): boolean => places.has(viewId)

/** The day on which the person is. */
export const todayHere = (): string => dayIn(Date.now(), resolveZone('local'))

/** The scale and the day shown; another view begins today, in its own scale. */
export function usePlace(
  viewId: string,
  scale: CalendarScale,
): [Place, (change: Partial<Place> | ((now: Place) => Partial<Place>)) => void] {
  const [place, setPlace] = useState<Place>(() => places.get(viewId) ?? { scale, day: todayHere() })
  const go = useCallback(
    (change: Partial<Place> | ((now: Place) => Partial<Place>)) =>
      setPlace((now) => {
        const next = { ...now, ...(typeof change === 'function' ? change(now) : change) }
        places.set(viewId, next)
        return next
      }),
    [viewId],
  )
  return [place, go]
}

/** The present moment, to the minute. */
export function useNow(): number {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    const timer = setTimeout(() => setNow(Date.now()), 60_000 - (now % 60_000))
    return () => clearTimeout(timer)
  }, [now])
  return now
}

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
        // The record panel reports missing and unreadable records.
        if (!isOffline(error) && !isMissing(error)) console.warn('the day of the record is not known', error)
      })
    return () => {
      isGone = true
    }
  }, [tableId])
}
