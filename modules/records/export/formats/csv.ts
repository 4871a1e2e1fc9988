import { createCsvWriter } from '../../../../src/core/csv/write.ts'
import type { ExportFormat } from './format.ts'

/** Without it, Excel assumes the system’s encoding. */
const BYTE_ORDER_MARK = '\uFEFF'

/** CSV (RFC 4180), UTF-8, with CR LF line ends. */
export const csv: ExportFormat = {
  name: 'csv',
  extension: 'csv',
  mediaType: 'text/csv',
  async *write({ fields, people, timeZone, pages, csvPages }, options) {
    const encoder = new TextEncoder()
    const table = { fields, people, timeZone, ...options }
    const writer = createCsvWriter(table)
    yield encoder.encode(BYTE_ORDER_MARK + writer.titles())
    if (csvPages) {
      yield* csvPages(table)
      return
    }
    for await (const rows of pages()) {
      let page = ''
      for (const row of rows) page += writer.line(row)
      yield encoder.encode(page)
    }
  },
}
