import { open } from 'node:fs/promises'
import { detectDelimiter, detectEncoding } from '../../src/core/csv/detect.ts'
import { type CsvFormat, looksGuarded } from '../../src/core/csv/format.ts'
import { createCsvReader } from '../../src/core/csv/reader.ts'
import { badRequest } from '../../src/core/errors.ts'
import { detectDecimalMark } from '../../src/core/fields/detect-numbers.ts'
import { m } from '../../src/messages.gen.ts'

/** Bytes that are read of a file to detect its format, and records among them. */
const HEAD = 1 << 20
const MAX_RECORDS = 1000

/**
 * The format of a CSV file with a header, and the titles of its columns, for callers that do not look at the file first.
 * @param chosen format options that are not detected
 * @throws BAD_REQUEST for an empty file
 */
export async function readCsvHead(
  path: string,
  chosen: Partial<Omit<CsvFormat, 'kind'>>,
): Promise<{ format: CsvFormat; titles: string[] }> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(new Uint8Array(HEAD), 0, HEAD, 0)
    const bytes = buffer.subarray(0, bytesRead)
    const isWhole = bytesRead < HEAD
    const encoding = chosen.encoding ?? detectEncoding(bytes, isWhole)
    const text = new TextDecoder(encoding).decode(bytes, { stream: !isWhole })
    const delimiter = chosen.delimiter ?? detectDelimiter(text)
    const plain: CsvFormat = {
      kind: 'csv',
      quote: '"',
      guarded: false,
      decimal: '.',
      ...chosen,
      header: true,
      encoding,
      delimiter,
    }
    const reader = createCsvReader(plain)
    const records = [...reader.push(text), ...(isWhole ? reader.end() : [])].slice(0, MAX_RECORDS)
    const [titles, ...rows] = records
    if (!titles) throw badRequest(m.imports_error_empty_file())
    const guarded = chosen.guarded ?? looksGuarded(rows)
    const columns = titles.map((_, at) => rows.map((row) => row[at] ?? ''))
    return { format: { ...plain, guarded, decimal: chosen.decimal ?? detectDecimalMark(columns) }, titles }
  } finally {
    await file.close()
  }
}
