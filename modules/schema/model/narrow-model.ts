import type { View } from '../../../src/core/model.ts'
import { BROKEN, visibleFieldIds } from '../../../src/core/views/public-view.ts'
import { createTableModel, type TableModel } from './model.ts'

/** Kept with the view that says what is visible: a change of either the view or its table makes both anew. */
const kept = new WeakMap<View, { model: TableModel; narrowed: TableModel }>()

/**
 * The table as if it had only the fields that a link to the view lets see: what a visitor names is looked up in
 * this, so that a hidden field is one that there is none of. The values of computed fields are worked out over
 * the whole table, which knows where they come from.
 */
export function narrowModel(model: TableModel, view: View): TableModel {
  const known = kept.get(view)
  if (known?.model === model) return known.narrowed
  const narrowed = narrowTo(model, visibleFieldIds(view, model.fields))
  kept.set(view, { model, narrowed })
  return narrowed
}

/** The table with its key and the field that names its records: all that a link to them shows. */
export function namesOnly(model: TableModel): TableModel {
  const { displayField, primaryKey, keyFields } = model
  return narrowTo(model, new Set([displayField, primaryKey, ...keyFields].map(({ id }) => id)))
}

/** Why a field is broken may speak of others, so that is left out too. */
function narrowTo({ table, stored }: TableModel, visible: ReadonlySet<string>): TableModel {
  const seen = stored.filter(({ id }) => visible.has(id))
  return createTableModel(
    table,
    seen.map((field) => (field.error === null ? field : { ...field, error: BROKEN })),
  )
}
