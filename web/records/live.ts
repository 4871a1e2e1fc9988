import { type AppliedChange, positionKey, type RecordChange, type Values } from '../../src/core/changes.ts'
import { isComputed } from '../../src/core/fields/field.ts'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { fieldType } from '../../src/core/fields/index.ts'
import { fieldsOf, matchesFilter } from '../../src/core/filters/index.ts'
import type { Field, RecordId } from '../../src/core/model.ts'
import type { GridRow } from '../grid/contract.ts'
import { timeZone } from '../time-zone.ts'
import type { Computed } from './computed.ts'
import type { ListState } from './layouts/list.ts'
import type { Paging } from './layouts/paging.ts'
import { fitsOrder, sortKey, type ValueOf } from './record-order.ts'
import type { StoreQuery } from './types.ts'

/** Ids of applied changes kept to recognise a change that arrives twice (response and socket). */
const REMEMBERED = 200

/** The rows to update, and the query that determines their order. */
export interface LiveDeps {
  tableId: string
  state: ListState
  paging: Pick<Paging, 'refreshSoon' | 'restart'>
  computed: Pick<Computed, 'follow'>
  query(): StoreQuery
  actorId(): string | null
  /** False if the values of a record do not match the group it is listed in. Absent: no groups. */
  isInPlace?(id: RecordId, values: ValueOf): boolean
}

export type Live = ReturnType<typeof createLive>

/** Applies stored changes to the rows: those of other users, and this browser's own undo. */
export function createLive({ tableId, state, paging, computed, query, actorId, isInPlace }: LiveDeps) {
  /** Own changes being sent, by client id, with the socket's event once it arrived. */
  const pending = new Map<string, AppliedChange | null>()
  /** Ids of changes already applied. */
  const seen = new Set<number>()

  function remember(id: number): void {
    seen.add(id)
    const [oldest] = seen
    if (seen.size > REMEMBERED && oldest !== undefined) seen.delete(oldest)
  }

  /** Marks a record that no longer fits the filter or order. It stays in place until the user leaves it. */
  function recheck(id: RecordId): void {
    const fits = belongs(id)
    if (fits === !state.rows.unmatched.has(id)) return
    if (fits) state.rows.unmatched.delete(id)
    else state.rows.unmatched.add(id)
    state.rowChanged(id)
  }

  function belongs(id: RecordId): boolean {
    const { filter, sorts, fields } = query()
    // Computed values arrive later; the rows are then reloaded in order.
    if (fields.some((field) => isComputed(field) && affectsOrder(field.id))) return true
    const record = state.segments.has(id) ? valuesOf(state.rows.row(id)) : undefined
    if (!record) return true
    if (filter) {
      const values = Object.fromEntries(fieldsOf(filter).map((fieldId) => [fieldId, record(fieldId)]))
      const field = (fieldId: string) => fields.find((candidate) => candidate.id === fieldId)
      if (!matchesFilter(filter, values, { field, now: new Date(), timeZone, actorId: actorId() }))
        return false
    }
    if (isInPlace?.(id, record) === false) return false
    const rank = (values: ValueOf | undefined): ValueOf | undefined =>
      values && ((fieldId) => sortKey(fields, fieldId, values(fieldId)))
    const [previous, next] = state.neighbours(id)
    return fitsOrder(sorts, rank(valuesOf(previous)), rank(record) ?? record, rank(valuesOf(next)))
  }

  /** Stored or pending values; rejected ones are ignored. */
  function valuesOf(row: GridRow | undefined): ValueOf | undefined {
    return (
      row &&
      ((fieldId) =>
        row.failedCells?.has(fieldId) ? state.rows.stored(row.id, fieldId) : row.values(fieldId))
    )
  }

  /** Applies a stored change that did not go through `apply`: another user's, or an undo. */
  function applyStored(change: AppliedChange): void {
    if (seen.has(change.id)) return
    computed.follow(change)
    if (!change.tableIds.includes(tableId)) return
    remember(change.id)
    const records = change.records.filter((record) => record.tableId === tableId)
    const moved = records.map((record) => applyRecord(record, change.id))
    if (change.truncated) paging.refreshSoon()
    else if (moved.includes(true)) paging.refreshSoon(records)
    if (records.some((record) => record.after === null)) {
      paging.restart()
      state.structureChanged()
    }
    state.dataChanged()
  }

  /** Applies one record's change; returns true if the list has to be read again. */
  function applyRecord({ recordId, before, after }: RecordChange, change: number): boolean {
    const isLoaded = state.segments.has(recordId)
    if (after === null) {
      if (isLoaded) state.remove([recordId])
      return !isLoaded
    }
    if (before === null) return !isLoaded
    // Also a record that is not loaded: a page with it may be on its way.
    state.rows.merge(recordId, withShared(after), change)
    if (isLoaded) state.rowChanged(recordId)
    if (!changesOrder(after)) return false
    if (!isLoaded) return true
    if (changesPosition(after)) state.positionChanged(recordId, after, change)
    recheck(recordId)
    return state.rows.unmatched.has(recordId) || query().search !== null || changesPosition(after)
  }

  /**
   * Changed values as rows show them: fields that show a system column (created by, last modified time) get that
   * column's value; links are left out, as changes carry deltas of them, not values.
   */
  function withShared(after: Values): Values {
    const { fields } = query()
    const values = { ...after }
    for (const field of fields) {
      if (isLinkDelta(values[field.id] ?? null, field)) delete values[field.id]
      const column = field.isSystem ? undefined : fieldType(field.type).systemColumn
      const source = column && fields.find((other) => other.isSystem && systemColumnOf(other) === column)
      const value = source ? after[source.id] : undefined
      if (value !== undefined) values[field.id] = value
    }
    return values
  }

  const orderingFields = (): string[] => [
    ...fieldsOf(query().filter),
    ...[...(query().groups ?? []), ...query().sorts].map((sort) => sort.fieldId),
    ...state.orderingFieldIds,
  ]
  const affectsOrder = (fieldId: string): boolean => orderingFields().includes(fieldId)

  function changesOrder(after: Values): boolean {
    const shared = withShared(after)
    return (
      query().search !== null ||
      changesPosition(after) ||
      orderingFields().some((fieldId) => fieldId in shared)
    )
  }

  /** True if a change sets the record's position in the table's order or the view's manual order. */
  const changesPosition = (after: Values): boolean =>
    positionKey(query().orderViewId ?? '') in after ||
    query().fields.some((field) => fieldType(field.type).ordersRecords && field.isSystem && field.id in after)

  return {
    recheck,
    withShared,
    applyStored,

    /** Registers an own change before it is sent. */
    expect: (clientId: string): void => void pending.set(clientId, null),

    /**
     * The socket's event for an own change whose response is still missing; null if no event arrived. A change with
     * an event is stored, so it need not be sent again after a lost response.
     */
    arrived: (clientId: string): AppliedChange | null => pending.get(clientId) ?? null,

    /** Ends an own change with the server's response; null: rejected. */
    answered(clientId: string, change: AppliedChange | null): void {
      pending.delete(clientId)
      if (!change) return
      remember(change.id)
      computed.follow(change)
    },

    /** Applies a change from the socket; own changes are already applied. */
    receive(change: AppliedChange): void {
      if (change.clientId !== undefined && pending.has(change.clientId)) pending.set(change.clientId, change)
      else applyStored(change)
    },
  }
}

const isLinkDelta = (value: CellValue, field: Field): boolean =>
  fieldType(field.type).computed === 'link' && typeof value === 'string' && value.startsWith('{')

const systemColumnOf = (field: Field): string | undefined => fieldType(field.type).systemColumn
