import {
  createDamageCount,
  detectDelimiter,
  detectEscape,
  knownEncoding,
} from '../../../src/core/csv/detect.ts'
import {
  type CsvEncoding,
  type CsvFormat,
  hasFormulaTexts,
  looksGuarded,
} from '../../../src/core/csv/format.ts'
import {
  createLineSample,
  type EncodingGuess,
  type EncodingReading,
  guessEncoding,
} from '../../../src/core/csv/guess-encoding.ts'
import { createCsvReader } from '../../../src/core/csv/reader.ts'
import { findTitleRow } from '../../../src/core/csv/title-row.ts'
import { FileError } from '../../../src/core/imports/file-error.ts'
import { m } from '../../../src/messages.gen.ts'
import { isWholeFile, readHead, requireKind } from './file-head.ts'
import type { ImportReader, OpenTable, RowBatch } from './reader.ts'

/** Delimited text: CSV, TSV and the like. */
export const csvReader: ImportReader<CsvFormat> = {
  kind: 'csv',
  async tables(path, chosen) {
    const { encoding, readings } = await checkEncoding(path, chosen.encoding ?? 'utf-8')
    const text = new TextDecoder(encoding).decode(await readHead(path))
    const delimiter = chosen.delimiter ?? detectDelimiter(text)
    const quote = chosen.quote ?? '"'
    const escapeSign = chosen.escape ?? detectEscape(text, { delimiter, quote })
    const reader = createCsvReader({ delimiter, quote, escape: escapeSign })
    const rows = reader.push(text).concat(isWholeFile(path) ? reader.end() : [])
    const header = chosen.header ?? chosen.titleRow !== 0
    const titleRow = chosen.titleRow ?? (header ? findTitleRow(rows) : 1)
    const format: CsvFormat = {
      kind: 'csv',
      quote: '"',
      guarded: looksGuarded(rows),
      formulaTexts: hasFormulaTexts(rows) || undefined,
      decimal: '.',
      ...chosen,
      escape: escapeSign || undefined,
      header,
      titleRow: titleRow > 1 ? titleRow : undefined,
      encoding,
      delimiter,
    }
    return [{ name: '', isHidden: false, format, problem: null, encodings: readings }]
  },
  async open(path, format): Promise<OpenTable> {
    await requireKind(path, 'csv')
    const checked = await checkEncoding(path, format.encoding)
    const problem = unclearEncoding(checked.readings)
    if (problem) throw new FileError(problem)
    const { encoding, isDamaged } = checked
    const textColumns = new Set<number>()
    return {
      titles: format.header ? await readTitles(path, { ...format, encoding }) : null,
      encoding,
      isDamaged,
      hasFixedWidth: false,
      size: Bun.file(path).size,
      textColumns,
      rows: () => readRows(path, { ...format, encoding }, textColumns),
    }
  },
}

interface CheckedEncoding extends EncodingGuess {
  /** True if some bytes are invalid; they become U+FFFD. */
  isDamaged: boolean
}

/**
 * Checks the chosen encoding against the whole file, of which the browser has seen only samples. A byte order
 * mark and UTF-16's zero bytes override it; a file that is not UTF-8 to its end is read in the encoding in which it makes
 * sense, unless only few bytes are damaged.
 */
async function checkEncoding(path: string, chosen: CsvEncoding): Promise<CheckedEncoding> {
  const known = knownEncoding(await readHead(path), isWholeFile(path))
  const certain = (encoding: CsvEncoding) => ({ encoding, isDamaged: false, readings: [] })
  if (known !== null || chosen !== 'utf-8') return certain(known ?? chosen)
  if (await isUtf8(path)) return certain('utf-8')
  const damage = createDamageCount()
  const sample = createLineSample()
  for await (const chunk of Bun.file(path).stream()) {
    damage.push(chunk)
    sample.push(chunk)
  }
  if (damage.isMostlyValid()) return { encoding: 'utf-8', isDamaged: true, readings: [] }
  return { ...guessEncoding(sample.lines(true)), isDamaged: false }
}

async function isUtf8(path: string): Promise<boolean> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  try {
    for await (const chunk of Bun.file(path).stream()) decoder.decode(chunk, { stream: true })
    decoder.decode()
    return true
  } catch (error) {
    if (error instanceof TypeError) return false
    throw error
  }
}

/** Asks a person to choose from the readings of a text; null if its encoding is clear. */
export function unclearEncoding(readings: readonly EncodingReading[]): string | null {
  if (readings.length === 0) return null
  const encodings = readings.map(({ encoding, excerpt }) => `${encoding} (${excerpt})`).join(', ')
  return m.imports_error_encoding({ encodings })
}

async function readTitles(path: string, format: CsvFormat): Promise<string[]> {
  for await (const { rows } of readRows(path, { ...format, header: false })) {
    if (rows[0]) return rows[0]
  }
  return []
}

/**
 * Parses a file in constant memory, without its titles and the rows above them.
 * @param textColumns gets the columns with a cell that was written as a formula of a text
 * @throws CsvError
 */
async function* readRows(
  path: string,
  format: CsvFormat,
  textColumns = new Set<number>(),
): AsyncGenerator<RowBatch> {
  const decoder = new TextDecoder(format.encoding)
  const reader = createCsvReader(format)
  let done = 0
  let above = (format.titleRow ?? 1) - 1 + (format.header ? 1 : 0)
  function batch(rows: string[][]): RowBatch {
    const firstRow = reader.count - rows.length + 1
    for (const column of reader.textColumns) textColumns.add(column)
    const problems = reader.takeProblems().map(({ kind, row, message }) => ({
      kind,
      row,
      column: '',
      value: '',
      reason: kind === 'Titles' ? m.imports_report_titles() : m.imports_report_quotes({ problem: message }),
    }))
    const skipped = Math.min(above, rows.length)
    above -= skipped
    return skipped === 0
      ? { rows, firstRow, problems, done }
      : { rows: rows.slice(skipped), firstRow: firstRow + skipped, problems, done }
  }
  for await (const chunk of Bun.file(path).stream()) {
    done += chunk.byteLength
    const rows = reader.push(decoder.decode(chunk, { stream: true }))
    if (rows.length > 0) yield batch(rows)
  }
  const tail = reader.push(decoder.decode())
  if (tail.length > 0) yield batch(tail)
  const rest = reader.end()
  yield batch(rest)
}
