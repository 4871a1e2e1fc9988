import type { Values } from '../../../src/core/changes.ts'
import { AppError, badRequest, notFound } from '../../../src/core/errors.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import type { Field, RecordId } from '../../../src/core/model.ts'
import type { TableModel } from '../../schema/index.ts'
import { isWritable } from '../validate.ts'

/** A record as clients send it: by title or by column name. */
export type Body = Record<string, unknown>

const keysOf = new WeakMap<TableModel, Map<string, Field>>()

/** Fields by every name that a body may use: the title wins over another field's column name. */
function names(model: TableModel): Map<string, Field> {
  const known = keysOf.get(model)
  if (known) return known
  const map = new Map<string, Field>()
  for (const field of model.fields) map.set(field.columnName, field)
  for (const field of model.fields) map.set(field.title, field)
  keysOf.set(model, map)
  return map
}

/**
 * Values by field id. Keys that name no field, and fields that the server fills, are left out: what
 * clients read they may send back as it is.
 */
export function readValues(model: TableModel, body: Body): Values {
  const values: Values = {}
  const byName = names(model)
  for (const key of Object.keys(body)) {
    const field = byName.get(key)
    // The write door checks each value against its field; here it is only put under the field's id.
    if (field && isWritable(field)) values[field.id] = body[key] as CellValue
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
  if (typeof body !== 'object' || body === null) return { bodies: [{}], isList: false }
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
