import type { CellValue } from '../../../../src/core/fields/field-type.ts'
import type { Field, RecordId } from '../../../../src/core/model.ts'

/** The content of a file: fields in order, and records as they are read. */
export interface ExportContent {
  /** The view’s title, e.g. for the sheet name. */
  title: string
  fields: readonly Field[]
  /** Pages of records, each read after the previous one is written. */
  pages: AsyncIterable<ExportPage>
  /** A value as readable text that an import accepts. */
  text(field: Field, value: CellValue): string
  /** Time zone of instants. */
  timeZone: string
}

export interface ExportPage {
  ids: RecordId[]
  rows: CellValue[][]
}

export interface ExportOptions {
  /** Prefixes texts that spreadsheets would take for formulas with `'`, which our import removes. */
  isGuarded: boolean
  /** CSV delimiter. */
  delimiter: ',' | ';' | '\t'
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
