import { isForeignKey } from '../../../../src/core/fields/traits.ts'
import type { Field, View, ViewField } from '../../../../src/core/model.ts'

/** A change to one field of a view. */
export type FieldArrangement = Pick<ViewField, 'fieldId'> & Partial<Omit<ViewField, 'fieldId'>>

/** A field with its column settings in a view. */
export interface ArrangedField {
  field: Field
  column: ViewField
}

/** Default column width (ui §4.1). */
export const DEFAULT_WIDTH = 200

/** Applies changes to columns; fields without a column get one. */
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

/** View settings of a field that the view lacks: at the end; hidden for foreign keys. */
const unplaced = (field: Field): ViewField => ({
  ...newColumn(field.id, 1e6 + field.order),
  show: !isForeignKey(field),
})

/**
 * The fields of a view in its order, including hidden ones but not system fields. Fields that the view lacks come last.
 */
export function fieldsInOrder(fields: readonly Field[], view: Pick<View, 'fields'>): ArrangedField[] {
  const columns = new Map(view.fields.map((column) => [column.fieldId, column]))
  return fields
    .filter((field) => !field.isSystem)
    .map((field) => ({ field, column: columns.get(field.id) ?? unplaced(field) }))
    .sort((a, b) => a.column.order - b.column.order || a.field.order - b.field.order)
}

/** The visible fields of a view in its order. */
export const shownFields = (fields: readonly Field[], view: Pick<View, 'fields'>): ArrangedField[] =>
  fieldsInOrder(fields, view).filter(({ field, column }) => column.show || field.isDisplay)

/**
 * The changes that move columns before another (null: to the end). Renumbers all columns, because orders set by API
 * clients may be equal, and one call can update many columns.
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

/** Fields to choose from, e.g. for filters: in view order, visible ones first. */
export function fieldsToChoose(fields: readonly Field[], view: Pick<View, 'fields'>): Field[] {
  const all = fieldsInOrder(fields, view)
  const isShown = ({ field, column }: ArrangedField) => column.show || field.isDisplay
  return [...all.filter(isShown), ...all.filter((one) => !isShown(one))].map(({ field }) => field)
}
