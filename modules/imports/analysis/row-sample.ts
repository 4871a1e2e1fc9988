import { copyText } from '../readers/index.ts'

/** Rows that are kept, and cells, which very wide tables reach first. */
const MAX_ROWS = 3000
const MAX_CELLS = 150_000
/** Characters kept of all rows together. */
const MAX_CHARACTERS = 20_000_000

/** Rows of a table for its preview: the first ones, and others evenly spread. */
export interface RowSample {
  /** Ignores blank rows. */
  add(row: string[]): void
  /** Rows added. */
  readonly count: number
  /** True if all rows are kept, and the next one may take the place of another. */
  readonly isFull: boolean
  /** Rows from the beginning. */
  readonly headRows: number
  /** Cells of the longest row, without empty ones at its end. */
  readonly widest: number
  /** Cells of most rows. */
  usualWidth(): number
  rows(width: number): string[][]
}

/** Cells of a row without the empty ones at its end. */
export function widthOfRow(row: readonly (string | undefined)[]): number {
  let width = row.length
  while (width > 0 && (row[width - 1] ?? '').trim() === '') width--
  return width
}

export function createRowSample(): RowSample {
  const head: string[][] = []
  /** Every `step`-th row after the head. */
  let spread: string[][] = []
  let step = 1
  let count = 0
  let characters = 0
  let limit = MAX_ROWS
  let widest = 0
  let headRows = 0

  /** Keeps every other row of the spread when there is no more room. */
  function makeRoom(): void {
    while (head.length + spread.length > limit) {
      if (spread.length < 2) {
        head.length = Math.min(head.length, limit)
        spread = []
        return
      }
      spread = spread.filter((_, at) => at % 2 === 0)
      step *= 2
    }
  }

  return {
    get count() {
      return count
    },
    get isFull() {
      const kept = head.length + spread.length
      return kept === count && kept >= limit
    },
    get headRows() {
      return headRows
    },
    get widest() {
      return widest
    },
    add(row) {
      const width = widthOfRow(row)
      if (width === 0) return
      if (width > widest) {
        widest = width
        limit = Math.min(limit, Math.max(50, Math.floor(MAX_CELLS / width)))
      }
      const at = count++
      const isHead = head.length < limit / 2 && spread.length === 0
      if (!isHead && (at - headRows) % step !== 0) return
      const kept = row.map((text) => copyText(text ?? ''))
      if (isHead) headRows = head.push(kept)
      else spread.push(kept)
      characters += row.reduce((sum, { length }) => sum + length, 0)
      if (characters > MAX_CHARACTERS) {
        limit = Math.max(50, Math.floor((head.length + spread.length) / 2))
        characters /= 2
      }
      makeRoom()
      headRows = head.length
    },
    usualWidth() {
      const widths = [...head, ...spread].map((row) => row.length).sort((a, b) => a - b)
      return widths[Math.floor(widths.length / 2)] ?? 0
    },
    rows: (width) =>
      [...head, ...spread].map((row) =>
        Array.from({ length: Math.min(width, row.length) }, (_, at) => row[at] ?? ''),
      ),
  }
}
