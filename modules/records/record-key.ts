import { type SQL, sql } from 'drizzle-orm'
import { notFound } from '../../src/core/errors.ts'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import type { Field, RecordId } from '../../src/core/model.ts'
import type { Dialect } from '../../src/dialects/dialect.ts'
import { isPadded } from '../../src/dialects/foreign.ts'
import type { TableModel } from '../schema/index.ts'
import { columnName, columnOf } from './columns.ts'
import { perModel } from './per-model.ts'

/** Between the parts of an id that several columns make up, as REST clients know it. */
const BETWEEN = '___'

/** True for a table of our own making: with an order, and columns for who wrote a record and when. */
export const isOurs = perModel((model) =>
  model.fields.some((field) => field.isSystem && columnName(field) === 'nc_order'),
)

/** True for a table of a connected database, to which others write as well. */
export const isForeign = (model: TableModel): boolean => !isOurs(model)

/** True where records cannot be told apart: such a table is only looked at. */
export const isKeyless = ({ keyFields }: Pick<TableModel, 'keyFields'>): boolean => keyFields.length === 0

/** A record's id as an expression, under the name that its table has there: beside it other tables' keys may stand. */
export function keyOf(model: TableModel, alias: string = model.table.tableName): SQL {
  const parts = keyFieldsOf(model).map((field) =>
    asKey(sql`${sql.identifier(alias)}.${columnOf(field)}`, field),
  )
  return parts.length === 1
    ? sql`${parts[0]}`
    : sql`concat_ws('${sql.raw(BETWEEN)}', ${sql.join(parts, sql`, `)})`
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
  const parts = String(id).split(BETWEEN)
  if (parts.length !== length) throw notFound('Record', String(id).slice(0, 64))
  return parts
}

/** The id that values of the key's columns make. */
export const idOfKey = (values: readonly unknown[]): RecordId =>
  values.length === 1 ? (values[0] as RecordId) : values.map(String).join(BETWEEN)

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
