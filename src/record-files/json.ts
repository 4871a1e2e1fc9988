import { cellFormatter } from '../core/fields/cell-text.ts'
import { storageOf } from '../core/fields/field.ts'
import type { CellValue } from '../core/fields/field-type.ts'
import type { PageWriter, RecordTable } from './page-writer.ts'

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

/** Writes a record as a JSON object on one line. */
function objectWriter({ fields, people, timeZone }: RecordTable): (row: readonly CellValue[]) => string {
  const columns = fields.map((field) => {
    const format = cellFormatter(field, { people, timeZone })
    // JSON is stored as validated text.
    const isJson = storageOf(field) === 'json'
    const title = `${JSON.stringify(field.title)}:`
    return (value: CellValue): string => {
      if (value === null) return `${title}null`
      if (typeof value === 'number' || typeof value === 'boolean') return title + JSON.stringify(value)
      return title + (isJson ? onOneLine(String(value)) : JSON.stringify(format(value)))
    }
  })
  return (row) => {
    const members: string[] = []
    // Without an iterator: this runs for each cell of a file. Joined, because a text that grows has to be copied later.
    for (let at = 0; at < columns.length; at++) members.push(columns[at]?.(row[at] ?? null) ?? '')
    return `{${members.join(',')}}`
  }
}

/** Line breaks in JSON are white space between values; those in texts are escaped. */
const onOneLine = (json: string): string => (json.includes('\n') ? json.replace(/[\r\n]/g, ' ') : json)
