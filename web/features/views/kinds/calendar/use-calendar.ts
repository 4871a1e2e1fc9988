import { useMemo, useState } from 'react'
import type { Person, TableSchema } from '../../../../../src/core/model.ts'
import type { RecordStore } from '../../../records/record-store.ts'
import type { ViewFrameState } from '../../../records/screen/view-frame.tsx'
import { useKindOptions } from '../../state/view-state.ts'
import { eventsOf, liesIn } from './events.ts'
import { periodOf } from './period.ts'
import { rangesOf } from './ranges.ts'
import { useCalendarQueries } from './use-calendar-queries.ts'
import { useCalendarRecords } from './use-calendar-records.ts'
import { useCalendarWrites } from './use-calendar-writes.ts'
import { useLook } from './use-look.ts'
import { usePlace } from './use-place.ts'

/** Pages that a year reads before one asks for more: of its records only the dates are read. */
const YEAR_PAGES = 10

/** What a calendar view shows at present: where one is, by which dates, and the events there. */
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
