import type { Values } from '../../../src/core/changes.ts'
import { AppError, badRequest, notFound } from '../../../src/core/errors.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import type { RecordId } from '../../../src/core/model.ts'
import type { TableModel } from '../../schema/index.ts'
import { perModel } from '../per-model.ts'
import { isWritable } from '../validate.ts'

/** A record as clients send it: by title or by column name. */
export type Body = Record<string, unknown>

/** Fields that a body may set, by every name it may use: the title wins over another field's column name. */
const writableNames = perModel((model) => {
  const fields = model.fields.filter(isWritable)
  // A title that is taken by a field of the server's own never means another field's column.
  const titles = new Set(model.fields.map((field) => field.title))
  const byColumn = fields.filter((field) => !titles.has(field.columnName))
  return new Map([
    ...byColumn.map((field): [string, string] => [field.columnName, field.id]),
    ...fields.map((field): [string, string] => [field.title, field.id]),
  ])
})

/**
 * Values by field id. Keys that name no field, and fields that the server fills, are left out: what
 * clients read they may send back as it is.
 */
export function readValues(model: TableModel, body: Body): Values {
  const values: Values = {}
  const names = writableNames(model)
  for (const key of Object.keys(body)) {
    const fieldId = names.get(key)
    // The write door checks each value against its field; here it is only put under the field's id.
    if (fieldId !== undefined) values[fieldId] = body[key] as CellValue
  }
  return values
}

/** A body that is one record, or a list of them. @throws 400 for anything else */
export function readBodies(body: unknown): { bodies: Body[]; isList: boolean } {
  if (Array.isArray(body)) {
    body.forEach((item, index) => {
      if (typeof item !== 'object' || item === null || Array.isArray(item)) {
        throw badRequest(`Item ${index} of the body must be an object`)
      }
    })
    return { bodies: body, isList: true }
  }
  // The adapter reads no files, and an absent body as an empty one.
  if (typeof body !== 'object' || body === null) throw badRequest('The body must be JSON')
  return { bodies: [body as Body], isList: false }
}

/**
 * The record id in a body, by the key's title or column name; undefined where it is not there.
 *
 * @throws INVALID_PK_VALUE for one that no record can have
 */
export function readKey(model: TableModel, body: Body): RecordId | undefined {
  const { title, columnName } = model.primaryKey
  const value = Object.hasOwn(body, title)
    ? body[title]
    : Object.hasOwn(body, columnName)
      ? body[columnName]
      : undefined
  return value === undefined || value === null ? undefined : parseRecordId(model, value)
}

/** A record id from a path or body. @throws INVALID_PK_VALUE */
export function parseRecordId(model: TableModel, value: unknown): RecordId {
  const number =
    typeof value === 'number'
      ? value
      : typeof value === 'string' && /^-?\d+$/.test(value)
        ? Number(value)
        : Number.NaN
  if (Number.isSafeInteger(number)) return number
  const shown = typeof value === 'string' || typeof value === 'number' ? value : typeof value
  throw new AppError(
    'INVALID_PK_VALUE',
    `Primary key value '${String(shown).slice(0, 100)}' is invalid for column '${model.primaryKey.title}'`,
  )
}

/** The id of a record to change. @throws RECORD_NOT_FOUND where the body names none */
export function requireKey(model: TableModel, body: Body): RecordId {
  const id = readKey(model, body)
  if (id === undefined) throw notFound('Record', 'unknown')
  return id
}

/** The id of a record to delete. @throws REQUIRED_FIELD_MISSING where the body names none */
export function requireKeyField(model: TableModel, body: Body): RecordId {
  const id = readKey(model, body)
  if (id === undefined) {
    throw new AppError('REQUIRED_FIELD_MISSING', `Field '${model.primaryKey.title}' is required`)
  }
  return id
}
