/*
 * Writers of the records in files: what an export does for each record, apart from reading it and from the beginning and
 * end of a file. Pages are written in workers, which have no kernel.
 */
import { compress } from './compress.ts'
import { csvPages } from './csv.ts'
import { jsonPages, ndjsonPages } from './json.ts'
import type { PageWriter, Piece, RecordFormat, RecordTable } from './page-writer.ts'
import { sheetPages } from './xlsx-sheet.ts'

export { combineCrc, compress } from './compress.ts'
export type { PageWriter, Piece, RecordFormat, RecordTable, RowsPage, WrittenPage } from './page-writer.ts'
export { escapeXml, SHEET_END, sheetStart, workbookStyles } from './xlsx-sheet.ts'

type Writers = {
  [Name in RecordFormat['name']]: (
    table: RecordTable,
    format: Extract<RecordFormat, { name: Name }>,
  ) => PageWriter
}

const WRITERS: Writers = { csv: csvPages, json: jsonPages, ndjson: ndjsonPages, xlsx: sheetPages }

export function createPageWriter(table: RecordTable): PageWriter {
  const create = WRITERS[table.format.name] as (table: RecordTable, format: RecordFormat) => PageWriter
  const write = create(table, table.format)
  if (!table.format.isPacked) return write
  return (rows, first) => {
    const page = write(rows, first)
    return { ...page, pieces: page.pieces.map((piece) => (piece.packed ? piece : packed(piece.bytes))) }
  }
}

function packed(plain: Uint8Array): Piece {
  const { bytes, ...packed } = compress(plain)
  return { bytes, packed: { sheet: 0, ...packed } }
}
