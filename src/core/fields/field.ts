import type { CellValue, FieldOptions } from './field-type.ts'
import type { FieldTypeName } from './index.ts'

/**
 * What the values of a computed field are like: those of a field of this type. It filters, sorts, sums
 * up and is drawn so.
 */
export interface FieldResult {
  type: FieldTypeName
  options: FieldOptions
  /** True where one cell has any number of such values: a list as `core/fields/list-value.ts` keeps it. */
  isList: boolean
}

export interface Field {
  id: string
  tableId: string
  title: string
  columnName: string
  type: FieldTypeName
  options: FieldOptions
  description: string | null
  required: boolean
  unique: boolean
  defaultValue: CellValue
  order: number
  /** The one field that names a record; exactly one per table. */
  isDisplay: boolean
  isPrimaryKey: boolean
  /** Made by the product for its own use (created_at, nc_order, …); hidden unless asked for. */
  isSystem: boolean
  /** The column's type in a database that is not ours, e.g. `numeric(10,2)`; null in tables of our own. */
  databaseType: string | null
  /** Why nobody may write it, in words: a generated column, a type that cannot be edited; null: one may. */
  readOnlyReason: string | null
  /** What a computed field gives; null for a field with values of its own, and for a computed one that is broken. */
  result: FieldResult | null
  /** Why a computed field gives nothing: `Column 'Price' was deleted`; else null. */
  error: string | null
}
