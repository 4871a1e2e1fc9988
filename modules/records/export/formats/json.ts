import { storageOf } from '../../../../src/core/fields/field.ts'
import type { CellValue } from '../../../../src/core/fields/field-type.ts'
import type { Field } from '../../../../src/core/model.ts'
import type { ExportFormat } from './format.ts'

/** A list of objects by field title. Numbers, booleans and JSON keep their type; others are text. */
export const json: ExportFormat = {
  name: 'json',
  extension: 'json',
  mediaType: 'application/json',
  async *write({ fields, pages, text }) {
    const encoder = new TextEncoder()
    const titles = fields.map(({ title }) => JSON.stringify(title))
    let isFirst = true
    yield encoder.encode('[')
    for await (const { rows } of pages) {
      let page = ''
      for (const row of rows) {
        const pairs = fields.map((field, at) => `${titles[at]}:${jsonOf(field, row[at] ?? null, text)}`)
        page += `${isFirst ? '\n' : ',\n'}{${pairs.join(',')}}`
        isFirst = false
      }
      yield encoder.encode(page)
    }
    yield encoder.encode(isFirst ? ']\n' : '\n]\n')
  },
}

function jsonOf(field: Field, value: CellValue, text: (field: Field, value: CellValue) => string): string {
  if (value === null) return 'null'
  if (typeof value === 'number' || typeof value === 'boolean') return JSON.stringify(value)
  // JSON is stored as validated text.
  if (storageOf(field) === 'json') return String(value)
  return JSON.stringify(text(field, value))
}
