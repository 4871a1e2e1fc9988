import { archiveOf } from './archive.ts'
import type { ExportFormat } from './format.ts'

/** A JSON object by field title on each line, with the values of the format JSON (https://github.com/ndjson/ndjson-spec). */
export const ndjson: ExportFormat = {
  name: 'ndjson',
  extension: 'ndjson',
  mediaType: 'application/x-ndjson',
  async *write({ pages }) {
    for await (const { pieces } of pages({ name: 'ndjson' })) for (const { bytes } of pieces) yield bytes
  },
  ofTables: archiveOf('ndjson', ({ pages }) => ({ pages: pages({ name: 'ndjson', isPacked: true }) })),
}
