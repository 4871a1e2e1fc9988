import { plainLines, type RowLines } from './groups/row-lines.ts'
import type { ColumnLayout, Span } from './layout.ts'
import type { GridSize } from './selection.ts'

/** The rows and columns that stand in the document at present. */
export interface Mounted {
  /** Where rows stand, and what stands between them. */
  lines: RowLines
  /** Places among the rows that are shown, see `RowLines.rowOf`; `rows` are the first and the last of these rows. */
  places: Span
  rows: Span
  /** Distances from the top of the body between which headers of groups are wanted. */
  band: Span
  /** Of the columns that scroll; frozen ones are always there. */
  columns: Span
  /** What to take off a row's virtual top to place it in the scrolled element (see scroll-map.ts). */
  origin: number
  /** Rows are recycled: place `i` uses the element of place `i - pool`, which can no longer be in sight. */
  pool: number
}

/** Before anything was drawn. */
export const NOTHING_MOUNTED: Mounted = {
  lines: plainLines(0, 32),
  places: { first: 0, last: -1 },
  rows: { first: 0, last: -1 },
  band: { first: 0, last: -1 },
  columns: { first: 0, last: -1 },
  origin: 0,
  pool: 1,
}

/** What the viewport must know of the grid to place things. */
export interface Content extends GridSize {
  lines: RowLines
  /** How many headers of groups stay at the top while their records are in sight. */
  groupLevels: number
  layout: ColumnLayout
  canAddRows: boolean
  /** `hidden`: rows between them that are not shown. */
  requestRange: (first: number, last: number, hidden: Span[]) => void
}

const sameSpan = (a: Span, b: Span): boolean => a.first === b.first && a.last === b.last

/** True where the same stands in the document. */
export const isSameMounted = (a: Mounted, b: Mounted): boolean =>
  a.lines === b.lines &&
  sameSpan(a.places, b.places) &&
  sameSpan(a.band, b.band) &&
  sameSpan(a.columns, b.columns) &&
  a.origin === b.origin &&
  a.pool === b.pool
