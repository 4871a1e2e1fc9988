import { type AppliedChange, placeKey, type RecordChange, type Values } from '../../src/core/changes.ts'
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

/** Applied changes that are remembered, to recognise one that comes by two ways. */
const REMEMBERED = 200

/** The rows to keep in step, and what decides where they belong. */
export interface LiveDeps {
  tableId: string
  state: ListState
  paging: Pick<Paging, 'refreshSoon' | 'restart'>
  computed: Pick<Computed, 'follow'>
  query(): StoreQuery
  actorId(): string | null
  /** False for a record that stands among those of another group. Absent: there are none. */
  isInPlace?(id: RecordId, values: ValueOf): boolean
}

export type Live = ReturnType<typeof createLive>

/** Keeps the rows in step with what was written, by others or by this browser's own undo. */
export function createLive({ tableId, state, paging, computed, query, actorId, isInPlace }: LiveDeps) {
  /** Own changes on their way, with what the socket told of them, and changes that are in already. */
  const own = new Map<string, AppliedChange | null>()
  const seen = new Set<number>()

  function remember(id: number): void {
    seen.add(id)
    const [oldest] = seen
    if (seen.size > REMEMBERED && oldest !== undefined) seen.delete(oldest)
  }

  /**
   * Whether a record still stands where it belongs; marks it where it does not. It stays in place
   * until the person leaves it.
   */
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
    if (fields.some((field) => isComputed(field) && isDeciding(field.id))) return true
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

  /** Values as they are or will be stored: what was refused does not count. */
  function valuesOf(row: GridRow | undefined): ValueOf | undefined {
    return (
      row &&
      ((fieldId) =>
        row.failedCells?.has(fieldId) ? state.rows.stored(row.id, fieldId) : row.values(fieldId))
    )
  }

  /** A change of this table that is stored: by someone else, or by undo. */
  function take(change: AppliedChange): void {
    if (seen.has(change.id)) return
    computed.follow(change)
    if (!change.tableIds.includes(tableId)) return
    remember(change.id)
    const records = change.records.filter((record) => record.tableId === tableId)
    const moved = records.map(takeRecord)
    if (change.truncated) paging.refreshSoon()
    else if (moved.includes(true)) paging.refreshSoon(records)
    if (records.some((record) => record.after === null)) {
      paging.restart()
      state.structureChanged()
    }
    state.dataChanged()
  }

  /** Writes one record; true where it may stand elsewhere now, or where others may have come in. */
  function takeRecord({ recordId, before, after }: RecordChange): boolean {
    const isLoaded = state.segments.has(recordId)
    if (after === null) {
      if (isLoaded) state.remove([recordId])
      return !isLoaded
    }
    if (before === null) return !isLoaded
    if (!changesOrder(after)) {
      if (isLoaded) show(recordId, after)
      return false
    }
    if (!isLoaded) return true
    show(recordId, after)
    if (isMove(after)) state.placed(recordId, after)
    recheck(recordId)
    return state.rows.unmatched.has(recordId) || query().search !== null || isMove(after)
  }

  function show(id: RecordId, after: Values): void {
    state.rows.merge(id, withShared(after))
    state.rowChanged(id)
  }

  /**
   * Values as rows show them: fields that show a system column (created by, last modified time) follow that
   * column, and what a change says of links, which is not what they hold, is left out.
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

  const deciding = (): string[] => [
    ...fieldsOf(query().filter),
    ...[...(query().groups ?? []), ...query().sorts].map((sort) => sort.fieldId),
    ...state.decides,
  ]
  const isDeciding = (fieldId: string): boolean => deciding().includes(fieldId)

  function changesOrder(after: Values): boolean {
    const shared = withShared(after)
    return query().search !== null || isMove(after) || deciding().some((fieldId) => fieldId in shared)
  }

  /** True where the record's place in the table's own order was written, or in the manual order of the view. */
  const isMove = (after: Values): boolean =>
    placeKey(query().orderViewId ?? '') in after ||
    query().fields.some((field) => fieldType(field.type).ordersRecords && field.isSystem && field.id in after)

  return {
    recheck,
    withShared,
    take,

    /** A change with this client id is on its way from here. */
    expect: (clientId: string): void => void own.set(clientId, null),

    /**
     * An own change that came over the socket while its answer has not: it is stored, so sending it
     * again after a lost answer would write it twice.
     */
    arrived: (clientId: string): AppliedChange | null => own.get(clientId) ?? null,

    /** The answer to an own change is in; null: it was refused. */
    answered(clientId: string, change: AppliedChange | null): void {
      own.delete(clientId)
      if (!change) return
      remember(change.id)
      computed.follow(change)
    },

    /** Applies a change from the socket; own changes are already applied. */
    receive(change: AppliedChange): void {
      if (change.clientId !== undefined && own.has(change.clientId)) own.set(change.clientId, change)
      else take(change)
    },
  }
}

const isLinkDelta = (value: CellValue, field: Field): boolean =>
  fieldType(field.type).computed === 'link' && typeof value === 'string' && value.startsWith('{')

const systemColumnOf = (field: Field): string | undefined => fieldType(field.type).systemColumn
