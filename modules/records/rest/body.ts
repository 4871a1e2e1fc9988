import type { Values } from '../../../src/core/changes.ts'
import { AppError, badRequest, notFound } from '../../../src/core/errors.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { isSingleLink, linkOf } from '../../../src/core/fields/link-options.ts'
import type { Field, RecordId } from '../../../src/core/model.ts'
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

/**
 * The links that bodies of new records give inline, as values by field id for each body: one record for a
 * link of the single side (`{"Id":2}` or `2`), a list for the others (`[{"Id":1}]` or `[1]`, or one record).
 * Anything else is passed over, such as the number of links that a client has read before and sends back.
 *
 * @param isVisitor true where a refusal may not say what the linked table is called
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
  // A number or text is what a client has read before: how many there are.
  if (value === '' || (!isSingle && typeof value !== 'object')) return null
  return [readRef(related, value)]
}

/** The records that the body of a link call names: `[{"Id":1}]`, `{"Id":1}` or `[1]`. */
export function readRefs(related: TableModel, body: unknown): RecordId[] {
  return (Array.isArray(body) ? body : [body]).map((item) => readRef(related, item))
}

/** @throws INVALID_PK_VALUE; 422 where the key is not there, in the words that REST clients know */
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
