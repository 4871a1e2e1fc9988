import { keepPreviousData } from '@tanstack/react-query'
import { useEffect, useMemo, useRef } from 'react'
import { summarySetOf } from '../../../../src/core/fields/field.ts'
import type { CellValue } from '../../../../src/core/fields/field-type.ts'
import type { Field, Sort, View } from '../../../../src/core/model.ts'
import { findSummary } from '../../../../src/core/summaries.ts'
import type { GridColumn } from '../../../grid/contract.ts'
import { selectionOf } from '../../../records/record-order.ts'
import type { RecordStore } from '../../../records/record-store.ts'
import type { StoreQuery } from '../../../records/types.ts'
import { timeZone } from '../../../time-zone.ts'
import { trpc } from '../../../trpc.ts'
import { conditionsOf } from '../../views/filter/filter-edit.ts'
import { type ArrangedField, shownFields } from '../../views/state/arrange-fields.ts'
import { summaryText } from '../context/summary-text.ts'

/** Debounce of footer summaries after edits. */
const SUMMARY_PAUSE_MS = 300

/** The columns of the grid; unchanged columns keep their identity. */
export function useGridColumns(
  view: View,
  query: StoreQuery,
  store: RecordStore,
  canEdit: boolean,
): readonly GridColumn[] {
  const { fields, filter, sorts, groups = NO_SORTS } = query
  const shown = useMemo(() => shownFields(fields, view), [fields, view])
  const summaries = useSummaries(shown, query, store)
  const before = useRef<readonly GridColumn[]>([])
  return useMemo(() => {
    const filtered = new Set(conditionsOf(filter).map(({ condition }) => condition.fieldId))
    const columns = shown.map(({ field, column }): GridColumn => {
      const fresh = {
        field,
        width: column.width,
        filtered: filtered.has(field.id),
        editable: canEdit && isEditable(field),
        grouped: groups.some((group) => group.fieldId === field.id),
        sorted: sorts.find((sort) => sort.fieldId === field.id)?.direction ?? null,
        summary: summaryOf(field, column.summary, summaries),
      }
      const known = before.current.find((one) => one.field.id === field.id)
      return known && isSame(known, fresh) ? known : fresh
    })
    before.current = columns
    return columns
  }, [shown, filter, sorts, groups, canEdit, summaries])
}

const NO_SORTS: readonly Sort[] = []

/** Primary keys of connected databases are editable, for new records; the server checks this. */
const isEditable = ({ readOnlyReason, isPrimaryKey, databaseType }: Field): boolean =>
  readOnlyReason === null && !(isPrimaryKey && databaseType === null)

const isSame = (a: GridColumn, b: GridColumn): boolean =>
  (a.field === b.field || JSON.stringify(a.field) === JSON.stringify(b.field)) &&
  a.width === b.width &&
  a.sorted === b.sorted &&
  a.filtered === b.filtered &&
  a.grouped === b.grouped &&
  a.editable === b.editable &&
  a.summary?.key === b.summary?.key &&
  a.summary?.label === b.summary?.label &&
  a.summary?.value === b.summary?.value

type Summaries = Readonly<Record<string, CellValue>>

const NONE: Summaries = {}

function useSummaries(shown: readonly ArrangedField[], query: StoreQuery, store: RecordStore): Summaries {
  const tableId = shown[0]?.field.tableId ?? ''
  const wanted = useMemo(
    () =>
      shown.flatMap(({ field, column }) => {
        const summary = column.summary === null ? null : findSummary(column.summary)
        const fits = summary?.sets.includes(summarySetOf(field))
        return summary && fits ? [{ fieldId: field.id, summary: summary.key }] : []
      }),
    [shown],
  )
  const { data, isPlaceholderData, refetch } = trpc.records.summaries.useQuery(
    { selection: { ...selectionOf(tableId, query), timeZone }, summaries: wanted },
    // Keeps the old values while loading, to avoid flicker.
    { enabled: wanted.length > 0, placeholderData: keepPreviousData, staleTime: 0 },
  )
  // Keyed by field and kind, so that the old sum is not shown as "Average" while that loads.
  const known = useRef<Summaries>(NONE)
  if (data && !isPlaceholderData) {
    const entries = wanted.map(
      ({ fieldId, summary }) => [`${fieldId} ${summary}`, data[fieldId] ?? null] as const,
    )
    const next = Object.fromEntries(entries)
    if (JSON.stringify(next) !== JSON.stringify(known.current)) known.current = next
  }
  const isWanted = wanted.length > 0
  useEffect(() => {
    if (!isWanted) return
    let timer: ReturnType<typeof setTimeout> | undefined
    const stop = store.onData(() => {
      clearTimeout(timer)
      timer = setTimeout(() => void refetch(), SUMMARY_PAUSE_MS)
    })
    return () => {
      stop()
      clearTimeout(timer)
    }
  }, [store, refetch, isWanted])
  return known.current
}

/** A column's summary with its formatted value; `summaries` is keyed by `${fieldId} ${summary}`. */
export function summaryOf(field: Field, key: string | null, summaries: Summaries): GridColumn['summary'] {
  const summary = key === null ? null : findSummary(key)
  if (!summary?.sets.includes(summarySetOf(field))) return null
  const value = summaries[`${field.id} ${summary.key}`]
  return { key: summary.key, label: summary.label(), value: summaryText(field, summary.key, value ?? null) }
}
