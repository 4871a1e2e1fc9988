import { type SQL, sql } from 'drizzle-orm'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import type { Field, RecordId } from '../../../src/core/model.ts'
import type { TableModel } from '../../schema/index.ts'
import { asKey, columnName, keyFieldsOf, keyOf, keyValues, storedId } from '../table/index.ts'

/** A field's column in a table that stands in the statement under a name. */
export const columnIn = (alias: string, field: Field): SQL =>
  sql`${sql.identifier(alias)}.${sql.identifier(columnName(field))}`

/** A table under a name. */
export const tableAs = (model: TableModel, alias: string): SQL =>
  sql`${sql.identifier(model.table.tableName)} as ${sql.identifier(alias)}`

/** Values as a list in brackets takes them. */
export const listOf = (values: CellValue[]): SQL =>
  sql.join(
    values.map((value) => sql`${value}`),
    sql`, `,
  )

/** True where a field alone is the id of the table's records. */
export const isWholeId = (model: TableModel, field: Field): boolean =>
  keyFieldsOf(model).length === 1 && field.id === model.primaryKey.id

/** How the id of a table's records is selected, of however many columns it is, and read from what comes. */
export function idPart(model: TableModel, alias: string, name: string) {
  const columns = keyFieldsOf(model).map((field) => columnIn(alias, field))
  return {
    select: sql`${keyOf(model, alias)} as ${sql.identifier(name)}`,
    read: (row: Record<string, unknown>): RecordId => storedId(model, row[name] as RecordId),
    /** True for the records of the ids, of which there is at least one. */
    isIn(ids: RecordId[]): SQL {
      const [only] = columns
      if (only && columns.length === 1) return sql`${only} in (${listOf(ids)})`
      const each = ids.map((id) => {
        const values = keyValues(model, id)
        const parts = columns.map((column, index) => sql`${column} = ${values[index] ?? null}`)
        return sql`(${sql.join(parts, sql` and `)})`
      })
      return sql`(${sql.join(each, sql` or `)})`
    },
  }
}

/** As `idPart`, of an id that lies in one column of a junction. */
export function keyPart(
  model: TableModel,
  alias: string,
  key: Field,
  name: string,
): ReturnType<typeof idPart> {
  const column = columnIn(alias, key)
  return {
    select: sql`${asKey(column, key)} as ${sql.identifier(name)}`,
    read: (row) => storedId(model, row[name] as RecordId),
    isIn: (ids) => sql`${column} in (${listOf(ids)})`,
  }
}
