import Papa, { type ParseResult } from 'papaparse'
import { FileError } from '../imports/file-error.ts'
import { m } from '../messages.gen.ts'
import { createBackslashParser, type RecordParser } from './backslash.ts'
import type { CsvFormat } from './format.ts'
import { FORMULA_TEXT, unguardText, unwrapText } from './format.ts'

/** Characters buffered before parsing; larger windows cost memory and save no time. */
const WINDOW = 1 << 18

/** Longest record, in characters. A longer one has an unclosed quote, or the file is not CSV. */
export const MAX_RECORD_LENGTH = 8_000_000

/** Maximum number of unclosed quotes to repair; a file with more uses another quote or delimiter. */
const MAX_REPAIRS = 50

/** Maximum record length after the first repair: each search for a closing quote reads the record again. */
const MAX_LENGTH_AFTER_REPAIR = 500_000

/** Excel's delimiter declaration, which is not a record. The group captures the delimiter. */
export const SEPARATOR_LINE = /^"?sep=([^\r\n])"?(?:[\r\n]|$)/i

/** Characters of an unfinished record up to which lone CRs in its quoted cells are kept. */
const MAX_QUOTE_SEARCH = 1 << 20

/** Byte order marks after the first that are looked at: each file of several that were joined begins with one. */
const MAX_MARKS = 100

/** The file cannot be read as CSV; the message tells the user why and names the row. */
export class CsvError extends FileError {
  override readonly name = 'CsvError'
}

/** A violation of the CSV syntax that the reader tolerated, or a row that repeats the titles and is read as an empty one. */
export interface CsvProblem {
  kind: 'Quotes' | 'Titles'
  /** Number of the record in the file, from 1, with the header. */
  row: number
  message: string
}

/** Incremental CSV parser with bounded memory. Lines may end in CRLF, LF, CR or a mix of them. */
interface CsvReader {
  /** Adds text and returns the records completed by it, often none. */
  push(text: string): string[][]
  /** Returns the remaining records. */
  end(): string[][]
  /** Returns the problems found since the last call. */
  takeProblems(): CsvProblem[]
  /** Number of records returned so far. */
  readonly count: number
  /** Positions of columns with a cell that was written as a formula of a text, `="0012"`. */
  readonly textColumns: ReadonlySet<number>
}

type ReaderFormat = Pick<CsvFormat, 'delimiter' | 'quote'> &
  Partial<Pick<CsvFormat, 'guarded' | 'escape' | 'formulaTexts' | 'header' | 'titleRow'>>

/** @throws CsvError from `push` and `end` if a record is too long or too many quotes are unclosed */
export function createCsvReader({
  delimiter,
  quote,
  guarded = false,
  escape: escapeSign = '',
  formulaTexts = false,
  header = false,
  titleRow = 1,
}: ReaderFormat): CsvReader {
  // Papa's fast mode splits at every delimiter, as a file without quoting requires.
  const literal = new Papa.Parser({ delimiter, newline: '\n', fastMode: true })
  const main = mainParser()
  const textColumns = new Set<number>()
  let titles: string[] | null = null
  let rest = ''
  let pendingReturn = ''
  let window = WINDOW
  let count = 0
  let repairs = 0
  let problems: CsvProblem[] = []
  let marks = 0
  let firstLine = ''
  /** True if the first line ends with a lone CR, as all lines of old Macs do. */
  let isOfMac: boolean | null = null
  /** A mark and the beginning of the file's first line, until it is known how the line goes on. */
  let pendingMark = ''

  function mainParser(): RecordParser {
    if (escapeSign !== '') return createBackslashParser({ delimiter, quote })
    return quote === '' ? literal : new Papa.Parser({ delimiter, quoteChar: quote, newline: '\n' })
  }

  function addProblem(row: number, message: string): void {
    if (problems.at(-1)?.row !== row) problems.push({ kind: 'Quotes', row, message })
  }

  /** Empties rows that repeat the titles: several files were joined. */
  function dropTitles(rows: string[][]): void {
    const titlesAt = titleRow - 1 - count
    for (const [at, cells] of rows.entries()) {
      if (at === titlesAt) titles = cells.filter((text) => text.trim() !== '').length > 1 ? [...cells] : null
      else if (at > titlesAt && titles !== null && equalsRow(cells, titles)) {
        problems.push({ kind: 'Titles', row: count + at + 1, message: '' })
        rows[at] = ['']
      }
    }
  }

  function accept(result: ParseResult<string[]>): string[][] {
    const rows = result.data
    for (const error of result.errors) {
      // Errors in an incomplete record are reported again once it is complete.
      const row = error.row ?? 0
      if (row < rows.length) addProblem(count + row + 1, m.csv_error_unescaped_quote())
    }
    for (const cells of rows) dropReturn(cells)
    if (count === 0 && rows[0] && SEPARATOR_LINE.test(rows[0].join(delimiter))) rows.shift()
    if (formulaTexts) for (const cells of rows) unwrap(cells, textColumns)
    if (guarded) for (const cells of rows) unguard(cells)
    if (header) dropTitles(rows)
    count += rows.length
    return rows
  }

  /** Parses the complete records within the next `length` characters and keeps the rest. */
  function parseComplete(length = rest.length): string[][] {
    const result: ParseResult<string[]> = main.parse(rest.slice(0, length), 0, true)
    rest = rest.slice(result.meta.cursor)
    return accept(result)
  }

  /** Extracts a record from an overlong `rest`, if necessary by repairing its first line. */
  function parseOverlong(): string[][] {
    const whole = repairs > 0 ? parseComplete(MAX_LENGTH_AFTER_REPAIR) : []
    return whole.length > 0 ? whole : repairLine()
  }

  const isTooLong = () => rest.length > (repairs > 0 ? MAX_LENGTH_AFTER_REPAIR : MAX_RECORD_LENGTH)

  /** Reads the first line of `rest` without quoting, because its quote is never closed. */
  function repairLine(): string[][] {
    const row = count + 1
    const end = rest.indexOf('\n')
    if (end === -1 && rest.length > MAX_LENGTH_AFTER_REPAIR) {
      throw new CsvError(`Row ${row} is longer than ${rest.length} characters. This is not a CSV file.`)
    }
    if (++repairs > MAX_REPAIRS) {
      throw new CsvError(`Row ${row} and many rows before it have an unclosed quote`)
    }
    const line = end === -1 ? rest : rest.slice(0, end)
    rest = end === -1 ? '' : rest.slice(end + 1)
    addProblem(row, m.csv_error_unclosed_quote())
    return accept(literal.parse(line, 0, false))
  }

  return {
    get count() {
      return count
    },
    get textColumns() {
      return textColumns
    },
    push(text) {
      const rows = addText(normalise(text))
      if (rest.length < window) return rows
      append(rows, parseComplete())
      while (isTooLong()) append(rows, parseOverlong())
      // A long record is parsed again only after the buffer has doubled.
      window = Math.max(WINDOW, rest.length * 2)
      return rows
    },
    end() {
      rest += pendingMark + (pendingReturn && '\n')
      pendingMark = pendingReturn = ''
      const rows = parseComplete()
      while (rest !== '') {
        if (isTooLong()) {
          append(rows, parseOverlong())
          continue
        }
        append(rows, parseComplete())
        const last: ParseResult<string[]> = main.parse(rest, 0, false)
        const isOpen = last.errors.some((error) => error.code === 'MissingQuotes')
        if (isOpen) append(rows, repairLine())
        else append(rows, accept(last))
        if (!isOpen) rest = ''
      }
      return rows
    },
    takeProblems() {
      const reported = problems
      problems = []
      return reported
    },
  }

  /**
   * Adds text, without the byte order marks of joined files. A mark within a record is text, unless the file's first line
   * follows: then the file before lacks its last line break.
   */
  function addText(added: string): string[][] {
    const rows: string[][] = []
    const text = pendingMark + added
    pendingMark = ''
    const [first = '', ...others] = marks < MAX_MARKS ? text.split('\ufeff') : [text]
    rest += first
    if (firstLine === '' && count === 0) firstLine = /^[^\n]*(?=\n)/.exec(rest)?.[0].trimEnd() ?? ''
    for (const [at, more] of others.entries()) {
      if (++marks <= MAX_MARKS) append(rows, parseComplete())
      if (marks > MAX_MARKS) rest += `\ufeff${more}`
      else if (rest === '') rest = more
      else if (at === others.length - 1 && more.length < firstLine.length && firstLine.startsWith(more)) {
        pendingMark = `\ufeff${more}`
        marks--
      } else rest += firstLine !== '' && more.startsWith(firstLine) ? `\n${more}` : `\ufeff${more}`
    }
    return rows
  }

  /** Turns lone CRs into LFs, except in quoted cells. Keeps CRLF, so that line breaks inside cells are unchanged. */
  function normalise(text: string): string {
    let joined = pendingReturn + text
    pendingReturn = ''
    if (joined.endsWith('\r')) {
      pendingReturn = '\r'
      joined = joined.slice(0, -1)
    }
    if (count === 0 && rest === '' && joined.startsWith('\ufeff')) joined = joined.slice(1)
    const [end] = isOfMac === null ? (/\r?\n|\r/.exec(joined) ?? []) : []
    if (end !== undefined) isOfMac = end === '\r'
    if (!/\r(?!\n)/.test(joined)) return joined
    const isQuotable =
      quote !== '' && escapeSign === '' && isOfMac === false && rest.length < MAX_QUOTE_SEARCH
    return isQuotable ? withoutReturns(joined) : joined.replace(/\r(?!\n)/g, '\n')
  }

  /** Turns lone CRs outside of quoted cells into LFs. What is not parsed yet says whether the text begins in one. */
  function withoutReturns(added: string): string {
    const text = rest + added
    let result = ''
    let isQuoted = false
    let isStart = true
    for (let at = 0; at < text.length; at++) {
      let sign = text[at]!
      // A quote only opens a cell at its start; two of them within are one.
      if (sign === quote && (isQuoted || isStart)) isQuoted = !isQuoted
      else if (sign === '\r' && !isQuoted && text[at + 1] !== '\n') sign = '\n'
      isStart = sign === delimiter || sign === '\n' || (sign === quote && !isQuoted)
      if (at >= rest.length) result += sign
    }
    return result
  }
}

const CARRIAGE_RETURN = 13

/** Removes the CR of a CRLF from the last cell: Papa splits at LF only. */
function dropReturn(cells: string[]): void {
  const last = cells.at(-1)
  if (last?.charCodeAt(last.length - 1) === CARRIAGE_RETURN) cells[cells.length - 1] = last.slice(0, -1)
}

function unwrap(cells: string[], textColumns: Set<number>): void {
  for (const [at, cell] of cells.entries()) {
    if (!FORMULA_TEXT.test(cell)) continue
    cells[at] = unwrapText(cell)
    textColumns.add(at)
  }
}

const equalsRow = (cells: readonly string[], others: readonly string[]): boolean =>
  cells.length === others.length && cells.every((text, at) => text === others[at])

function unguard(cells: string[]): void {
  for (const [at, cell] of cells.entries()) if (cell.startsWith("'")) cells[at] = unguardText(cell)
}

/** `push(...rows)` would pass each as an argument, which overflows the stack with many. */
function append(rows: string[][], more: string[][]): void {
  for (const row of more) rows.push(row)
}
