import { guardText } from '../core/csv/format.ts'
import { type CsvOptions, createCsvWriter, SPECIAL } from '../core/csv/write.ts'
import { isShownPlain } from '../core/fields/cell-text.ts'
import type { PageWriter, RecordTable } from './page-writer.ts'
import { Character, type RowFormat } from './text-rows.ts'

const encoder = new TextEncoder()

/** Lines of a CSV file, without the titles. */
export function csvPages(table: RecordTable, options: CsvOptions): PageWriter {
  const { line } = createCsvWriter(table, options)
  return (rows) => {
    const text = rows.map((row) => line(row)).join('')
    return { rows: rows.length, pieces: [{ bytes: encoder.encode(text) }] }
  }
}

/** The same lines from the texts of a database. */
export function csvRows(table: RecordTable, options: CsvOptions): RowFormat {
  const { columns } = createCsvWriter(table, options)
  const cells = columns.map(({ cell, isGuarded }, at) => {
    const field = table.fields[at]
    const isPlain = field !== undefined && isShownPlain(field)
    return {
      before: at === 0 ? '' : options.delimiter,
      null: '',
      write: cell,
      copiesTexts: isPlain,
      // A negative number in a field of texts is guarded.
      copiesNumbers: isPlain && !isGuarded,
    }
  })
  return {
    cells,
    between: '',
    after: '\r\n',
    // A line with one empty cell would be read as an empty line.
    emptyRow: '""',
    isQuoted: false,
    characters: Uint8Array.from({ length: 256 }, (_, byte) => characterFlags(byte, options)),
  }
}

function characterFlags(byte: number, { delimiter }: CsvOptions): number {
  const character = String.fromCharCode(byte)
  // White space, or a part of a character beyond ASCII that may be some.
  const atEnds = byte <= 0x20 || byte >= 0x7f ? Character.escapedFirst | Character.escapedLast : 0
  const first = guardText(`${character}=`) === `${character}=` ? 0 : Character.escapedFirst
  const quotes = byte < 0x80 && SPECIAL[delimiter].test(character) ? Character.quoted : 0
  return atEnds | first | quotes
}
