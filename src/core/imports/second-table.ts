/** Titles of another table below the first one on the same sheet or in the same text. */
export interface SecondTable {
  /** Number of the row with the titles, from 1. */
  row: number
  titles: string[]
}

const MAX_TITLES = 20

/**
 * Looks for titles below an empty row: texts that differ, above a row with numbers or dates in the same columns, in columns where the
 * rows before the gap have numbers or dates, or in another number of columns. A single empty row between rows of one table is no
 * evidence.
 */
export function createSecondTableFinder() {
  let before: readonly string[] | null = null
  let isAfterGap = false
  let candidate: { row: number; cells: readonly string[] } | null = null
  let found: SecondTable | null = null

  return {
    /** The first one that was found. */
    get found() {
      return found
    },
    /** @param cells of the next row, which may be empty */
    add(row: number, cells: readonly string[]): void {
      if (found) return
      if (countFilled(cells) === 0) {
        isAfterGap = before !== null
        candidate = null
        return
      }
      if (candidate && hasValuesBelow(candidate.cells, cells)) {
        const titles = candidate.cells.filter((text) => text.trim() !== '').slice(0, MAX_TITLES)
        found = { row: candidate.row, titles }
        return
      }
      candidate = isAfterGap && before && areTitles(cells, before) ? { row, cells } : null
      isAfterGap = false
      before = cells
    },
  }
}

const countFilled = (cells: readonly string[]): number =>
  cells.reduce((count, text) => (text.trim() === '' ? count : count + 1), 0)

const isValue = (text = ''): boolean => /^[-+−(]?\p{Sc}?\s*\p{Nd}/u.test(text.trimStart())

/** True for texts that differ, if they do not continue the rows above. */
function areTitles(cells: readonly string[], above: readonly string[]): boolean {
  const titles = cells.map((text) => text.trim()).filter((text) => text !== '')
  if (titles.length < 2 || new Set(titles).size < titles.length || titles.some(isValue)) return false
  const isOtherType = cells.some((text, at) => text.trim() !== '' && isValue(above[at]))
  return isOtherType || countFilled(above) !== titles.length
}

const hasValuesBelow = (titles: readonly string[], cells: readonly string[]): boolean =>
  titles.some((text, at) => text.trim() !== '' && isValue(cells[at]))
