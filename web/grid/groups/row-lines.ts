import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { MAX_GROUPS, type Sort } from '../../../src/core/model.ts'
import type { Span } from '../layout.ts'
import { type CollapsedGroups, type GroupNode, type GroupTree, isCollapsed, isLeaf } from './tree.ts'

/** A line of the body: a group's header, a run of rows, or the line at a group's end. */
export type Line = {
  /** Distance from the top of the body. */
  top: number
  /** Its first row, or the next one. */
  first: number
  /** Number of visible rows above it. */
  shownBefore: number
  /** Number of lines above it for screen readers, counting rows individually. */
  position: number
  /** Number of lines of its kind above it. */
  ordinal: number
} & (
  | { kind: 'group'; node: GroupNode; level: number; isCollapsed: boolean; end: number }
  /** `isFurther`: rows in subgroups of `group` (null: of the first level) that are not loaded yet. */
  | { kind: 'rows'; count: number; group: GroupNode | null; isFurther: boolean }
  | { kind: 'add'; group: GroupNode }
  /** Groups that are not loaded yet, before their rows. `parent` null: of the first level. */
  | { kind: 'more'; parent: GroupNode | null; level: number; count: number }
)

/** Positions of rows and of the lines between them. Rows in collapsed groups take no space. */
export interface RowLines {
  rowHeight: number
  /** Total height. */
  height: number
  /** Number of visible rows. */
  shown: number
  /** Number of lines for screen readers. */
  positions: number
  lines: readonly Line[]
  /** The fields the rows are grouped by; empty without grouping. */
  levels: readonly Sort[]
  /** Distance of a row from the top of the body; for a hidden row, that of its group's header. */
  topOf(row: number): number
  isShown(row: number): boolean
  /** The row at a distance from the top; within a header, the next one. May exceed the last. */
  rowAt(top: number): number
  /** Position of a row among visible rows; for a hidden row, that of the next visible one. */
  placeOf(row: number): number
  /** The row at a position among visible rows. */
  rowOf(place: number): number
  positionOf(row: number): number
  /** The line at a distance from the top; null above the first and without groups. */
  lineAt(top: number): Line | null
  /** Lines that intersect a part of the body. */
  linesBetween(top: number, bottom: number): readonly Line[]
}

/** Ungrouped rows. */
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

/** Rows with lines between them: prefix sums and binary search. */
function groupedLines(lines: readonly Line[], rowHeight: number, levels: readonly Sort[]): RowLines {
  const heightOf = (line: Line): number =>
    line.kind === 'rows' ? line.count * rowHeight : LINE_HEIGHTS[line.kind]
  const last = lines.at(-1)
  const height = last ? last.top + heightOf(last) : 0
  const rowsOf = (line: Line): number => (line.kind === 'rows' ? line.count : 0)
  const shown = last ? last.shownBefore + rowsOf(last) : 0
  const positions = last ? last.position + Math.max(1, rowsOf(last)) : 0

  /** Index of the last line whose `value` is at most `limit`; -1 before the first. */
  function lastWhere(value: (line: Line) => number, limit: number): number {
    let low = -1
    let high = lines.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (value(lines[middle]!) <= limit) low = middle
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

/** Height of a group's header. */
export const GROUP_HEIGHT = 40

/** Heights of lines other than rows. */
export const LINE_HEIGHTS = { group: GROUP_HEIGHT, add: 32, more: GROUP_HEIGHT } as const

/** Inputs of the layout. */
interface GroupedRows {
  tree: GroupTree
  collapsed: CollapsedGroups
  rowCount: number
  rowHeight: number
  /** Adds a line for a new record at the end of each open group. */
  canAdd: boolean
}

/**
 * Lays out headers and rows. Rows outside the loaded groups (further groups, a record just added) follow the loaded
 * ones.
 */
export function layOutGroups({ tree, collapsed, rowCount, rowHeight, canAdd }: GroupedRows): RowLines {
  const lines: Line[] = []
  let top = 0
  let row = 0
  let shownBefore = 0
  let position = 0

  const ordinals = { group: 0, rows: 0, add: 0, more: 0 }
  const here = (kind: Line['kind']) => ({ top, first: row, shownBefore, position, ordinal: ordinals[kind]++ })

  function push(line: Line, height: number): void {
    lines.push(line)
    top += height
    position++
  }

  function addRows(count: number, group: GroupNode | null, isFurther = false): void {
    if (count <= 0) return
    lines.push({ kind: 'rows', ...here('rows'), count, group, isFurther })
    top += count * rowHeight
    row += count
    shownBefore += count
    position += count
  }

  function addMore(parent: GroupNode | null, level: number, count: number): void {
    if (count <= 0) return
    push({ kind: 'more', ...here('more'), parent, level, count }, LINE_HEIGHTS.more)
    addRows(count, parent, true)
  }

  function addGroup(node: GroupNode): void {
    const level = node.keys.length - 1
    // The count may be outdated and exceed the known rows.
    const count = Math.max(0, Math.min(node.count, rowCount - row))
    const closed = isCollapsed(collapsed, node.keys)
    const end = row + count
    push({ kind: 'group', ...here('group'), node, level, isCollapsed: closed, end }, LINE_HEIGHTS.group)
    if (closed) {
      row = end
      return
    }
    if (!isLeaf(tree, node)) {
      for (const group of node.groups) addGroup(group)
      if (node.isWhole) addRows(end - row, node)
      else addMore(node, level + 1, end - row)
      return
    }
    addRows(count, node)
    if (canAdd) push({ kind: 'add', ...here('add'), group: node }, LINE_HEIGHTS.add)
  }

  for (const node of tree.groups) addGroup(node)
  if (tree.isWhole) addRows(rowCount - row, null)
  else addMore(null, 0, rowCount - row)
  return groupedLines(lines, rowHeight, tree.levels)
}

/** Visible rows of a span, split at headers. */
export function shownPieces(lines: RowLines, { first, last }: Span): Span[] {
  if (lines.lines.length === 0) return [{ first, last }]
  return lines.linesBetween(lines.topOf(first), lines.topOf(last) + 1).flatMap((line) => {
    if (line.kind !== 'rows') return []
    const piece = { first: Math.max(first, line.first), last: Math.min(last, line.first + line.count - 1) }
    return piece.last < piece.first ? [] : [piece]
  })
}

/** Splits rows into runs of visible neighbours, without those in collapsed groups. */
export function shownRuns(lines: RowLines, span: Span): Span[] {
  const runs: Span[] = []
  for (const piece of shownPieces(lines, span)) {
    const before = runs.at(-1)
    if (before && before.last + 1 === piece.first) before.last = piece.last
    else runs.push(piece)
  }
  return runs
}

/**
 * The line at the top of the viewport, for restoring the scroll position after lines were added or removed above it.
 */
interface Anchor {
  row: number
  /** Level of a group header; null for a row. */
  level: number | null
  /** Scrolled-out part: pixels of a header, or a fraction of a row's height. */
  by: number
}

/** The line at a distance from the top. */
export function anchorOf(lines: RowLines, top: number): Anchor {
  const line = lines.lineAt(top)
  if (line && line.kind !== 'rows') {
    return { row: line.first, level: line.kind === 'group' ? line.level : null, by: top - line.top }
  }
  const row = lines.rowAt(top)
  return { row, level: null, by: (top - lines.topOf(row)) / lines.rowHeight }
}

/** Position of the anchor in a new layout. */
export function topOfAnchor({ row, level, by }: Anchor, lines: RowLines): number {
  if (level === null) return lines.topOf(row) + (lines.isShown(row) ? Math.min(by, 1) * lines.rowHeight : 0)
  const at = lines.linesBetween(lines.topOf(row) - (MAX_GROUPS + 1) * GROUP_HEIGHT, lines.topOf(row) + 1)
  const header = at.find((line) => line.kind === 'group' && line.level === level && line.first === row)
  return header ? header.top + by : lines.topOf(row)
}

/** Hidden rows between two positions: those in collapsed groups. */
export function hiddenBetween(lines: RowLines, first: number, last: number): Span[] {
  if (lines.rowOf(last) - lines.rowOf(first) === last - first) return []
  const from = lines.topOf(lines.rowOf(first))
  const to = lines.topOf(lines.rowOf(last)) + lines.rowHeight
  return lines
    .linesBetween(from, to)
    .flatMap((line) =>
      line.kind === 'group' && line.isCollapsed && line.end > line.first
        ? [{ first: line.first, last: line.end - 1 }]
        : [],
    )
}

/** Keys of the innermost group with a sticky header, which is at least partly scrolled out; empty if there is none. */
export function stickyGroupsAt(lines: RowLines, top: number): readonly CellValue[] {
  let held: readonly CellValue[] = []
  // Each sticky header covers a part of the lines below it.
  for (;;) {
    const at = top + held.length * GROUP_HEIGHT
    const line = top > 0 ? lines.lineAt(at) : null
    const keys = line ? keysAround(line, at) : []
    if (keys.length <= held.length) return held
    held = keys.slice(0, held.length + 1)
  }
}

/** Keys of the innermost group around a position. */
function keysAround(line: Line, at: number): readonly CellValue[] {
  if (line.kind === 'group') {
    const isLeft = line.top < at && !line.isCollapsed
    return isLeft ? line.node.keys : line.node.keys.slice(0, -1)
  }
  return (line.kind === 'more' ? line.parent : line.group)?.keys ?? []
}
