import { cellFormatter } from '../../../../src/core/fields/cell-text.ts'
import { storageOf } from '../../../../src/core/fields/field.ts'
import type { CellValue } from '../../../../src/core/fields/field-type.ts'
import type { Field } from '../../../../src/core/model.ts'
import type { ExportFormat } from './format.ts'

/** A list of objects by field title. Numbers, booleans and JSON keep their type; others are text. */
export const json: ExportFormat = {
  name: 'json',
  extension: 'json',
  mediaType: 'application/json',
  async *write({ fields, people, timeZone, pages }) {
    const encoder = new TextEncoder()
    const columns = fields.map((field) => ({
      title: JSON.stringify(field.title),
      field,
      text: cellFormatter(field, { people, timeZone }),
    }))
    let isFirst = true
    yield encoder.encode('[')
    for await (const rows of pages()) {
      let page = ''
      for (const row of rows) {
        const pairs = columns.map(
          ({ title, field, text }, at) => `${title}:${jsonOf(field, row[at] ?? null, text)}`,
        )
        page += `${isFirst ? '\n' : ',\n'}{${pairs.join(',')}}`
        isFirst = false
      }
      yield encoder.encode(page)
    }
    yield encoder.encode(isFirst ? ']\n' : '\n]\n')
  },
}

function jsonOf(field: Field, value: CellValue, text: (value: CellValue) => string): string {
  if (value === null) return 'null'
  if (typeof value === 'number' || typeof value === 'boolean') return JSON.stringify(value)
  // JSON is stored as validated text.
  if (storageOf(field) === 'json') return String(value)
  return JSON.stringify(text(value))
}
