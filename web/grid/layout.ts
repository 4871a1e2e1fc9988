import type { RowHeight } from '../../src/core/model.ts'

/** Positions of columns and rows. Inline positions are relative to the start edge: left, or right in RTL. */

export const HEADER_HEIGHT = 32 // ui §4.1
export const FOOTER_HEIGHT = 36 // ui §4.1
export const ADD_ROW_HEIGHT = 32
export const ADD_FIELD_WIDTH = 96
const MIN_COLUMN_WIDTH = 50 // ui §4.1
const MAX_COLUMN_WIDTH = 1200
export const ROW_NUMBER_WIDTH = 80 // ui §4.1
/** On phones the row number column fits only the digits: there are no hover controls. */
const ROW_NUMBER_WIDTH_NARROW = 44
const NARROW_VIEWPORT = 600
/** Maximum share of the grid's width for frozen columns; further ones scroll. */
const MAX_FROZEN_SHARE = 0.65

/** On phones the first column is narrowed to leave more room for the others. */
const MAX_FROZEN_SHARE_NARROW = 0.45

/** Pixels of each row height (ui §4.1). */
export const ROW_HEIGHTS: Record<RowHeight, number> = { short: 32, medium: 60, tall: 90, extra: 120 }

/** Lines of 18 px text that fit each row height. */
export const ROW_LINES: Record<RowHeight, number> = { short: 1, medium: 3, tall: 4, extra: 6 }

/** First and last index, inclusive. Empty if `last < first`. */
export interface Span {
  first: number
  last: number
}

export interface ColumnLayout {
  rowNumberWidth: number
  /** Inline start of each column, followed by the end of the last one. */
  starts: number[]
  /** Number of frozen columns, at most the requested number. */
  frozen: number
  /** Width of the frozen part, including the row number. */
  frozenWidth: number
  /** End of the last column. */
  width: number
}

/** Lays out columns after the row number. */
export function layoutColumns(
  widths: readonly number[],
  frozenWanted: number,
  viewport: number,
): ColumnLayout {
  const isNarrow = viewport > 0 && viewport < NARROW_VIEWPORT
  const rowNumberWidth = isNarrow ? ROW_NUMBER_WIDTH_NARROW : ROW_NUMBER_WIDTH
  const room = Math.floor(viewport * MAX_FROZEN_SHARE_NARROW) - rowNumberWidth
  const starts = [rowNumberWidth]
  let width = rowNumberWidth
  for (const [at, each] of widths.entries()) {
    width +=
      isNarrow && at === 0 && frozenWanted > 0 ? Math.min(each, Math.max(room, MIN_COLUMN_WIDTH)) : each
    starts.push(width)
  }
  let frozen = Math.min(frozenWanted, widths.length)
  const most = viewport * (isNarrow ? MAX_FROZEN_SHARE_NARROW : MAX_FROZEN_SHARE)
  while (frozen > 0 && viewport > 0 && starts[frozen]! > most) frozen--
  return { rowNumberWidth, starts, frozen, frozenWidth: starts[frozen]!, width }
}

/** The visible scrolling columns, extended by `margin` pixels on both sides. */
export function visibleColumns(
  { starts, frozen, frozenWidth }: ColumnLayout,
  scroll: number,
  viewport: number,
  margin: number,
): Span {
  const count = starts.length - 1
  if (count === frozen) return { first: frozen, last: frozen - 1 }
  const first = Math.max(frozen, indexAt(starts, scroll + frozenWidth - margin))
  const last = Math.min(count - 1, indexAt(starts, scroll + viewport + margin))
  return { first, last }
}

/**
 * The column at an inline position in the viewport (0 is the grid's start edge). -1: the row number; the number of
 * columns: beyond the last.
 */
export function columnAt({ starts, frozenWidth }: ColumnLayout, position: number, scroll: number): number {
  const at = position < frozenWidth ? position : position + scroll
  return at < starts[0]! ? -1 : indexAt(starts, at)
}

/** The gap nearest to a position, as the index of the column after it. */
export function gapAt(layout: ColumnLayout, position: number, scroll: number): number {
  const count = layout.starts.length - 1
  const column = Math.min(columnAt(layout, position, scroll), count - 1)
  if (column < 0) return 0
  const at = position < layout.frozenWidth ? position : position + scroll
  const middle = (layout.starts[column]! + layout.starts[column + 1]!) / 2
  return at > middle ? column + 1 : column
}

/** The scroll offset nearest to `scroll` at which [start, end] is within the window. */
export function reveal(start: number, end: number, scroll: number, window: number): number {
  if (start < scroll || end - start > window) return start
  if (end > scroll + window) return end - window
  return scroll
}

/** The inline scroll offset at which a column is visible; frozen ones always are. */
export function revealColumn(layout: ColumnLayout, column: number, scroll: number, viewport: number): number {
  if (column < layout.frozen) return scroll
  const start = layout.starts[column]! - layout.frozenWidth
  const end = layout.starts[column + 1]! - layout.frozenWidth
  return reveal(start, end, scroll, viewport - layout.frozenWidth)
}

export const clampWidth = (width: number, least = MIN_COLUMN_WIDTH): number =>
  Math.round(Math.min(MAX_COLUMN_WIDTH, Math.max(least, width)))

/** Index of the last start at or before `position`, by binary search. */
function indexAt(starts: readonly number[], position: number): number {
  let low = 0
  let high = starts.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (starts[middle]! <= position) low = middle
    else high = middle - 1
  }
  return low
}
