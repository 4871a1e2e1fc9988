import type { SheetRange } from '../../../../src/core/imports/format.ts'
import type { Merge, Sheet, SheetBatch, SheetRow } from './workbook.ts'

/** A part of a sheet as a sheet: cells keep their places, those outside are empty. */
export function withinRange(sheet: Sheet, range: SheetRange | undefined): Sheet {
  if (!range) return sheet
  const {
    firstRow,
    lastRow = Number.POSITIVE_INFINITY,
    firstColumn,
    lastColumn = Number.POSITIVE_INFINITY,
  } = range
  const hasCell = (row: number, column: number) =>
    row >= firstRow && row <= lastRow && column >= firstColumn && column <= lastColumn

  function cut({ number, cells, kinds, links, ...others }: SheetRow): SheetRow {
    const part = <T>(items: T[]): T[] => {
      const kept = items.slice(0, lastColumn + 1)
      for (let column = 0; column < Math.min(firstColumn, kept.length); column++) delete kept[column]
      return kept
    }
    return { ...others, number, cells: part(cells), kinds: part(kinds), ...(links && { links: part(links) }) }
  }

  async function* rows(): AsyncGenerator<SheetBatch> {
    for await (const batch of sheet.rows()) {
      const within = batch.rows.filter(({ number }) => number >= firstRow && number <= lastRow)
      yield { rows: within.map(cut), done: batch.done }
      if ((batch.rows.at(-1)?.number ?? 0) > lastRow) return
    }
  }

  return {
    ...sheet,
    rows,
    merges: async () =>
      (await sheet.merges()).filter((merge: Merge) => hasCell(merge.firstRow + 1, merge.column)),
    async annotations() {
      const annotations = await sheet.annotations()
      const comments = annotations.comments.filter(({ row, column }) => hasCell(row, column))
      const rest = annotations.commentCount - annotations.comments.length
      return { ...annotations, comments, commentCount: comments.length + rest }
    },
  }
}
