export interface CellPosition {
  row: number
  column: number
}

export interface GridSize {
  rows: number
  columns: number
}

/** `rows`, `columns` and `all` cover the whole grid, even when it grows. */
export type RangeKind = 'cells' | 'rows' | 'columns' | 'all'

/** A rectangle between its anchor and the opposite corner. */
export interface Range {
  kind: RangeKind
  anchor: CellPosition
  focus: CellPosition
}

/** One or more ranges; the last is the one that keys extend, and its anchor is the active cell. */
export interface Selection {
  ranges: readonly [Range, ...Range[]]
}

/** Edges of a range, inclusive. */
export interface Bounds {
  top: number
  bottom: number
  start: number
  end: number
}

/**
 * A step of the focus: by one cell, to the edge of the filled cells (see `edgeFrom`), to the grid's edge, by
 * a page. `start` and `end` are inline directions.
 */
export type Step =
  | 'up'
  | 'down'
  | 'start'
  | 'end'
  | EdgeStep
  | 'rowStart'
  | 'rowEnd'
  | 'gridStart'
  | 'gridEnd'
  | 'pageUp'
  | 'pageDown'

/** Ctrl with an arrow. */
type EdgeStep = 'edgeUp' | 'edgeDown' | 'edgeStart' | 'edgeEnd'

const clamp = (value: number, most: number): number => Math.max(0, Math.min(value, most))

/** The nearest cell within the grid. */
export function clampCell(cell: CellPosition, { rows, columns }: GridSize): CellPosition {
  return { row: clamp(cell.row, rows - 1), column: clamp(cell.column, columns - 1) }
}

const single = (cell: CellPosition, kind: RangeKind = 'cells'): Range => ({ kind, anchor: cell, focus: cell })

export const selectCell = (cell: CellPosition): Selection => ({ ranges: [single(cell)] })

/** A whole row; its active cell is the first. */
export const selectRow = (row: number): Selection => ({ ranges: [single({ row, column: 0 }, 'rows')] })

/** A whole column; its active cell is the first. */
export const selectColumn = (column: number): Selection => ({
  ranges: [single({ row: 0, column }, 'columns')],
})

/** All cells; the active one stays. */
export const selectAll = (active: CellPosition): Selection => ({ ranges: [single(active, 'all')] })

/** Extends the selection to whole rows or columns (Shift+Space, Ctrl+Space). */
export function widen(selection: Selection, kind: 'rows' | 'columns'): Selection {
  const last = lastRange(selection)
  const both = last.kind !== 'cells' && last.kind !== kind
  return { ranges: [{ ...last, kind: both ? 'all' : kind }] }
}

const lastRange = ({ ranges }: Selection): Range => ranges[ranges.length - 1]!

const replaceLast = ({ ranges }: Selection, range: Range): Selection => {
  const [first, ...others] = [...ranges.slice(0, -1), range]
  return { ranges: [first!, ...others] }
}

/** The cell that receives typing. */
export const activeCell = (selection: Selection): CellPosition => lastRange(selection).anchor

/** The corner opposite the active cell: where the last drag or Shift+arrow ended. */
export const focusCell = (selection: Selection): CellPosition => lastRange(selection).focus

/** Extends the last range to another corner. */
export const extendTo = (selection: Selection, focus: CellPosition): Selection =>
  replaceLast(selection, { ...lastRange(selection), focus })

/** Adds a range (Ctrl+click). */
export const addRange = ({ ranges }: Selection, range: Range): Selection => ({ ranges: [...ranges, range] })

export const rangeAt = (cell: CellPosition, kind: RangeKind = 'cells'): Range => single(cell, kind)

/** The edges of a range within a grid. */
export function boundsOf({ kind, anchor, focus }: Range, { rows, columns }: GridSize): Bounds {
  const wholeRows = kind === 'rows' || kind === 'all'
  const wholeColumns = kind === 'columns' || kind === 'all'
  return {
    top: wholeColumns ? 0 : Math.min(anchor.row, focus.row),
    bottom: wholeColumns ? rows - 1 : Math.min(rows - 1, Math.max(anchor.row, focus.row)),
    start: wholeRows ? 0 : Math.min(anchor.column, focus.column),
    end: wholeRows ? columns - 1 : Math.min(columns - 1, Math.max(anchor.column, focus.column)),
  }
}

/** Edges of all ranges in creation order. */
export const allBounds = ({ ranges }: Selection, size: GridSize): Bounds[] =>
  ranges.map((range) => boundsOf(range, size))

/** Edges of the last range, the target of fills and pastes. */
export const lastBounds = (selection: Selection, size: GridSize): Bounds =>
  boundsOf(lastRange(selection), size)

export const contains = (bounds: Bounds, { row, column }: CellPosition): boolean =>
  row >= bounds.top && row <= bounds.bottom && column >= bounds.start && column <= bounds.end

/** Number of cells in the ranges; cells in several ranges count several times. */
export const countCells = (bounds: readonly Bounds[]): number =>
  bounds.reduce((sum, each) => sum + (each.bottom - each.top + 1) * (each.end - each.start + 1), 0)

/** True for exactly one selected cell. */
export const isSingleCell = ({ ranges }: Selection): boolean =>
  ranges.length === 1 &&
  ranges[0].kind === 'cells' &&
  ranges[0].anchor.row === ranges[0].focus.row &&
  ranges[0].anchor.column === ranges[0].focus.column

/** Inputs of a step besides its start. */
interface StepOptions {
  extend: boolean
  pageRows: number
  /** True if a cell is filled, for steps to an edge; undefined if it is not loaded. */
  isFilled?: IsFilled
}

/** The target of a step; never outside the grid. */
function stepFrom(cell: CellPosition, step: Step, size: GridSize, options: StepOptions): CellPosition {
  const { pageRows, isFilled = () => undefined } = options
  if (isEdgeStep(step)) return edgeFrom(cell, step, size, isFilled)
  const target = { ...cell }
  if (step === 'up') target.row -= 1
  if (step === 'down') target.row += 1
  if (step === 'start') target.column -= 1
  if (step === 'end') target.column += 1
  if (step === 'pageUp') target.row -= pageRows
  if (step === 'pageDown') target.row += pageRows
  if (step === 'gridStart') target.row = 0
  if (step === 'gridEnd') target.row = size.rows - 1
  if (step === 'rowStart' || step === 'gridStart') target.column = 0
  if (step === 'rowEnd' || step === 'gridEnd') target.column = size.columns - 1
  return clampCell(target, size)
}

/** Moves the active cell and drops all ranges; with `extend`, extends the last range from its focus. */
export function step(selection: Selection, by: Step, size: GridSize, options: StepOptions): Selection {
  if (!options.extend) return selectCell(stepFrom(activeCell(selection), by, size, options))
  const last = lastRange(selection)
  const range = last.kind === 'all' ? { ...last, kind: 'cells' as const } : last
  return replaceLast(selection, { ...range, focus: stepFrom(range.focus, by, size, options) })
}

/** The next or previous cell in reading order, from row end to row start; the grid's corners stay. */
export function tabFrom(cell: CellPosition, back: boolean, { rows, columns }: GridSize): CellPosition {
  const next = cell.column + (back ? -1 : 1)
  if (next >= 0 && next < columns) return { row: cell.row, column: next }
  if (back) return cell.row === 0 ? cell : { row: cell.row - 1, column: columns - 1 }
  return cell.row >= rows - 1 ? cell : { row: cell.row + 1, column: 0 }
}

/** Moves all ranges by rows. */
export function shiftRows(selection: Selection, by: number, size: GridSize): Selection {
  const shift = (cell: CellPosition): CellPosition =>
    clampCell({ row: cell.row + by, column: cell.column }, size)
  const [first, ...others] = selection.ranges.map((range) => ({
    ...range,
    anchor: shift(range.anchor),
    focus: shift(range.focus),
  }))
  return { ranges: [first!, ...others] }
}

/** The selection clamped to a smaller grid; null without cells. */
export function clampSelection(selection: Selection, size: GridSize): Selection | null {
  return size.rows < 1 || size.columns < 1 ? null : shiftRows(selection, 0, size)
}

/** Whether a cell is filled; undefined if its row is not loaded. */
type IsFilled = (cell: CellPosition) => boolean | undefined

const DIRECTIONS: Record<EdgeStep, CellPosition> = {
  edgeUp: { row: -1, column: 0 },
  edgeDown: { row: 1, column: 0 },
  edgeStart: { row: 0, column: -1 },
  edgeEnd: { row: 0, column: 1 },
}

const isEdgeStep = (step: Step): step is EdgeStep => step in DIRECTIONS

/**
 * Target of Ctrl with an arrow, as in spreadsheets: within filled cells the last of them, otherwise the next filled
 * cell, or the grid's edge if there is none. Unloaded rows are unknown, so they lead to the grid's edge too.
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
