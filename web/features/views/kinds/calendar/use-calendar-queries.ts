import { useMemo } from 'react'
import { allOf, type Filter } from '../../../../../src/core/filters/index.ts'
import type { Field, View } from '../../../../../src/core/model.ts'
import { type CalendarOptions, coloringFields } from '../../../../../src/core/views/index.ts'
import type { StoreQuery } from '../../../records/store/types.ts'
import { type Period, periodOf, stepPeriod } from './period.ts'
import { periodFilter, undatedFilter } from './period-filter.ts'
import type { DatedRange } from './ranges.ts'

/** What the parts of a calendar read. */
export interface CalendarQueries {
  /** The records of the period, in the order of their dates. */
  period: StoreQuery
  /** What the list beside it begins with. */
  list: StoreQuery
  /** Which records lie in the period, whatever the view's own filter; null while there are no dates. */
  inPeriod: Filter | null
  undated: Filter | null
  /** The periods to which one may go next. */
  neighbours: readonly Filter[]
}

export interface CalendarQueryParts {
  fields: readonly Field[]
  view: Pick<View, 'coloring'>
  /** What a list of the view would read. */
  viewQuery: StoreQuery
  options: CalendarOptions
  ranges: readonly DatedRange[]
  period: Period
}

/** The queries of a calendar; each keeps its identity while nothing in it changed. */
export function useCalendarQueries(parts: CalendarQueryParts): CalendarQueries {
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
