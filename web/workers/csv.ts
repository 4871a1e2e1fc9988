import { detectDelimiter, detectEscape, detectFrom } from '../../src/core/csv/detect.ts'
import type { CsvEncoding, CsvFormat } from '../../src/core/csv/format.ts'
import { hasFormulaTexts, looksGuarded } from '../../src/core/csv/format.ts'
import { CsvError, createCsvReader } from '../../src/core/csv/reader.ts'
import { findTitleRow } from '../../src/core/csv/title-row.ts'
import { detectFields } from '../../src/core/fields/detect.ts'
import { asDigits, detectDecimalMark } from '../../src/core/fields/detect-numbers.ts'
import type { Analysis } from '../../src/core/imports/analysis.ts'
import { FileError } from '../../src/core/imports/file-error.ts'
import { ForeignFileError, fileKind } from '../../src/core/imports/file-kind.ts'
import { createSecondTableFinder, type SecondTable } from '../../src/core/imports/second-table.ts'
import type { AnalyseFault, AnalyseReply, AnalyseRequest } from '../features/imports/analysis.ts'

/*
 * Analyses a CSV file in a worker: encoding, delimiter, column types and sample records. It gets samples, never the
 * whole of a large file.
 */

/** Records that are looked at, and cells, which very wide files reach first. */
const MAX_ROWS = 3000
const MAX_CELLS = 150_000

self.onmessage = ({ data }: MessageEvent<AnalyseRequest>) => {
  self.postMessage(answer(data))
}

function answer(request: AnalyseRequest): AnalyseReply {
  try {
    return { id: request.id, ok: true, analysis: analyse(request) }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return { id: request.id, ok: false, message, fault: faultOf(error) }
  }
}

function faultOf(error: unknown): AnalyseFault {
  if (error instanceof ForeignFileError) return 'foreign'
  return error instanceof FileError ? 'format' : 'other'
}

/** Null for a file of a kind that the server reads. */
function analyse({ samples, chosen }: AnalyseRequest): Analysis | null {
  const isWhole = samples.head.byteLength >= samples.size
  if (fileKind(new Uint8Array(samples.head), isWhole) !== 'csv') return null
  const bytes = [samples.head, ...samples.slices].map((sample) => new Uint8Array(sample))
  const { encoding, readings } = chosen.encoding
    ? { encoding: chosen.encoding, readings: [] }
    : detectFrom(bytes, isWhole)
  const headText = decode(samples.head, encoding)
  const delimiter = chosen.delimiter ?? detectDelimiter(headText)
  const plain: CsvFormat = {
    kind: 'csv',
    quote: '"',
    guarded: false,
    decimal: '.',
    ...chosen,
    escape: chosen.escape ?? (detectEscape(headText, { delimiter }) || undefined),
    header: chosen.header ?? true,
    titleRow: undefined,
    encoding,
    delimiter,
  }
  const raw = { ...plain, header: false, formulaTexts: false }
  const { rows: written } = read(headText, raw, isWhole)
  const titleRow = chosen.titleRow ?? (plain.header ? findTitleRow(written) : 1)
  // With line breaks inside cells, a slice that starts within one cannot be split into rows.
  const isReadable = !written.some((cells) => cells.some((cell) => /[\r\n]/.test(cell)))
  const slices = isReadable ? samples.slices.map((slice) => decode(slice, encoding)) : []
  const inside = slices.flatMap((slice) => readInside(slice, raw, written[titleRow - 1]?.length ?? 0))
  const format: CsvFormat = {
    ...plain,
    guarded: chosen.guarded ?? looksGuarded([...written, ...inside]),
    formulaTexts: chosen.formulaTexts ?? (hasFormulaTexts(written) || undefined),
    titleRow: titleRow > 1 ? titleRow : undefined,
  }

  const head = read(headText, format, isWhole)
  const [first = [], ...others] = head.rows.slice(titleRow - 1).filter(isFilled)
  const header = format.header ? first : null
  const headRows = format.header ? others : [first, ...others].filter(isFilled)
  const width = widthOf(header, headRows)
  const scattered = slices
    .flatMap((slice) => readInside(slice, format, width))
    .filter((row) => row.some((text, at) => text !== header?.[at]))

  const limit = Math.min(MAX_ROWS, Math.max(50, Math.floor(MAX_CELLS / Math.max(1, width))))
  // Half from the beginning, and as much of the rest as there is room for.
  const shown = headRows.slice(0, scattered.length === 0 ? limit : limit / 2)
  const rows = [...shown, ...every(scattered, limit - shown.length)].map((row) => row.slice(0, width))
  const titles = header?.slice(0, width) ?? Array.from({ length: width }, () => '')
  const decimal = chosen.decimal ?? detectDecimalMark(columnsOf(rows, width), delimiter)
  const share = Math.max(1, samples.head.byteLength) / samples.size
  return {
    format: { ...format, decimal },
    fields: detectFields(isWhole ? headRows : rows, titles, {
      maxRowsToParse: Number.POSITIVE_INFINITY,
      decimal,
      isDecimalChosen: chosen.decimal !== undefined,
    })
      .slice(0, width)
      .map((field, at) => (head.textColumns.has(at) ? asDigits(field) : field)),
    rows,
    headRows: shown.length,
    rowCount: isWhole ? headRows.length : Math.round(headRows.length / share),
    isExact: isWhole,
    isComplete: isWhole,
    quoteProblems: head.quoteProblems,
    repeatedTitles: head.repeatedTitles,
    encodings: readings,
    secondTable: findSecondTable(head.rows, titleRow),
  }
}

function findSecondTable(rows: string[][], titleRow: number): SecondTable | null {
  const second = createSecondTableFinder()
  for (const [at, cells] of rows.slice(titleRow, titleRow + MAX_ROWS).entries())
    second.add(titleRow + 1 + at, cells)
  return second.found
}

const decode = (bytes: ArrayBuffer, encoding: CsvEncoding): string => new TextDecoder(encoding).decode(bytes)

const isFilled = (cells: string[]): boolean => cells.some((cell) => cell !== '')

/** What the beginning of a file holds. */
interface ReadText {
  /** Records, with those that are empty. */
  rows: string[][]
  quoteProblems: number
  repeatedTitles: number
  textColumns: ReadonlySet<number>
}

function read(text: string, format: CsvFormat, isWhole: boolean): ReadText {
  const reader = createCsvReader(format)
  const rows = reader.push(text)
  if (rows.length === 0 && !isWhole) throw new CsvError('The first row never ends. This is not a CSV file.')
  // A slice may end in the middle of a record.
  const rest = isWhole ? reader.end() : []
  const problems = reader.takeProblems()
  const repeatedTitles = problems.filter(({ kind }) => kind === 'Titles').length
  return {
    rows: rows.concat(rest),
    quoteProblems: problems.length - repeatedTitles,
    repeatedTitles,
    textColumns: reader.textColumns,
  }
}

/** Records inside a slice. It may begin within a quoted cell: what then looks amiss is left out. */
function readInside(text: string, format: CsvFormat, width: number): string[][] {
  const start = text.search(/[\r\n]/)
  const end = Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r'))
  if (start === -1 || end <= start) return []
  const reader = createCsvReader({ ...format, header: false })
  const rows = reader.push(text.slice(start + 1, end + 1)).concat(reader.end())
  return reader.takeProblems().length > 0 ? [] : rows.filter((cells) => cells.length === width)
}

/** The cells of each column that hold something. */
const columnsOf = (rows: string[][], width: number): string[][] =>
  Array.from({ length: width }, (_, index) =>
    rows.map((row) => row[index] ?? '').filter((cell) => cell.trim() !== ''),
  )

/** The header decides the number of columns, unless most records have more. */
function widthOf(header: string[] | null, rows: string[][]): number {
  const widths = rows.map((row) => row.length).sort((a, b) => a - b)
  const usual = widths[Math.floor(widths.length / 2)] ?? 0
  return header ? Math.max(header.length, usual) : Math.max(usual, widths.at(-1) ?? 0)
}

/** `count` of the items, evenly spread. */
function every<T>(items: T[], count: number): T[] {
  if (items.length <= count) return items
  return Array.from({ length: count }, (_, at) => items[Math.floor((at * items.length) / count)]!)
}
