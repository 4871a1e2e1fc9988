import { useEffect, useMemo, useState, useSyncExternalStore } from 'react'
import { useStore } from 'zustand'
import type { Filter } from '../../../../../src/core/filters/index.ts'
import type { GridRow } from '../../../../grid/source.ts'
import { useOnChange } from '../../../../ui/effects.ts'
import type { RecordStore } from '../../../records/record-store.ts'
import { recordsApi } from '../../../records/server/api.ts'
import { useRecordStore } from '../../../records/server/use-record-store.ts'
import { createPaging } from '../../../records/store/paging.ts'
import { createTableState } from '../../../records/store/table-state.ts'
import type { StoreQuery } from '../../../records/store/types.ts'
import { createPeriodReader, PERIOD_PAGE } from './period-reader.ts'
import { createRowList } from './row-list.ts'

/** The records of the period on the screen. */
export interface CalendarRecords {
  store: RecordStore
  rows: readonly GridRow[]
  /** How many lie in the period; null until it is known. */
  count: number | null
  /** Records that are read at most. */
  limit: number
  /** Reads another page of a full period. */
  readMore: () => void
  isReading: boolean
  error: unknown
}

/**
 * Reads the records of a period, all of them up to a page, and its neighbours ahead of time.
 *
 * @param neighbours filters of the periods to which one may go next
 * @param pages how many pages are read at once
 */
export function useCalendarRecords(
  baseId: string,
  tableId: string,
  query: StoreQuery,
  neighbours: readonly Filter[],
  pages = 1,
): CalendarRecords {
  const [reader] = useState(() => createPeriodReader(recordsApi))
  const store = useRecordStore(baseId, tableId, query, () => {
    const state = createTableState()
    return { state, createPaging: (deps) => createPaging({ ...deps, state, api: reader }) }
  })
  const [list] = useState(() => createRowList(store.source, PERIOD_PAGE))
  const rows = useSyncExternalStore(list.subscribe, list.rows)
  const count = useSyncExternalStore(store.source.subscribe, () => store.source.rowCount)
  const { error } = useStore(store.status)
  const isReading = useSyncExternalStore(reader.subscribe, reader.isReading)
  const most = pages * PERIOD_PAGE
  const [limit, setLimit] = useState(most)
  const { filter } = query
  useOnChange([filter, most], () => setLimit(most))
  useEffect(() => list.setLimit(limit), [list, limit])
  useEffect(() => store.onData(reader.forget), [store, reader])

  const isIdle = !isReading && error === null && count !== null
  useEffect(() => {
    if (!isIdle) return
    const { fieldIds, sorts, search } = query
    const timer = setTimeout(() => {
      const common = { tableId, fieldIds: [...fieldIds], sorts: [...sorts], search }
      reader.prefetch(neighbours.map((filter) => ({ ...common, filter })))
    }, REST_MS)
    return () => clearTimeout(timer)
  }, [isIdle, reader, query, neighbours, tableId])

  return useMemo(
    () => ({
      store,
      rows,
      count,
      limit,
      isReading,
      error,
      readMore: () => setLimit((now) => now + PERIOD_PAGE),
    }),
    [store, rows, count, limit, isReading, error],
  )
}

/** A period at which one stays this long is left for a neighbour of it soon. */
const REST_MS = 400
