import Papa, { type ParseResult } from 'papaparse'
import type { CsvFormat } from './format.ts'
import { unguardText } from './format.ts'

/** Characters that are gathered before they are taken apart: larger windows cost memory and gain no time. */
const WINDOW = 1 << 18

/** Longest record, in characters. A longer one has an unclosed quote, or the file is not CSV. */
export const MAX_RECORD_LENGTH = 8_000_000

/** So many unclosed quotes are mended; a file with more has another quote or delimiter than was said. */
const MAX_MENDED = 50

/** Once quotes were found unclosed, less is searched for the closing one: each search reads all of it again. */
const MAX_LENGTH_IF_MENDED = 500_000

/** The line by which Excel is told the delimiter: no record. Its one group is the delimiter. */
export const SEPARATOR_LINE = /^sep=([^\r\n])(?:[\r\n]|$)/i

/** The file cannot be read as CSV; the message says to a person why, and names the row. */
export class CsvError extends Error {
  override readonly name = 'CsvError'
}

/** Something in the text that is against the rules of CSV, and was read as well as it could be. */
export interface CsvProblem {
  kind: 'Quotes'
  /** Number of the record in the file, from 1, with the header. */
  row: number
  message: string
}

/**
 * Takes the text of a CSV file apart, piece by piece, in memory that does not grow with the file.
 * Lines may end in CRLF, LF, CR or a mix of them.
 */
interface CsvReader {
  /** Adds text and returns the records completed by it, often none. */
  push(text: string): string[][]
  /** Gives the rest. */
  end(): string[][]
  /** The problems found since this was last called. */
  takeProblems(): CsvProblem[]
  /** Records given so far: the number of the last one. */
  readonly count: number
}

/** @throws CsvError from `push` and `end`, where a record has no end or most quotes have no partner */
export function createCsvReader({
  delimiter,
  quote,
  guarded = false,
}: Pick<CsvFormat, 'delimiter' | 'quote'> & Partial<Pick<CsvFormat, 'guarded'>>): CsvReader {
  const parser = new Papa.Parser({ delimiter, quoteChar: quote || '"', newline: '\n' })
  // Papa's fast mode splits at every delimiter: just what a file without quoting needs.
  const literal = new Papa.Parser({ delimiter, newline: '\n', fastMode: true })
  const main = quote === '' ? literal : parser
  let rest = ''
  let heldReturn = ''
  let window = WINDOW
  let count = 0
  let mended = 0
  let problems: CsvProblem[] = []

  function addProblem(row: number, message: string): void {
    if (problems.at(-1)?.row !== row) problems.push({ kind: 'Quotes', row, message })
  }

  function accept(result: ParseResult<string[]>): string[][] {
    const rows = result.data
    for (const error of result.errors) {
      // Of a record that is not whole yet we hear again when it is.
      const row = error.row ?? 0
      if (row < rows.length) addProblem(count + row + 1, 'A quoted cell contains an unescaped quote')
    }
    for (const cells of rows) dropReturn(cells)
    if (count === 0 && rows[0] && SEPARATOR_LINE.test(rows[0].join(delimiter))) rows.shift()
    if (guarded) for (const cells of rows) unguard(cells)
    count += rows.length
    return rows
  }

  /** Parses the whole records within the next `length` characters, and keeps what follows them. */
  function takeWhole(length = rest.length): string[][] {
    const result: ParseResult<string[]> = main.parse(rest.slice(0, length), 0, true)
    rest = rest.slice(result.meta.cursor)
    return accept(result)
  }

  /** Gets a record out of `rest` that has grown past all bounds, if it must be by force. */
  function takeForced(): string[][] {
    const whole = mended > 0 ? takeWhole(MAX_LENGTH_IF_MENDED) : []
    return whole.length > 0 ? whole : mendLine()
  }

  const isTooLong = () => rest.length > (mended > 0 ? MAX_LENGTH_IF_MENDED : MAX_RECORD_LENGTH)

  /** Reads the first line of `rest` as it stands: its quote has no partner. */
  function mendLine(): string[][] {
    const row = count + 1
    const end = rest.indexOf('\n')
    if (end === -1 && rest.length > MAX_LENGTH_IF_MENDED) {
      throw new CsvError(`Row ${row} is longer than ${rest.length} characters. This is not a CSV file.`)
    }
    if (++mended > MAX_MENDED) {
      throw new CsvError(`Row ${row} and many rows before it have an unclosed quote`)
    }
    const line = end === -1 ? rest : rest.slice(0, end)
    rest = end === -1 ? '' : rest.slice(end + 1)
    addProblem(row, 'Unclosed quote')
    return accept(literal.parse(line, 0, false))
  }

  return {
    get count() {
      return count
    },
    push(text) {
      rest += normalise(text)
      if (rest.length < window) return []
      const rows = takeWhole()
      while (isTooLong()) append(rows, takeForced())
      // A long record is looked at again only when twice as much of it is there.
      window = Math.max(WINDOW, rest.length * 2)
      return rows
    },
    end() {
      rest += heldReturn && '\n'
      heldReturn = ''
      const rows = takeWhole()
      while (rest !== '') {
        if (isTooLong()) {
          append(rows, takeForced())
          continue
        }
        append(rows, takeWhole())
        const last: ParseResult<string[]> = main.parse(rest, 0, false)
        const isOpen = last.errors.some((error) => error.code === 'MissingQuotes')
        if (isOpen) append(rows, mendLine())
        else append(rows, accept(last))
        if (!isOpen) rest = ''
      }
      return rows
    },
    takeProblems() {
      const taken = problems
      problems = []
      return taken
    },
  }

  /** Turns lone CRs into LFs. CRLF stays, so that a line break inside a cell is kept as it was. */
  function normalise(text: string): string {
    let joined = heldReturn + text
    heldReturn = ''
    if (joined.endsWith('\r')) {
      heldReturn = '\r'
      joined = joined.slice(0, -1)
    }
    if (count === 0 && rest === '' && joined.startsWith('\ufeff')) joined = joined.slice(1)
    return joined.includes('\r') ? joined.replace(/\r(?!\n)/g, '\n') : joined
  }
}

const CARRIAGE_RETURN = 13

/** Papa splits at LF, which leaves the CR of a CRLF in the last cell. */
function dropReturn(cells: string[]): void {
  const last = cells.at(-1)
  if (last?.charCodeAt(last.length - 1) === CARRIAGE_RETURN) cells[cells.length - 1] = last.slice(0, -1)
}

function unguard(cells: string[]): void {
  for (const [at, cell] of cells.entries()) if (cell.startsWith("'")) cells[at] = unguardText(cell)
}

/** `push(...rows)` would pass each as an argument, which overflows the stack with many. */
function append(rows: string[][], more: string[][]): void {
  for (const row of more) rows.push(row)
}
