import type { ExportFormat } from './format.ts'

/** A list of objects by field title. Numbers, booleans and JSON keep their type; others are text. */
export const json: ExportFormat = {
  name: 'json',
  extension: 'json',
  mediaType: 'application/json',
  async *write({ pages }) {
    const encoder = new TextEncoder()
    let isEmpty = true
    yield encoder.encode('[')
    for await (const { rows, pieces } of pages({ name: 'json' })) {
      if (rows > 0) isEmpty = false
      for (const { bytes } of pieces) yield bytes
    }
    yield encoder.encode(isEmpty ? ']\n' : '\n]\n')
  },
}
