import { positionKey } from '../../src/core/changes.ts'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { fieldType } from '../../src/core/fields/index.ts'
import { hasSingleChoice } from '../../src/core/fields/traits.ts'
import type { Field, Sort } from '../../src/core/model.ts'
import type { Query, Selection } from '../../src/core/query.ts'
import type { GridRow } from '../grid/contract.ts'
import type { StoreQuery } from './types.ts'

/** The records of a store, in the form of a query. */
export const selectionOf = (
  tableId: string,
  { viewId, filter, search }: Pick<StoreQuery, 'viewId' | 'filter' | 'search'>,
): Pick<Selection, 'tableId' | 'viewId' | 'filter' | 'search'> => ({ tableId, viewId, filter, search })

/** True if neither a filter nor a search limits the records. */
export const isWholeTable = ({
  viewId,
  filter,
  search,
}: Pick<Selection, 'viewId' | 'filter' | 'search'>): boolean => viewId === undefined && !filter && !search

/** The order of a store's records, in the form of a query. */
export function orderOf({
  sorts,
  groups = [],
  orderViewId,
}: Pick<StoreQuery, 'sorts' | 'groups' | 'orderViewId'>): Pick<Query, 'sorts' | 'groups' | 'orderViewId'> {
  const isManual = sorts.length === 0 && groups.length === 0 && orderViewId !== undefined
  return {
    sorts: [...sorts],
    ...(groups.length > 0 ? { groups: [...groups] } : {}),
    ...(isManual ? { orderViewId } : {}),
  }
}

/** Value of one record's field. */
export type ValueOf = (fieldId: string) => CellValue

/**
 * Whether a record may be between its neighbours in a sorted list. True where the browser cannot tell (texts that
 * differ in case or accents only): the server decides.
 */
export function fitsOrder(
  sorts: readonly Sort[],
  previous: ValueOf | undefined,
  record: ValueOf,
  next: ValueOf | undefined,
): boolean {
  return (
    (previous === undefined || compare(sorts, previous, record) <= 0) &&
    (next === undefined || compare(sorts, record, next) <= 0)
  )
}

function compare(sorts: readonly Sort[], a: ValueOf, b: ValueOf): number {
  for (const { fieldId, direction } of sorts) {
    const order = compareValues(a(fieldId), b(fieldId))
    if (order !== 0) return direction === 'asc' ? order : -order
  }
  return 0
}

const collator = new Intl.Collator('en', { sensitivity: 'base' })

/** Negative, zero or positive as `a` comes before, with or after `b`; null is equal to every value. */
export function compareValues(a: CellValue, b: CellValue): number {
  // Databases sort nulls differently, so a null determines no order.
  if (a === null || b === null || a === b) return 0
  if (typeof a === 'string' && typeof b === 'string') return collator.compare(a, b)
  return Number(a) - Number(b)
}

/** The system field with the table's record order; absent in connected databases. */
export const orderFieldOf = (fields: readonly Field[]): Field | undefined =>
  fields.find((field) => field.isSystem && fieldType(field.type).ordersRecords)

/**
 * Compares two cards of a stack: by the view's sorts, else by its manual order, else by the table's order. Zero where
 * the browser cannot tell.
 */
export function compareCards(
  { fields, sorts, orderViewId }: Pick<StoreQuery, 'fields' | 'sorts' | 'orderViewId'>,
  a: GridRow,
  b: GridRow,
): number {
  for (const { fieldId, direction } of sorts) {
    const [x, y] = [a, b].map((row) => sortKey(fields, fieldId, row.values(fieldId)))
    const order = compareValues(x ?? null, y ?? null)
    if (order !== 0) return direction === 'asc' ? order : -order
  }
  const own = orderFieldOf(fields)
  const placeOf = (row: GridRow) =>
    row.values(positionKey(orderViewId ?? '')) ?? (own ? row.values(own.id) : null)
  return compareValues(placeOf(a), placeOf(b))
}

/** Sort key of a value; as on the server, choices sort by the order of their options. */
export function sortKey(fields: readonly Field[], fieldId: string, value: CellValue): CellValue {
  const field = fields.find((candidate) => candidate.id === fieldId)
  const { choices } = field?.options ?? {}
  if (!field || !hasSingleChoice(field) || !Array.isArray(choices) || value === null) return value
  return choices.findIndex((choice: { title?: unknown }) => choice.title === value)
}
