import type { Values } from '../../src/core/changes.ts'
import { AppError, notFound } from '../../src/core/errors.ts'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { fieldType } from '../../src/core/fields/index.ts'
import { readValue, valueError } from '../../src/core/fields/read.ts'
import type { Field } from '../../src/core/model.ts'
import type { TableModel } from '../schema/index.ts'

/** What a field accepts, ready to be asked many times. */
interface Checker {
  field: Field
  read(input: unknown): CellValue
}

const compiled = new WeakMap<TableModel, Map<string, Checker>>()

/** The checkers of a table's writable fields, made once for each version of the table. */
function checkersOf(model: TableModel): Map<string, Checker> {
  const known = compiled.get(model)
  if (known) return known
  const checkers = new Map(model.fields.filter(isWritable).map((field) => [field.id, createChecker(field)]))
  compiled.set(model, checkers)
  return checkers
}

export const isWritable = (field: Field): boolean =>
  !fieldType(field.type).readOnly && !field.isPrimaryKey && !field.isSystem

function createChecker(field: Field): Checker {
  return {
    field,
    read(input) {
      const read = readValue(field, input)
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
  for (const { field } of checkersOf(model).values()) {
    if (checked[field.id] !== undefined) continue
    const value = field.defaultValue ?? fieldType(field.type).initial ?? null
    if (field.required && isEmpty(value)) throw missing(field)
    checked[field.id] = value
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
