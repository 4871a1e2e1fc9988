/*
 * Writers of the records in files: what an export does for each record, apart from reading it and from the beginning and
 * end of a file. Pages are written in workers, which have no kernel.
 */
import { csvPages } from './csv.ts'
import { jsonPages } from './json.ts'
import type { PageWriter, RecordFormat, RecordTable } from './page-writer.ts'
import { sheetPages } from './xlsx-sheet.ts'

export { combineCrc, compress } from './compress.ts'
export type { PageWriter, Piece, RecordFormat, RecordTable, RowsPage, WrittenPage } from './page-writer.ts'
export { escapeXml, SHEET_END, SHEET_STYLES, sheetStart } from './xlsx-sheet.ts'

type Writers = {
  [Name in RecordFormat['name']]: (
    table: RecordTable,
    format: Extract<RecordFormat, { name: Name }>,
  ) => PageWriter
}

const WRITERS: Writers = { csv: csvPages, json: jsonPages, xlsx: sheetPages }

export function createPageWriter(table: RecordTable): PageWriter {
  const create = WRITERS[table.format.name] as (table: RecordTable, format: RecordFormat) => PageWriter
  return create(table, table.format)
}
