import type { CsvOptions } from '../../../../src/core/csv/write.ts'
import type { Field } from '../../../../src/core/model.ts'
import type { RecordFormat, WrittenPage } from '../../../../src/record-files/index.ts'

/** The content of a file: fields in order, and records as they are read. */
export interface ExportContent {
  /** The title of the view or table, e.g. for the sheet name. */
  title: string
  fields: readonly Field[]
  /** Reads the records page by page, as they stand in a file of the format. Large tables are written in workers. */
  pages(format: RecordFormat): AsyncIterable<WrittenPage>
}

/** Options of the formats that have any. */
export type ExportOptions = CsvOptions

/** A kind of file and how it is written, in chunks and in constant memory. */
interface FileFormat<Content> {
  extension: string
  mediaType: string
  write(content: Content, options: ExportOptions): AsyncIterable<Uint8Array>
}

/**
 * An export format: the beginning and end of its files. What stands between, the records, is written by
 * `src/record-files`. One file each in this folder, registered in `index.ts`.
 */
export interface ExportFormat extends FileFormat<ExportContent> {
  /** Name in URLs and calls. */
  name: string
  /** One file with several tables. */
  ofTables: FileFormat<readonly ExportContent[]>
}
