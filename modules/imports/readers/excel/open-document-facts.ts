import { MAX_SHEET_COLUMNS } from './workbook.ts'

/** What the library does not read of an OpenDocument spreadsheet. */
export interface OpenDocumentFacts {
  /** Names of the sheets that are not shown. */
  hiddenSheets: ReadonlySet<string>
  /** By sheet and `cellKey`: texts with spaces around their lines, which the library removes. */
  texts: ReadonlyMap<string, ReadonlyMap<number, string>>
}

/** The key of a cell, whose row and column count from 0. */
export const cellKey = (row: number, column: number): number => row * MAX_SHEET_COLUMNS + column

/** Texts that are kept: no more cells than such a workbook may have. */
const MAX_TEXTS = 5_000_000
/** Longest line that is kept. */
const MAX_LINE = 1_000_000

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
  let count = 0
  let style = ''
  let sheet = ''
  let [row, column] = [0, 0]
  let lines: string[] = []
  /** The paragraph that is being read; null outside of paragraphs. */
  let line: string | null = null
  let isComment = false

  function add(text: string): void {
    if (line !== null && line.length + text.length <= MAX_LINE) line += text
  }

  function endCell({ rows, columns }: Repeats): void {
    const isKept = lines.some((each) => each !== each.trim())
    const text = isKept ? lines.join('\n') : ''
    lines = []
    if (!isKept || count + rows * columns > MAX_TEXTS) return
    count += rows * columns
    const known = texts.get(sheet) ?? new Map<number, string>()
    texts.set(sheet, known)
    for (let below = 0; below < rows; below++)
      for (let right = 0; right < columns; right++) known.set(cellKey(row + below, column + right), text)
  }

  return {
    facts: { hiddenSheets, texts } satisfies OpenDocumentFacts,
    open(name: string, attributes: Record<string, string>): void {
      if (name === 'p') line = isComment ? null : ''
      else if (name === 's')
        add(' '.repeat(Math.min(MAX_LINE, Number(attributeOf(attributes, 'c') ?? 1) || 1)))
      else if (name === 'tab') add('\t')
      else if (name === 'line-break') add('\n')
      else if (name === 'annotation') isComment = true
      else if (name === 'table') {
        sheet = attributeOf(attributes, 'name') ?? ''
        row = 0
        if (hiddenStyles.has(attributeOf(attributes, 'style-name') ?? '')) hiddenSheets.add(sheet)
      } else if (name === 'table-row') column = 0
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
      else if (name === 'table-cell' || name === 'covered-table-cell') {
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
