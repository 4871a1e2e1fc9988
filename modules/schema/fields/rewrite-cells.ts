import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { logRecords } from '../../../src/db/change-log.ts'
import { type ColumnValue, columnNameOf, pagesOf } from '../../../src/db/column-values.ts'
import { currentWork } from '../../../src/works.ts'
import type { CellsWrite } from '../change/index.ts'
import type { FieldAtItsTurn } from './turn.ts'

/**
 * Values of a field as `rewrite` makes them anew. Each record that changes is listed in the log with
 * its value before and after, so that undo and the record's history know it.
 */
export async function rewriteCells(
  turn: FieldAtItsTurn,
  rewrite: (value: CellValue) => CellValue,
): Promise<CellsWrite> {
  let count = 0
  for await (const page of changedPages(turn, rewrite)) count += page.length
  return {
    count,
    async write(changeId) {
      // Each value, and its line in the log.
      currentWork()?.expect(changeId === null ? count : 2 * count, count)
      for await (const page of changedPages(turn, rewrite)) await writePage(turn, page, changeId)
    },
  }
}

interface ChangedValue extends ColumnValue {
  after: CellValue
}

async function* changedPages(
  { tx, engine, model, field }: FieldAtItsTurn,
  rewrite: (value: CellValue) => CellValue,
): AsyncGenerator<ChangedValue[]> {
  for await (const page of pagesOf(engine, model, field, (statement) => tx.all<ColumnValue>(statement))) {
    const changed = page
      .map(({ id, value }) => ({ id, value, after: rewrite(value) }))
      .filter(({ value, after }) => value !== after)
    if (changed.length > 0) yield changed
  }
}

async function writePage(
  { tx, engine: { dialect }, model, field }: FieldAtItsTurn,
  page: ChangedValue[],
  changeId: number | null,
): Promise<void> {
  const [table, column, key] = [
    model.table.tableName,
    columnNameOf(field),
    columnNameOf(model.primaryKey),
  ].map(dialect.quote)
  await tx.runMany(
    `update ${table} set ${column} = ${dialect.placeholder(0)} where ${key} = ${dialect.placeholder(1)}`,
    page.map(({ id, after }) => [after, id]),
  )
  if (changeId === null) return
  await logRecords(
    tx,
    dialect,
    changeId,
    page.map(({ id, value, after }) => ({
      tableId: model.table.id,
      recordId: id,
      before: { [field.id]: value },
      after: { [field.id]: after },
    })),
  )
}
