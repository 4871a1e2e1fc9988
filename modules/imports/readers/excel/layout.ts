import type { CellKind, Merge, SheetRow } from './workbook.ts'

/** Where the table of a sheet begins. */
export interface Layout {
  /** From 1; 0 without titles. */
  titleRow: number
  /** From 1. */
  firstRow: number
  /** From 0. */
  firstColumn: number
}

/**
 * Finds the table in the first rows of a sheet: below remarks of a cell or two, and right of empty columns. The
 * first row more than half as full as the fullest has the titles, unless it holds numbers or dates like the rows below.
 * @param titleRow chosen by the user
 * @returns null for an empty sheet
 */
export function findLayout(rows: readonly SheetRow[], titleRow?: number): Layout | null {
  const filled = rows.filter((row) => countCells(row) > 0)
  const fullest = filled.reduce((most, row) => Math.max(most, countCells(row)), 0)
  const first = filled.find((row) => countCells(row) > fullest / 2)
  if (!first) return null
  const hasTitles = titleRow === undefined ? looksLikeTitles(first, filled) : titleRow > 0
  const start = titleRow || first.number
  const below = filled.filter(({ number }) => number >= start)
  const firstColumn = Math.min(...(below.length > 0 ? below : filled).map(firstCell))
  return {
    titleRow: hasTitles ? start : 0,
    firstRow: hasTitles ? start + 1 : start,
    firstColumn,
  }
}

/**
 * Finds titles in two rows, of which the upper one has groups: `Sales` over `2023` and `2024`. Its cells are merged ranges.
 * @param mergesOf called only where the rows look so, since it reads the whole sheet
 */
export async function withGroups(
  layout: Layout,
  rows: readonly SheetRow[],
  mergesOf: () => Promise<readonly Merge[]>,
): Promise<Layout> {
  if (layout.titleRow === 0) return layout
  for (const titleRow of [layout.titleRow, layout.titleRow - 1]) {
    const [upper, lower] = [titleRow, titleRow + 1].map((wanted) =>
      rows.find(({ number }) => number === wanted),
    )
    if (!upper || !lower || countCells(upper) < 2 || !isBelowGroups(lower, upper)) continue
    const isGroup = ({ firstRow, lastRow, column, lastColumn }: Merge) =>
      firstRow === titleRow - 1 && lastRow === firstRow && lastColumn > column
    if ((await mergesOf()).some(isGroup)) return { ...layout, titleRow, firstRow: titleRow + 2 }
  }
  return layout
}

/** True if a row has titles where the cells of the one above are empty. */
const isBelowGroups = (lower: SheetRow, upper: SheetRow): boolean =>
  lower.cells.some((text, at) => text.trim() !== '' && (upper.cells[at] ?? '').trim() === '') &&
  lower.cells.every((text, at) => text.trim() === '' || lower.kinds[at] === 'text' || isYear(text))

/** Titles of two rows: those of the groups, over all of their columns, before those below. */
export function groupedTitles(
  upper: readonly string[],
  lower: readonly string[],
  merges: readonly Pick<Merge, 'column' | 'lastColumn'>[],
): string[] {
  return Array.from({ length: Math.max(upper.length, lower.length) }, (_, at) => {
    const group = merges.find(({ column, lastColumn }) => column <= at && at <= lastColumn)
    const titles = [upper[group?.column ?? at] ?? '', lower[at] ?? ''].map((text) => text.trim())
    return [...new Set(titles)].filter((text) => text !== '').join(' ')
  })
}

const countCells = ({ cells }: SheetRow): number =>
  cells.reduce((count, text) => (text.trim() === '' ? count : count + 1), 0)

const firstCell = ({ cells }: SheetRow): number =>
  cells.findIndex((text) => text !== undefined && text.trim() !== '')

function looksLikeTitles(row: SheetRow, filled: readonly SheetRow[]): boolean {
  const kinds = row.cells.flatMap((text, at) => (text.trim() === '' ? [] : [kindOf(row.kinds[at])]))
  const texts = kinds.filter((kind) => kind === 'text').length
  if (texts * 2 >= kinds.length) return true
  if (!isPeriods(row)) return false
  // Years and months as titles: the column of names has a text above its texts, so only other columns tell.
  const next = filled.find(({ number }) => number > row.number)
  return (
    next !== undefined &&
    !isPeriods(next) &&
    !row.kinds.some((kind, at) => isDay(kind) && isDay(next.kinds[at]))
  )
}

const kindOf = (kind: SheetRow['kinds'][number] | undefined): CellKind | 'number' =>
  typeof kind === 'string' ? kind : 'number'

/** True if all numbers of a row may be years or are days, as those of months are. */
const isPeriods = ({ cells, kinds }: SheetRow): boolean =>
  cells.every((text, at) => typeof kinds[at] === 'string' || isDay(kinds[at]) || isYear(text))

const isDay = (kind: SheetRow['kinds'][number] | undefined): boolean =>
  typeof kind === 'object' && kind.kind === 'date'

const isYear = (text: string): boolean => /^(?:1[5-9]|20)\d\d$/.test(text)
