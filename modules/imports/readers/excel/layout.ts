import type { CellKind, SheetRow } from './workbook.ts'

/** Where the table of a sheet begins. */
export interface Layout {
  /** From 1; 0 without titles. */
  titleRow: number
  /** From 1. */
  firstRow: number
  /** From 0. */
  firstColumn: number
}

/**
 * Finds the table in the first rows of a sheet: below remarks of a cell or two, and right of empty columns. The
 * first row more than half as full as the fullest has the titles, unless it holds numbers or dates like the rows below.
 * @param titleRow chosen by the user
 * @returns null for an empty sheet
 */
export function findLayout(rows: readonly SheetRow[], titleRow?: number): Layout | null {
  const filled = rows.filter((row) => countCells(row) > 0)
  const fullest = filled.reduce((most, row) => Math.max(most, countCells(row)), 0)
  const first = filled.find((row) => countCells(row) > fullest / 2)
  if (!first) return null
  const hasTitles = titleRow === undefined ? looksLikeTitles(first, filled) : titleRow > 0
  const start = titleRow || first.number
  const below = filled.filter(({ number }) => number >= start)
  const firstColumn = Math.min(...(below.length > 0 ? below : filled).map(firstCell))
  return {
    titleRow: hasTitles ? start : 0,
    firstRow: hasTitles ? start + 1 : start,
    firstColumn,
  }
}

const countCells = ({ cells }: SheetRow): number =>
  cells.reduce((count, text) => (text.trim() === '' ? count : count + 1), 0)

const firstCell = ({ cells }: SheetRow): number =>
  cells.findIndex((text) => text !== undefined && text.trim() !== '')

function looksLikeTitles(row: SheetRow, filled: readonly SheetRow[]): boolean {
  const kinds = row.cells.flatMap((text, at) => (text.trim() === '' ? [] : [kindOf(row.kinds[at])]))
  const texts = kinds.filter((kind) => kind === 'text').length
  if (texts * 2 >= kinds.length) return true
  if (texts === 0 && !isYears(row)) return false
  // Years as titles: the column of names has a text above its texts, so only other columns tell.
  const next = filled.find(({ number }) => number > row.number)
  return next !== undefined && isYears(row) && !isYears(next)
}

const kindOf = (kind: SheetRow['kinds'][number] | undefined): CellKind | 'number' =>
  typeof kind === 'string' ? kind : 'number'

/** True if all numbers of a row may be years. */
const isYears = ({ cells, kinds }: SheetRow): boolean =>
  cells.every((text, at) => typeof kinds[at] === 'string' || /^(?:1[5-9]|20)\d\d$/.test(text))
