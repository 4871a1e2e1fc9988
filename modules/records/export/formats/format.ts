import type { CellValue } from '../../../../src/core/fields/field-type.ts'
import type { Field, RecordId } from '../../../../src/core/model.ts'

/** What a file is made of: its fields in order, and records as they are read. */
export interface ExportContent {
  /** The view's title, for formats whose parts have names. */
  title: string
  fields: readonly Field[]
  /** Pages of records, each read when the one before it has been written. */
  pages: AsyncIterable<ExportPage>
  /** A value as people read it, and as an import takes it back. */
  text(field: Field, value: CellValue): string
  /** Zone in which instants are written. */
  timeZone: string
}

export interface ExportPage {
  ids: RecordId[]
  rows: CellValue[][]
}

export interface ExportOptions {
  /**
   * Keeps spreadsheets from taking texts for formulas: such a text begins with `'`, which an import of ours
   * takes away again.
   */
  isGuarded: boolean
  /** What parts cells in CSV. */
  delimiter: ',' | ';' | '\t'
}

/** A kind of file that records are written to. One file each in this folder, gathered in `index.ts`. */
export interface ExportFormat {
  /** As addresses and calls name it. */
  name: string
  extension: string
  mediaType: string
  /** The file piece by piece: memory stays as it is, however many records there are. */
  write(content: ExportContent, options: ExportOptions): AsyncIterable<Uint8Array>
}
