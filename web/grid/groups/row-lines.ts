import type { Sort } from '../../../src/core/model.ts'
import type { GroupNode } from './tree.ts'

/** A line of the body: the header of a group, some rows one below the other, or what stands at a group's end. */
export type Line = {
  /** Distance from the top of the body. */
  top: number
  /** The row with which it begins, or which comes next. */
  first: number
  /** How many rows are shown above it. */
  shownBefore: number
  /** How many lines a reader of the screen has passed, rows counted one by one. */
  position: number
  /** How many lines of its kind stand above it. */
  ordinal: number
} & (
  | { kind: 'group'; node: GroupNode; level: number; isCollapsed: boolean; end: number }
  /** `isFurther`: of groups of `group` (null: of the first level) that are not listed yet. */
  | { kind: 'rows'; count: number; group: GroupNode | null; isFurther: boolean }
  | { kind: 'add'; group: GroupNode }
  /** Groups that are not listed yet; their rows follow. `parent` null: of the first level. */
  | { kind: 'more'; parent: GroupNode | null; level: number; count: number }
)

/** Where the rows stand, and what stands between them. Rows of closed groups are not shown and have no room. */
export interface RowLines {
  rowHeight: number
  /** Of everything. */
  height: number
  /** How many rows are shown. */
  shown: number
  /** Lines for a reader of the screen. */
  positions: number
  lines: readonly Line[]
  /** What the rows are grouped by; empty: nothing. */
  levels: readonly Sort[]
  /** Distance of a row from the top of the body; of one that is not shown that of the header that hides it. */
  topOf(row: number): number
  isShown(row: number): boolean
  /** The row at a distance from the top; in a header the next one. May lie beyond the last. */
  rowAt(top: number): number
  /** The place of a row among those that are shown; of a hidden one that of the next. */
  placeOf(row: number): number
  /** The row at a place among those that are shown. */
  rowOf(place: number): number
  positionOf(row: number): number
  /** The line at a distance from the top; null above the first and where there is none. */
  lineAt(top: number): Line | null
  /** Lines that touch a part of the body. */
  linesBetween(top: number, bottom: number): readonly Line[]
}

/** Rows one below the other with nothing between them. */
export function plainLines(rows: number, rowHeight: number): RowLines {
  return {
    rowHeight,
    height: rows * rowHeight,
    shown: rows,
    positions: rows,
    lines: [],
    levels: [],
    topOf: (row) => row * rowHeight,
    isShown: () => true,
    rowAt: (top) => Math.floor(top / rowHeight),
    placeOf: (row) => row,
    rowOf: (place) => place,
    positionOf: (row) => row,
    lineAt: () => null,
    linesBetween: () => [],
  }
}

/** Rows with lines between them: placed by prefix sums, found by halving. */
export function groupedLines(lines: readonly Line[], rowHeight: number, levels: readonly Sort[]): RowLines {
  const heightOf = (line: Line): number =>
    line.kind === 'rows' ? line.count * rowHeight : LINE_HEIGHTS[line.kind]
  const last = lines.at(-1)
  const height = last ? last.top + heightOf(last) : 0
  const rowsOf = (line: Line): number => (line.kind === 'rows' ? line.count : 0)
  const shown = last ? last.shownBefore + rowsOf(last) : 0
  const positions = last ? last.position + Math.max(1, rowsOf(last)) : 0

  /** Index of the last line for which `value` is at most `wanted`; -1: none. */
  function lastWhere(value: (line: Line) => number, wanted: number): number {
    let low = -1
    let high = lines.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (value(lines[middle]!) <= wanted) low = middle
      else high = middle - 1
    }
    return low
  }
  const lineOfRow = (row: number): Line | undefined => lines[lastWhere(({ first }) => first, row)]

  return {
    rowHeight,
    height,
    shown,
    positions,
    lines,
    levels,
    topOf(row) {
      const line = lineOfRow(row)
      if (!line) return 0
      return line.kind === 'rows' ? line.top + (row - line.first) * rowHeight : line.top
    },
    isShown(row) {
      const line = lineOfRow(row)
      return line?.kind === 'rows' && row < line.first + line.count
    },
    rowAt(top) {
      const line =
        lines[
          Math.max(
            0,
            lastWhere((each) => each.top, top),
          )
        ]
      if (!line) return 0
      if (line.kind !== 'rows') return line.first
      const row = line.first + Math.floor((top - line.top) / rowHeight)
      return line === last ? row : Math.min(row, line.first + line.count - 1)
    },
    placeOf(row) {
      const line = lineOfRow(row)
      if (!line) return 0
      return line.shownBefore + (line.kind === 'rows' ? Math.min(line.count, row - line.first) : 0)
    },
    rowOf(place) {
      const line = lines[lastWhere(({ shownBefore }) => shownBefore, place)]
      return line ? line.first + place - line.shownBefore : place
    },
    positionOf(row) {
      const line = lineOfRow(row)
      return line ? line.position + (line.kind === 'rows' ? row - line.first : 0) : row
    },
    lineAt(top) {
      return lines[lastWhere((line) => line.top, top)] ?? null
    },
    linesBetween(top, bottom) {
      const from = Math.max(
        0,
        lastWhere((line) => line.top, top),
      )
      let to = from
      while (to < lines.length && lines[to]!.top < bottom) to++
      return lines.slice(from, to)
    },
  }
}

/** The header of a group. */
export const GROUP_HEIGHT = 40

/** Heights of the lines that are no rows. */
export const LINE_HEIGHTS = { group: GROUP_HEIGHT, add: 32, more: GROUP_HEIGHT } as const
