import { createStore, type StoreApi } from 'zustand/vanilla'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import type { GroupPage, GroupRequest, Selection } from '../../../src/core/query.ts'
import { linksIn } from '../../cells/link-value.ts'
import type { GridRow } from '../../grid/contract.ts'
import { compareCards } from '../record-order.ts'
import type { StoreLayout } from '../record-store.ts'
import type { StoreQuery } from '../types.ts'
import {
  MAX_STACKS,
  type StackBy,
  type StackKey,
  type StackTotals,
  stackKey,
  stackValue,
} from './stack-by.ts'
import { createStacksPaging, type KanbanTotals, type StacksPaging } from './stacks-paging.ts'
import { createStacksState, type StacksState } from './stacks-state.ts'

/** A summary that every stack shows. */
export interface StackSummary {
  fieldId: string
  summary: string
}

/** Tells summaries apart. */
export const summaryId = (summary: StackSummary | null): string =>
  summary === null ? '' : `${summary.fieldId} ${summary.summary}`

export interface StacksLayoutDeps {
  by: StackBy
  /** The store's current query. */
  query(): StoreQuery
  summary(): StackSummary | null
  groups(request: GroupRequest, signal: AbortSignal): Promise<GroupPage>
}

/** Row layout of a kanban: connects a record store with the screen, which reports the visible cards. */
export interface StacksLayout extends Omit<StacksState, 'state'> {
  by: StackBy
  /** For `createRecordStore`. */
  storeLayout: StoreLayout
  paging(): StacksPaging
  /** Null until read. */
  totals: StoreApi<KanbanTotals | null>
}

/** The stacks of a table by a field; a record store with its `storeLayout` provides the records. */
export function createStacksLayout({ by, query, summary, groups }: StacksLayoutDeps): StacksLayout {
  const totals = createStore<KanbanTotals | null>(() => null)
  let paging: StacksPaging | null = null
  const keyFieldId = by.keyField.id

  const keyOf = (row: Pick<GridRow, 'values'> & { id?: GridRow['id'] }): StackKey => {
    const key = stackKey(by, row.values(keyFieldId))
    if (key !== null || by.kind !== 'record' || row.id === undefined) return key
    // A draft has only its link value, not the key field, which the server fills.
    const isDraft = rows.rows.drafts.has(row.id)
    const [linked] = isDraft ? linksIn(row.values(by.field.id)).records : []
    return linked ? String(linked.id) : null
  }
  const stacksState = createStacksState({
    keyFieldId,
    keyOf,
    compare: (a, b) => compareCards(query(), a, b),
  })

  const { state: rows, ...stacks } = stacksState

  async function readTotals(selection: Selection, signal: AbortSignal): Promise<KanbanTotals> {
    const shownSummary = summary()
    const request: GroupRequest = {
      selection,
      groups: [{ fieldId: keyFieldId, direction: 'asc' }],
      summaries: shownSummary ? [shownSummary] : [],
      limit: MAX_STACKS,
      offset: 0,
    }
    const page = await groups(request, signal)
    const summaryIn = (summaries: Record<string, CellValue>) =>
      shownSummary ? (summaries[shownSummary.fieldId] ?? null) : null
    const stacks = new Map<StackKey, StackTotals>()
    for (const { keys, count, summaries } of page.groups) {
      const key = stackKey(by, keys[0] ?? null)
      stacks.set(key, { count: count + (stacks.get(key)?.count ?? 0), summary: summaryIn(summaries) })
    }
    return { stacks, summaryId: summaryId(shownSummary), hasMore: page.hasMore }
  }

  return {
    by,
    ...stacks,
    storeLayout: {
      state: rows,
      createPaging(deps) {
        const reads = {
          group: (key: StackKey) => [{ fieldId: keyFieldId, value: stackValue(by, key) }],
          totals: readTotals,
          onTotals(next: KanbanTotals) {
            totals.setState(next, true)
          },
          keyFieldId,
          keyOf,
        }
        paging = createStacksPaging(stacksState, reads, deps)
        return paging.paging
      },
    },
    paging() {
      if (!paging) throw new Error('The kanban has no store yet')
      return paging
    },
    totals,
  }
}
