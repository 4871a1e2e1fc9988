import type { ImportFormat } from '../../../src/core/imports/format.ts'
import { csvReader } from './csv.ts'
import { excelReader } from './excel/index.ts'
import { jsonReader } from './json/index.ts'
import type { ImportReader } from './reader.ts'

export { copyText } from './copy-text.ts'
export { unclearEncoding } from './csv.ts'
export { type Archive, openArchive } from './excel/archive.ts'
export { kindOfFile, requireKind } from './file-head.ts'
export type {
  Chosen,
  FoundTable,
  ImportReader,
  OnBlocked,
  OpenTable,
  RowBatch,
  RowProblem,
} from './reader.ts'

const READERS = [csvReader, excelReader, jsonReader] as const

/** The reader for a kind of file. */
export function readerOf(kind: ImportFormat['kind']): ImportReader<ImportFormat> {
  const reader = READERS.find((each) => each.kind === kind)
  if (!reader) throw new Error(`No reader for ${kind}`)
  return reader as unknown as ImportReader<ImportFormat>
}
