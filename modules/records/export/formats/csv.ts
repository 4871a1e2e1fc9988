import { createCsvWriter } from '../../../../src/core/csv/write.ts'
import { compress } from '../../../../src/record-files/index.ts'
import { archiveOf } from './archive.ts'
import type { ExportContent, ExportFormat, ExportOptions } from './format.ts'

/** Without it, Excel assumes the system’s encoding. */
const BYTE_ORDER_MARK = '\uFEFF'

const firstLine = ({ fields }: ExportContent, options: ExportOptions): string =>
  BYTE_ORDER_MARK + createCsvWriter({ fields, people: [], timeZone: 'UTC' }, options).titles()

/** CSV (RFC 4180), UTF-8, with CR LF line ends. */
export const csv: ExportFormat = {
  name: 'csv',
  extension: 'csv',
  mediaType: 'text/csv',
  async *write(content, options) {
    yield new TextEncoder().encode(firstLine(content, options))
    for await (const { pieces } of content.pages({ name: 'csv', ...options }))
      for (const { bytes } of pieces) yield bytes
  },
  ofTables: archiveOf('csv', (content, options) => ({
    start: compress(firstLine(content, options)),
    pages: content.pages({ name: 'csv', ...options, isPacked: true }),
  })),
}
