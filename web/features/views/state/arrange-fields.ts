import { isForeignKey } from '../../../../src/core/fields/traits.ts'
import type { Field, View, ViewField } from '../../../../src/core/model.ts'

/** A change to one field of a view. */
export type FieldArrangement = Pick<ViewField, 'fieldId'> & Partial<Omit<ViewField, 'fieldId'>>

/** A field with its place in a view. */
export interface ArrangedField {
  field: Field
  column: ViewField
}

/** Width of a column that nobody has sized, ui §4.1. */
export const DEFAULT_WIDTH = 200

/** The columns with changes laid over them; fields that had no column get one. */
export function arrangeFields(
  columns: readonly ViewField[],
  changes: readonly FieldArrangement[],
): ViewField[] {
  const byId = new Map(columns.map((column) => [column.fieldId, column]))
  for (const change of changes) {
    const before = byId.get(change.fieldId) ?? newColumn(change.fieldId, byId.size + 1)
    byId.set(change.fieldId, { ...before, ...change })
  }
  return [...byId.values()]
}

const newColumn = (fieldId: string, order: number): ViewField => ({
  fieldId,
  order,
  show: true,
  width: DEFAULT_WIDTH,
  summary: null,
  form: null,
})

/** Where a field stands that the view does not know yet: at the end, and the key of a link out of sight. */
const unplaced = (field: Field): ViewField => ({
  ...newColumn(field.id, 1e6 + field.order),
  show: !isForeignKey(field),
})

/**
 * The fields that a person can see in a view, in its order, hidden ones included. System fields are
 * left out, and a field that the view does not know yet stands at the end.
 */
export function fieldsInOrder(fields: readonly Field[], view: Pick<View, 'fields'>): ArrangedField[] {
  const columns = new Map(view.fields.map((column) => [column.fieldId, column]))
  return fields
    .filter((field) => !field.isSystem)
    .map((field) => ({ field, column: columns.get(field.id) ?? unplaced(field) }))
    .sort((a, b) => a.column.order - b.column.order || a.field.order - b.field.order)
}

/** Those that are shown. */
export const shownFields = (fields: readonly Field[], view: Pick<View, 'fields'>): ArrangedField[] =>
  fieldsInOrder(fields, view).filter(({ field, column }) => column.show || field.isDisplay)

/**
 * The changes that put columns ahead of another (null: at the end). Numbered anew, all of them: orders
 * that came from elsewhere may be equal, and one call carries many columns.
 */
export function moveFields(
  fields: readonly Field[],
  view: Pick<View, 'fields'>,
  moved: readonly string[],
  before: string | null,
): FieldArrangement[] {
  const all = fieldsInOrder(fields, view).map(({ field }) => field.id)
  const others = all.filter((id) => !moved.includes(id))
  const at = before === null ? others.length : others.indexOf(before)
  const inOrder = others.toSpliced(
    at === -1 ? others.length : at,
    0,
    ...all.filter((id) => moved.includes(id)),
  )
  const orders = new Map(view.fields.map((column) => [column.fieldId, column.order]))
  return inOrder
    .map((fieldId, index) => ({ fieldId, order: index + 1 }))
    .filter(({ fieldId, order }) => orders.get(fieldId) !== order)
}

/** Fields to choose from, e.g. to filter by: those shown first, in the order of the view. */
export function fieldsToChoose(fields: readonly Field[], view: Pick<View, 'fields'>): Field[] {
  const all = fieldsInOrder(fields, view)
  const isShown = ({ field, column }: ArrangedField) => column.show || field.isDisplay
  return [...all.filter(isShown), ...all.filter((one) => !isShown(one))].map(({ field }) => field)
}
