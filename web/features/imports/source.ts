import { titleOfImport } from '../../../src/core/imports/title-of-import.ts'
import { m } from '../../messages.gen.ts'
import type { FileSamples } from './analysis.ts'

/** A file to import: local (or pasted text, `text`), or fetched from a URL by the server. */
export type ImportSource =
  | { kind: 'file'; name: string; size: number; file: Blob; text?: string }
  | { kind: 'upload'; name: string; size: number; uploadId: string }

/** Bytes read from the beginning, and size and number of slices of a longer file. */
const HEAD = 1 << 20
const SLICE = 1 << 16
const SLICES = 8

export const sourceOfFile = (file: File): ImportSource => ({
  kind: 'file',
  name: file.name,
  size: file.size,
  file,
})

export function sourceOfText(text: string): ImportSource {
  const file = new Blob([text], { type: 'text/csv' })
  return { kind: 'file', name: m.imports_pasted_text(), size: file.size, file, text }
}

/** Suggested table title. @param table name in the file @param isOnly true if the file has no other table */
export const tableTitleOf = ({ name }: ImportSource, table = '', isOnly = true): string =>
  titleOfImport(name, table, isOnly) || m.imports_import()

/** Workbooks that the server reads into memory as a whole, which takes up to 20 times their size. */
const READ_WHOLE = /\.(?:xls|xlsb|xml|ods|fods)$/i
const MEMORY_FACTOR = 20
/** Size from which that is worth a warning. */
const LARGE_BYTES = 10_000_000

/** Memory in bytes that the server may take for a large file, if it reads such files as a whole; else null. */
export const memoryForWhole = ({ name, size }: ImportSource): number | null =>
  size > LARGE_BYTES && READ_WHOLE.test(name) ? size * MEMORY_FACTOR : null

/** Reads the bytes `from` to `to` (exclusive) of a file. */
export type ReadBytes = (source: ImportSource, from: number, to: number) => Promise<ArrayBuffer>

/** Reads the samples that the preview needs, for files of any size. */
export async function readSamples(source: ImportSource, readBytes: ReadBytes): Promise<FileSamples> {
  const { size } = source
  const head = await readBytes(source, 0, Math.min(size, HEAD))
  if (size <= HEAD) return { head, slices: [], size }
  // The last slice is the end of the file, where totals and remarks are.
  const step = Math.max(0, size - HEAD - SLICE) / (SLICES - 1)
  const starts = Array.from({ length: SLICES }, (_, at) => Math.floor((HEAD + at * step) / 2) * 2)
  const slices = await Promise.all(
    starts.map((from) => readBytes(source, from, Math.min(size, from + SLICE))),
  )
  return { head, slices, size }
}
