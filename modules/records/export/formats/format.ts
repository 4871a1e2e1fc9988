import type { CsvTable } from '../../../../src/core/csv/write.ts'
import type { CellValue } from '../../../../src/core/fields/field-type.ts'
import type { Field, Person } from '../../../../src/core/model.ts'

/** The content of a file: fields in order, and records as they are read. */
export interface ExportContent {
  /** The view’s title, e.g. for the sheet name. */
  title: string
  fields: readonly Field[]
  /** The people of the cells; each page adds those that it needs. */
  people: readonly Person[]
  /** Reads the records page by page, as rows of values in the order of the fields. */
  pages(): AsyncIterable<CellValue[][]>
  /** As `pages`, but each page as lines of a CSV file, which the engine writes off the main thread; null if it cannot. */
  csvPages: ((table: CsvTable) => AsyncIterable<Uint8Array>) | null
  /** Time zone of instants. */
  timeZone: string
}

export interface ExportOptions {
  /** Prefixes texts that spreadsheets would take for formulas with `'`, which our import removes. */
  isGuarded: boolean
  delimiter: CsvTable['delimiter']
}

/** An export format. One file each in this folder, registered in `index.ts`. */
export interface ExportFormat {
  /** Name in URLs and calls. */
  name: string
  extension: string
  mediaType: string
  /** Writes the file in chunks, in constant memory. */
  write(content: ExportContent, options: ExportOptions): AsyncIterable<Uint8Array>
}
