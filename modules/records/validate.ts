import type { Values } from '../../src/core/changes.ts'
import { AppError, notFound } from '../../src/core/errors.ts'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { fieldType } from '../../src/core/fields/index.ts'
import { valueError } from '../../src/core/fields/read.ts'
import type { Field } from '../../src/core/model.ts'
import type { TableModel } from '../schema/index.ts'
import { perModel } from './per-model.ts'

/** What a field accepts, ready to be asked many times. */
interface Checker {
  field: Field
  /** The value of a new record where the caller gives none. */
  initial: CellValue
  read(input: unknown): CellValue
}

/** The checkers of a table's writable fields, by field id. */
const checkersOf = perModel(
  (model) => new Map(model.fields.filter(isWritable).map((field) => [field.id, createChecker(field)])),
)

/** True where people and programs may write; all other values are the server's own. */
export function isWritable(field: Field): boolean {
  return !fieldType(field.type).readOnly && !field.isPrimaryKey && !field.isSystem
}

/** As `readValue`, with what follows from the field looked up once. */
function createChecker(field: Field): Checker {
  const type = fieldType(field.type)
  const keepsEmptyText = type.filters === 'text'
  return {
    field,
    initial: field.defaultValue ?? type.initial ?? null,
    read(input) {
      if (input === null || input === undefined || (input === '' && !keepsEmptyText)) return null
      const read = type.read(input, field.options)
      if (read.ok) return read.value
      throw valueError(field, input, read)
    },
  }
}

/**
 * Values for an update as they will be stored.
 *
 * @throws FIELD_NOT_FOUND for an unknown field; INVALID_VALUE_FOR_FIELD naming the field for a value
 *   that does not fit; REQUIRED_FIELD_MISSING where a required field would become empty
 */
export function checkValues(model: TableModel, values: Values): Values {
  const checkers = checkersOf(model)
  const checked: Values = {}
  for (const fieldId in values) {
    const checker = checkers.get(fieldId)
    if (!checker) throw refuseField(model, fieldId)
    const value = checker.read(values[fieldId])
    if (checker.field.required && isEmpty(value)) throw missing(checker.field)
    checked[fieldId] = value
  }
  return checked
}

/** Values for a new record: as `checkValues`, with defaults where the caller gives nothing. */
export function checkNewValues(model: TableModel, values: Values): Values {
  const checked = checkValues(model, values)
  for (const [fieldId, { field, initial }] of checkersOf(model)) {
    if (checked[fieldId] !== undefined) continue
    if (field.required && isEmpty(initial)) throw missing(field)
    checked[fieldId] = initial
  }
  return checked
}

const isEmpty = (value: CellValue): boolean => value === null || value === ''

const missing = (field: Field): AppError =>
  new AppError('REQUIRED_FIELD_MISSING', `Field '${field.title}' is required`, {
    fieldId: field.id,
    field: field.title,
  })

function refuseField(model: TableModel, fieldId: string): AppError {
  const field = model.field(fieldId)
  if (!field) return notFound('Field', fieldId)
  return new AppError('BAD_REQUEST', `Field "${field.title}" cannot be written: its values are computed`, {
    fieldId,
  })
}
