import type { ParseResult } from 'papaparse'

/*
 * The dialect of MySQL (`SELECT … INTO OUTFILE`), Hive, Spark and PostgreSQL's text format, where a backslash escapes
 * quotes, delimiters and line breaks, and `\N` is NULL.
 */

/** Characters that letters after a backslash stand for, outside of quotes, as in PostgreSQL's `COPY`. */
const CONTROLS: Record<string, string> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f', v: '\v' }

export const NULL_CELL = '\\N'

/** Parser with the part of Papa's interface that the reader uses. */
export interface RecordParser {
  /** @param ignoreLastRow leaves out a record that no line break ends */
  parse(text: string, baseIndex: number, ignoreLastRow: boolean): ParseResult<string[]>
}

interface ParsedCell {
  text: string
  /** Position of the delimiter or line break after the cell; that of the text's end without one. */
  end: number
  isOpen: boolean
  isMalformed: boolean
}

/** Lines end in LF, or in CRLF, whose CR stays in the last cell as with Papa. */
export function createBackslashParser({
  delimiter,
  quote,
}: {
  delimiter: string
  quote: string
}): RecordParser {
  const outside = `${delimiter}\n\\`
  const inside = `${quote}\\`
  const isEnd = (text: string, at: number) =>
    at >= text.length ||
    text[at] === delimiter ||
    text[at] === '\n' ||
    (text[at] === '\r' && text[at + 1] === '\n')

  function readPlain(text: string, start: number): ParsedCell {
    let value = ''
    let from = start
    for (;;) {
      const end = firstOf(text, from, outside)
      value += text.slice(from, end)
      if (text[end] !== '\\') {
        const written = text.slice(start, end)
        // The CR of a line break belongs to the line.
        const isNull = written === NULL_CELL || written === `${NULL_CELL}\r`
        return { text: isNull ? '' : value, end, isOpen: false, isMalformed: false }
      }
      const sign = text[end + 1] ?? ''
      // A backslash that nothing follows stays.
      value += sign === '' ? '\\' : (CONTROLS[sign] ?? sign)
      from = end + 1 + sign.length
    }
  }

  function readQuoted(text: string, start: number): ParsedCell {
    let value = ''
    let from = start + 1
    let isMalformed = false
    for (;;) {
      const end = firstOf(text, from, inside)
      value += text.slice(from, end)
      if (end === text.length) return { text: value, end, isOpen: true, isMalformed }
      const next = text[end + 1] ?? ''
      if (text[end] === '\\') {
        // Other letters keep their backslash: Spark writes `C:\new` as it is.
        const isEscape = next === quote || next === '\\' || next === '\n' || next === delimiter
        value += isEscape ? next : `\\${next}`
        from = end + 1 + next.length
        continue
      }
      if (isEnd(text, end + 1)) {
        const isNull = text.slice(start + 1, end) === NULL_CELL
        const rest = text[end + 1] === '\r' ? '\r' : ''
        return { text: (isNull ? '' : value) + rest, end: lineEnd(text, end + 1), isOpen: false, isMalformed }
      }
      // A doubled quote, or one that should have been escaped.
      if (next !== quote) isMalformed = true
      value += quote
      from = end + (next === quote ? 2 : 1)
    }
  }

  return {
    parse(text, _baseIndex, ignoreLastRow) {
      const data: string[][] = []
      const errors: ParseResult<string[]>['errors'] = []
      let cursor = 0
      while (cursor < text.length) {
        const cells: string[] = []
        let at = cursor
        let end = cursor
        for (;;) {
          const isQuoted = quote !== '' && text[at] === quote
          const cell = isQuoted ? readQuoted(text, at) : readPlain(text, at)
          cells.push(cell.text)
          end = cell.end
          const row = data.length
          if (cell.isOpen) errors.push({ type: 'Quotes', code: 'MissingQuotes', message: '', row })
          else if (cell.isMalformed) errors.push({ type: 'Quotes', code: 'InvalidQuotes', message: '', row })
          if (text[end] !== delimiter) break
          at = end + 1
        }
        if (end >= text.length && ignoreLastRow) break
        data.push(cells)
        cursor = Math.min(text.length, end + 1)
      }
      return {
        data,
        errors,
        meta: { delimiter, linebreak: '\n', aborted: false, truncated: false, cursor },
      }
    },
  }
}

/** Position of the first of some characters; the text's length without one. */
function firstOf(text: string, from: number, characters: string): number {
  let at = from
  while (at < text.length && !characters.includes(text[at] ?? '')) at++
  return at
}

/** Position of the line break whose CR may be at `at`. */
const lineEnd = (text: string, at: number): number =>
  text[at] === '\r' && text[at + 1] === '\n' ? at + 1 : at
