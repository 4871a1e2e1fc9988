import type { AppliedChange, Operation, Values } from '../../src/core/changes.ts'
import type { RecordId } from '../../src/core/model.ts'
import { detailsOf, messageOf } from '../errors.ts'
import { m } from '../messages.gen.ts'
import type { Drafts } from './drafts.ts'
import type { ListState } from './layouts/list.ts'
import type { Paging } from './layouts/paging.ts'
import type { Live } from './live.ts'
import type { QueueItem, SendQueue } from './send-queue.ts'
import type { RecordsApi, Written } from './types.ts'

/** A refused change of more records than this goes back as a whole: a page of red cells would help nobody. */
const MAX_RED_ROWS = 50

/** The rows to change, the line to send in, and whom to tell. */
export interface OptimisticDeps {
  baseId: string
  tableId: string
  api: Pick<RecordsApi, 'apply'>
  queue: SendQueue
  state: ListState
  paging: Pick<Paging, 'reload' | 'restart'>
  drafts: Drafts
  live: Live
  notify(message: string, kind: 'info' | 'error'): void
  /** A change was refused and what it wrote is marked by now. */
  onRefused(reason: string): void
}

export type Optimistic = ReturnType<typeof createOptimistic>

/** Options of applying a change. */
export interface ApplyOptions {
  /** Id of the action that the change is a part of; absent if it is the whole action. */
  actionId?: string
  /** How records look once it is carried out, where the operations do not say it: links by name. */
  looks?: readonly { id: RecordId; values: Values }[]
  /** Where it is refused nothing stays in red: all is as it was before, and a message says why. */
  rollsBack?: boolean
}

/** Changes of this person: on the screen at once, on their way as one request, and back where refused. */
export function createOptimistic(deps: OptimisticDeps) {
  const { baseId, state, queue, paging, drafts, live } = deps
  let lastChange = 0

  /**
   * Carries out a change. Resolves with the server's answer, or null where it was refused (which has
   * been shown by then). Rows of an `insert` that bring the id of a draft are shown as that draft.
   */
  function apply(
    operations: Operation[],
    { actionId, looks = [], rollsBack = false }: ApplyOptions = {},
  ): Promise<Written | null> {
    const number = ++lastChange
    for (const { id, values } of looks) cover(number, id, values)
    for (const operation of operations) show(number, operation)
    const clientId = crypto.randomUUID()
    live.expect(clientId)
    return new Promise((resolve) => {
      const item: QueueItem<Written | null> = {
        send() {
          const ready = operations.map(resolveIds).filter((operation) => !isNothing(operation))
          if (ready.length === 0) return Promise.resolve(null)
          const arrived = live.arrived(clientId)
          if (arrived && !arrived.truncated) return Promise.resolve(asWritten(arrived))
          return deps.api.apply({ baseId, operations: ready, clientId }, actionId)
        },
        done(written) {
          live.answered(clientId, written)
          if (written) confirm(number, operations, written)
          else dropEdits(number, operations)
          for (const { id, values } of looks) uncover(number, id, written ? values : {})
          resolve(written)
        },
        refused(error) {
          live.answered(clientId, null)
          if (rollsBack) rollBack(number, operations, error)
          else refuse(number, operations, error)
          for (const { id } of looks) uncover(number, id, {})
          deps.onRefused(messageOf(error))
          resolve(null)
        },
      }
      queue.add(item)
    })
  }

  function show(number: number, operation: Operation): void {
    if (operation.tableId !== deps.tableId || 'targets' in operation) return
    if (operation.kind === 'update') {
      for (const { id, values } of operation.rows) {
        drafts.addTo(state.realId(id), values)
        cover(number, id, values)
        live.recheck(state.realId(id))
      }
      return
    }
    if (operation.kind === 'insert') drafts.show(operation)
    if (operation.kind === 'delete') state.remove(operation.ids)
    if (operation.kind === 'move') state.move(operation.ids, operation.before)
    paging.restart()
    state.structureChanged()
  }

  /** Lays values over a record until the change is answered. */
  function cover(number: number, id: RecordId, values: Values): void {
    const real = state.realId(id)
    state.rows.edits.write(number, real, values)
    state.rowChanged(real)
  }

  /** Takes the cover away; the values that are stored now stand under it. */
  function uncover(number: number, id: RecordId, stored: Values): void {
    const real = state.realId(id)
    state.rows.merge(real, stored)
    state.rows.edits.confirm(number, real)
    state.rowChanged(real)
  }

  /** The operation as the server can read it: ids of drafts that were saved meanwhile, and no others. */
  function resolveIds(operation: Operation): Operation {
    const isKnown = (id: RecordId): boolean => !drafts.isLocal(id)
    const before = (id: RecordId | null | undefined): RecordId | null => {
      const real = id == null ? null : state.realId(id)
      return real !== null && isKnown(real) ? real : null
    }
    switch (operation.kind) {
      case 'insert': {
        const rows = operation.rows.map(({ id, values }) => ({
          values: id === undefined ? values : drafts.valuesOf(id, values),
        }))
        return { ...operation, rows, before: before(operation.before) }
      }
      case 'update': {
        const rows = operation.rows.map(({ id, values }) => ({ id: state.realId(id), values }))
        // Values for a record that could not be made stand in its draft, and go with it when it is sent again.
        return { ...operation, rows: rows.filter(({ id }) => isKnown(id)) }
      }
      case 'delete':
        return { ...operation, ids: operation.ids.map(state.realId).filter(isKnown) }
      case 'move':
        return {
          ...operation,
          ids: operation.ids.map(state.realId).filter(isKnown),
          before: before(operation.before),
        }
      case 'link':
      case 'unlink':
        return { ...operation, id: state.realId(operation.id) }
    }
  }

  /** Nothing was sent: the values stand in drafts, which carry them. */
  function dropEdits(number: number, operations: Operation[]): void {
    for (const operation of operations) {
      if (operation.kind !== 'update') continue
      for (const { id } of operation.rows) state.rows.edits.confirm(number, state.realId(id))
    }
  }

  function confirm(number: number, operations: Operation[], written: Written): void {
    const inserted = [...written.inserted]
    const byId = new Map(written.records.map((record) => [record.recordId, record]))
    for (const operation of operations) {
      if (operation.tableId !== deps.tableId) continue
      if (operation.kind === 'insert') {
        for (const { id, values } of operation.rows) {
          const real = inserted.shift()
          if (id !== undefined && real !== undefined)
            drafts.saved(id, real, { ...values, ...live.withShared(byId.get(real)?.after ?? values) })
        }
      }
      if (operation.kind === 'move') {
        for (const id of operation.ids.map(state.realId)) state.placed(id, byId.get(id)?.after ?? {})
      }
      if (operation.kind !== 'update') continue
      for (const { id, values } of operation.rows) {
        uncover(number, id, {
          ...values,
          ...live.withShared(byId.get(state.realId(id))?.after ?? values),
        })
      }
    }
    const isHidden = operations.some((o) => o.kind === 'insert' && o.rows.some((row) => row.id === undefined))
    if (isHidden || operations.some((o) => o.kind === 'move' && !isShown(o))) void paging.reload()
    state.dataChanged()
  }

  const isShown = (operation: Extract<Operation, { kind: 'move' }>): boolean =>
    operation.before === null || state.indexOf(operation.before) !== undefined

  function refuse(number: number, operations: Operation[], error: unknown): void {
    const { fieldId: named } = detailsOf(error)
    const reason = messageOf(error)
    const rows = operations.reduce((sum, operation) => sum + sizeOf(operation), 0)
    let isReloadDue = false
    for (const operation of operations) {
      if (operation.kind === 'insert' && operation.rows.every((row) => row.id !== undefined)) {
        for (const { id } of operation.rows) if (id !== undefined) drafts.refused(id, reason, named)
      } else if (operation.kind === 'update') {
        for (const { id, values } of operation.rows)
          refuseRow(number, state.realId(id), values, rows, named, reason)
      } else isReloadDue = true
    }
    // The rows are back as they were; what was typed into single cells stays in red beside its reason.
    if (isReloadDue) void paging.reload()
    if (isReloadDue || rows > MAX_RED_ROWS)
      deps.notify(m.records_no_changes_saved_reason({ reason }), 'error')
  }

  function rollBack(number: number, operations: Operation[], error: unknown): void {
    for (const operation of operations) {
      if (operation.kind === 'insert')
        for (const { id } of operation.rows) id !== undefined && drafts.drop(id)
      else if (operation.kind === 'move') for (const id of operation.ids) state.placed(state.realId(id), {})
      else if (operation.kind === 'update') {
        for (const { id } of operation.rows) {
          uncover(number, id, {})
          live.recheck(state.realId(id))
        }
      }
    }
    void paging.reload()
    deps.notify(m.records_no_changes_saved_reason({ reason: messageOf(error) }), 'error')
  }

  function refuseRow(
    number: number,
    id: RecordId,
    values: Values,
    rows: number,
    named: unknown,
    reason: string,
  ): void {
    const { edits } = state.rows
    if (rows > MAX_RED_ROWS) edits.confirm(number, id)
    else {
      const isNamedHere = typeof named === 'string' && named in values
      const other = m.records_not_saved_because_another_value()
      edits.refuse(number, id, (fieldId) => (!isNamedHere || fieldId === named ? reason : other))
    }
    state.rowChanged(id)
    live.recheck(id)
  }

  return {
    apply,

    /** Sends the refused values of a record again. */
    retry(id: RecordId): void {
      const real = state.realId(id)
      if (drafts.send(real)) return
      const values = state.rows.edits.refused(real)
      if (Object.keys(values).length > 0) {
        void apply([{ kind: 'update', tableId: deps.tableId, rows: [{ id: real, values }] }])
      }
    },

    /** Drops the refused values of a record; the ones before them show again. */
    discard(id: RecordId): void {
      const real = state.realId(id)
      if (drafts.drop(real)) return
      state.rows.edits.discard(real)
      state.rowChanged(real)
      live.recheck(real)
    },
  }
}

/** An answer as the socket tells it: the new ids stand among its records, in the same order. */
const asWritten = (change: AppliedChange): Written => ({
  ...change,
  inserted: change.records.filter((record) => record.before === null).map((record) => record.recordId),
})

const isNothing = (operation: Operation): boolean => sizeOf(operation) === 0

/** How many records an operation writes, or links. */
const sizeOf = (operation: Operation): number =>
  'rows' in operation
    ? operation.rows.length
    : 'targets' in operation
      ? operation.targets.length
      : operation.ids.length
