import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react'
import { useStore } from 'zustand'
import type { Values } from '../../../../../src/core/changes.ts'
import { allOf, type Filter } from '../../../../../src/core/filters/index.ts'
import type { Field, Person, RecordId, TableSchema, View } from '../../../../../src/core/model.ts'
import { type CalendarOptions, coloringFields } from '../../../../../src/core/views/index.ts'
import type { GridRow } from '../../../../grid/contract.ts'
import { recordsApi } from '../../../../records/api.ts'
import { createTableState } from '../../../../records/layouts/list.ts'
import { createPaging } from '../../../../records/layouts/paging.ts'
import { createPeriodReader, createRowList, PERIOD_PAGE } from '../../../../records/layouts/period.ts'
import type { RecordStore } from '../../../../records/record-store.ts'
import type { StoreQuery } from '../../../../records/types.ts'
import { useRecordStore } from '../../../../records/use-record-store.ts'
import { useOnChange } from '../../../../ui/effects.ts'
import type { ViewFrameState } from '../../../records/screen/view-frame.tsx'
import { useKindOptions } from '../../state/view-state.ts'
import { useLook } from './event-look.ts'
import { type DatedRange, type DatedRow, eventsOf, liesIn, rangesOf, withValues } from './events.ts'
import { followingFilter, type Period, periodFilter, periodOf, stepPeriod, undatedFilter } from './period.ts'
import { hasPlace, todayHere, usePlace } from './position.ts'

/** Pages that a year reads initially; only the dates of its records are read. */
const YEAR_PAGES = 10

/** State of a calendar view: the period, the date fields and the events. */
export function useCalendar(schema: TableSchema, frame: ViewFrameState, people: readonly Person[]) {
  const { baseId, id: tableId } = schema.table
  const { state, query } = frame
  const { view } = state
  const [options, change] = useKindOptions(state, 'calendar')
  const { hideWeekends } = options
  const ranges = useMemo(() => rangesOf(options.ranges, schema.fields), [options.ranges, schema.fields])
  const [place, go] = usePlace(view.id, options.scale)
  const period = useMemo(() => periodOf(place.scale, place.day, hideWeekends), [place, hideWeekends])
  const queries = useCalendarQueries({
    fields: schema.fields,
    view,
    viewQuery: query,
    options,
    ranges,
    period,
  })
  const pages = place.scale === 'year' ? YEAR_PAGES : 1
  const records = useCalendarRecords(baseId, tableId, queries.period, queries.neighbours, pages)
  const [listStore, setListStore] = useState<RecordStore | null>(null)
  const { write, placed } = useCalendarWrites(tableId, records.store, listStore)
  const { look, titleOf } = useLook(schema, view, options, ranges, people)
  const { rows } = records
  const events = useMemo(() => {
    const known = new Set(rows.map((row) => row.id))
    const all = eventsOf([...rows, ...placed.filter((row) => !known.has(row.id))], ranges)
    return all.filter((event) => liesIn(event, period.first, period.last))
  }, [rows, placed, ranges, period])
  return {
    options,
    change,
    ranges,
    place,
    go,
    period,
    queries,
    records,
    events,
    listStore,
    setListStore,
    write,
    look,
    titleOf,
  }
}

/** Queries of the calendar's parts. */
interface CalendarQueries {
  /** The records of the period, in the order of their dates. */
  period: StoreQuery
  /** Initial query of the record list. */
  list: StoreQuery
  /** Filter for the records of the period, without the view's filter; null without date fields. */
  inPeriod: Filter | null
  undated: Filter | null
  /** The neighbouring periods. */
  neighbours: readonly Filter[]
}

interface CalendarQueryParts {
  fields: readonly Field[]
  view: Pick<View, 'coloring'>
  /** The view's query without the period. */
  viewQuery: StoreQuery
  options: CalendarOptions
  ranges: readonly DatedRange[]
  period: Period
}

/** The queries of a calendar; each keeps its identity while nothing in it changed. */
function useCalendarQueries(parts: CalendarQueryParts): CalendarQueries {
  const { fields, view, viewQuery, options, ranges, period } = parts
  const { scale, first, last, day } = period
  const { filter, sorts } = viewQuery
  const { colorFieldId } = options
  const { coloring } = view
  const known = useMemo(() => new Set(fields.map((field) => field.id)), [fields])
  const dates = useMemo(
    () => ranges.flatMap(({ from, to }) => (to ? [from.field.id, to.field.id] : [from.field.id])),
    [ranges],
  )
  const shown = useMemo(() => {
    const colours = [colorFieldId, ...(coloring ? coloringFields(coloring) : [])]
    const all = [...viewQuery.fieldIds, ...dates, ...colours]
    return [...new Set(all.filter((id) => id !== null && known.has(id)))] as string[]
  }, [viewQuery.fieldIds, dates, colorFieldId, coloring, known])
  // A year says how many there are on each day: of its records the dates are enough.
  const fieldIds = useMemo(
    () =>
      scale === 'year'
        ? [...new Set([...dates, ...fields.filter((f) => f.isDisplay).map((f) => f.id)])]
        : shown,
    [scale, dates, fields, shown],
  )
  const inPeriod = useMemo(() => periodFilter(ranges, first, last), [ranges, first, last])
  const undated = useMemo(() => undatedFilter(ranges), [ranges])
  const start = ranges[0]?.from.field.id
  return {
    inPeriod,
    undated,
    period: useMemo(
      () => ({
        fields,
        fieldIds,
        filter: allOf([filter, inPeriod]),
        search: null,
        sorts: start === undefined ? [] : [{ fieldId: start, direction: 'asc' as const }],
      }),
      [fields, fieldIds, filter, inPeriod, start],
    ),
    list: useMemo(
      () => ({ fields, fieldIds: shown, filter, sorts, search: null }),
      [fields, shown, filter, sorts],
    ),
    neighbours: useMemo(() => {
      if (scale === 'year') return []
      return ([1, -1] as const).flatMap((by) => {
        const next = periodOf(scale, stepPeriod(scale, day, by), false)
        return allOf([filter, periodFilter(ranges, next.first, next.last)]) ?? []
      })
    }, [scale, day, filter, ranges]),
  }
}

/** The records of the period on the screen. */
export interface CalendarRecords {
  store: RecordStore
  rows: readonly GridRow[]
  /** Number of records in the period; null while unknown. */
  count: number | null
  /** Records that are read at most. */
  limit: number
  /** Reads another page of a full period. */
  readMore: () => void
  isReading: boolean
  error: unknown
}

/**
 * Reads the records of a period, in pages, and prefetches its neighbours.
 *
 * @param neighbours filters of the neighbouring periods
 * @param pages number of pages to read
 */
function useCalendarRecords(
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

interface CalendarWrites {
  /** Writes dates of a record: shown at once, one request, one step to undo; put back where it is refused. */
  write: (row: DatedRow, values: Values) => void
  /** Records of the list on their way onto the calendar, as they will be. */
  placed: readonly DatedRow[]
}

/**
 * Writes dates. A record outside the period is written through the side list's store and drawn from here until the
 * period is read again.
 */
function useCalendarWrites(tableId: string, period: RecordStore, list: RecordStore | null): CalendarWrites {
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

/** The start date nearest to today; the later one of two. Null if no record has a date. */
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
