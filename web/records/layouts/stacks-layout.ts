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
  type StackNumbers,
  stackKey,
  stackValue,
} from './stack-by.ts'
import { type BoardNumbers, type BoardPaging, createBoardPaging } from './stacks-paging.ts'
import { type BoardState, createBoardState } from './stacks-state.ts'

/** A summary that every stack shows. */
export interface StackSummary {
  fieldId: string
  summary: string
}

/** Tells summaries apart. */
export const summaryId = (summary: StackSummary | null): string =>
  summary === null ? '' : `${summary.fieldId} ${summary.summary}`

export interface BoardDeps {
  by: StackBy
  /** The store's current query. */
  query(): StoreQuery
  summary(): StackSummary | null
  groups(request: GroupRequest, signal: AbortSignal): Promise<GroupPage>
}

/** A board between a record store, whose rows it lays out, and the screen, which tells it what is in sight. */
export interface Board extends Omit<BoardState, 'state'> {
  by: StackBy
  /** For `createRecordStore`. */
  layout: StoreLayout
  paging(): BoardPaging
  /** Null until they were read. */
  numbers: StoreApi<BoardNumbers | null>
}

/** The stacks of a table by a field; the records come by the store that takes its `layout`. */
export function createBoard({ by, query, summary, groups }: BoardDeps): Board {
  const numbers = createStore<BoardNumbers | null>(() => null)
  let paging: BoardPaging | null = null
  const keyFieldId = by.keyField.id

  const keyOf = (row: Pick<GridRow, 'values'> & { id?: GridRow['id'] }): StackKey => {
    const key = stackKey(by, row.values(keyFieldId))
    if (key !== null || by.kind !== 'record' || row.id === undefined) return key
    // A record not made yet has its link alone; the key comes with it.
    const isDraft = rows.rows.drafts.has(row.id)
    const [linked] = isDraft ? linksIn(row.values(by.field.id)).records : []
    return linked ? String(linked.id) : null
  }
  const made = createBoardState({
    keyFieldId,
    keyOf,
    compare: (a, b) => compareCards(query(), a, b),
  })

  const { state: rows, ...board } = made

  async function readNumbers(selection: Selection, signal: AbortSignal): Promise<BoardNumbers> {
    const wanted = summary()
    const request: GroupRequest = {
      selection,
      groups: [{ fieldId: keyFieldId, direction: 'asc' }],
      summaries: wanted ? [wanted] : [],
      limit: MAX_STACKS,
      offset: 0,
    }
    const page = await groups(request, signal)
    const summaryIn = (summaries: Record<string, CellValue>) =>
      wanted ? (summaries[wanted.fieldId] ?? null) : null
    const stacks = new Map<StackKey, StackNumbers>()
    for (const { keys, count, summaries } of page.groups) {
      const key = stackKey(by, keys[0] ?? null)
      stacks.set(key, { count: count + (stacks.get(key)?.count ?? 0), summary: summaryIn(summaries) })
    }
    return { stacks, summaryId: summaryId(wanted), hasMore: page.hasMore }
  }

  return {
    by,
    ...board,
    layout: {
      state: rows,
      createPaging(deps) {
        const reads = {
          group: (key: StackKey) => [{ fieldId: keyFieldId, value: stackValue(by, key) }],
          numbers: readNumbers,
          onNumbers(next: BoardNumbers) {
            numbers.setState(next, true)
          },
          keyFieldId,
          keyOf,
        }
        paging = createBoardPaging(made, reads, deps)
        return paging.paging
      },
    },
    paging() {
      if (!paging) throw new Error('The board has no store yet')
      return paging
    },
    numbers,
  }
}
