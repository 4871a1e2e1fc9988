import { sql } from 'drizzle-orm'
import type { Dialect, Transaction } from '../../../src/dialects/dialect.ts'
import { currentWork } from '../../../src/works.ts'
import type { TableModel } from '../model/index.ts'

/** Tells the followed write that it is about all records of a table. */
export async function expectRecords(
  tx: Pick<Transaction, 'all'>,
  dialect: Dialect,
  { table }: Pick<TableModel, 'table'>,
): Promise<void> {
  const work = currentWork()
  if (!work) return
  const [found] = await tx.all<{ n: number }>(
    dialect.render(sql`select count(*) as n from ${sql.identifier(table.tableName)}`),
  )
  const count = Number(found?.n ?? 0)
  work.expect(count, count)
}
