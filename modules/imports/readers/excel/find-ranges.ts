import type { SheetRange } from '../../../../src/core/imports/format.ts'
import type { SheetRow } from './workbook.ts'

/** A table among several of a sheet. */
export interface FoundRange {
  range: SheetRange
  /** The text above its titles; '' for none. */
  caption: string
}

/** More tables are the sections of one. */
const MAX_TABLES = 20
/** Rows of remarks above a table, which may look like a table of their own: `Client | Acme`. */
const MAX_REMARKS = 5
/** Share of the rows between its first and last one that a table beside another has. */
const MIN_FULL = 0.8
const MAX_CAPTION = 60

/** Columns from and to, both included. */
type Band = readonly [from: number, to: number]

/** A table in a band. */
interface Region {
  /** Number of its first row, which may be a caption, and that of its titles. */
  firstRow: number
  titleRow: number
  lastRow: number
  caption: string
  titles: string[]
  columns: ReadonlySet<number>
  rows: number
}

/**
 * Finds the tables of a sheet that empty rows or empty columns separate, as a person sees them. A table goes on after an empty row unless titles
 * follow it, and after an empty column unless both sides have titles and their rows do not belong together.
 * @param rows the first ones of the sheet
 * @returns empty if they are one table
 */
export function findRanges(rows: readonly SheetRow[]): FoundRange[] {
  const bands = findBands(rows)
  const beside = bands.map((band) => regionsOf(rows, band))
  const isSplit = bands.length > 1 && areSeparate(rows, bands, beside)
  const all: Band = [bands[0]?.[0] ?? 0, bands.at(-1)?.[1] ?? 0]
  const [found, regions]: [Band[], Region[][]] = isSplit ? [bands, beside] : [[all], [regionsOf(rows, all)]]
  const count = regions.reduce((sum, each) => sum + each.length, 0)
  if (count < 2 || count > MAX_TABLES) return []
  return regions.flatMap((each, at) =>
    each.map(({ firstRow, caption }, position): FoundRange => {
      const next = each[position + 1]
      const [firstColumn, lastColumn] = found[at] ?? all
      return {
        caption,
        range: {
          // What is above the first table are remarks on it.
          firstRow: position === 0 ? 1 : firstRow,
          ...(next && { lastRow: next.firstRow - 1 }),
          firstColumn,
          ...(at < regions.length - 1 && { lastColumn }),
        },
      }
    }),
  )
}

/** Runs of columns with cells. */
function findBands(rows: readonly SheetRow[]): Band[] {
  const filled = new Set(rows.flatMap((row) => filledColumns(row)))
  const bands: [number, number][] = []
  for (const column of [...filled].sort((a, b) => a - b)) {
    const last = bands.at(-1)
    if (last && last[1] === column - 1) last[1] = column
    else bands.push([column, column])
  }
  return bands
}

const isFilled = ({ cells }: SheetRow, column: number): boolean => (cells[column] ?? '').trim() !== ''

const filledColumns = (row: SheetRow, [from, to]: Band = [0, row.cells.length - 1]): number[] => {
  const columns: number[] = []
  for (let column = from; column <= to; column++) if (isFilled(row, column)) columns.push(column)
  return columns
}

/**
 * True if each band is a table and not the rest of its neighbour: titles over all of its columns, rows without gaps, and with the neighbour either equal
 * titles, titles in another row, or far more rows.
 */
function areSeparate(
  rows: readonly SheetRow[],
  bands: readonly Band[],
  regions: readonly Region[][],
): boolean {
  const tables = regions.flatMap((each) => each.slice(0, 1))
  if (tables.length < bands.length) return false
  const areTables = tables.every(({ columns, titleRow, lastRow }, at) => {
    const band = bands[at]!
    const [from, to] = band
    const within = rows.filter(({ number }) => number > titleRow && number <= lastRow)
    const filled = within.filter((row) => filledColumns(row, band).length > 0).length
    return from < to && columns.size === to - from + 1 && filled >= MIN_FULL * (lastRow - titleRow)
  })
  return areTables && regions.slice(1).every((each, at) => areUnrelated(regions[at]!, each))
}

/** @param left tables of a band, of which there is at least one, and those of the next band */
function areUnrelated(left: readonly Region[], right: readonly Region[]): boolean {
  const [one, other] = [left[0]!, right[0]!]
  if (one.titleRow !== other.titleRow) return true
  if (one.titles.some((title) => other.titles.includes(title))) return true
  const [less = 0, more = 0] = [left, right].map((each) => each.at(-1)?.lastRow ?? 0).sort((a, b) => a - b)
  return more - less >= 2 && more - less >= (more - one.titleRow) / 5
}

/** Finds the tables below each other in a band of columns. */
function regionsOf(rows: readonly SheetRow[], band: Band): Region[] {
  const regions: Region[] = []
  for (const group of groupsOf(rows, band)) {
    const last = regions.at(-1)
    const next = regionIn(group, band)
    const isNew = next !== null && (last === undefined || isOther(group, next, last, rows, band))
    if (!isNew) {
      if (last) {
        last.lastRow = group.at(-1)?.number ?? last.lastRow
        last.rows += group.length
      }
      continue
    }
    const areRemarks = last && last.rows <= MAX_REMARKS && last.columns.size * 2 <= next.columns.size
    if (areRemarks) regions.pop()
    regions.push(next)
  }
  return regions
}

/** Rows with cells in a band that no empty row separates. */
function groupsOf(rows: readonly SheetRow[], band: Band): SheetRow[][] {
  const groups: SheetRow[][] = []
  let before = -1
  for (const row of rows) {
    if (filledColumns(row, band).length === 0) continue
    if (row.number === before + 1) groups.at(-1)?.push(row)
    else groups.push([row])
    before = row.number
  }
  return groups
}

/** The table that begins with a group of rows: texts that differ, perhaps below a caption, and a row in the same columns below them. */
function regionIn(group: readonly SheetRow[], band: Band): Region | null {
  let at = 0
  while (at < group.length - 2 && filledColumns(group[at]!, band).length === 1) at++
  const [titleRow, below] = group.slice(at)
  if (!titleRow || !below) return null
  const columns = filledColumns(titleRow, band)
  const titles = columns.map((column) => (titleRow.cells[column] ?? '').trim().toLowerCase())
  const areTitles =
    titles.length > 1 &&
    new Set(titles).size === titles.length &&
    columns.every((column) => !isValue(titleRow, column)) &&
    filledColumns(below, band).every((column) => columns.includes(column))
  if (!areTitles) return null
  const above = at === 0 ? undefined : group[at - 1]
  const [captionColumn] = above ? filledColumns(above, band) : []
  return {
    firstRow: group[0]?.number ?? titleRow.number,
    titleRow: titleRow.number,
    lastRow: group.at(-1)?.number ?? below.number,
    caption: (above?.cells[captionColumn ?? 0] ?? '').trim().slice(0, MAX_CAPTION),
    titles,
    columns: new Set(columns),
    rows: group.length - at,
  }
}

/** A number, a date, yes or no, or a text that begins like a number. */
const isValue = ({ cells, kinds }: SheetRow, column: number): boolean =>
  kinds[column] !== 'text' || /^[-+−(]?\p{Sc}?\s*\p{Nd}/u.test((cells[column] ?? '').trimStart())

/** True if titles after an empty row begin another table: texts above values, where the rows before have values or other columns. */
function isOther(
  group: readonly SheetRow[],
  { titleRow, columns }: Region,
  before: Region,
  rows: readonly SheetRow[],
  band: Band,
): boolean {
  const all = [...columns]
  const below = group.filter(({ number }) => number > titleRow)
  const hasValues = all.some((column) => below[0] && isFilled(below[0], column) && isValue(below[0], column))
  const last = rows.findLast((row) => row.number <= before.lastRow && filledColumns(row, band).length > 0)
  const areWhereValuesWere = all.some((column) => last && isFilled(last, column) && isValue(last, column))
  const isElsewhere = all.length !== before.columns.size || all.some((column) => !before.columns.has(column))
  if (hasValues && (areWhereValuesWere || isElsewhere)) return true
  // Tables of texts need more evidence: other columns, and full rows in them.
  return (
    isElsewhere && below.length > 1 && below.every((row) => filledColumns(row, band).length > all.length / 2)
  )
}
