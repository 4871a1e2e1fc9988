import { placeKey } from '../../../../../src/core/changes.ts'
import { fieldType } from '../../../../../src/core/fields/index.ts'
import type { Field } from '../../../../../src/core/model.ts'
import type { GridRow } from '../../../../grid/source.ts'
import { sortKey } from '../../../records/store/live.ts'
import { compareValues } from '../../../records/store/order-check.ts'
import type { StoreQuery } from '../../../records/store/types.ts'

/** The field that keeps the records' own order; connected databases have none. */
export const orderFieldOf = (fields: readonly Field[]): Field | undefined =>
  fields.find((field) => field.isSystem && fieldType(field.type).ordersRecords)

/**
 * Negative, zero or positive as a card belongs before, with or after another in their stack: by the sorts of
 * the view, else by its manual order, else by the table's own. Zero where the browser cannot tell.
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
    row.values(placeKey(orderViewId ?? '')) ?? (own ? row.values(own.id) : null)
  return compareValues(placeOf(a), placeOf(b))
}
