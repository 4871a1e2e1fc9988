import { useEffect, useMemo, useRef, useState } from 'react'
import { useStore } from 'zustand'
import { summarySetOf } from '../../../../../src/core/fields/field.ts'
import type { Field, TableSchema, View } from '../../../../../src/core/model.ts'
import { findSummary } from '../../../../../src/core/summaries.ts'
import { groupsApi } from '../../../../records/api.ts'
import { type StackBy, takesRecords } from '../../../../records/layouts/stack-by.ts'
import {
  createStacksLayout,
  type StackSummary,
  type StacksLayout,
  summaryId,
} from '../../../../records/layouts/stacks-layout.ts'
import type { KanbanTotals } from '../../../../records/layouts/stacks-paging.ts'
import type { RecordStore } from '../../../../records/record-store.ts'
import type { StoreQuery } from '../../../../records/types.ts'
import { useRecordStore } from '../../../../records/use-record-store.ts'
import { useOnChange } from '../../../../ui/effects.ts'
import { can, type TableContext } from '../../../records/context/table-context.ts'
import { summaryOf } from '../../../records/screen/use-grid-columns.ts'
import type { useNewCard } from './composer.tsx'
import type { KanbanContext } from './kanban-context.ts'
import type { KanbanFocus } from './kanban-keyboard.ts'
import type { Stack } from './stacks.ts'

/** Debounce between the last edit and the refetch of stack summaries. */
const TOTALS_PAUSE_MS = 300

interface Opened {
  layout: StacksLayout
  store: RecordStore
  totals: KanbanTotals | null
}

/** The kanban of a view while it is on the screen. For another field to stack by, mount anew. */
export function useKanbanStore(
  baseId: string,
  by: StackBy,
  query: StoreQuery,
  summary: StackSummary | null,
): Opened {
  const latest = useRef({ query, summary })
  latest.current = { query, summary }
  const [layout] = useState(() =>
    createStacksLayout({
      by,
      query: () => latest.current.query,
      summary: () => latest.current.summary,
      groups: groupsApi.groups,
    }),
  )
  const store = useRecordStore(baseId, by.field.tableId, query, { layout: () => layout.storeLayout })
  const totals = useStore(layout.totals)
  const currentSummaryId = summaryId(summary)

  const isFirst = useRef(true)
  useOnChange([layout, currentSummaryId], () => {
    if (!isFirst.current) void layout.paging().readTotals()
    isFirst.current = false
  })
  useEffect(() => {
    if (currentSummaryId === '') return
    let timer: ReturnType<typeof setTimeout> | undefined
    const stop = store.onData(() => {
      clearTimeout(timer)
      timer = setTimeout(() => void layout.paging().readTotals(), TOTALS_PAUSE_MS)
    })
    return () => {
      stop()
      clearTimeout(timer)
    }
  }, [layout, store, currentSummaryId])
  return { layout, store, totals }
}

type SharedKey =
  | 'openId'
  | 'layout'
  | 'store'
  | 'drag'
  | 'fields'
  | 'cover'
  | 'coverFit'
  | 'colorOf'
  | 'checked'
  | 'mayEdit'

interface KanbanContextInput extends Pick<KanbanContext, SharedKey | 'onStackMenu' | 'onExpand' | 'titleOf'> {
  focus: KanbanFocus
  by: StackBy
  newCard: ReturnType<typeof useNewCard>
  context: TableContext
  schema: TableSchema
  summary: StackSummary | null
}

/** The context value for the stacks of a kanban; memoised, so it changes only when rendered data changes. */
export function useKanbanContextValue(input: KanbanContextInput): KanbanContext {
  const latest = useRef(input)
  latest.current = input
  const { layout, store, drag, focus, fields, cover, coverFit, colorOf, checked, openId, mayEdit } = input
  const { by, titleOf, newCard, context, schema, summary } = input
  const { composer } = newCard
  const mayCreate = can(context, 'record.create')
  return useMemo(
    (): KanbanContext => ({
      layout,
      store,
      drag,
      fields,
      cover,
      coverFit,
      colorOf,
      mayEdit,
      titleOf,
      composer,
      checked,
      openId,
      focus: focus.position,
      register: focus.register,
      mayAdd: (key) => mayCreate && takesRecords(by, key),
      summaryOf: (stack) => summaryText(schema.fields, summary, stack),
      onCompose: (next) => latest.current.newCard.open(next),
      onTyped: (text) => latest.current.newCard.onTyped(text),
      onAdd: (key, at) => latest.current.newCard.add(key, at),
      onName: (key, at, text) => latest.current.newCard.name(key, at, text),
      onStackMenu: (key, anchor) => latest.current.onStackMenu(key, anchor),
      onExpand: (key) => latest.current.onExpand(key),
    }),
    [
      layout,
      store,
      drag,
      focus,
      fields,
      cover,
      coverFit,
      colorOf,
      checked,
      openId,
      mayEdit,
      titleOf,
      composer,
      by,
      mayCreate,
      schema.fields,
      summary,
    ],
  )
}

/** The summary that the stacks of a view show: that of its first field with one. */
export function summaryOfView(view: Pick<View, 'fields'>, fields: readonly Field[]): StackSummary | null {
  for (const { fieldId, summary } of view.fields.toSorted((a, b) => a.order - b.order)) {
    const field = fields.find(({ id }) => id === fieldId)
    const known = summary === null ? null : findSummary(summary)
    if (field && known?.sets.includes(summarySetOf(field))) return { fieldId, summary: known.key }
  }
  return null
}

/** A stack's summary as text; null without a summary or for an empty stack. */
export function summaryText(
  fields: readonly Field[],
  summary: StackSummary | null,
  { totals }: Stack,
): { label: string; value: string } | null {
  const field = fields.find(({ id }) => id === summary?.fieldId)
  if (!summary || !field || !totals || totals.count === 0) return null
  const shown = summaryOf(field, summary.summary, { [`${field.id} ${summary.summary}`]: totals.summary })
  return shown ? { label: `${field.title}: ${shown.label}`, value: shown.value } : null
}
