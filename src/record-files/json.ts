import { cellFormatter, isShownPlain } from '../core/fields/cell-text.ts'
import { storageOf } from '../core/fields/field.ts'
import type { CellValue } from '../core/fields/field-type.ts'
import type { PageWriter, RecordTable } from './page-writer.ts'
import { Character, type RowFormat } from './text-rows.ts'

const encoder = new TextEncoder()

/**
 * Elements of a JSON array, each on a line: an object by field title. Numbers, booleans and JSON keep their type; others
 * are text.
 */
export function jsonPages(table: RecordTable): PageWriter {
  const object = objectWriter(table)
  return (rows, first) => {
    // Only the first object of the file has no comma before it.
    const text = rows.length === 0 ? '' : (first === 0 ? '\n' : ',\n') + rows.map(object).join(',\n')
    return { rows: rows.length, pieces: [{ bytes: encoder.encode(text) }] }
  }
}

/** Lines of NDJSON: the objects of `jsonPages`, each on a line of its own. */
export function ndjsonPages(table: RecordTable): PageWriter {
  const object = objectWriter(table)
  return (rows) => {
    const text = rows.map((row) => `${object(row)}\n`).join('')
    return { rows: rows.length, pieces: [{ bytes: encoder.encode(text) }] }
  }
}

/** The elements of `jsonPages` from the texts of a database. */
export const jsonRows = (table: RecordTable): RowFormat =>
  objectRows(table, { between: ',', start: '\n', end: '' })

/** The lines of `ndjsonPages` from the texts of a database. */
export const ndjsonRows = (table: RecordTable): RowFormat =>
  objectRows(table, { between: '', start: '', end: '\n' })

function objectRows(
  table: RecordTable,
  { between, start, end }: { between: string; start: string; end: string },
): RowFormat {
  const cells = membersOf(table).map(({ title, write, copiesTexts }, at) => ({
    before: `${at === 0 ? `${start}{` : ','}${title}`,
    null: 'null',
    write,
    copiesTexts,
    copiesNumbers: true,
  }))
  return { cells, between, after: `}${end}`, emptyRow: '', isQuoted: true, characters: JSON_CHARACTERS }
}

/** Bytes that JSON escapes (RFC 8259, section 7). */
const JSON_CHARACTERS = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte < 0x20 || byte === 0x22 || byte === 0x5c ? Character.escaped : 0,
)

/** Writes a record as a JSON object on one line. */
function objectWriter(table: RecordTable): (row: readonly CellValue[]) => string {
  const members = membersOf(table)
  return (row) => {
    const texts: string[] = []
    // Without an iterator: this runs for each cell of a file. Joined, because a text that grows has to be copied later.
    for (let at = 0; at < members.length; at++) {
      const member = members[at]
      if (member) texts.push(member.title + member.write(row[at] ?? null))
    }
    return `{${texts.join(',')}}`
  }
}

/** The members of a record's object: `"Title":`, and what writes its values. */
function membersOf({ fields, people, timeZone }: RecordTable) {
  return fields.map((field) => {
    const format = cellFormatter(field, { people, timeZone })
    // JSON is stored as validated text.
    const isJson = storageOf(field) === 'json'
    return {
      title: `${JSON.stringify(field.title)}:`,
      write(value: CellValue): string {
        if (value === null) return 'null'
        if (typeof value === 'number' || typeof value === 'boolean') return JSON.stringify(value)
        return isJson ? onOneLine(String(value)) : JSON.stringify(format(value))
      },
      copiesTexts: !isJson && isShownPlain(field),
    }
  })
}

/** Line breaks in JSON are white space between values; those in texts are escaped. */
const onOneLine = (json: string): string => (json.includes('\n') ? json.replace(/[\r\n]/g, ' ') : json)
