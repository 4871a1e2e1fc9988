/*
 * Writers of the records in files: what an export does for each record, apart from reading it and from the beginning and
 * end of a file. Pages are written in workers, which have no kernel.
 */
import { compress } from './compress.ts'
import { csvPages, csvRows } from './csv.ts'
import { jsonPages, jsonRows, ndjsonPages, ndjsonRows } from './json.ts'
import type { PageWriter, Piece, RecordFormat, RecordTable, WrittenPage } from './page-writer.ts'
import { createTextRowsWriter, type RowFormat, type TextColumn, type TextRowsWriter } from './text-rows.ts'
import { sheetPages } from './xlsx-sheet.ts'

export { combineCrc, compress } from './compress.ts'
export type { PageWriter, Piece, RecordFormat, RecordTable, RowsPage, WrittenPage } from './page-writer.ts'
export { SEPARATORS, type TextColumn, type TextRows, type TextRowsWriter } from './text-rows.ts'
export { escapeXml, SHEET_END, sheetStart, workbookStyles } from './xlsx-sheet.ts'

type ByFormat<Result> = {
  [Name in RecordFormat['name']]: (
    table: RecordTable,
    format: Extract<RecordFormat, { name: Name }>,
  ) => Result
}

const PAGES: ByFormat<PageWriter> = { csv: csvPages, json: jsonPages, ndjson: ndjsonPages, xlsx: sheetPages }

/** Formats that can copy the texts of a database. */
const ROWS: ByFormat<RowFormat | null> = {
  csv: csvRows,
  json: jsonRows,
  ndjson: ndjsonRows,
  xlsx: () => null,
}

export function createPageWriter(table: RecordTable): PageWriter {
  const create = PAGES[table.format.name] as (table: RecordTable, format: RecordFormat) => PageWriter
  const write = create(table, table.format)
  return (rows, first) => finished(table, write(rows, first))
}

/**
 * Writes the same as `createPageWriter` from the texts of a database. Null where values are needed.
 *
 * @param columns of the fields
 */
export function createTextWriter(table: RecordTable, columns: readonly TextColumn[]): TextRowsWriter | null {
  // A record without fields has no cells to copy.
  if (table.fields.length === 0) return null
  const create = ROWS[table.format.name] as (table: RecordTable, format: RecordFormat) => RowFormat | null
  const format = create(table, table.format)
  if (!format) return null
  const write = createTextRowsWriter(format, columns)
  return (rows, recordIds, first) => {
    const page = write(rows, recordIds, first)
    return page && finished(table, page)
  }
}

function finished({ format }: RecordTable, page: WrittenPage): WrittenPage {
  if (!format.isPacked) return page
  return { ...page, pieces: page.pieces.map((piece) => (piece.packed ? piece : packed(piece.bytes))) }
}

function packed(plain: Uint8Array): Piece {
  const { bytes, ...packed } = compress(plain)
  return { bytes, packed: { sheet: 0, ...packed } }
}
