import { FileError } from '../../../../src/core/imports/file-error.ts'
import type { ChosenFormat, ExcelFormat } from '../../../../src/core/imports/format.ts'
import { m } from '../../../../src/messages.gen.ts'
import { requireKind } from '../file-head.ts'
import {
  AMBIGUOUS_NUMBER,
  type FoundTable,
  type ImportReader,
  type OpenTable,
  type RowBatch,
  type RowProblem,
} from '../reader.ts'
import { addressOf, commentProblems, createLinkCount, isOwnAddress, type LinkCount } from './annotations.ts'
import { findRanges } from './find-ranges.ts'
import { createHiddenCount, type HiddenCount } from './hidden.ts'
import { findLayout, groupedTitles, withGroups } from './layout.ts'
import { openWorkbook } from './open-workbook.ts'
import { withinRange } from './within-range.ts'
import { columnLetters, type Merge, type Sheet, type SheetRow } from './workbook.ts'

/** Rows that show where the table of a sheet begins, and those that show whether it has several. */
const LAYOUT_ROWS = 100
const RANGE_ROWS = 2000
const RANGE_CELLS = 200_000

/** Workbooks of Excel (xlsx, xlsm, xlsb, xls) and OpenDocument (ods). Each sheet is a table. */
export const excelReader: ImportReader<ExcelFormat> = {
  kind: 'excel',
  async tables(path, chosen, onBlocked) {
    await requireKind(path, 'excel')
    const workbook = await openWorkbook(path, onBlocked)
    try {
      const found: FoundTable<ExcelFormat>[] = []
      for (const [at, sheet] of workbook.sheets.entries()) {
        if (chosen.sheet !== undefined && chosen.sheet !== at) continue
        found.push(...(await findTables(sheet, at, chosen)))
      }
      if (found.length === 0) throw new FileError(m.imports_error_workbook_empty())
      return found
    } finally {
      workbook.close()
    }
  },
  async open(path, format, onBlocked): Promise<OpenTable> {
    await requireKind(path, 'excel')
    const workbook = await openWorkbook(path, onBlocked)
    try {
      const whole = workbook.sheets[format.sheet]
      if (!whole) throw new FileError(m.imports_error_sheet_missing({ number: format.sheet + 1 }))
      const sheet = withinRange(whole, format.range)
      const titles = format.titleRow === 0 ? null : await readTitles(sheet, format)
      const currencies: ColumnCurrencies[] = []
      const pointColumns = new Set<number>()
      const clocks = new Map<number, boolean>()
      const links = createLinkCount()
      const hidden = createHiddenCount(titles, format.firstColumn)
      return {
        notes: hidden.notes,
        pointColumns,
        durationColumns: () => [...clocks].flatMap(([at, areDurations]) => (areDurations ? [at] : [])),
        linkCounts: links.counts,
        linkColumns: links.columnsOfLinks,
        titles,
        encoding: '',
        isDamaged: false,
        hasFixedWidth: true,
        size: sheet.size,
        async *rows() {
          try {
            yield* readRows(sheet, format, { titles, currencies, pointColumns, clocks, links, hidden })
          } finally {
            workbook.close()
          }
        },
        currencies: () =>
          Array.from(currencies, (column) => ({
            marks: [...(column?.marks ?? [])],
            ofAll: column?.hasPlain === false,
          })),
      }
    } catch (error) {
      workbook.close()
      throw error
    }
  },
}

/** The settings of a workbook that a person has changed. */
type Chosen = Pick<ChosenFormat, 'titleRow' | 'range' | 'decimal'>

async function firstRows(sheet: Sheet, max: number): Promise<SheetRow[]> {
  const rows: SheetRow[] = []
  let cells = 0
  for await (const batch of sheet.rows()) {
    for (const row of batch.rows) {
      rows.push(row)
      cells += row.cells.length
    }
    if (rows.length >= max || cells > RANGE_CELLS) break
  }
  return rows.slice(0, max)
}

/** The tables of a sheet: one, unless empty rows or columns separate several. */
async function findTables(sheet: Sheet, at: number, chosen: Chosen): Promise<FoundTable<ExcelFormat>[]> {
  const { titleRow, range } = chosen
  const isOne = titleRow !== undefined || range !== undefined
  const ranges = isOne ? [] : findRanges(await firstRows(sheet, RANGE_ROWS))
  if (ranges.length === 0) return [await findTable(sheet, at, chosen)]
  const tables: FoundTable<ExcelFormat>[] = []
  for (const { range: part, caption } of ranges) {
    const found = await findTable(sheet, at, { ...chosen, range: part })
    const number = tables.length + 1
    tables.push(number === 1 ? found : { ...found, name: caption || `${sheet.name} ${number}` })
  }
  return tables
}

async function findTable(
  whole: Sheet,
  at: number,
  { titleRow, range, decimal = '.' }: Chosen,
): Promise<FoundTable<ExcelFormat>> {
  const { name, isHidden } = whole
  const sheet = withinRange(whole, range ?? undefined)
  const first = await firstRows(sheet, LAYOUT_ROWS)
  const found = findLayout(first, titleRow)
  const layout =
    found && titleRow === undefined ? await withGroups(found, first, () => sheet.merges()) : found
  return {
    name,
    isHidden,
    problem: null,
    format: layout && { kind: 'excel', sheet: at, ...(range && { range }), decimal, ...layout },
  }
}

async function readTitles(sheet: Sheet, { titleRow, firstRow, firstColumn }: ExcelFormat): Promise<string[]> {
  const found: string[][] = []
  read: for await (const { rows } of sheet.rows()) {
    for (const { number, cells } of rows) {
      if (number >= firstRow) break read
      if (number >= titleRow) found[number - titleRow] = Array.from(cells, (text) => text ?? '')
    }
  }
  const [upper = [], lower] = found
  if (!lower) return upper.slice(firstColumn)
  const merges = (await sheet.merges()).filter((merge) => merge.firstRow === titleRow - 1)
  return groupedTitles(upper, lower, merges).slice(firstColumn)
}

/** The currencies of a column's numbers. */
interface ColumnCurrencies {
  marks: Set<string>
  /** True once a number has none. */
  hasPlain: boolean
}

/** Currencies remembered per column. */
const MAX_MARKS = 8

/** Rows between two with cells are empty; they keep the numbers of the rows right. */
async function* readRows(
  sheet: Sheet,
  { firstRow, firstColumn, amounts = [], addresses = [] }: ExcelFormat,
  facts: ColumnFacts,
): AsyncGenerator<RowBatch> {
  const fillMerged = createMergeFiller(
    (await sheet.merges()).filter((merge) => merge.lastRow > merge.firstRow),
  )
  const annotations = await sheet.annotations()
  const withCurrency = new Set(amounts)
  const withAddress = new Set(addresses)
  const titleOf = (index: number) => facts.titles?.[index] || columnLetters(index + firstColumn)

  /** Gives cells of columns of addresses those of their links, and counts the others. */
  function followLinks({ number, links }: SheetRow, cells: string[]): void {
    for (let index = 0; index < cells.length; index++) {
      const text = cells[index]
      if (!text) continue
      const column = index + firstColumn
      const target = links?.[column] ?? annotations.linkOf(number, column)
      if (target !== undefined && withAddress.has(index)) {
        const address = addressOf(text, target)
        cells[index] = address
        if (address !== text && !isOwnAddress(text, target)) facts.links.addText(index, number, text)
      } else facts.links.add(index, number, text, target)
    }
  }

  let next = firstRow
  for await (const { rows, done } of sheet.rows()) {
    const batch: RowBatch = { rows: [], firstRow: next, problems: [], done }
    const options: CellsOptions = { ...facts, firstColumn, withCurrency, problems: batch.problems }
    for (const row of rows) {
      fillMerged(row)
      if (row.number < next) continue
      while (next < row.number) {
        batch.rows.push([])
        next++
      }
      const cells = plainCells(row, options)
      if (annotations.hasLinks || row.links) followLinks(row, cells)
      else facts.links.addPlainRow()
      if (row.isHidden) facts.hidden.addRow(row.number)
      if (sheet.hiddenColumns?.size) facts.hidden.addCells(cells, sheet.hiddenColumns)
      batch.rows.push(cells)
      next++
    }
    yield batch
  }
  const problems = [
    ...facts.hidden.problems(firstRow),
    ...facts.links.problems(titleOf),
    ...commentProblems(annotations, (column) => titleOf(column - firstColumn)),
  ]
  if (problems.length > 0) yield { rows: [], firstRow: next, problems, done: sheet.size }
}

/** Titles of the columns, and facts about their cells that reading collects. */
interface ColumnFacts {
  titles: string[] | null
  currencies: ColumnCurrencies[]
  pointColumns: Set<number>
  /** By column with times: true if all of them are durations. */
  clocks: Map<number, boolean>
  links: LinkCount
  hidden: HiddenCount
}

interface CellsOptions extends ColumnFacts {
  firstColumn: number
  /** Columns whose amounts keep their currency. */
  withCurrency: ReadonlySet<number>
  problems: RowProblem[]
}

/** The cells of the table. Errors such as `#N/A` are empty and reported. */
function plainCells(
  { number: row, cells, kinds }: SheetRow,
  { firstColumn, titles, currencies, pointColumns, clocks, withCurrency, problems }: CellsOptions,
): string[] {
  const plain: string[] = new Array(Math.max(0, cells.length - firstColumn))
  for (let at = firstColumn; at < cells.length; at++) {
    const kind = kinds[at]
    const text = cells[at] ?? ''
    const index = at - firstColumn
    plain[index] = text
    if (kind === undefined || kind === 'text' || kind === 'boolean') continue
    if (typeof kind !== 'string') {
      noteCurrency(currencies, index, kind.currency)
      if (AMBIGUOUS_NUMBER.test(text)) pointColumns.add(index)
      if (kind.kind === 'duration' || kind.kind === 'time')
        clocks.set(index, kind.kind === 'duration' && clocks.get(index) !== false)
      if (kind.currency !== null && withCurrency.has(index)) plain[index] = `${text} ${kind.currency}`
      continue
    }
    plain[index] = ''
    const column = titles?.[index] || columnLetters(at)
    const reason = kind === 'error' ? m.imports_report_formula_error() : m.imports_report_uncalculated()
    problems.push({ kind: 'Cell', row, column, index, value: text, reason })
  }
  return plain
}

function noteCurrency(currencies: ColumnCurrencies[], index: number, currency: string | null): void {
  let column = currencies[index]
  if (column === undefined) {
    column = { marks: new Set(), hasPlain: false }
    currencies[index] = column
  }
  if (currency === null) column.hasPlain = true
  else if (column.marks.size < MAX_MARKS) column.marks.add(currency)
}

/**
 * Repeats the value of a merged range in the rows below its first: a person reads it as the value of each row. To
 * the right it is not repeated, since the other columns of the range have other meanings.
 */
function createMergeFiller(merges: Merge[]): (row: SheetRow) => void {
  if (merges.length === 0) return () => {}
  const waiting = merges.toSorted((a, b) => a.firstRow - b.firstRow)
  /** By column: ranges do not overlap. */
  const active = new Map<number, Merge & { text: string; kind: SheetRow['kinds'][number] }>()
  let at = 0
  return (row) => {
    const index = row.number - 1
    for (const [column, { text, kind, lastRow }] of active) {
      if (lastRow < index) {
        active.delete(column)
        continue
      }
      if ((row.cells[column] ?? '') !== '') continue
      row.cells[column] = text
      row.kinds[column] = kind
    }
    for (; at < waiting.length && (waiting[at]?.firstRow ?? 0) <= index; at++) {
      const merge = waiting[at]
      const text = merge && merge.firstRow === index ? row.cells[merge.column] : undefined
      if (merge && text) active.set(merge.column, { ...merge, text, kind: row.kinds[merge.column] ?? 'text' })
    }
  }
}
