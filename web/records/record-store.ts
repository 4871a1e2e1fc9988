import { createStore } from 'zustand/vanilla'
import type { AppliedChange, LinkOperation, Operation, Values } from '../../src/core/changes.ts'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import type { RecordId } from '../../src/core/model.ts'
import type { CellWrite, GridRow, GridSource } from '../grid/contract.ts'
import { m } from '../messages.gen.ts'
import { createComputed } from './computed.ts'
import { createDrafts, type DraftPlace } from './drafts.ts'
import { createTableState, type ListState } from './layouts/list.ts'
import { createPaging, type Paging, type PagingDeps } from './layouts/paging.ts'
import { createLive, type LiveDeps } from './live.ts'
import { type ApplyOptions, createOptimistic } from './optimistic.ts'
import { orderOf } from './record-order.ts'
import type { SendQueue } from './send-queue.ts'
import type { RecordsApi, StoreQuery, Unsaved, Written } from './types.ts'

/** Dependencies of a store: the table, the API and the queue that sends its changes. */
export interface RecordStoreDeps {
  baseId: string
  tableId: string
  api: RecordsApi
  /** One line for the whole base: an edit and its undo keep their order, also across tables. */
  queue: SendQueue
  /** Id of the person, for filters that say "me". */
  actorId(): string | null
  notify(message: string, kind: 'info' | 'error'): void
  /** Keeps what was typed and is not with the server, for the next store of this table. */
  keep(unsaved: Unsaved): void
}

/** How reading stands: `error` is set while the rows in sight could not be read. */
export interface StoreStatus {
  error: unknown
}

/** Another layout of the rows than one list, e.g. the stacks of a board, and how these are read. */
export interface StoreLayout {
  state: ListState
  createPaging(deps: Omit<PagingDeps, 'state'>): Paging
  /** See `LiveDeps.isInPlace`. */
  isInPlace?: LiveDeps['isInPlace']
}

export type RecordStore = ReturnType<typeof createRecordStore>

/**
 * The records of one view in the browser: read in blocks as they come in sight, changed at once and
 * written behind, followed live. The grid draws from `source`.
 */
export function createRecordStore(
  deps: RecordStoreDeps,
  start: StoreQuery,
  kept?: Unsaved,
  layout: StoreLayout = listLayout(),
) {
  const { api, tableId, queue } = deps
  const { state } = layout
  let query = start
  const status = createStore<StoreStatus>(() => ({ error: null }))
  let active: RecordId | null = null
  let isDisposed = false

  const paging = layout.createPaging({
    tableId,
    api,
    query: () => query,
    mayRefresh: () => queue.status().waiting === 0 && !drafts.any && !isActiveOutOfPlace(),
    onError(error) {
      if (status.getState().error !== error) status.setState({ error })
    },
  })
  const computed = createComputed({ tableId, api, state, paging, query: () => query })
  const live = createLive({
    tableId,
    state,
    paging,
    computed,
    query: () => query,
    actorId: deps.actorId,
    isInPlace: layout.isInPlace,
  })
  const drafts = createDrafts({
    state,
    paging,
    fields: () => query.fields,
    insert: (id, draft) =>
      void optimistic.apply([
        placed({ kind: 'insert', tableId, rows: [{ id, values: draft.values }], before: draft.before }),
      ]),
    recheck: live.recheck,
  })
  const optimistic = createOptimistic({
    ...deps,
    state,
    paging,
    drafts,
    live,
    onRefused(reason) {
      // The screen is gone, and with it the red cell: say it, and show the cell when the table is opened again.
      if (!isDisposed) return
      deps.notify(m.records_change_not_saved_reason({ reason }), 'error')
      deps.keep(unsaved())
    },
  })
  if (kept) {
    drafts.adopt(kept.drafts)
    state.rows.edits.adopt(kept.cells)
  }

  const unsaved = (): Unsaved => ({ drafts: drafts.unsaved(), cells: state.rows.edits.allRefused() })

  // Runs refreshes that waited for the answers to own changes.
  const stopFollowingQueue = queue.subscribe(() => {
    if (queue.status().waiting === 0) paging.refreshIfStale()
  })

  const isActiveOutOfPlace = (): boolean => active !== null && state.rows.unmatched.has(active)

  const source: GridSource = {
    get rowCount() {
      return state.count ?? (state.segments.end > 0 ? state.segments.end : null)
    },
    getRow: state.getRow,
    indexOf: state.indexOf,
    requestRange: paging.requestRange,
    subscribeRow: state.subscribeRow,
    subscribe: state.subscribe,
    subscribeValues: state.subscribeValues,
    locate,
    readRange: paging.readRange,
  }

  async function locate(
    ids: readonly RecordId[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<RecordId, number>> {
    const rows = new Map<RecordId, number>()
    const unknown: RecordId[] = []
    for (const id of ids) {
      const row = state.indexOf(id)
      if (row !== undefined) rows.set(id, row)
      else if (!drafts.isLocal(state.realId(id))) unknown.push(id)
    }
    const { filter, search } = query
    const order = { tableId, filter, search, ...orderOf(query), limit: 1, offset: 0 }
    for (let from = 0; from < unknown.length; from += LOCATED_AT_ONCE) {
      const asked = unknown.slice(from, from + LOCATED_AT_ONCE)
      const found = await api.positions(order, asked.map(state.realId), signal)
      for (const id of asked) {
        const row = found.get(state.realId(id))
        if (row !== undefined) rows.set(id, state.rowOfPlace(row))
      }
    }
    return rows
  }

  /** Writes values by record, as one change. Records not made yet keep theirs until they can be made. */
  function writeRows(rows: { id: RecordId; values: Values }[]): Promise<Written | null> {
    const existing = rows.filter(({ id, values }) => !drafts.fill(state.realId(id), values))
    if (existing.length === 0) return Promise.resolve(null)
    return optimistic.apply([{ kind: 'update', tableId, rows: existing }])
  }

  function insertOf(rows: readonly Values[], before: RecordId | null): Operation {
    const local = rows.length <= MAX_SHOWN_INSERTS
    const list = rows.map((values) => (local ? { id: drafts.createLocalId(), values } : { values }))
    return placed({ kind: 'insert', tableId, rows: list, before })
  }

  /** New records ahead of another stand there in the view's manual order as well. */
  function placed(operation: Extract<Operation, { kind: 'insert' }>): Operation {
    const { orderViewId } = orderOf(query)
    return operation.before != null && orderViewId !== undefined
      ? { ...operation, viewId: orderViewId }
      : operation
  }

  return {
    source,
    apply: optimistic.apply,
    retry: optimistic.retry,
    discard: optimistic.discard,
    reload: paging.reload,
    writeRows,

    /** Writes values and adds records, as one change; the new ones stand ahead of `before`, or at the end. */
    async write(
      rows: { id: RecordId; values: Values }[],
      added: readonly Values[],
      { before = null, actionId }: { before?: RecordId | null; actionId?: string } = {},
    ): Promise<Written | null> {
      const operations: Operation[] = []
      const existing = rows.filter(({ id, values }) => !drafts.fill(state.realId(id), values))
      if (existing.length > 0) operations.push({ kind: 'update', tableId, rows: existing })
      if (added.length > 0) operations.push(insertOf(added, before))
      return operations.length === 0 ? null : optimistic.apply(operations, { actionId })
    },

    /** Writes cells, as one change; rows that are not loaded are found by their position first. */
    setCells(cells: readonly CellWrite[]): Promise<Written | null> {
      // Applies known records synchronously, because the next key may follow at once.
      if (cells.every((cell) => cell.recordId !== undefined)) return writeCells(cells, new Map())
      return readIds(cells).then((ids) => writeCells(cells, ids))
    },

    /** Links records to one, or takes such links away; its cell looks like `value` at once. */
    link: (operation: LinkOperation, value: CellValue, actionId?: string): Promise<Written | null> =>
      optimistic.apply([operation], {
        actionId,
        looks: [{ id: operation.id, values: { [operation.fieldId]: value } }],
      }),

    /** Offers a new record that stays local until its first value. Gives its row. */
    addRow: (before: RecordId | null, place?: DraftPlace): number | null => drafts.add(before, place),

    /** Records that are written at once, e.g. copies: shown where they will stand. */
    insertRows: (
      rows: readonly Values[],
      before: RecordId | null = null,
      options: ApplyOptions = {},
    ): Promise<Written | null> => optimistic.apply([insertOf(rows, before)], options),

    /** The row that the person is on; leaving one ends what was kept for its sake. */
    setActive(id: RecordId | null): void {
      const real = id === null ? null : state.realId(id)
      if (real === active) return
      const left = active
      active = real
      if (left !== null) drafts.leave(state.realId(left))
      if (state.rows.unmatched.size > 0 && !isActiveOutOfPlace()) paging.refreshSoon()
      else paging.refreshIfStale()
    },

    /** Another filter, order or search reads from the top; further columns keep their place. */
    setQuery(next: StoreQuery): void {
      const before = query
      query = next
      const sameRecords = isSame(before.filter, next.filter) && isSame(before.search, next.search)
      if (!sameRecords || !isSame(orderOf(before), orderOf(next))) void paging.reload({ fromTop: true })
      else if (needsOtherValues(before, next)) void paging.reload({ keepsCount: true })
    },
    query: (): StoreQuery => query,

    /** Applies a change from the socket. */
    receive: (change: AppliedChange): void => live.receive(change),
    /** The connection was lost for a while: anything may have changed. */
    refreshSoon: paging.refreshSoon,
    /** Writes what an undo answered, or another door. */
    take: live.take,

    /** The row of a record as it is known here, also one that is not in the list. */
    row: (id: RecordId): GridRow | undefined => state.rows.row(state.realId(id)),
    realId: state.realId,
    /** True for a record that the server knows. */
    isSaved: (id: RecordId): boolean => !drafts.isLocal(state.realId(id)),
    /** Calls back when a record that is in the list changes, wherever it stands by then. */
    onRow: state.onRow,
    onData: state.onData,

    status,

    /** Stops reading. Changes on their way are sent all the same. */
    dispose(): void {
      isDisposed = true
      deps.keep(unsaved())
      paging.stop()
      computed.stop()
      stopFollowingQueue()
    },
  }

  function writeCells(
    cells: readonly CellWrite[],
    ids: ReadonlyMap<number, RecordId>,
  ): Promise<Written | null> {
    const values = new Map<RecordId, Values>()
    for (const { rowIndex, recordId, fieldId, value } of cells) {
      const id = recordId ?? ids.get(rowIndex)
      if (id !== undefined) values.set(id, { ...values.get(id), [fieldId]: value })
    }
    return writeRows([...values].map(([id, each]) => ({ id, values: each })))
  }

  async function readIds(cells: readonly CellWrite[]): Promise<Map<number, RecordId>> {
    const unknown = cells.filter((cell) => cell.recordId === undefined).map((cell) => cell.rowIndex)
    const first = unknown.reduce((a, b) => Math.min(a, b))
    const last = unknown.reduce((a, b) => Math.max(a, b))
    const rows = await source.readRange({ first, last, fieldIds: [] })
    return new Map(rows.map((row, at) => [first + at, row.id]))
  }
}

function listLayout(): StoreLayout {
  const state = createTableState()
  return { state, createPaging: (deps) => createPaging({ ...deps, state }) }
}

/** Records whose rows one call asks for. */
const LOCATED_AT_ONCE = 1000

/** More new records than this are read again after they were written, instead of being shown before. */
const MAX_SHOWN_INSERTS = 200

/** True where further fields are wanted, or where a field was converted or its options renamed. */
const needsOtherValues = (before: StoreQuery, next: StoreQuery): boolean =>
  next.fieldIds.some((id) => {
    const [old, field] = [before, next].map(({ fields }) => fields.find((candidate) => candidate.id === id))
    if (!before.fieldIds.includes(id) || old?.type !== field?.type) return true
    return old !== field && !isSame(old?.options, field?.options)
  })

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)
