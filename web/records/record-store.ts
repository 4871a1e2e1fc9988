import { createStore } from 'zustand/vanilla'
import type {
  AppliedChange,
  LinkOperation,
  NewRow,
  Operation,
  UpdatedRow,
  Values,
} from '../../src/core/changes.ts'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { mergesEdits } from '../../src/core/fields/traits.ts'
import type { Field, RecordId } from '../../src/core/model.ts'
import type { CellWrite, GridRow, GridSource } from '../grid/contract.ts'
import { m } from '../messages.gen.ts'
import { createComputed } from './computed.ts'
import { createDrafts, type DraftPosition } from './drafts.ts'
import { createTableState, type ListState } from './layouts/list.ts'
import { createPaging, type Paging, type PagingDeps } from './layouts/paging.ts'
import { createLive, type LiveDeps } from './live.ts'
import { type ApplyOptions, createOptimistic } from './optimistic.ts'
import { orderOf, selectionOf } from './record-order.ts'
import type { SendQueue } from './send-queue.ts'
import type {
  Conflict,
  DraftRecord,
  LocalCell,
  RecordsApi,
  Resolution,
  StoreQuery,
  Unsaved,
  Written,
} from './types.ts'

/** Dependencies of a store: the table, the API and the queue that sends its changes. */
export interface RecordStoreDeps {
  baseId: string
  tableId: string
  api: RecordsApi
  /** Shared by the whole base, so that an edit and its undo keep their order across tables. */
  queue: SendQueue
  /** Id of the signed-in user, for “me” in filters. */
  actorId(): string | null
  notify(message: string, kind: 'info' | 'error'): void
  /** Merges two edits of a cell, or asks which one to keep; null: the other person's. */
  resolveConflict(field: Field, conflict: Conflict): Promise<Resolution | null>
  /** Receives unsaved edits when the store is disposed, for the table's next store. */
  keepUnsaved(unsaved: Unsaved): void
}

/** `error` is set while the visible rows cannot be read. */
export interface StoreStatus {
  error: unknown
}

interface WriteOptions {
  /** The record that new ones precede. */
  before?: RecordId | null
  actionId?: string
  /** Of a write that waited for the ids of its rows. */
  pending?: PendingWrite
}

/** Row state and paging of a view that is not one list, e.g. the stacks of a board. */
export interface StoreLayout {
  state: ListState
  createPaging(deps: Omit<PagingDeps, 'state'>): Paging
  /** See `LiveDeps.isInPlace`. */
  isInPlace?: LiveDeps['isInPlace']
}

/** A write that was asked for, and waits for the ids of its rows. */
export interface PendingWrite {
  /** Its place among the writes. */
  number: number
  /** What was written after it was asked for, which it leaves as it is. */
  later: UpdatedRow[]
}

export type RecordStore = ReturnType<typeof createRecordStore>

/**
 * The records of one view in the browser: read in blocks on scroll, changed optimistically, and kept up to date over
 * the socket. The grid draws from `source`.
 */
export function createRecordStore(
  deps: RecordStoreDeps,
  start: StoreQuery,
  layout: StoreLayout = listLayout(),
) {
  const { api, tableId, queue } = deps
  const { state } = layout
  let query = start
  const status = createStore<StoreStatus>(() => ({ error: null }))
  let active: RecordId | null = null
  let isDisposed = false
  let lastWrite = 0
  const pendingWrites = new Set<PendingWrite>()

  const paging = layout.createPaging({
    tableId,
    api,
    query: () => query,
    isSettled: () => queue.unanswered() === 0,
    mayRefresh: () => queue.unanswered() === 0 && !isActiveOutOfPlace(),
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
        withViewOrder({
          kind: 'insert',
          tableId,
          rows: [{ id, values: draft.values }],
          before: draft.before,
        }),
      ]),
    recheck: live.recheck,
  })
  const optimistic = createOptimistic({
    ...deps,
    state,
    paging,
    drafts,
    live,
    fields: () => query.fields,
    resolveConflict,
    onRefused(reason) {
      // The red cell is off screen: notify now, and show the cell when the table is opened again.
      if (!isDisposed) return
      deps.notify(m.records_change_not_saved_reason({ reason }), 'error')
      handOver()
    },
  })

  const handedOver = new WeakSet<DraftRecord | LocalCell>()
  const isNew = (edit: DraftRecord | LocalCell): boolean => !handedOver.has(edit) && !!handedOver.add(edit)

  /** Keeps the unsaved edits for the table's next store, each once. */
  function handOver(): void {
    deps.keepUnsaved({
      drafts: drafts.unsaved().filter(([, draft]) => isNew(draft)),
      cells: state.rows.edits.allRefused().flatMap(([id, cells]): Unsaved['cells'] => {
        const fresh = [...cells].filter(([, cell]) => isNew(cell))
        return fresh.length > 0 ? [[id, new Map(fresh)]] : []
      }),
    })
  }

  // Runs refreshes that waited for the responses to own changes.
  const stopFollowingQueue = queue.subscribe(() => {
    if (queue.status().waiting === 0) paging.refreshIfStale()
  })

  /** True while a read would move the row that the user is on. Other drafts stay in place. */
  const isActiveOutOfPlace = (): boolean =>
    active !== null && (state.rows.unmatched.has(active) || drafts.isLocal(state.realId(active)))

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
    const order = { ...selectionOf(tableId, query), ...orderOf(query), limit: 1, offset: 0 }
    for (let from = 0; from < unknown.length; from += MAX_LOCATED_AT_ONCE) {
      const batch = unknown.slice(from, from + MAX_LOCATED_AT_ONCE)
      const found = await api.positions(order, batch.map(state.realId), signal)
      for (const id of batch) {
        const row = found.get(state.realId(id))
        if (row !== undefined) rows.set(id, state.rowOfServerIndex(row))
      }
    }
    return rows
  }

  async function resolveConflict(conflict: Conflict): Promise<Resolution | null> {
    const field = fieldOf(conflict.fieldId)
    return field ? deps.resolveConflict(field, conflict) : null
  }

  const fieldOf = (fieldId: string): Field | undefined => query.fields.find(({ id }) => id === fieldId)

  /**
   * Writes a value that a person has edited, beginning with `opened`. If another person has changed it since, both edits are
   * merged or the person is asked. Of long texts the server decides about that, with the write.
   */
  async function writeEdit(id: RecordId, { fieldId, opened, mine }: Omit<Conflict, 'theirs'>): Promise<void> {
    const field = fieldOf(fieldId)
    if (field && mergesEdits(field)) {
      await writeRows([{ id, values: { [fieldId]: mine }, expected: { [fieldId]: opened } }])
      return
    }
    const row = query.fieldIds.includes(fieldId) ? state.rows.row(state.realId(id)) : undefined
    // Fields that the view hides are not followed.
    const theirs = row ? row.values(fieldId) : opened
    const isStale = !Object.is(theirs, opened) && !Object.is(theirs, mine)
    const resolution = isStale ? await resolveConflict({ fieldId, opened, mine, theirs }) : { value: mine }
    if (resolution) await writeRows([{ id, values: { [fieldId]: resolution.value } }])
  }

  /**
   * Updates records, as one change. Drafts keep their values until they can be sent.
   *
   * @param number the place among the writes, if it was asked for earlier
   */
  function writeRows(rows: UpdatedRow[], number = ++lastWrite): Promise<Written | null> {
    noteWrite(rows, number)
    const existing = rows.filter(({ id, values }) => !drafts.fill(state.realId(id), values))
    if (existing.length === 0) return Promise.resolve(null)
    return optimistic.apply([{ kind: 'update', tableId, rows: existing }])
  }

  function insertOf(
    rows: readonly Pick<NewRow, 'values' | 'siblings'>[],
    before: RecordId | null,
  ): Operation {
    const local = rows.length <= MAX_SHOWN_INSERTS
    const list = rows.map((row) => (local ? { ...row, id: drafts.createLocalId() } : row))
    return withViewOrder({ kind: 'insert', tableId, rows: list, before })
  }

  /** Adds the view to an insert before a record, so that it applies to the view's manual order as well. */
  function withViewOrder(operation: Extract<Operation, { kind: 'insert' }>): Operation {
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

    /** Shows the unsaved edits of the table's earlier stores, before the first `reload`. */
    adopt({ drafts: restored, cells }: Unsaved): void {
      drafts.adopt(restored)
      state.rows.edits.adopt(cells)
    },
    writeRows,
    writeEdit,

    /**
     * Updates and adds records, as one change; new ones go before `before`, or to the end. If the change is rejected, new
     * records that name each other are dropped: they could not be sent one by one.
     */
    async write(
      rows: { id: RecordId; values: Values }[],
      added: readonly Pick<NewRow, 'values' | 'siblings'>[],
      { before = null, actionId, pending }: WriteOptions = {},
    ): Promise<Written | null> {
      const wanted = pending ? withoutLater(rows, pending.later) : rows
      noteWrite(wanted, pending?.number ?? ++lastWrite)
      const operations: Operation[] = []
      const existing = wanted.filter(({ id, values }) => !drafts.fill(state.realId(id), values))
      if (existing.length > 0) operations.push({ kind: 'update', tableId, rows: existing })
      if (added.length > 0) operations.push(insertOf(added, before))
      const rollsBack = added.some(({ siblings }) => siblings)
      return operations.length === 0 ? null : optimistic.apply(operations, { actionId, rollsBack })
    },

    identify,
    startWrite,

    /**
     * Writes cells, as one change, except those that the user has written again before the ids of their rows were known. Null
     * if rows that are not loaded have moved, see `identify`.
     */
    async setCells(cells: readonly CellWrite[]): Promise<Written | null> {
      // Applies known records synchronously, because the next key may follow at once.
      if (cells.every((cell) => cell.recordId !== undefined)) return writeRows(rowsOf(cells))
      return startWrite(async (pending) => {
        const ids = await identify(cells)
        if (ids === null) return null
        const named = cells.map((cell) => ({ ...cell, recordId: cell.recordId ?? ids.get(cell.rowIndex) }))
        return writeRows(withoutLater(rowsOf(named), pending.later), pending.number)
      })
    },

    /** Adds or removes links of a record; its cell shows `value` at once. */
    link: (operation: LinkOperation, value: CellValue, actionId?: string): Promise<Written | null> =>
      optimistic.apply([operation], {
        actionId,
        previews: [{ id: operation.id, values: { [operation.fieldId]: value } }],
      }),

    /** False until the number of records is known; `source.rowCount` is that of the loaded ones then. */
    isCounted: (): boolean => state.count !== null,

    /** Adds a draft that stays local until its first value. Returns its row. */
    addRow: (before: RecordId | null, place?: DraftPosition): number | null => drafts.add(before, place),

    /** Sends a draft before its first value is there, e.g. a file that is being uploaded. Ignores other records. */
    begin(id: RecordId): void {
      drafts.fill(state.realId(id), {})
    },

    /** Inserts records and shows them at once in their future position, e.g. copies. */
    insertRows: (
      rows: readonly Values[],
      before: RecordId | null = null,
      options: ApplyOptions = {},
    ): Promise<Written | null> =>
      optimistic.apply(
        [
          insertOf(
            rows.map((values) => ({ values })),
            before,
          ),
        ],
        options,
      ),

    /** Sets the row that the user is on. Leaving a row sends or drops its draft and runs postponed refreshes. */
    setActive(id: RecordId | null): void {
      const real = id === null ? null : state.realId(id)
      if (real === active) return
      const previous = active
      active = real
      if (previous !== null) drafts.leave(state.realId(previous))
      if (state.rows.unmatched.size > 0 && !isActiveOutOfPlace()) paging.refreshSoon()
      else paging.refreshIfStale()
    },

    /** Reads from the top for another filter, order or search; only adds values for further fields. */
    setQuery(next: StoreQuery): void {
      const before = query
      query = next
      const sameRecords = isSame(selectionOf(tableId, before), selectionOf(tableId, next))
      if (!sameRecords || !isSame(orderOf(before), orderOf(next))) void paging.reload({ fromTop: true })
      else if (needsOtherValues(before, next)) void paging.reload({ keepsCount: true })
    },
    query: (): StoreQuery => query,

    /** Applies a change from the socket. */
    receive: (change: AppliedChange): void => live.receive(change),
    /** Reads the rows again. */
    refreshSoon: paging.refreshSoon,
    /** Reads again whatever shows stored values, after changes were missed, as while the connection was lost. */
    missed(): void {
      paging.refreshSoon()
      state.dataChanged()
    },
    /** Applies the response of an undo, or of a write that did not go through this store. */
    applyStored: live.applyStored,

    /** The row of a loaded record, even if it is not in the list. */
    row: (id: RecordId): GridRow | undefined => state.rows.row(state.realId(id)),
    realId: state.realId,
    /** True for a record that the server knows. */
    isSaved: (id: RecordId): boolean => !drafts.isLocal(state.realId(id)),
    /** Calls back when a listed record changes, whatever its row by then. */
    onRow: state.onRow,
    onData: state.onData,

    status,

    /** True once the view was left, after which its rows are not kept up to date. */
    isDisposed: (): boolean => isDisposed,

    /** Stops reading; queued changes are still sent. */
    dispose(): void {
      isDisposed = true
      handOver()
      paging.stop()
      computed.stop()
      stopFollowingQueue()
    },
  }

  /** Runs a write that waits for the ids of its rows. It comes before all that are asked for meanwhile. */
  async function startWrite<T>(work: (pending: PendingWrite) => Promise<T>): Promise<T> {
    const pending: PendingWrite = { number: ++lastWrite, later: [] }
    pendingWrites.add(pending)
    try {
      return await work(pending)
    } finally {
      pendingWrites.delete(pending)
    }
  }

  function noteWrite(rows: readonly UpdatedRow[], number: number): void {
    for (const pending of pendingWrites)
      if (pending.number < number) pending.later = [...pending.later, ...rows]
  }

  /** Rows without the values that later writes have. */
  function withoutLater(rows: readonly UpdatedRow[], later: readonly UpdatedRow[]): UpdatedRow[] {
    const written = new Map<RecordId, Values>()
    for (const { id, values } of later) {
      const real = state.realId(id)
      written.set(real, { ...written.get(real), ...values })
    }
    return rows.flatMap(({ id, values }) => {
      const newer = written.get(state.realId(id)) ?? {}
      const kept = Object.entries(values).filter(([fieldId]) => !(fieldId in newer))
      return kept.length > 0 ? [{ id, values: Object.fromEntries(kept) }] : []
    })
  }

  /**
   * The ids of rows by row index; those of rows that are not loaded are read. Null if the records have moved since the
   * loaded ones were read, so that an index would name another record: the user is told, and the rows are read again.
   *
   * @throws the reason if the connection is, or gets, lost
   */
  async function identify(
    rows: readonly Pick<CellWrite, 'rowIndex' | 'recordId'>[],
  ): Promise<ReadonlyMap<number, RecordId> | null> {
    const ids = new Map<number, RecordId>()
    let first = Number.POSITIVE_INFINITY
    let last = -1
    for (const { rowIndex, recordId } of rows) {
      if (recordId !== undefined) ids.set(rowIndex, recordId)
      else {
        first = Math.min(first, rowIndex)
        last = Math.max(last, rowIndex)
      }
    }
    if (last < first) return ids
    // With the loaded neighbours, which show whether the rows between them have moved.
    first = Math.max(0, first - 1)
    if (last + 1 < (source.rowCount ?? 0)) last++
    for (let index = first; index <= last; index++) {
      const row = state.getRow(index)
      if (row && !ids.has(index)) ids.set(index, row.id)
    }
    // The server does not know the own changes on their way.
    await queue.whenAnswered()
    const read = await readIds(first, last, ids)
    const isInPlace = read && [...read].every(([index, id]) => state.realId(ids.get(index) ?? id) === id)
    if (isInPlace) return new Map([...read, ...ids])
    void paging.reload()
    deps.notify(m.records_records_moved_try_again(), 'error')
    return null
  }

  /** Reads the ids of rows from the server; null if they moved while they were read. Drafts are passed over. */
  async function readIds(
    first: number,
    last: number,
    known: ReadonlyMap<number, RecordId>,
  ): Promise<Map<number, RecordId> | null> {
    const isDraft = (index: number): boolean => drafts.isLocal(state.realId(known.get(index) ?? ''))
    const indexes = Array.from({ length: last - first + 1 }, (_, at) => first + at).filter(
      (at) => !isDraft(at),
    )
    const draftsBefore = [...state.rows.drafts.keys()].filter((id) => (state.indexOf(id) ?? first) < first)
    const found = new Map<number, RecordId>()
    const order = { ...selectionOf(tableId, query), ...orderOf(query), fieldIds: [] }
    const { signal } = new AbortController()
    // Each page repeats the last row of the one before.
    for (let from = 0; from === 0 || from < indexes.length - 1; from += MAX_IDS_PER_PAGE - 1) {
      const wanted = indexes.slice(from, from + MAX_IDS_PER_PAGE)
      const offset = first - draftsBefore.length + from
      const page = await api.list({ ...order, limit: wanted.length, offset }, signal)
      if (page.ids.length < wanted.length) return null
      for (const [at, index] of wanted.entries()) {
        const id = page.ids[at]!
        if ((found.get(index) ?? id) !== id) return null
        found.set(index, id)
      }
    }
    return found
  }
}

/** The values of cells by record; those without one are left out. */
function rowsOf(cells: readonly CellWrite[]): UpdatedRow[] {
  const values = new Map<RecordId, Values>()
  for (const { recordId, fieldId, value } of cells)
    if (recordId !== undefined) values.set(recordId, { ...values.get(recordId), [fieldId]: value })
  return [...values].map(([id, each]) => ({ id, values: each }))
}

function listLayout(): StoreLayout {
  const state = createTableState()
  return { state, createPaging: (deps) => createPaging({ ...deps, state }) }
}

/** Records whose positions one request reads. */
const MAX_LOCATED_AT_ONCE = 1000

/** Rows per request when the ids of rows are read. */
const MAX_IDS_PER_PAGE = 1000

/** Larger inserts are not shown optimistically but read after the write. */
const MAX_SHOWN_INSERTS = 200

/** True if values must be read again: a field was added, converted, or its options changed. */
const needsOtherValues = (before: StoreQuery, next: StoreQuery): boolean =>
  next.fieldIds.some((id) => {
    const [old, field] = [before, next].map(({ fields }) => fields.find((candidate) => candidate.id === id))
    if (!before.fieldIds.includes(id) || old?.type !== field?.type) return true
    return old !== field && !isSame(old?.options, field?.options)
  })

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)
