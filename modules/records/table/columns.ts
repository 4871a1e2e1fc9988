import { type SQL, type SQLChunk, StringChunk, sql } from 'drizzle-orm'
import { nowMs } from '../../../src/clock.ts'
import { AppError, badRequest, notFound } from '../../../src/core/errors.ts'
import { storageOf } from '../../../src/core/fields/field.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { readFormulaLink } from '../../../src/core/fields/formula.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import { PASSWORD_MASK } from '../../../src/core/fields/password.ts'
import { isForeignKey, isSecret } from '../../../src/core/fields/traits.ts'
import type { Field, RecordId } from '../../../src/core/model.ts'
import { idAsStored } from '../../../src/core/record-id.ts'
import type { Dialect, QueryDialect, Statement } from '../../../src/dialects/dialect.ts'
import { isPadded } from '../../../src/dialects/foreign.ts'
import { isTextStorage } from '../../../src/dialects/related.ts'
import { m } from '../../../src/messages.gen.ts'
import type { TableModel } from '../../schema/index.ts'

/**
 * The column that holds a field’s values. A “Created time” field that a person added has no column and shows the
 * table’s system column.
 */
export function columnName(field: Field): string {
  return fieldType(field.type).systemColumn ?? field.columnName
}

export const columnOf = (field: Field): SQL => sql`${sql.identifier(columnName(field))}`

/** Decodes a field’s values from the database; null if they need no decoding. */
export function decoderOf(field: Field, dialect: QueryDialect): ((value: unknown) => CellValue) | null {
  if (fieldType(field.type).computed === 'button') return (link) => JSON.stringify(buttonOf(field, link))
  return dialect.decode(storageOf(field))
}

/** A button’s cell; the database gives only the link that its formula makes. */
export function buttonOf({ options }: Field, link: unknown) {
  const { kind = 'url', label = '' } = options
  return kind === 'url' ? { type: kind, label, url: bareLink(link) } : { type: kind, label }
}

/** The address, also if the formula gives `URL("…")`. */
function bareLink(link: unknown): string | null {
  if (link === null || link === undefined || link === '') return null
  const text = String(link)
  return readFormulaLink(text) ?? text
}

/** Encodes a value for the database driver. */
export const encoded = (field: Field, dialect: Dialect, value: CellValue): CellValue =>
  encoderOf(field, dialect)?.(value) ?? value

/** Applies the decoders to all rows, in place; columns without one cost nothing. */
export function decodeRows(rows: unknown[][], fields: Field[], dialect: QueryDialect): CellValue[][] {
  fields.forEach((field, index) => {
    const decode = decoderOf(field, dialect)
    if (decode) for (const row of rows) row[index] = decode(row[index])
  })
  return rows as CellValue[][]
}

/** A record’s id as its table stores it: numbered tables accept "7" for 7. */
export const storedId = (model: TableModel, id: RecordId): RecordId => idAsStored(model.keyFields, id)

/** False for ids that no record of the table can have, and that some engines reject. */
export const isPossibleId = (model: TableModel, id: RecordId): boolean =>
  fieldType(model.primaryKey.type).storage !== 'id' ||
  Number.isSafeInteger(storedId(model, id)) ||
  (isForeign(model) && isLong(id))

/** True for a number of eight bytes that may be more than a number here can say. */
const isLong = (id: unknown): id is string => typeof id === 'string' && /^-?\d{16,19}$/.test(id)

/** The current time in milliseconds, to the second, as “created at” and “modified at” are stored. */
export const wholeSecond = (): number => Math.floor(nowMs() / 1000) * 1000

/** A field’s column under a table alias. Passwords are masked. */
export function columnIn({ alias }: { alias: string }, field: Field): SQL {
  const column = sql`${sql.identifier(alias)}.${sql.identifier(columnName(field))}`
  // Reads show only whether there is a password, not even its hash.
  return isSecret(field) ? sql`case when ${column} is null then null else ${PASSWORD_MASK} end` : column
}

/** The field with the manual order; null for tables without one: junction tables, and those of connected databases. */
export const orderField = perModel(({ fields, table }): Field | null =>
  table.isJunction
    ? null
    : (fields.find((field) => field.isSystem && columnName(field) === 'nc_order') ?? null),
)

/** The order without sorts: the manual order, then the key. */
export function ownOrder(scope: { alias: string; model: TableModel }): SQL[] {
  const { primaryKey, keyFields } = scope.model
  const order = orderField(scope.model)
  const keys = keyFields.length === 0 ? [primaryKey] : keyFields
  return [...(order ? [order] : []), ...keys].map((field) => columnIn(scope, field))
}

/** Cheaper to render than an SQL, which matters for long lists. */
const COMMA = new StringChunk(', ')

/** Values as a bound list. */
export const listOf = (values: readonly unknown[]): SQL => sql.join(values as SQLChunk[], COMMA)

/** Caches a value derived from a table for each version of the table. */
export function perModel<T>(make: (model: TableModel) => T): (model: TableModel) => T {
  const made = new WeakMap<TableModel, { value: T }>()
  return (model) => {
    const known = made.get(model)
    if (known) return known.value
    const value = make(model)
    made.set(model, { value })
    return value
  }
}

/** Caches a value derived from a table or field and the dialect of its database. */
export function perDialect<S extends object, T>(
  make: (subject: S, dialect: Dialect) => T,
): (subject: S, dialect: Dialect) => T {
  const made = new WeakMap<S, { dialect: Dialect; value: T }>()
  return (subject, dialect) => {
    const known = made.get(subject)
    if (known?.dialect === dialect) return known.value
    const value = make(subject, dialect)
    made.set(subject, { dialect, value })
    return value
  }
}

/** The quoted name of a field’s column. */
export const quotedColumn = perDialect((field: Field, dialect) => dialect.quote(columnName(field)))

/** Encodes a field’s values for the database driver; null if they need no encoding. */
const encoderOf = perDialect((field: Field, dialect) => dialect.encode(storageOf(field)))

/**
 * Separator of the parts of a composite id in REST. Ambiguous parts are escaped, `~_` for `_` and `~~` for `~`;
 * others stay as they are, so `a___b` keeps its meaning.
 */
const BETWEEN = '___'

const ESCAPE = '~'

/** Marks the ends of a part, so that SQL’s `replace` can detect its first and last letter. */
export const END = '|'

/** Substrings that make a part at this index ambiguous. */
export const ambiguous = (index: number, count: number): string[] => [
  BETWEEN,
  `${ESCAPE}_`,
  ESCAPE + ESCAPE,
  ...(index > 0 ? [`${END}_`] : []),
  ...(index < count - 1 ? [`_${END}`, ESCAPE + END] : []),
]

/** True for tables of bases: they have system columns for order, author and time. */
export const isOurs = perModel((model) =>
  model.fields.some((field) => field.isSystem && columnName(field) === 'nc_order'),
)

/** True for tables of connected databases, to which others write as well. */
export const isForeign = (model: TableModel): boolean => !isOurs(model)

/** @throws BAD_REQUEST for tables without a manual order, see `orderField` */
export function refuseUnordered(model: TableModel): void {
  if (orderField(model)) return
  const table = model.table.title
  throw badRequest(
    isOurs(model)
      ? m.records_error_reorder_junction({ table })
      : m.records_error_reorder_connected({ table }),
  )
}

/** True if the records have no key: such a table is read-only. */
export const isKeyless = ({ keyFields }: Pick<TableModel, 'keyFields'>): boolean => keyFields.length === 0

/** A record’s id as SQL, qualified by the table’s alias. */
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

/** A key column in the form that ids have. */
export const asKey = (column: SQL, { databaseType }: Field): SQL =>
  isPadded(databaseType) ? sql`rtrim(${column})` : column

/** The fields of the key; the first field for a table without one. */
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

/** Splits a composite id. Also accepts unnecessary escapes. */
export function partsOf(id: string): string[] {
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
    .map((field, index) => `${quotedColumn(field, dialect)} = ${dialect.placeholder(before + index)}`)
    .join(' and ')

/**
 * As `idIn`, as text with its values, which stand after `before` others. Not rendered, which would take as long as a short
 * read. For tables with one key column.
 */
export function idInText(dialect: Dialect, model: TableModel, ids: RecordId[], before = 0): Statement {
  const [only, ...others] = keyFieldsOf(model)
  if (!only || others.length > 0) throw new Error(`Table ${model.table.id} has no single key column`)
  const marks = ids.map((_, index) => dialect.placeholder(before + index)).join(', ')
  return { sql: `${quotedColumn(only, dialect)} in (${marks})`, params: ids }
}

/** True for the records of the ids, of which there is at least one. */
export function idIn(model: TableModel, ids: RecordId[]): SQL {
  const fields = keyFieldsOf(model)
  const [only] = fields
  if (only && fields.length === 1) {
    return sql`${columnOf(only)} in (${listOf(ids)})`
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
  if (isForeign(model) && isLong(value)) return value
  const shown = typeof value === 'string' || typeof value === 'number' ? value : typeof value
  throw new AppError(
    'INVALID_PK_VALUE',
    m.wire_error_primary_key({ value: String(shown).slice(0, 100), column: model.primaryKey.title }),
  )
}

/** True for the ids that are texts: keys of connected databases, and those of several columns. */
export function isTextKey(model: TableModel): boolean {
  const { type, options } = model.primaryKey
  if (!isForeign(model)) return false
  if (keyFieldsOf(model).length > 1 || (isForeignKey({ type }) && options.isText === true)) return true
  return !['id', 'integer', 'real'].includes(fieldType(type).storage)
}

export const MAX_KEY_LENGTH = 1000

export const isPlain = (text: string): boolean =>
  text.length <= MAX_KEY_LENGTH && !text.includes('\u0000') && text.isWellFormed()
