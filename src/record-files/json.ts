import { cellFormatter } from '../core/fields/cell-text.ts'
import { storageOf } from '../core/fields/field.ts'
import type { CellValue } from '../core/fields/field-type.ts'
import type { PageWriter, RecordTable } from './page-writer.ts'

const encoder = new TextEncoder()

/**
 * Elements of a JSON array, each on a line: an object by field title. Numbers, booleans and JSON keep their type; others
 * are text.
 */
export function jsonPages({ fields, people, timeZone }: RecordTable): PageWriter {
  const columns = fields.map((field, at) => {
    const format = cellFormatter(field, { people, timeZone })
    // JSON is stored as validated text.
    const isJson = storageOf(field) === 'json'
    const title = `${at === 0 ? '' : ','}${JSON.stringify(field.title)}:`
    return (value: CellValue): string => {
      if (value === null) return `${title}null`
      if (typeof value === 'number' || typeof value === 'boolean') return title + JSON.stringify(value)
      return title + (isJson ? String(value) : JSON.stringify(format(value)))
    }
  })
  return (rows, first) => {
    let text = ''
    for (const [index, row] of rows.entries()) {
      text += first + index === 0 ? '\n{' : ',\n{'
      // Without an iterator: this runs for each cell of a file.
      for (let at = 0; at < columns.length; at++) text += columns[at]?.(row[at] ?? null)
      text += '}'
    }
    return { rows: rows.length, pieces: [{ bytes: encoder.encode(text) }] }
  }
}
