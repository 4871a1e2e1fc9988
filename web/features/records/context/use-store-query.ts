import { useMemo } from 'react'
import { summarySetOf } from '../../../../src/core/fields/field.ts'
import { fieldsOf } from '../../../../src/core/filters/index.ts'
import type { Field, Sort, View } from '../../../../src/core/model.ts'
import type { Search } from '../../../../src/core/query.ts'
import { findSummary } from '../../../../src/core/summaries.ts'
import { canGroup, coloringFields, viewKind } from '../../../../src/core/views/index.ts'
import type { StoreQuery } from '../../../records/types.ts'
import { completeFilter } from '../../views/filter/filter-edit.ts'
import { shownFields } from '../../views/state/arrange-fields.ts'

/** The store's query for a view; skips incomplete conditions and sorts by deleted fields. */
export const useStoreQuery = (fields: readonly Field[], view: View, search: Search | null): StoreQuery =>
  useMemo(() => queryOfView(fields, view, search), [fields, view, search])

/** Like `useStoreQuery`, outside a component. */
export function queryOfView(fields: readonly Field[], view: View, search: Search | null): StoreQuery {
  const filter = completeFilter(view.filter, fields)
  const sorts = view.sorts
    .filter((sort) => fields.some((field) => field.id === sort.fieldId))
    .map(({ fieldId, direction }) => ({ fieldId, direction }))
  const grouping = groupingOf(fields, view)
  const shown = shownFields(fields, view).map(({ field }) => field.id)
  const colored = view.coloring ? coloringFields(view.coloring) : []
  const needed = [
    ...shown,
    ...fieldsOf(filter),
    ...[...sorts, ...grouping.groups].map((sort) => sort.fieldId),
    ...colored,
  ]
  const known = needed.filter((id) => fields.some((field) => field.id === id))
  const orderViewId = viewKind(view.kind).hasManualOrder ? view.id : undefined
  const viewId = view.isFilterPartial ? view.id : undefined
  return { fields, fieldIds: [...new Set(known)], filter, viewId, sorts, orderViewId, ...grouping, search }
}

/** The grid's grouping, and the column summaries shown per group. */
function groupingOf(
  fields: readonly Field[],
  view: View,
): { groups: Sort[]; groupSummaries: { fieldId: string; summary: string }[] } {
  const groups = canGroup(view) ? view.groups.filter(({ fieldId }) => has(fields, fieldId)) : []
  if (groups.length === 0) return { groups: [], groupSummaries: [] }
  const summaries = shownFields(fields, view).flatMap(({ field, column }) => {
    const summary = column.summary === null ? null : findSummary(column.summary)
    return summary?.sets.includes(summarySetOf(field)) ? [{ fieldId: field.id, summary: summary.key }] : []
  })
  return {
    groups: groups.map(({ fieldId, direction }) => ({ fieldId, direction })),
    groupSummaries: summaries,
  }
}

const has = (fields: readonly Field[], id: string): boolean => fields.some((field) => field.id === id)
