import { useEffect, useMemo, useState, useSyncExternalStore } from 'react'
import { useStore } from 'zustand'
import type { Values } from '../../../../../src/core/changes.ts'
import { allOf, type Filter } from '../../../../../src/core/filters/index.ts'
import type { Person, RecordId, TableSchema } from '../../../../../src/core/model.ts'
import { coloringFields } from '../../../../../src/core/views/index.ts'
import { recordsApi } from '../../../../records/api.ts'
import { createTableState } from '../../../../records/layouts/list.ts'
import { createPaging } from '../../../../records/layouts/paging.ts'
import { createPeriodReader, createRowList, PERIOD_PAGE } from '../../../../records/layouts/period.ts'
import { selectionOf } from '../../../../records/record-order.ts'
import type { RecordStore } from '../../../../records/record-store.ts'
import type { StoreQuery } from '../../../../records/types.ts'
import { useRecordStore } from '../../../../records/use-record-store.ts'
import { useOnChange } from '../../../../ui/effects.ts'
import type { ViewFrameState } from '../../../records/screen/view-frame.tsx'
import { useKindOptions } from '../../state/view-state.ts'
import { useLook } from './event-look.ts'
import { type DatedRow, eventsOf, liesIn, rangesOf, withValues } from './events.ts'
import { periodFilter, periodOf, stepPeriod, undatedFilter } from './period.ts'
import { usePosition } from './position.ts'

/** Pages of records that a year loads before it offers to load more. It reads the dates and titles only. */
const YEAR_PAGES = 10

/** State of a calendar view: the period, the date fields, the records and their events. */
export function useCalendar(schema: TableSchema, frame: ViewFrameState, people: readonly Person[]) {
  const { fields } = schema
  const { baseId, id: tableId } = schema.table
  const { state, query: viewQuery } = frame
  const { view } = state
  const { coloring } = view
  const [options, change] = useKindOptions(state, 'calendar')
  const { hideWeekends, colorFieldId } = options
  const ranges = useMemo(() => rangesOf(options.ranges, fields), [options.ranges, fields])
  const [position, goTo] = usePosition(view.id, options.scale)
  const period = useMemo(() => periodOf(position.scale, position.day, hideWeekends), [position, hideWeekends])
  const queries = useMemo(() => {
    const { filter, viewId, sorts } = viewQuery
    const { scale, first, last, day } = period
    const dateIds = ranges.flatMap(({ from, to }) => (to ? [from.field.id, to.field.id] : [from.field.id]))
    const colorIds = [colorFieldId, ...(coloring ? coloringFields(coloring) : [])]
    const needed = new Set([...viewQuery.fieldIds, ...dateIds, ...colorIds])
    const fieldIds = fields.flatMap(({ id }) => (needed.has(id) ? [id] : []))
    // A year shows numbers of events only.
    const yearIds = fields.flatMap(({ id, isDisplay }) => (isDisplay || dateIds.includes(id) ? [id] : []))
    const inPeriod = periodFilter(ranges, first, last)
    const [range] = ranges
    const periodQuery: StoreQuery = {
      fields,
      fieldIds: scale === 'year' ? yearIds : fieldIds,
      filter: allOf([filter, inPeriod]),
      viewId,
      search: null,
      sorts: range ? [{ fieldId: range.from.field.id, direction: 'asc' }] : [],
    }
    const neighbours =
      scale === 'year'
        ? []
        : ([1, -1] as const).flatMap((by) => {
            const next = periodOf(scale, stepPeriod(scale, day, by), false)
            return allOf([filter, periodFilter(ranges, next.first, next.last)]) ?? []
          })
    return {
      /** The records of the period, sorted by the start of the first range. */
      period: periodQuery,
      /** The records of the list beside the calendar, before its own filter. */
      list: { fields, fieldIds, filter, viewId, sorts, search: null } satisfies StoreQuery,
      /** The period without the view's filter; null without ranges. */
      inPeriod,
      undated: undatedFilter(ranges),
      /** Filters of the next and the previous period. */
      neighbours,
    }
  }, [fields, viewQuery, coloring, colorFieldId, ranges, period])
  const pages = position.scale === 'year' ? YEAR_PAGES : 1
  const records = useCalendarRecords(baseId, tableId, queries.period, queries.neighbours, pages)
  const [listStore, setListStore] = useState<RecordStore | null>(null)
  const { write, scheduled } = useCalendarWrites(tableId, records.store, listStore)
  const { look, titleOf } = useLook(schema, view, options, ranges, people)
  const { rows } = records
  const events = useMemo(() => {
    const loadedIds = new Set(rows.map((row) => row.id))
    const all = eventsOf([...rows, ...scheduled.filter((row) => !loadedIds.has(row.id))], ranges)
    return all.filter((event) => liesIn(event, period.first, period.last))
  }, [rows, scheduled, ranges, period])
  return {
    options,
    change,
    ranges,
    position,
    goTo,
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

export type CalendarRecords = ReturnType<typeof useCalendarRecords>

/** The period must stay on screen this long before its neighbours are prefetched. */
const PREFETCH_DELAY_MS = 400

/**
 * Loads the records of a period at once, up to `pages` pages, and prefetches its neighbours.
 *
 * @param neighbours filters of the next and the previous period
 */
function useCalendarRecords(
  baseId: string,
  tableId: string,
  query: StoreQuery,
  neighbours: readonly Filter[],
  pages: number,
) {
  const [reader] = useState(() => createPeriodReader(recordsApi))
  const store = useRecordStore(baseId, tableId, query, {
    layout() {
      const state = createTableState()
      return { state, createPaging: (deps) => createPaging({ ...deps, state, api: reader }) }
    },
  })
  const [list] = useState(() => createRowList(store.source, pages * PERIOD_PAGE))
  const rows = useSyncExternalStore(list.subscribe, list.rows)
  const limit = useSyncExternalStore(list.subscribe, list.limit)
  const count = useSyncExternalStore(store.source.subscribe, () => store.source.rowCount)
  const { error } = useStore(store.status)
  const isReading = useSyncExternalStore(reader.subscribe, reader.isReading)
  useOnChange([JSON.stringify(query.filter), pages], () => list.setLimit(pages * PERIOD_PAGE))
  useEffect(() => store.onData(reader.forget), [store, reader])

  const isIdle = !isReading && error === null && count !== null
  useEffect(() => {
    if (!isIdle) return
    const timer = setTimeout(() => {
      const common = { fieldIds: [...query.fieldIds], sorts: [...query.sorts] }
      reader.prefetch(
        neighbours.map((filter) => ({ ...selectionOf(tableId, { ...query, filter }), ...common })),
      )
    }, PREFETCH_DELAY_MS)
    return () => clearTimeout(timer)
  }, [isIdle, reader, query, neighbours, tableId])

  return {
    store,
    rows,
    /** Records in the period; null until counted. */
    count,
    /** Records that are loaded at most. */
    limit,
    readMore: () => list.setLimit(limit + PERIOD_PAGE),
    isReading,
    error,
  }
}

/**
 * Writes dates of records: optimistically, as one request and one undo step, rolled back if the server rejects it.
 * A record outside the period is written by the store of the record list, and is in `scheduled` with its new dates
 * until the period is reloaded.
 */
function useCalendarWrites(tableId: string, period: RecordStore, list: RecordStore | null) {
  const [scheduled, setScheduled] = useState<readonly DatedRow[]>([])
  async function write(row: DatedRow, values: Values): Promise<void> {
    const changed = Object.entries(values).filter(([fieldId, value]) => row.values(fieldId) !== value)
    if (changed.length === 0) return
    const rows: { id: RecordId; values: Values }[] = [{ id: row.id, values: Object.fromEntries(changed) }]
    const change = { kind: 'update' as const, tableId, rows }
    if (period.source.indexOf(row.id) !== undefined || !list) {
      await period.apply([change], { rollsBack: true })
      return
    }
    const moved = withValues(row, values)
    setScheduled((before) => [...before, moved])
    try {
      if (!(await list.apply([change], { rollsBack: true }))) return
      list.refreshSoon()
      await period.reload()
    } finally {
      setScheduled((before) => before.filter((one) => one !== moved))
    }
  }
  return { write: (row: DatedRow, values: Values) => void write(row, values), scheduled }
}
