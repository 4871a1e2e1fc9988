import type { NumberStyle } from './number-style.ts'

/** A merged range; zero-based, ends inclusive. */
export interface Merge {
  firstRow: number
  lastRow: number
  column: number
  lastColumn: number
}

export interface SheetRow {
  /** From 1. */
  number: number
  /** By column, from 0; with holes for empty cells. */
  cells: string[]
  /** The kind of each cell. */
  kinds: (NumberStyle | CellKind)[]
  /** Addresses of cells whose formula is a link, by column. */
  links?: string[]
  /** True for a row that the sheet does not show, as a filter leaves it. */
  isHidden?: true
}

/** The kind of a cell that is no number. `uncalculated`: a formula without a stored result. */
export type CellKind = 'text' | 'boolean' | 'error' | 'uncalculated'

export interface SheetBatch {
  rows: SheetRow[]
  /** Progress, of `size`. */
  done: number
}

/** The links and comments of a sheet's cells. */
export interface Annotations {
  /** The address that a cell leads to; undefined for none. */
  linkOf(row: number, column: number): string | undefined
  /** False if `linkOf` gives undefined for every cell. */
  hasLinks: boolean
  /** Comments in the order of the file. */
  comments: readonly CellComment[]
  /** All comments, also those beyond `comments`. */
  commentCount: number
}

export interface CellComment {
  /** From 1. */
  row: number
  /** From 0. */
  column: number
  text: string
}

export interface Sheet {
  name: string
  isHidden: boolean
  size: number
  /** Merged ranges, in any order. */
  merges(): Promise<Merge[]>
  /** Columns that the sheet does not show, once `rows` has begun. */
  hiddenColumns?: ReadonlySet<number>
  /** Links and comments of its cells. @throws FileError */
  annotations(): Promise<Annotations>
  /** Rows that have cells, in order. @throws FileError */
  rows(): AsyncGenerator<SheetBatch>
}

/** An opened workbook of any format. */
export interface Workbook {
  sheets: Sheet[]
  close(): void
}

/** Columns of a sheet (Excel’s specifications and limits). */
export const MAX_SHEET_COLUMNS = 16_384
/** Rows of a sheet (Excel’s specifications and limits). */
export const MAX_SHEET_ROWS = 1_048_576

/** `A`, `B`, …, `Z`, `AA` for 0, 1, …, 25, 26. */
export function columnLetters(column: number): string {
  const rest = Math.floor(column / 26)
  return (rest === 0 ? '' : columnLetters(rest - 1)) + String.fromCharCode(65 + (column % 26))
}

/** Zero-based column of a cell reference such as `B12`; -1 for other text. */
export function columnOf(reference: string): number {
  let column = 0
  for (let at = 0; at < 4; at++) {
    const letter = reference.charCodeAt(at) - 64
    // False for the digits of the row, and for NaN at the end.
    if (!(letter >= 1 && letter <= 26)) break
    column = column * 26 + letter
  }
  return column <= MAX_SHEET_COLUMNS ? column - 1 : -1
}

/** Zero-based row of a cell reference such as `B12`; -1 for other text. */
function rowOf(reference: string): number {
  const row = Number(/^[A-Z]{1,3}(\d{1,7})$/.exec(reference)?.[1] ?? 0)
  return row <= MAX_SHEET_ROWS ? row - 1 : -1
}

/** Parses a merged range such as `A2:B5`; null for other text. */
export function parseMerge(reference: string): Merge | null {
  const [first = '', last = ''] = reference.split(':')
  const [firstRow, lastRow, column, lastColumn] = [rowOf(first), rowOf(last), columnOf(first), columnOf(last)]
  const isRange = firstRow >= 0 && lastRow >= firstRow && column >= 0 && lastColumn >= column
  return isRange ? { firstRow, lastRow, column, lastColumn } : null
}
