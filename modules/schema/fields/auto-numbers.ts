import { sql } from 'drizzle-orm'
import { autoNumber } from '../../../src/core/fields/auto-number.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import type { Field, RecordId } from '../../../src/core/model.ts'
import { columnNameOf, PAGE } from '../../../src/db/column-values.ts'
import type { Dialect, Statement, Transaction } from '../../../src/dialects/dialect.ts'
import type { TableModel } from '../model/index.ts'

/** True if the server assigns numeric record ids, from which auto numbers derive. */
export const canNumber = ({ primaryKey }: TableModel): boolean =>
  fieldType(primaryKey.type).storage === 'id' && primaryKey.databaseType === null

/**
 * Numbers the existing records from 1 in the table's order. Returns the field options with which new records continue:
 * the difference between id and number.
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
  let number = 0
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
      rows.map(({ k }) => [++number, k]),
    )
    if (rows.length < PAGE) break
    last = rows.at(-1) ?? null
    await Bun.sleep(0)
  }
  return { behind: (await lastId(tx, dialect, tableName)) - number }
}

/** The last used id. Some engines consume an id when it is allocated, others when it is inserted. */
async function lastId(tx: Transaction, dialect: Dialect, tableName: string): Promise<number> {
  const [first = 1] = await dialect.allocateIds(tx, tableName, 1)
  const [second = 1] = await dialect.allocateIds(tx, tableName, 1)
  return second > first ? second : first - 1
}

/** Numbers the records that have no number yet, created by an import or while the field was in the trash. */
export function fillNumbers(
  dialect: Dialect,
  model: TableModel,
  field: Pick<Field, 'columnName' | 'options'>,
): Statement {
  const column = sql.identifier(field.columnName)
  const id = sql.identifier(columnNameOf(model.primaryKey))
  const { behind } = autoNumber.options.parse(field.options)
  return dialect.render(
    sql`update ${sql.identifier(model.table.tableName)} set ${column} = ${id} - ${behind} where ${column} is null`,
  )
}
