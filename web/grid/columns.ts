import { shownType } from '../../src/core/fields/field.ts'
import type { FieldOptions, FieldType } from '../../src/core/fields/field-type.ts'
import { readingOptions } from '../../src/core/fields/field-type.ts'
import type { Field } from '../../src/core/model.ts'
import type { Cell } from '../cells/cell.ts'
import { CELLS } from '../cells/index.ts'
import type { GridColumn } from './contract.ts'

/** A column with everything that its cells are drawn and edited with, looked up once. */
export interface ResolvedColumn {
  column: GridColumn
  field: Field
  fieldId: string
  cell: Cell
  type: FieldType
  options: FieldOptions
  /** The type whose values are shown: that of the result where the field is computed. */
  shown: { type: FieldType; isList: boolean }
  align: Cell['align']
  width: number
  /** The type can be written and this person may. */
  editable: boolean
}

const resolved = new WeakMap<GridColumn, ResolvedColumn>()

/** The same object for the same column, so that cells of untouched columns are not drawn again. */
export function resolveColumn(column: GridColumn): ResolvedColumn {
  const known = resolved.get(column)
  if (known) return known
  const { field, width } = column
  const cell = CELLS[field.type]
  const { type: shown, isList } = shownType(field)
  const read = cell.type.options.safeParse(field.options)
  const made: ResolvedColumn = {
    column,
    field,
    fieldId: field.id,
    cell,
    type: cell.type,
    // Options that a newer server wrote and this page cannot read: the field's defaults still draw.
    options: readingOptions(field, read.success ? read.data : cell.type.options.parse({})),
    shown: { type: shown, isList },
    align: field.result && !isList ? CELLS[field.result.type].align : cell.align,
    width,
    editable: column.editable !== false && cell.type.readOnly !== true && field.error === null,
  }
  resolved.set(column, made)
  return made
}
