import { storageOf } from '../core/fields/field.ts'
import type { CellValue } from '../core/fields/field-type.ts'
import type { Dialect, FilePage } from '../dialects/dialect.ts'
import { createPageWriter, type WrittenPage } from '../record-files/index.ts'

/** Writes the result of a page's statement as it stands in a file: rows of values, the record's id last, in any order. */
export function writePage(
  rows: readonly unknown[][],
  { table, recordIds, first }: FilePage,
  { decode }: Pick<Dialect, 'decode'>,
): WrittenPage {
  const byId = new Map(rows.map((row) => [row.at(-1), row]))
  const decoders = table.fields.map((field) => decode(storageOf(field)))
  const found = recordIds.flatMap((id) => {
    const row = byId.get(id)
    return row ? [decoders.map((decoder, at) => (decoder ? decoder(row[at]) : row[at]) as CellValue)] : []
  })
  return createPageWriter(table)(found, first)
}
