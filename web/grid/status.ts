import type { Engine } from './engine.ts'
import { allBounds, countCells, isSingleCell } from './selection.ts'
import type { SelectionStatus } from './source.ts'

/** Rows that are looked at for sums; more would be felt while a range is being drawn. */
const MAX_ROWS = 20_000

/** Count, sum and average of what is selected, from the rows in memory; null for one cell or none. */
export function selectionStatus(engine: Engine): SelectionStatus | null {
  const selection = engine.selection.get()
  if (!selection || isSingleCell(selection)) return null
  const bounds = allBounds(selection, engine.size)
  // Rows of closed groups are selected no more than they are copied or cleared.
  const shown = bounds.flatMap((each, at) =>
    engine
      .runsOf(selection.ranges[at]!.kind, each.top, each.bottom)
      .map(({ first, last }) => ({ ...each, top: first, bottom: last })),
  )
  const status = { cells: countCells(shown), rows: 0, numbers: 0, sum: 0, complete: true }
  for (const { top, bottom, start, end } of shown) {
    status.rows += bottom - top + 1
    const fields = engine.columns
      .slice(start, end + 1)
      .filter(({ shown }) => !shown.isList && shown.type.isAmount)
    if (fields.length === 0) continue
    const last = Math.min(bottom, top + MAX_ROWS - 1)
    if (last < bottom) status.complete = false
    for (let index = top; index <= last; index++) {
      const row = engine.rowAt(index)
      if (!row) status.complete = false
      for (const { fieldId } of row ? fields : []) {
        const value = row?.values(fieldId)
        if (typeof value !== 'number') continue
        status.numbers++
        status.sum += value
      }
    }
  }
  return { ...status, average: status.numbers > 0 ? status.sum / status.numbers : null }
}
