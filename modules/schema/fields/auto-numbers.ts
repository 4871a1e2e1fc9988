import { sql } from 'drizzle-orm'
import { autoNumber } from '../../../src/core/fields/auto-number.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import type { Field, RecordId } from '../../../src/core/model.ts'
import { columnNameOf, PAGE } from '../../../src/db/column-values.ts'
import type { Dialect, Statement, Transaction } from '../../../src/dialects/dialect.ts'
import type { TableModel } from '../model/index.ts'

/** Whose numbers lag behind the ids by how much. */
type Numbered = Pick<Field, 'columnName' | 'options'>

const behindOf = ({ options }: Numbered): number => autoNumber.options.parse(options).behind

/** True where records are known by numbers that the server gives: an auto number follows from them. */
export const canNumber = ({ primaryKey }: TableModel): boolean =>
  fieldType(primaryKey.type).storage === 'id' && primaryKey.databaseType === null

/**
 * Numbers the records that are there from 1, in the table's order, into a column that is empty yet. Gives
 * the options by which new ones go on from there.
 */
export async function numberRecords(
  tx: Transaction,
  dialect: Dialect,
  model: TableModel,
  columnName: string,
): Promise<{ behind: number }> {
  const { tableName } = model.table
  const id = sql.identifier(columnNameOf(model.primaryKey))
  const order = sql.identifier('nc_order')
  let place = 0
  let last: { k: RecordId; o: number | null } | null = null
  for (;;) {
    const rows: { k: RecordId; o: number | null }[] = await tx.all(
      dialect.render(
        sql`select ${id} as k, ${order} as o from ${sql.identifier(tableName)}
          ${last === null ? sql`` : sql`where (${order} > ${last.o} or (${order} = ${last.o} and ${id} > ${last.k}))`}
          order by ${order}, ${id} limit ${PAGE}`,
      ),
    )
    const assign = `update ${dialect.quote(tableName)} set ${dialect.quote(columnName)} = ${dialect.placeholder(0)}
      where ${dialect.quote(columnNameOf(model.primaryKey))} = ${dialect.placeholder(1)}`
    await tx.runMany(
      assign,
      rows.map(({ k }) => [++place, k]),
    )
    if (rows.length < PAGE) break
    last = rows.at(-1) ?? null
    await Bun.sleep(0)
  }
  return { behind: (await lastId(tx, dialect, tableName)) - place }
}

/** The id after which the next record's comes. Some engines give an id away by asking for it, others by its use. */
async function lastId(tx: Transaction, dialect: Dialect, tableName: string): Promise<number> {
  const [first = 1] = await dialect.allocateIds(tx, tableName, 1)
  const [second = 1] = await dialect.allocateIds(tx, tableName, 1)
  return second > first ? second : first - 1
}

/** Numbers the records that were made while the field was in the trash, or by an import, as if it had been there. */
export function fillNumbers(dialect: Dialect, model: TableModel, field: Numbered): Statement {
  const column = sql.identifier(field.columnName)
  const id = sql.identifier(columnNameOf(model.primaryKey))
  return dialect.render(
    sql`update ${sql.identifier(model.table.tableName)} set ${column} = ${id} - ${behindOf(field)} where ${column} is null`,
  )
}
