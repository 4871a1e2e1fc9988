import type { ExportContent, ExportFormat } from './format.ts'

const encoder = new TextEncoder()

/** The records as a JSON array, after `before` and with `after` at its end. */
async function* list({ pages }: ExportContent, before: string, after: string): AsyncIterable<Uint8Array> {
  let isEmpty = true
  yield encoder.encode(`${before}[`)
  for await (const { rows, pieces } of pages({ name: 'json' })) {
    if (rows > 0) isEmpty = false
    for (const { bytes } of pieces) yield bytes
  }
  yield encoder.encode(isEmpty ? `]${after}` : `\n]${after}`)
}

const FILE = { extension: 'json', mediaType: 'application/json' }

/** A list of objects by field title. Numbers, booleans and JSON keep their type; others are text. */
export const json: ExportFormat = {
  name: 'json',
  ...FILE,
  write: (content) => list(content, '', '\n'),
  /** One document: `{"tables": [{"title", "fields": [{"title", "type"}], "records": […]}]}`. */
  ofTables: {
    ...FILE,
    async *write(contents) {
      yield encoder.encode('{"tables":[')
      for (const [at, content] of contents.entries()) {
        const fields = content.fields.map(({ title, type }) => ({ title, type }))
        const head = JSON.stringify({ title: content.title, fields }).slice(0, -1)
        yield* list(content, `${at === 0 ? '\n' : ',\n'}${head},"records":`, '}')
      }
      yield encoder.encode('\n]}\n')
    },
  },
}
