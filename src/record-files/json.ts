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
    let text = ''
    for (const [index, row] of rows.entries()) text += (first + index === 0 ? '\n' : ',\n') + object(row)
    return { rows: rows.length, pieces: [{ bytes: encoder.encode(text) }] }
  }
}

/** Lines of NDJSON: the objects of `jsonPages`, each on a line of its own. */
export function ndjsonPages(table: RecordTable): PageWriter {
  const object = objectWriter(table)
  return (rows) => {
    let text = ''
    for (const row of rows) text += `${object(row)}\n`
    return { rows: rows.length, pieces: [{ bytes: encoder.encode(text) }] }
  }
}

/** Writes a record as a JSON object on one line. */
function objectWriter({ fields, people, timeZone }: RecordTable): (row: readonly CellValue[]) => string {
  const columns = fields.map((field, at) => {
    const format = cellFormatter(field, { people, timeZone })
    // JSON is stored as validated text.
    const isJson = storageOf(field) === 'json'
    const title = `${at === 0 ? '' : ','}${JSON.stringify(field.title)}:`
    return (value: CellValue): string => {
      if (value === null) return `${title}null`
      if (typeof value === 'number' || typeof value === 'boolean') return title + JSON.stringify(value)
      return title + (isJson ? onOneLine(String(value)) : JSON.stringify(format(value)))
    }
  })
  return (row) => {
    let text = '{'
    // Without an iterator: this runs for each cell of a file.
    for (let at = 0; at < columns.length; at++) text += columns[at]?.(row[at] ?? null)
    return `${text}}`
  }
}

/** Line breaks in JSON are white space between values; those in texts are escaped. */
const onOneLine = (json: string): string => (json.includes('\n') ? json.replace(/[\r\n]/g, ' ') : json)
