import type { Operation, Values } from '../../src/core/changes.ts'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import type { Field, RecordId } from '../../src/core/model.ts'
import { shownText } from '../cells/cell-text.ts'
import { appCodeOf, detailsOf, messageOf } from '../errors.ts'
import { m } from '../messages.gen.ts'
import type { Drafts } from './drafts.ts'
import type { ListState } from './layouts/list.ts'
import type { Paging } from './layouts/paging.ts'
import type { Live } from './live.ts'
import type { QueueItem, SendQueue } from './send-queue.ts'
import type { Conflict, RecordsApi, Resolution, Written } from './types.ts'

/** Rejected changes of more records are reverted as a whole, instead of marking every cell red. */
const MAX_RED_ROWS = 50

/** The rows to change, the queue to send through, and the callbacks. */
export interface OptimisticDeps {
  baseId: string
  tableId: string
  api: Pick<RecordsApi, 'apply'>
  queue: SendQueue
  state: ListState
  paging: Pick<Paging, 'reload' | 'refreshSoon' | 'restart'>
  drafts: Drafts
  live: Live
  fields(): readonly Field[]
  notify(message: string, kind: 'info' | 'error'): void
  /** Merges two edits of a cell, or asks which one to keep; null: the other person's. */
  resolveConflict(conflict: Conflict): Promise<Resolution | null>
  /** Called after the cells of a rejected change are marked. */
  onRefused(reason: string): void
}

/** Options of applying a change. */
export interface ApplyOptions {
  /** Groups several changes into one undoable action; absent if the change is the whole action. */
  actionId?: string
  /** Values to show at once that the operations do not contain, e.g. links with titles. */
  previews?: readonly { id: RecordId; values: Values }[]
  /** Reverts a rejected change and shows a message, instead of marking its cells red. */
  rollsBack?: boolean
}

/** Applies the user's changes at once, sends each as one request, and reverts or marks rejected ones. */
export function createOptimistic(deps: OptimisticDeps) {
  const { baseId, state, queue, paging, drafts, live } = deps
  let lastChange = 0

  /**
   * Applies a change and sends it. Resolves with the server's response; null if it was rejected, which the user has
   * been shown by then. Inserted rows with a local id appear at once as drafts.
   */
  function apply(
    operations: Operation[],
    { actionId, previews: looks = [], rollsBack = false }: ApplyOptions = {},
  ): Promise<Written | null> {
    const number = ++lastChange
    for (const { id, values } of looks) overlay(number, id, values)
    const isShownWhole = !operations.some(deletesUnloaded)
    for (const operation of operations) show(number, operation)
    const clientId = crypto.randomUUID()
    live.expect(clientId)
    return new Promise((resolve) => {
      const item: QueueItem<Written | null> = {
        send() {
          const ready = operations.map(resolveIds).filter((operation) => !isEmpty(operation))
          if (ready.length === 0) return Promise.resolve(null)
          const arrived = live.arrived(clientId)
          // Events do not tell the new records of the operations from added links: the server answers these again.
          const hasNew = ready.some(({ kind }) => kind === 'insert')
          if (arrived && !arrived.truncated && !hasNew) return Promise.resolve({ ...arrived, inserted: [] })
          return deps.api.apply({ baseId, operations: ready, clientId }, actionId)
        },
        done(written) {
          live.answered(clientId, written)
          if (written) {
            confirm(number, operations, written)
            if (!isShownWhole) paging.refreshSoon()
          } else dropEdits(number, operations)
          for (const { id, values } of looks) removeOverlay(number, id, written ? values : {})
          resolve(written)
        },
        refused(error) {
          live.answered(clientId, null)
          const conflict = conflictOf(error, operations)
          if (conflict) {
            resolveStale(number, conflict).then(resolve, () => {
              refuse(number, operations, error)
              deps.onRefused(messageOf(error))
              resolve(null)
            })
            return
          }
          if (rollsBack) rollBack(number, operations, error)
          else refuse(number, operations, error)
          for (const { id } of looks) removeOverlay(number, id, {})
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
        overlay(number, id, values)
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

  /** True for a deletion of records that are not loaded: how many rows it takes from above the others is not known. */
  const deletesUnloaded = (operation: Operation): boolean =>
    operation.kind === 'delete' &&
    operation.tableId === deps.tableId &&
    operation.ids.some((id) => !state.segments.has(state.realId(id)))

  /** Shows values over the stored ones until the server responds. */
  function overlay(number: number, id: RecordId, values: Values): void {
    const real = state.realId(id)
    state.rows.edits.write(number, real, values)
    state.rowChanged(real)
  }

  /** Removes a change's overlay after merging the values that the log's entry `change` has stored. */
  function removeOverlay(number: number, id: RecordId, stored: Values, change?: number): void {
    const real = state.realId(id)
    state.rows.merge(real, stored, change)
    state.rows.edits.confirm(number, real)
    state.rowChanged(real)
  }

  /** Replaces local ids by server ids, and drops records that have not been created. */
  function resolveIds(operation: Operation): Operation {
    const isKnown = (id: RecordId): boolean => !drafts.isLocal(id)
    const before = (id: RecordId | null | undefined): RecordId | null => {
      const real = id == null ? null : state.realId(id)
      return real !== null && isKnown(real) ? real : null
    }
    switch (operation.kind) {
      case 'insert': {
        const rows = operation.rows.map(({ id, values, siblings }) => ({
          values: id === undefined ? values : drafts.valuesOf(id, values),
          ...(siblings && { siblings }),
        }))
        return { ...operation, rows, before: before(operation.before) }
      }
      case 'update': {
        const rows = operation.rows.map((row) => ({ ...row, id: state.realId(row.id) }))
        // A rejected draft holds these values already and sends them on retry.
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

  /** Removes the overlays of a change that was not sent because drafts hold all its values. */
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
          if (id === undefined || real === undefined) continue
          const stored = { ...values, ...live.withShared(byId.get(real)?.after ?? values) }
          drafts.saved(id, real, stored, written.id)
        }
      }
      if (operation.kind === 'move') {
        for (const id of operation.ids.map(state.realId))
          state.positionChanged(id, byId.get(id)?.after ?? {}, written.id)
      }
      if (operation.kind !== 'update') continue
      for (const { id, values } of operation.rows) {
        const stored = { ...values, ...live.withShared(byId.get(state.realId(id))?.after ?? values) }
        removeOverlay(number, id, stored, written.id)
      }
    }
    const isHidden = operations.some((o) => o.kind === 'insert' && o.rows.some((row) => row.id === undefined))
    if (isHidden || operations.some((o) => o.kind === 'move' && !isShown(o))) void paging.reload()
    // The answer to a large change does not list what it wrote, e.g. the records whose formulas have changed.
    else if (written.truncated) paging.refreshSoon()
    state.dataChanged()
  }

  const isShown = (operation: Extract<Operation, { kind: 'move' }>): boolean =>
    operation.before === null || state.indexOf(operation.before) !== undefined

  /** Settles an edit of a text that someone has changed since; the cell shows the edit until then. */
  async function resolveStale(number: number, { id, ...conflict }: StaleEdit): Promise<Written | null> {
    const { fieldId, theirs } = conflict
    // Before the question, during which others may change it again.
    state.rows.merge(state.realId(id), { [fieldId]: theirs })
    const resolution = await deps.resolveConflict(conflict)
    removeOverlay(number, id, {})
    live.recheck(state.realId(id))
    if (resolution === null) return null
    const row = { id, values: { [fieldId]: resolution.value }, expected: { [fieldId]: theirs } }
    return apply([{ kind: 'update', tableId: deps.tableId, rows: [row] }])
  }

  function refuse(number: number, operations: Operation[], error: unknown): void {
    const { fieldId: namedField } = detailsOf(error)
    const reason = messageOf(error)
    const rows = operations.reduce((sum, operation) => sum + sizeOf(operation), 0)
    let isReloadDue = false
    for (const operation of operations) {
      if (operation.kind === 'insert' && operation.rows.every((row) => row.id !== undefined)) {
        for (const { id } of operation.rows) if (id !== undefined) drafts.refused(id, reason, namedField)
      } else if (operation.kind === 'update') {
        for (const { id, values } of operation.rows) {
          const real = state.realId(id)
          if (rows <= MAX_RED_ROWS && isGone(error, real, values)) tellGone(number, real, values, reason)
          else refuseRow(number, real, values, rows, namedField, reason)
        }
      } else isReloadDue = true
    }
    // Structural changes are undone by reloading; rejected cell values stay, in red with the reason.
    if (isReloadDue) void paging.reload()
    if (isReloadDue || rows > MAX_RED_ROWS)
      deps.notify(m.records_no_changes_saved_reason({ reason }), 'error')
  }

  function rollBack(number: number, operations: Operation[], error: unknown): void {
    for (const operation of operations) {
      if (operation.kind === 'insert')
        for (const { id } of operation.rows) id !== undefined && drafts.drop(id)
      else if (operation.kind === 'move')
        for (const id of operation.ids) state.positionChanged(state.realId(id), {})
      else if (operation.kind === 'update') {
        for (const { id } of operation.rows) {
          removeOverlay(number, id, {})
          live.recheck(state.realId(id))
        }
      }
    }
    void paging.reload()
    deps.notify(m.records_no_changes_saved_reason({ reason: messageOf(error) }), 'error')
  }

  const fieldOf = (id: string): Field | undefined => deps.fields().find((field) => field.id === id)

  /** True if somebody has deleted the record, or the fields of all values. */
  function isGone(error: unknown, id: RecordId, values: Values): boolean {
    const { recordIds } = detailsOf(error)
    if (Array.isArray(recordIds)) return recordIds.includes(id)
    return appCodeOf(error) === 'FIELD_NOT_FOUND' && !Object.keys(values).some(fieldOf)
  }

  /** Drops values that no cell can show any more, and shows them in the message. */
  function tellGone(number: number, id: RecordId, values: Values, reason: string): void {
    removeOverlay(number, id, {})
    const texts = Object.entries(values).flatMap(([fieldId, value]) => {
      if (value === null) return []
      const field = fieldOf(fieldId)
      return [field ? shownText(field, value) : String(value)]
    })
    const text = texts.join(', ')
    deps.notify(
      text === ''
        ? m.records_no_changes_saved_reason({ reason })
        : m.records_text_not_saved_reason({ text, reason }),
      'error',
    )
  }

  function refuseRow(
    number: number,
    id: RecordId,
    values: Values,
    rows: number,
    namedField: unknown,
    reason: string,
  ): void {
    const { edits } = state.rows
    if (rows > MAX_RED_ROWS) edits.confirm(number, id)
    else {
      const isNamedHere = typeof namedField === 'string' && namedField in values
      const other = m.records_not_saved_because_another_value()
      edits.refuse(number, id, (fieldId) => (!isNamedHere || fieldId === namedField ? reason : other))
    }
    state.rowChanged(id)
    live.recheck(id)
  }

  return {
    apply,

    /** Sends the rejected values of a record again. */
    retry(id: RecordId): void {
      const real = state.realId(id)
      if (drafts.send(real)) return
      const values = state.rows.edits.refused(real)
      if (Object.keys(values).length > 0) {
        void apply([{ kind: 'update', tableId: deps.tableId, rows: [{ id: real, values }] }])
      }
    },

    /** Drops the rejected values of a record, so that the stored ones show again. */
    discard(id: RecordId): void {
      const real = state.realId(id)
      if (drafts.drop(real)) return
      state.rows.edits.discard(real)
      state.rowChanged(real)
      live.recheck(real)
    },
  }
}

/** An edit of one text that the server rejected, because someone has changed the text since it was opened. */
interface StaleEdit extends Conflict {
  id: RecordId
}

/** The stale edit behind a rejection; null if it has another reason. */
function conflictOf(error: unknown, [only, ...others]: Operation[]): StaleEdit | null {
  if (appCodeOf(error) !== 'CONFLICT' || only?.kind !== 'update' || others.length > 0) return null
  const { fieldId, current } = detailsOf(error)
  const [row, ...more] = only.rows
  if (typeof fieldId !== 'string' || row?.expected?.[fieldId] === undefined || more.length > 0) return null
  const mine = row.values[fieldId] ?? null
  return { id: row.id, fieldId, opened: row.expected[fieldId], mine, theirs: (current ?? null) as CellValue }
}

const isEmpty = (operation: Operation): boolean => sizeOf(operation) === 0

/** Number of records that an operation writes or links. */
const sizeOf = (operation: Operation): number =>
  'rows' in operation
    ? operation.rows.length
    : 'targets' in operation
      ? operation.targets.length
      : operation.ids.length
