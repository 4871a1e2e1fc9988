import { createCsvWriter } from '../../../../src/core/csv/write.ts'
import type { ExportFormat } from './format.ts'

/** Without it, Excel assumes the system’s encoding. */
const BYTE_ORDER_MARK = '\uFEFF'

/** CSV (RFC 4180), UTF-8, with CR LF line ends. */
export const csv: ExportFormat = {
  name: 'csv',
  extension: 'csv',
  mediaType: 'text/csv',
  async *write({ fields, pages }, options) {
    const { titles } = createCsvWriter({ fields, people: [], timeZone: 'UTC' }, options)
    yield new TextEncoder().encode(BYTE_ORDER_MARK + titles())
    for await (const { pieces } of pages({ name: 'csv', ...options }))
      for (const { bytes } of pieces) yield bytes
  },
}
