import { shownType } from '../../src/core/fields/field.ts'
import {
  completeOptions,
  type FieldOptions,
  type FieldType,
  readingOptions,
} from '../../src/core/fields/field-type.ts'
import type { Field } from '../../src/core/model.ts'
import type { Cell } from '../cells/cell.ts'
import { CELLS } from '../cells/index.ts'
import type { GridColumn } from './contract.ts'

/** A column with its resolved cell, type and options. */
export interface ResolvedColumn {
  column: GridColumn
  field: Field
  fieldId: string
  cell: Cell
  type: FieldType
  options: FieldOptions
  /** The displayed type: the result type of a computed field. */
  shown: { type: FieldType; isList: boolean }
  align: Cell['align']
  width: number
  /** True if the type is writable and this person may write. */
  editable: boolean
}

const resolved = new WeakMap<GridColumn, ResolvedColumn>()

/** Cached by column, so that cells of unchanged columns do not render again. */
export function resolveColumn(column: GridColumn): ResolvedColumn {
  const known = resolved.get(column)
  if (known) return known
  const { field, width } = column
  const cell = CELLS[field.type]
  const { type: shown, isList } = shownType(field)
  const created: ResolvedColumn = {
    column,
    field,
    fieldId: field.id,
    cell,
    type: cell.type,
    options: readingOptions(field, completeOptions(cell.type, field.options)),
    shown: { type: shown, isList },
    align: field.result && !isList ? CELLS[field.result.type].align : cell.align,
    width,
    editable: column.editable !== false && cell.type.readOnly !== true && field.error === null,
  }
  resolved.set(column, created)
  return created
}
