import type { Values } from '../../../src/core/changes.ts'
import { AppError, badRequest, notFound } from '../../../src/core/errors.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import type { Field, RecordId } from '../../../src/core/model.ts'
import type { TableModel } from '../../schema/index.ts'
import { idOfKey, isInsertable, isWritable, keyFieldsOf, parseRecordId, perModel } from '../table/index.ts'

/** A record as clients send it: by title or by column name. */
export type Body = Record<string, unknown>

/** Fields that a body may set, by every name it may use: the title wins over another field's column name. */
const writableNames = perModel((model) => namesOf(model, isWritable))

/** The same of a new record, which may bring the key that the database does not make. */
const insertableNames = perModel((model) => namesOf(model, isInsertable))

function namesOf(model: TableModel, isMeant: (field: Field) => boolean): Map<string, string> {
  const fields = model.fields.filter(isMeant)
  // A title that is taken by a field of the server's own never means another field's column.
  const titles = new Set(model.fields.map((field) => field.title))
  const byColumn = fields.filter((field) => !titles.has(field.columnName))
  return new Map([
    ...byColumn.map((field): [string, string] => [field.columnName, field.id]),
    ...fields.map((field): [string, string] => [field.title, field.id]),
  ])
}

/**
 * Values by field id; of a new record the key is one of them, where it is given. Keys that name no field, and fields that the server fills, are left out: what
 * clients read they may send back as it is. Columns that nobody writes are looked at apart, see `readOnlyGiven`.
 */
export function readValues(model: TableModel, body: Body, { isNew = false } = {}): Values {
  const values: Values = {}
  const names = (isNew ? insertableNames : writableNames)(model)
  for (const key of Object.keys(body)) {
    const fieldId = names.get(key)
    // The write door checks each value against its field; here it is only put under the field's id.
    if (fieldId !== undefined) values[fieldId] = body[key] as CellValue
  }
  return values
}

/** Columns of connected databases that nobody writes here: lists, bytes, shapes, and what the database computes. */
const readOnlyColumns = perModel((model) =>
  model.fields.filter(
    ({ databaseType, readOnlyReason, columnName, isPrimaryKey }) =>
      databaseType !== null && readOnlyReason !== null && columnName !== '' && !isPrimaryKey,
  ),
)

/** The columns that nobody writes to which a body gives a value, with that value. */
export function readOnlyGiven(model: TableModel, body: Body): { field: Field; value: unknown }[] {
  return readOnlyColumns(model).flatMap((field) => {
    const name = [field.title, field.columnName].find((key) => Object.hasOwn(body, key))
    const value = name === undefined ? undefined : body[name]
    return value === undefined ? [] : [{ field, value }]
  })
}

/** @throws BAD_REQUEST naming the field where a new record, or many records at once, are given such a value */
export function refuseReadOnly(model: TableModel, body: Body): void {
  const given = readOnlyGiven(model, body).find(({ value }) => value !== null)
  if (given) throw readOnlyColumn(given.field)
}

export const readOnlyColumn = ({ id, title, readOnlyReason }: Field): AppError =>
  new AppError('BAD_REQUEST', `Field "${title}" is read-only: ${readOnlyReason}`, { fieldId: id })

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
  const parts = keyFieldsOf(model).map(({ title, columnName }) =>
    Object.hasOwn(body, title) ? body[title] : Object.hasOwn(body, columnName) ? body[columnName] : undefined,
  )
  if (parts.some((part) => part === undefined || part === null)) return undefined
  return parts.length === 1 ? parseRecordId(model, parts[0]) : idOfKey(parts)
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
