import { open } from 'node:fs/promises'
import { detectEncoding, markOf } from '../../../src/core/csv/detect.ts'
import type { CsvEncoding, CsvFormat } from '../../../src/core/csv/format.ts'
import { type CsvProblem, createCsvReader } from '../../../src/core/csv/reader.ts'
import { requireCsv } from '../../../src/core/csv/require-csv.ts'

const HEAD = 256 * 1024

interface RowBatch {
  rows: string[][]
  /** Number of the first row, from 1. */
  firstRow: number
  problems: CsvProblem[]
  /** Bytes read so far. */
  bytes: number
}

export interface CheckedEncoding {
  encoding: CsvEncoding
  /** True if some bytes are invalid; they become U+FFFD. */
  isDamaged: boolean
}

/**
 * Checks the chosen encoding against the whole file, of which the browser has seen only samples. A byte order
 * mark and UTF-16's zero bytes override it; a file that is not UTF-8 to its end is read as Windows-1252, unless
 * only few bytes are damaged.
 * @throws CsvError for a file that is not CSV
 */
export async function checkEncoding(path: string, chosen: CsvEncoding): Promise<CheckedEncoding> {
  const head = await readHead(path)
  requireCsv(head, Bun.file(path).size <= HEAD)
  const detected = detectEncoding(head, Bun.file(path).size <= HEAD)
  const certain = (encoding: CsvEncoding) => ({ encoding, isDamaged: false })
  if (chosen !== 'utf-8') {
    const isMarked = detected !== 'utf-8' || markOf(head) !== null
    return certain(isMarked ? checkMarked(chosen, detected) : chosen)
  }
  if (detected !== 'utf-8' && detected !== 'windows-1252') return certain(detected)
  if (await isUtf8(path)) return certain('utf-8')
  return (await isMostlyUtf8(path)) ? { encoding: 'utf-8', isDamaged: true } : certain('windows-1252')
}

/** UTF-16 and a UTF-8 mark are certain; one-byte encodings cannot be told apart. */
const checkMarked = (chosen: CsvEncoding, detected: CsvEncoding): CsvEncoding =>
  detected === 'windows-1252' ? chosen : detected

/** @throws ForeignFileError naming the file's type unless it is CSV */
export async function requireCsvFile(path: string): Promise<void> {
  requireCsv(await readHead(path), Bun.file(path).size <= HEAD)
}

async function readHead(path: string): Promise<Uint8Array> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(new Uint8Array(HEAD), 0, HEAD, 0)
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}

async function isUtf8(path: string): Promise<boolean> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  try {
    for await (const chunk of Bun.file(path).stream()) decoder.decode(chunk, { stream: true })
    decoder.decode()
    return true
  } catch (error) {
    if (error instanceof TypeError) return false
    throw error
  }
}

/** True for UTF-8 with a few damaged characters. Text in other encodings has next to no valid ones. */
async function isMostlyUtf8(path: string): Promise<boolean> {
  const decoder = new TextDecoder('utf-8')
  let foreign = 0
  let spoilt = 0
  for await (const chunk of Bun.file(path).stream()) {
    const text = decoder.decode(chunk, { stream: true })
    foreign += text.match(/[\u0080-\uffff]/g)?.length ?? 0
    spoilt += text.match(/\ufffd/g)?.length ?? 0
  }
  return spoilt * 10 < foreign
}

/** Parses a file in constant memory. @throws CsvError */
export async function* readRows(path: string, format: CsvFormat): AsyncGenerator<RowBatch> {
  const decoder = new TextDecoder(format.encoding)
  const reader = createCsvReader(format)
  let bytes = 0
  const batch = (rows: string[][]): RowBatch => ({
    rows,
    firstRow: reader.count - rows.length + 1,
    problems: reader.takeProblems(),
    bytes,
  })
  for await (const chunk of Bun.file(path).stream()) {
    bytes += chunk.byteLength
    const rows = reader.push(decoder.decode(chunk, { stream: true }))
    if (rows.length > 0) yield batch(rows)
  }
  const tail = reader.push(decoder.decode())
  if (tail.length > 0) yield batch(tail)
  const rest = reader.end()
  yield batch(rest)
}
