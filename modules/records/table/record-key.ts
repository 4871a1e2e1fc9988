import { type SQL, sql } from 'drizzle-orm'
import { AppError, badRequest, notFound } from '../../../src/core/errors.ts'
import { storageOf } from '../../../src/core/fields/field.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import { isForeignKey } from '../../../src/core/fields/traits.ts'
import type { Field, RecordId } from '../../../src/core/model.ts'
import type { Dialect } from '../../../src/dialects/dialect.ts'
import { isPadded } from '../../../src/dialects/foreign.ts'
import { isTextStorage } from '../../../src/dialects/related.ts'
import type { TableModel } from '../../schema/index.ts'
import { columnName, columnOf, perModel } from './columns.ts'

/**
 * Between the parts of an id that several columns make up, as REST clients know it. A part that could be mistaken for
 * two is escaped: `~_` stands for `_` and `~~` for `~`. All other parts stand as they are, so `a___b` keeps its
 * meaning.
 */
const BETWEEN = '___'
const ESCAPE = '~'
/** Marks the ends of a part while it is looked at, so that the first and the last letter can be told by `replace` alone. */
const END = '|'

/** What makes a part ambiguous, at its place among the others. */
const ambiguous = (index: number, count: number): string[] => [
  ...[BETWEEN, `${ESCAPE}_`, ESCAPE + ESCAPE],
  ...(index > 0 ? [`${END}_`] : []),
  ...(index < count - 1 ? [`_${END}`, ESCAPE + END] : []),
]

/** True for a table of our own making: with an order, and columns for who wrote a record and when. */
export const isOurs = perModel((model) =>
  model.fields.some((field) => field.isSystem && columnName(field) === 'nc_order'),
)

/** True for a table of a connected database, to which others write as well. */
export const isForeign = (model: TableModel): boolean => !isOurs(model)

/** @throws BAD_REQUEST for a table whose records cannot be put into an order: those of connected databases */
export function refuseUnordered(model: TableModel): void {
  if (isOurs(model)) return
  throw badRequest(`Records of ${model.table.title} can’t be reordered: they are in a connected database`)
}

/** True where records cannot be told apart: such a table is only looked at. */
export const isKeyless = ({ keyFields }: Pick<TableModel, 'keyFields'>): boolean => keyFields.length === 0

/** A record's id as an expression, under the name that its table has there: beside it other tables' keys may stand. */
export function keyOf(model: TableModel, alias: string = model.table.tableName): SQL {
  const parts = keyFieldsOf(model).map((field) =>
    asKey(sql`${sql.identifier(alias)}.${columnOf(field)}`, field),
  )
  if (parts.length === 1) return sql`${parts[0]}`
  const escaped = keyFieldsOf(model).map((field, index) =>
    isTextStorage(storageOf(field)) ? escapedPart(parts[index] as SQL, index, parts.length) : parts[index],
  )
  return sql`concat_ws('${sql.raw(BETWEEN)}', ${sql.join(escaped, sql`, `)})`
}

function escapedPart(part: SQL, index: number, count: number): SQL {
  const text = sql`concat(${part}, '')`
  const marked = sql`concat('${sql.raw(END)}', ${part}, '${sql.raw(END)}')`
  const tests = ambiguous(index, count).map(
    (piece) => sql`replace(${marked}, '${sql.raw(piece)}', '') <> ${marked}`,
  )
  const replaced = sql`replace(replace(${text}, '~', '~~'), '_', '~_')`
  return sql`case when ${sql.join(tests, sql` or `)} then ${replaced} else ${text} end`
}

/** A column that holds a key, or a part of one, as ids have it. */
export const asKey = (column: SQL, { databaseType }: Field): SQL =>
  isPadded(databaseType) ? sql`rtrim(${column})` : column

/** The fields of the key; of a table without one, which is only looked at, its first. */
export const keyFieldsOf = ({ keyFields, primaryKey }: TableModel): Field[] =>
  keyFields.length > 0 ? keyFields : [primaryKey]

/**
 * The values of the key's columns, in the order of `keyFieldsOf`.
 *
 * @throws RECORD_NOT_FOUND for an id of fewer or more parts than the key has
 */
export function keyValues(model: TableModel, id: RecordId): CellValue[] {
  const { length } = keyFieldsOf(model)
  if (length === 1) return [id]
  const parts = partsOf(String(id))
  if (parts.length !== length) throw notFound('Record', String(id).slice(0, 64))
  return parts
}

/** An id taken apart. What is escaped though it need not be is understood as well. */
function partsOf(id: string): string[] {
  const parts: string[] = []
  let part = ''
  for (let at = 0; at < id.length; at++) {
    const next = id[at + 1]
    if (id[at] === ESCAPE && (next === '_' || next === ESCAPE)) {
      part += next
      at++
    } else if (id.startsWith(BETWEEN, at)) {
      parts.push(part)
      part = ''
      at += BETWEEN.length - 1
    } else {
      part += id[at]
    }
  }
  return [...parts, part]
}

/** The id that values of the key's columns make. */
export const idOfKey = (values: readonly unknown[]): RecordId =>
  values.length === 1
    ? (values[0] as RecordId)
    : values.map((value, index) => joinedPart(String(value), index, values.length)).join(BETWEEN)

function joinedPart(part: string, index: number, count: number): string {
  const marked = END + part + END
  const isAmbiguous = ambiguous(index, count).some((piece) => marked.includes(piece))
  return isAmbiguous ? part.replaceAll('~', '~~').replaceAll('_', '~_') : part
}

/** `where` of one record, as text; its values are those of `keyValues` and stand after `before` others. */
export const keyText = (dialect: Dialect, model: TableModel, before = 0): string =>
  keyFieldsOf(model)
    .map((field, index) => `${dialect.quote(columnName(field))} = ${dialect.placeholder(before + index)}`)
    .join(' and ')

/** True for the records of the ids, of which there is at least one. */
export function idIn(model: TableModel, ids: RecordId[]): SQL {
  const fields = keyFieldsOf(model)
  const [only] = fields
  if (only && fields.length === 1) {
    const list = ids.map((id) => sql`${id}`)
    return sql`${columnOf(only)} in (${sql.join(list, sql`, `)})`
  }
  const each = ids.map((id) => {
    const values = keyValues(model, id)
    const parts = fields.map((field, index) => sql`${columnOf(field)} = ${values[index] ?? null}`)
    return sql`(${sql.join(parts, sql` and `)})`
  })
  return sql`(${sql.join(each, sql` or `)})`
}

/** A record id from a path or body. @throws INVALID_PK_VALUE */
export function parseRecordId(model: TableModel, value: unknown): RecordId {
  if (isTextKey(model)) {
    if (typeof value === 'number' || (typeof value === 'string' && isPlain(value))) return String(value)
  }
  const number =
    typeof value === 'number'
      ? value
      : typeof value === 'string' && /^-?\d+$/.test(value)
        ? Number(value)
        : Number.NaN
  if (Number.isSafeInteger(number)) return number
  // Numbers of eight bytes may be more than a number here can say.
  if (isForeign(model) && typeof value === 'string' && /^-?\d{16,19}$/.test(value)) return value
  const shown = typeof value === 'string' || typeof value === 'number' ? value : typeof value
  throw new AppError(
    'INVALID_PK_VALUE',
    `Primary key value '${String(shown).slice(0, 100)}' is invalid for column '${model.primaryKey.title}'`,
  )
}

/** True for the ids that are texts: keys of connected databases, and those of several columns. */
function isTextKey(model: TableModel): boolean {
  const { type, options } = model.primaryKey
  if (!isForeign(model)) return false
  if (keyFieldsOf(model).length > 1 || (isForeignKey({ type }) && options.isText === true)) return true
  return !['id', 'integer', 'real'].includes(fieldType(type).storage)
}

const MAX_KEY_LENGTH = 1000

const isPlain = (text: string): boolean =>
  text.length <= MAX_KEY_LENGTH && !text.includes('\u0000') && text.isWellFormed()
