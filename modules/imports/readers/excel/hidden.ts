import { m } from '../../../../src/messages.gen.ts'
import type { RowProblem } from '../reader.ts'
import { columnLetters } from './workbook.ts'

/** Counts rows and columns of a table that its sheet does not show. They are imported like others. */
export interface HiddenCount {
  /** @param number of the row, from 1 */
  addRow(number: number): void
  /** @param cells of a row of the table; those in hidden columns may have a value */
  addCells(cells: readonly string[], hiddenColumns: ReadonlySet<number>): void
  notes(): string[]
  problems(firstRow: number): RowProblem[]
}

/** Titles that a note names. */
const MAX_NAMED = 10

export function createHiddenCount(titles: readonly string[] | null, firstColumn: number): HiddenCount {
  let rows = 0
  let firstHidden = 0
  /** Positions in the table. */
  const columns = new Set<number>()
  const titleOf = (index: number) => titles?.[index] || columnLetters(index + firstColumn)
  return {
    addRow(number) {
      if (rows++ === 0) firstHidden = number
    },
    addCells(cells, hiddenColumns) {
      for (let index = 0; index < cells.length; index++)
        if (cells[index] && hiddenColumns.has(index + firstColumn)) columns.add(index)
    },
    notes() {
      const named = [...columns].slice(0, MAX_NAMED).map((index) => `“${titleOf(index)}”`)
      const more = columns.size > MAX_NAMED ? ['…'] : []
      return [
        ...(rows > 0 ? [m.imports_note_hidden_rows({ count: rows })] : []),
        ...(columns.size > 0
          ? [m.imports_note_hidden_columns({ count: columns.size, columns: [...named, ...more].join(', ') })]
          : []),
      ]
    },
    problems: (firstRow) => [
      ...(rows > 0
        ? [{ row: firstHidden, column: '', value: '', reason: m.imports_note_hidden_rows({ count: rows }) }]
        : []),
      ...[...columns].map((index) => ({
        index,
        row: firstRow,
        column: titleOf(index),
        value: '',
        reason: m.imports_report_hidden_column(),
      })),
    ],
  }
}
