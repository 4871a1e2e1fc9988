import { createCsvWriter } from '../core/csv/write.ts'
import type { PageWriter, RecordTable } from './page-writer.ts'

const encoder = new TextEncoder()

/** Lines of a CSV file, without the titles. */
export function csvPages(table: RecordTable, options: Parameters<typeof createCsvWriter>[1]): PageWriter {
  const { line } = createCsvWriter(table, options)
  return (rows) => {
    const text = rows.map((row) => line(row)).join('')
    return { rows: rows.length, pieces: [{ bytes: encoder.encode(text) }] }
  }
}
