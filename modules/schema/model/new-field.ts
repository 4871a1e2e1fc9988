import { badRequest } from '../../../src/core/errors.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import type { Field } from '../../../src/core/model.ts'
import type { ColumnDefinition } from '../../../src/dialects/dialect.ts'
import type { FieldInput } from './definition.ts'
import type { TableModel } from './model.ts'

/** Most fields of one table, the system ones not counted. */
export const MAX_FIELDS = 500

/** A field of a new table. */
export interface NewField extends FieldInput {
  /** Wish for the name in the database (REST). */
  columnName?: string
  isDisplay?: boolean
  /** What a REST client keeps with the column. */
  wireMeta?: Record<string, unknown> | null
}

/** A field's column as DDL needs it; nothing for a field that shows a system column. */
export function columnOf(field: Pick<Field, 'columnName' | 'type'>): ColumnDefinition[] {
  if (field.columnName === '') return []
  // Rules and defaults are kept by the write door: a column is always open, so that one can be
  // added beside another, and a field in the trash never stands in the way of a new record.
  return [
    { name: field.columnName, storage: fieldType(field.type).storage, required: false, defaultValue: null },
  ]
}

/** @throws BAD_REQUEST where the table has as many fields as it may */
export function requireRoom(model: TableModel): void {
  if (!hasRoom(model)) throw badRequest(`A table can have up to ${MAX_FIELDS} fields`)
}

/** True where the table may have another field. */
export const hasRoom = ({ fields }: Pick<TableModel, 'fields'>): boolean =>
  fields.filter((field) => !field.isSystem && !field.isPrimaryKey).length < MAX_FIELDS
