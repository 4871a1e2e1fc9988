import type { NumberStyle } from './number-style.ts'

/** A merged range over several rows; zero-based, ends inclusive. */
export interface Merge {
  firstRow: number
  lastRow: number
  column: number
}

export interface SheetRow {
  /** From 1. */
  number: number
  /** By column, from 0; with holes for empty cells. */
  cells: string[]
  /** The kind of each cell. */
  kinds: (NumberStyle | CellKind)[]
}

/** The kind of a cell that is no number. `uncalculated`: a formula without a stored result. */
export type CellKind = 'text' | 'boolean' | 'error' | 'uncalculated'

export interface SheetBatch {
  rows: SheetRow[]
  /** Progress, of `size`. */
  done: number
}

export interface Sheet {
  name: string
  isHidden: boolean
  size: number
  /** Merged ranges that span several rows. */
  merges(): Promise<Merge[]>
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

/** Zero-based position of a cell reference such as `B12`; null for other text. */
export function parseReference(text: string): { column: number; row: number } | null {
  let column = 0
  let at = 0
  for (; at < text.length && at < 4; at++) {
    const letter = text.charCodeAt(at) - 64
    if (letter < 1 || letter > 26) break
    column = column * 26 + letter
  }
  const row = Number(text.slice(at))
  if (column === 0 || column > MAX_SHEET_COLUMNS || !Number.isInteger(row)) return null
  return row >= 1 && row <= MAX_SHEET_ROWS ? { column: column - 1, row: row - 1 } : null
}

/** The part of a merged range, such as `A2:B5`, that matters to rows; null if it is one row high. */
export function parseMerge(reference: string): Merge | null {
  const [first = '', last = ''] = reference.split(':')
  const [start, end] = [parseReference(first), parseReference(last)]
  if (!start || !end || end.row <= start.row) return null
  return { firstRow: start.row, lastRow: end.row, column: start.column }
}
