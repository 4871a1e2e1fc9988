import type { Span } from '../layout.ts'
import type { RowLines } from './row-lines.ts'

/** The rows of a span that are shown, in pieces with nothing between their rows: a header ends one. */
export function shownPieces(lines: RowLines, { first, last }: Span): Span[] {
  if (lines.lines.length === 0) return [{ first, last }]
  return lines.linesBetween(lines.topOf(first), lines.topOf(last) + 1).flatMap((line) => {
    if (line.kind !== 'rows') return []
    const piece = { first: Math.max(first, line.first), last: Math.min(last, line.first + line.count - 1) }
    return piece.last < piece.first ? [] : [piece]
  })
}

/** The same as runs of neighbours: what stands in closed groups is left out. */
export function shownRuns(lines: RowLines, span: Span): Span[] {
  const runs: Span[] = []
  for (const piece of shownPieces(lines, span)) {
    const before = runs.at(-1)
    if (before && before.last + 1 === piece.first) before.last = piece.last
    else runs.push(piece)
  }
  return runs
}
