import type { CsvOptions } from '../../../../src/core/csv/write.ts'
import type { Field } from '../../../../src/core/model.ts'
import type { RecordFormat, WrittenPage } from '../../../../src/record-files/index.ts'

/** The content of a file: fields in order, and records as they are read. */
export interface ExportContent {
  /** The view’s title, e.g. for the sheet name. */
  title: string
  fields: readonly Field[]
  /** Reads the records page by page, as they stand in a file of the format. Large tables are written in workers. */
  pages(format: RecordFormat): AsyncIterable<WrittenPage>
}

/** Options of the formats that have any. */
export type ExportOptions = CsvOptions

/**
 * An export format: the beginning and end of its files. What stands between, the records, is written by
 * `src/record-files`. One file each in this folder, registered in `index.ts`.
 */
export interface ExportFormat {
  /** Name in URLs and calls. */
  name: string
  extension: string
  mediaType: string
  /** Writes the file in chunks, in constant memory. */
  write(content: ExportContent, options: ExportOptions): AsyncIterable<Uint8Array>
}
