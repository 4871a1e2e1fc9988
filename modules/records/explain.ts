import { AppError } from '../../src/core/errors.ts'
import type { Dialect } from '../../src/dialects/dialect.ts'
import type { TableModel } from '../schema/index.ts'

/** Turns a constraint of the database into words about a field of the tables; gives any other error as it is. */
export function explainViolation(error: unknown, models: TableModel[], dialect: Dialect): unknown {
  const violation = dialect.violation(error)
  const field = models
    .flatMap((model) => model.fields)
    .find((candidate) => violation?.columns.includes(candidate.columnName))
  // A record that was deleted may come back with a value that its field kept apart, before it went to the trash.
  const trashed = models.flatMap((model) => [...model.trashedColumns.values()])
  if (violation?.kind === 'unique' && violation.columns.some((column) => trashed.includes(column))) {
    return new AppError(
      'DATABASE_ERROR',
      'The values of a field in the trash must be unique: restore it first',
    )
  }
  // What is not about a field of theirs is a fault of ours.
  if (!violation || !field) return error
  const details = { fieldId: field.id, field: field.title }
  if (violation.kind === 'required') {
    return new AppError('REQUIRED_FIELD_MISSING', `Field '${field.title}' is required`, details)
  }
  const message = `This record already exists: the values of "${field.title}" must be unique`
  return new AppError('DATABASE_ERROR', message, details)
}
