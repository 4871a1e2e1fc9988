import type { CsvOptions } from '../core/csv/write.ts'
import type { CellValue } from '../core/fields/field-type.ts'
import type { Field, Person } from '../core/model.ts'

/** A format whose files consist of records in order, with its options. */
export type RecordFormat = (
  | ({ name: 'csv' } & CsvOptions)
  | { name: 'json' }
  | { name: 'ndjson' }
  /** @property styles the position of each field's style in the workbook, see `workbookStyles` */
  | { name: 'xlsx'; styles: readonly number[] }
) & {
  /** Compresses the pieces, for a file in an archive. Sheets are always compressed. */
  isPacked?: boolean
}

/** The columns of a file and how their values are written: plain data, which workers can be sent. */
export interface RecordTable {
  format: RecordFormat
  fields: readonly Field[]
  /** The people in the cells. */
  people: readonly Person[]
  /** For fields that follow the caller's clock. */
  timeZone: string
}

/** Bytes of a file. */
export interface Piece {
  bytes: Uint8Array<ArrayBuffer>
  /** For a file in an archive: the piece of that file that `bytes` is compressed from. */
  packed?: { sheet: number; size: number; crc: number }
}

/** Records as they stand in a file. */
export interface WrittenPage {
  /** The number of records. */
  rows: number
  pieces: Piece[]
  /** Texts that are longer than the format takes, and cut there. */
  textsCut?: number
}

/** Records for a worker to write. */
export interface RowsPage {
  table: RecordTable
  /** The rows as JSON: one text is passed between threads much faster than many values. */
  rows: string
  /** As of `PageWriter`. */
  first: number
}

/**
 * Writes the records of a page, values in the order of the fields. A file is written by page, each on its own, so that
 * workers can write several at once.
 *
 * @param first the number of records in the file before the page
 */
export type PageWriter = (rows: readonly CellValue[][], first: number) => WrittenPage
