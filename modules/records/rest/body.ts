import type { Values } from '../../../src/core/changes.ts'
import { AppError, badRequest, notFound } from '../../../src/core/errors.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { isSingleLink, linkOf } from '../../../src/core/fields/link-options.ts'
import type { Field, RecordId } from '../../../src/core/model.ts'
import { m } from '../../../src/messages.gen.ts'
import type { SchemaReader, TableModel } from '../../schema/index.ts'
import {
  idOfKey,
  isInsertable,
  isLink,
  isWritable,
  keyFieldsOf,
  parseRecordId,
  perModel,
} from '../table/index.ts'

/** A record from a client, keyed by titles or column names. */
export type Body = Record<string, unknown>

/** Writable fields by every name that a body may use: titles take precedence over column names. */
const writableNames = perModel((model) => namesOf(model, isWritable))

/** The same for a new record, which may have a key that the database does not generate. */
const insertableNames = perModel((model) => namesOf(model, isInsertable))

function namesOf(model: TableModel, isMeant: (field: Field) => boolean): Map<string, string> {
  const fields = model.fields.filter(isMeant)
  // A system field’s title never refers to another field’s column.
  const titles = new Set(model.fields.map((field) => field.title))
  const byColumn = fields.filter((field) => !titles.has(field.columnName))
  return new Map([
    ...byColumn.map((field): [string, string] => [field.columnName, field.id]),
    ...fields.map((field): [string, string] => [field.title, field.id]),
  ])
}

/**
 * Values by field id, for a new record with its key, if given. Ignores unknown names and fields that the server
 * fills, so that clients may send back the records they read. For read-only columns see `readOnlyGiven`.
 */
export function readValues(model: TableModel, body: Body, { isNew = false } = {}): Values {
  const values: Values = {}
  const names = (isNew ? insertableNames : writableNames)(model)
  for (const key of Object.keys(body)) {
    const fieldId = names.get(key)
    // The write door checks the values.
    if (fieldId !== undefined) values[fieldId] = body[key] as CellValue
  }
  return values
}

/** Read-only columns of connected databases: arrays, bytes, geometry, generated columns. */
const readOnlyColumns = perModel((model) =>
  model.fields.filter(
    ({ databaseType, readOnlyReason, columnName, isPrimaryKey }) =>
      databaseType !== null && readOnlyReason !== null && columnName !== '' && !isPrimaryKey,
  ),
)

/** True for tables of connected databases with columns that nobody may write. */
export const hasReadOnlyColumns = (model: TableModel): boolean => readOnlyColumns(model).length > 0

/** The read-only columns in a body, with their values. */
export function readOnlyGiven(model: TableModel, body: Body): { field: Field; value: unknown }[] {
  return readOnlyColumns(model).flatMap((field) => {
    const name = [field.title, field.columnName].find((key) => Object.hasOwn(body, key))
    const value = name === undefined ? undefined : body[name]
    return value === undefined ? [] : [{ field, value }]
  })
}

/** @throws BAD_REQUEST naming a read-only column with a value, for new records and bulk updates */
export function refuseReadOnly(model: TableModel, body: Body): void {
  const given = readOnlyGiven(model, body).find(({ value }) => value !== null)
  if (given) throw readOnlyColumn(given.field)
}

export const readOnlyColumn = ({ id, title, readOnlyReason }: Field): AppError =>
  new AppError('BAD_REQUEST', m.records_error_read_only({ field: title, reason: readOnlyReason ?? '' }), {
    fieldId: id,
  })

/** A body with one record or a list. @throws 400 for anything else */
export function readBodies(body: unknown): { bodies: Body[]; isList: boolean } {
  if (Array.isArray(body)) {
    body.forEach((item, index) => {
      if (typeof item !== 'object' || item === null || Array.isArray(item)) {
        throw badRequest(m.records_error_body_item({ index }))
      }
    })
    return { bodies: body, isList: true }
  }
  // The adapter ignores files, and reads a missing body as empty.
  if (typeof body !== 'object' || body === null) throw badRequest(m.records_error_body_json())
  return { bodies: [body as Body], isList: false }
}

/**
 * The record id in a body, by the key’s title or column name; undefined if missing.
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

/** The id of a record to update. @throws RECORD_NOT_FOUND if the body has none */
export function requireKey(model: TableModel, body: Body): RecordId {
  const id = readKey(model, body)
  if (id === undefined) throw notFound('Record', 'unknown')
  return id
}

/** The id of a record to delete. @throws REQUIRED_FIELD_MISSING if the body has none */
export function requireKeyField(model: TableModel, body: Body): RecordId {
  const id = readKey(model, body)
  if (id === undefined) {
    throw new AppError('REQUIRED_FIELD_MISSING', `Field '${model.primaryKey.title}' is required`)
  }
  return id
}

/**
 * The inline links of new records, by field id for each body: one record for a single link (`{"Id":2}` or `2`), a
 * list for others (`[{"Id":1}]`, `[1]`, or one record). Other values are ignored, such as the link count that a
 * client read before.
 *
 * @param isVisitor true if errors must not name the linked table
 * @throws INVALID_PK_VALUE, 422 for a record without its key
 */
export async function readNewLinks(
  schema: Pick<SchemaReader, 'load'>,
  model: TableModel,
  bodies: Body[],
  { isVisitor = false } = {},
): Promise<Values[]> {
  const values: Values[] = bodies.map(() => ({}))
  for (const field of model.fields) {
    if (!isLink(field) || field.error !== null || !bodies.some((body) => isGiven(body, field))) continue
    const options = linkOf(field)
    if (!options) continue
    const whole = await schema.load(options.relatedTableId)
    const related = isVisitor ? { ...whole, table: { ...whole.table, title: field.title } } : whole
    bodies.forEach((body, index) => {
      if (!isGiven(body, field)) return
      const ids = idsOf(related, body[field.title], isSingleLink(options))
      if (ids !== null) values[index]![field.id] = JSON.stringify(ids) as CellValue
    })
  }
  return values
}

const isGiven = (body: Body, field: Field): boolean =>
  Object.hasOwn(body, field.title) && body[field.title] !== null && body[field.title] !== undefined

function idsOf(related: TableModel, value: unknown, isSingle: boolean): RecordId[] | null {
  if (Array.isArray(value)) return value.map((item) => readRef(related, item))
  // A number or text is the link count that a client read before.
  if (value === '' || (!isSingle && typeof value !== 'object')) return null
  return [readRef(related, value)]
}

/** The records in the body of a link request: `[{"Id":1}]`, `{"Id":1}` or `[1]`. */
export function readRefs(related: TableModel, body: unknown): RecordId[] {
  return (Array.isArray(body) ? body : [body]).map((item) => readRef(related, item))
}

/** @throws INVALID_PK_VALUE; 422 in the wording of the reference for a record without its key */
function readRef(related: TableModel, item: unknown): RecordId {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) return parseRecordId(related, item)
  const id = readKey(related, item as Body)
  if (id !== undefined) return id
  const { table, primaryKey } = related
  const shown = JSON.stringify(item).slice(0, 200)
  throw new AppError(
    'REQUIRED_FIELD_MISSING',
    `Validation failed: Missing primary key column "${primaryKey.title}" in request for model "${table.title}". RefId: ${shown}`,
    undefined,
    'msg',
  )
}
