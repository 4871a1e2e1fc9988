import { unguardText } from '../../src/core/csv/format.ts'
import { createCsvReader } from '../../src/core/csv/reader.ts'

/** A line of the report: what was not imported, and why. */
export interface ReportLine {
  /** Number of the record in the file, from 1, with the titles; null for a line that counts further ones. */
  row: number | null
  /** Title of the field; '' if the whole row is affected. */
  column: string
  value: string
  reason: string
}

/**
 * Lines of a CSV report, see `createReport`.
 * @returns up to `limit` lines after the first `offset`, and whether these are the last ones
 */
export async function readReport(
  path: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ lines: ReportLine[]; isLast: boolean }> {
  const reader = createCsvReader({ delimiter: ',', quote: '"' })
  const decoder = new TextDecoder()
  const lines: ReportLine[] = []
  // The first row has the titles.
  let at = -1
  const take = (rows: string[][]) => {
    for (const [row = '', column = '', value = '', reason = ''] of rows) {
      if (at >= offset && lines.length <= limit)
        lines.push({
          row: row === '' ? null : Number(row),
          column: unguardText(column),
          value: unguardText(value),
          reason,
        })
      at++
    }
  }
  for await (const bytes of Bun.file(path).stream()) {
    take(reader.push(decoder.decode(bytes, { stream: true })))
    if (lines.length > limit) break
  }
  if (lines.length <= limit) take([...reader.push(decoder.decode()), ...reader.end()])
  return { lines: lines.slice(0, limit), isLast: lines.length <= limit }
}
