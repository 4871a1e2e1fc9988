import type { CellPosition, EdgeStep, GridSize, Step } from './selection.ts'

/** Whether a cell holds anything; undefined where its row is not loaded. */
export type IsFilled = (cell: CellPosition) => boolean | undefined

const DIRECTIONS: Record<EdgeStep, CellPosition> = {
  edgeUp: { row: -1, column: 0 },
  edgeDown: { row: 1, column: 0 },
  edgeStart: { row: 0, column: -1 },
  edgeEnd: { row: 0, column: 1 },
}

export const isEdgeStep = (step: Step): step is EdgeStep => step in DIRECTIONS

/**
 * Where Ctrl with an arrow leads, as in a spreadsheet: from within filled cells to the last of them,
 * otherwise to the next filled cell, and where there is none to the grid's edge. What lies in rows that are
 * not loaded is not known, so from there on it is the grid's edge too.
 */
export function edgeFrom(
  from: CellPosition,
  step: EdgeStep,
  { rows, columns }: GridSize,
  isFilled: IsFilled,
): CellPosition {
  const by = DIRECTIONS[step]
  const next = ({ row, column }: CellPosition) => ({ row: row + by.row, column: column + by.column })
  const isInside = ({ row, column }: CellPosition) =>
    row >= 0 && column >= 0 && row < rows && column < columns
  const edge = {
    row: by.row === 0 ? from.row : by.row < 0 ? 0 : Math.max(0, rows - 1),
    column: by.column === 0 ? from.column : by.column < 0 ? 0 : Math.max(0, columns - 1),
  }
  const staysFilled = isFilled(from) === true && isFilled(next(from)) === true
  let last = from
  for (let at = next(from); isInside(at); at = next(at)) {
    const filled = isFilled(at)
    if (filled === undefined) return edge
    if (staysFilled && !filled) return last
    if (!staysFilled && filled) return at
    last = at
  }
  return edge
}
