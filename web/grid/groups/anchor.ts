import { MAX_GROUPS } from '../../../src/core/model.ts'
import type { Span } from '../layout.ts'
import { GROUP_HEIGHT, type RowLines } from './row-lines.ts'

/** What stands at the top of the window, so that it can be found where lines have come or gone above it. */
export interface Anchor {
  row: number
  /** The header of a group rather than a row. */
  level: number | null
  /** Pixels, of a row the part of its height, by which it is scrolled out. */
  by: number
}

/** What stands at a distance from the top. */
export function anchorOf(lines: RowLines, top: number): Anchor {
  const line = lines.lineAt(top)
  if (line && line.kind !== 'rows') {
    return { row: line.first, level: line.kind === 'group' ? line.level : null, by: top - line.top }
  }
  const row = lines.rowAt(top)
  return { row, level: null, by: (top - lines.topOf(row)) / lines.rowHeight }
}

/** Where it stands among other lines. */
export function topOfAnchor({ row, level, by }: Anchor, lines: RowLines): number {
  if (level === null) return lines.topOf(row) + (lines.isShown(row) ? Math.min(by, 1) * lines.rowHeight : 0)
  const at = lines.linesBetween(lines.topOf(row) - (MAX_GROUPS + 1) * GROUP_HEIGHT, lines.topOf(row) + 1)
  const header = at.find((line) => line.kind === 'group' && line.level === level && line.first === row)
  return header ? header.top + by : lines.topOf(row)
}

/** Rows between two places that are not shown: those of closed groups. */
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
