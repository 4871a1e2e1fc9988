import { type SQL, sql } from 'drizzle-orm'
import { storageOf } from '../../../src/core/fields/field.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { readFormulaLink } from '../../../src/core/fields/formula.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import { PASSWORD_MASK } from '../../../src/core/fields/password.ts'
import { isSecret } from '../../../src/core/fields/traits.ts'
import type { Field, RecordId } from '../../../src/core/model.ts'
import type { Dialect, QueryDialect } from '../../../src/dialects/dialect.ts'
import type { TableModel } from '../../schema/index.ts'

/**
 * Name of the column that holds a field's values. A "Created time" field that a person added has
 * none of its own: it shows the table's system column.
 */
export function columnName(field: Field): string {
  return fieldType(field.type).systemColumn ?? field.columnName
}

export const columnOf = (field: Field): SQL => sql`${sql.identifier(columnName(field))}`

/** How a field's values come out of the database, where they are not the value itself. */
export function decoderOf(field: Field, dialect: QueryDialect): ((value: unknown) => CellValue) | null {
  if (fieldType(field.type).computed === 'button') return (link) => JSON.stringify(buttonOf(field, link))
  return dialect.decode(storageOf(field))
}

/** What a button's cell says; the database gives only the link that its formula makes. */
export function buttonOf({ options }: Field, link: unknown) {
  const { kind = 'url', label = '' } = options
  return kind === 'url' ? { type: kind, label, url: bareLink(link) } : { type: kind, label }
}

/** The address alone, also where the formula says `URL("…")`. */
function bareLink(link: unknown): string | null {
  if (link === null || link === undefined || link === '') return null
  const text = String(link)
  return readFormulaLink(text) ?? text
}

/** A value as the database's driver takes it for the field's column. */
export const encoded = (field: Field, dialect: Dialect, value: CellValue): CellValue =>
  dialect.encode(storageOf(field))?.(value) ?? value

/** Applies a column's decoder to every row, in place; columns without one cost nothing. */
export function decodeRows(rows: unknown[][], fields: Field[], dialect: QueryDialect): CellValue[][] {
  fields.forEach((field, index) => {
    const decode = decoderOf(field, dialect)
    if (decode) for (const row of rows) row[index] = decode(row[index])
  })
  return rows as CellValue[][]
}

/** A record's id as its table keeps it: a table that numbers its records takes "7" for 7. */
export function storedId(model: TableModel, id: RecordId): RecordId {
  const { storage } = fieldType(model.primaryKey.type)
  const isNumbered = (storage === 'id' || storage === 'integer') && model.keyFields.length === 1
  return isNumbered && typeof id === 'string' && /^-?\d{1,15}$/.test(id) ? Number(id) : id
}

/** False for what no record of the table can have as its id, and some engines refuse to look for. */
export const isPossibleId = (model: TableModel, id: RecordId): boolean =>
  fieldType(model.primaryKey.type).storage !== 'id' || Number.isSafeInteger(storedId(model, id))

/** The present in milliseconds, to the second: what "created at" and "modified at" keep, as REST clients know them. */
export const wholeSecond = (): number => Math.floor(Date.now() / 1000) * 1000

/** A field's own column of the table that stands in the statement under `alias`. Passwords are masked. */
export function columnIn({ alias }: { alias: string }, field: Field): SQL {
  const column = sql`${sql.identifier(alias)}.${sql.identifier(columnName(field))}`
  // Nobody reads a password, not even what is kept of it: all that there is to see is that there is one.
  return isSecret(field) ? sql`case when ${column} is null then null else ${PASSWORD_MASK} end` : column
}

/** The order of a table without sorts: its manual order, then its key. */
export function ownOrder(scope: { alias: string; model: TableModel }): SQL[] {
  const { fields, primaryKey, keyFields } = scope.model
  const order = fields.find((field) => field.isSystem && columnName(field) === 'nc_order')
  const keys = keyFields.length === 0 ? [primaryKey] : keyFields
  return [...(order ? [order] : []), ...keys].map((field) => columnIn(scope, field))
}

/** Something that follows from a table alone, worked out once for each version of it. */
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
