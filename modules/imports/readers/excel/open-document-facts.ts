import { MAX_SHEET_COLUMNS } from './workbook.ts'

/** What the library does not read of an OpenDocument spreadsheet. */
export interface OpenDocumentFacts {
  /** Names of the sheets that are not shown. */
  hiddenSheets: ReadonlySet<string>
  /** Texts with spaces around their lines, which the library removes. */
  texts: FactsOfCells
  /** Codes of the currencies of amounts. */
  currencies: FactsOfCells
}

/** By sheet and `cellKey`. */
type FactsOfCells = ReadonlyMap<string, ReadonlyMap<number, string>>

/** The key of a cell, whose row and column count from 0. */
export const cellKey = (row: number, column: number): number => row * MAX_SHEET_COLUMNS + column

/** Facts of cells that are kept: no more than such a workbook may have cells. */
const MAX_FACTS = 5_000_000
/** Longest line that is kept. */
const MAX_LINE = 1_000_000

const CELLS: ReadonlySet<string> = new Set(['table-cell', 'covered-table-cell'])
const CURRENCY_CODE = /^[A-Z]{3}$/

/** How often a cell is repeated. */
interface Repeats {
  rows: number
  columns: number
}

/** Collects the facts from the elements of the file, in order. */
export function createOpenDocumentFacts() {
  const hiddenStyles = new Set<string>()
  const hiddenSheets = new Set<string>()
  const texts = new Map<string, Map<number, string>>()
  const currencies = new Map<string, Map<number, string>>()
  let count = 0
  let style = ''
  let sheet = ''
  let [row, column] = [0, 0]
  let lines: string[] = []
  /** The paragraph that is being read; null outside of paragraphs. */
  let line: string | null = null
  let isComment = false
  /** Of the cell that is being read. */
  let currency = ''

  function add(text: string): void {
    if (line !== null && line.length + text.length <= MAX_LINE) line += text
  }

  function endCell(repeats: Repeats): void {
    if (lines.some((each) => each !== each.trim())) keep(texts, lines.join('\n'), repeats)
    if (CURRENCY_CODE.test(currency)) keep(currencies, currency, repeats)
    lines = []
    currency = ''
  }

  function keep(facts: Map<string, Map<number, string>>, fact: string, { rows, columns }: Repeats): void {
    if (count + rows * columns > MAX_FACTS) return
    count += rows * columns
    const known = facts.get(sheet) ?? new Map<number, string>()
    facts.set(sheet, known)
    for (let below = 0; below < rows; below++)
      for (let right = 0; right < columns; right++) known.set(cellKey(row + below, column + right), fact)
  }

  return {
    facts: { hiddenSheets, texts, currencies } satisfies OpenDocumentFacts,
    open(name: string, attributes: Record<string, string>): void {
      if (name === 'p') line = isComment ? null : ''
      else if (name === 's')
        add(' '.repeat(Math.min(MAX_LINE, Math.max(0, Number(attributeOf(attributes, 'c') ?? 1) || 0))))
      else if (name === 'tab') add('\t')
      else if (name === 'line-break') add('\n')
      else if (name === 'annotation') isComment = true
      else if (name === 'table') {
        sheet = attributeOf(attributes, 'name') ?? ''
        row = 0
        if (hiddenStyles.has(attributeOf(attributes, 'style-name') ?? '')) hiddenSheets.add(sheet)
      } else if (name === 'table-row') column = 0
      else if (CELLS.has(name)) currency = attributeOf(attributes, 'currency') ?? ''
      else if (name === 'style') style = attributeOf(attributes, 'name') ?? ''
      else if (name === 'table-properties' && attributeOf(attributes, 'display') === 'false')
        hiddenStyles.add(style)
    },
    text(piece: string): void {
      if (line === null) return
      // Spaces at the beginning only indent the XML. At the end, LibreOffice writes one, and takes it for a part of the text.
      const plain = piece.replace(/(?:\r?\n|[\t ])+/g, ' ')
      const start = line === '' && plain.startsWith(' ') ? plain.slice(1) : plain
      const isIndented = /[\t\n]/.test(piece.slice(piece.trimEnd().length))
      add(isIndented ? start.slice(0, -1) : start)
    },
    close(name: string, repeats: Repeats): void {
      if (name === 'p') {
        if (line !== null) lines.push(line)
        line = null
      } else if (name === 'annotation') isComment = false
      else if (CELLS.has(name)) {
        endCell(repeats)
        column += repeats.columns
      } else if (name === 'table-row') row += repeats.rows
    },
  }
}

/** The value of an attribute, whatever its prefix. */
function attributeOf(attributes: Record<string, string>, name: string): string | undefined {
  for (const key in attributes) if (key.slice(key.indexOf(':') + 1) === name) return attributes[key]
  return undefined
}
