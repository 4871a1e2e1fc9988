import type { CellValue } from '../../src/core/fields/field-type.ts'
import { isSingleLink, linkOf } from '../../src/core/fields/link-options.ts'
import type { Field, RecordId } from '../../src/core/model.ts'
import { isPartial, linksIn, linkValue } from '../cells/link-value.ts'
import type { GridCommands, GridRow } from './contract.ts'

/** Concurrent requests. */
const AT_ONCE = 4

/** The values of rows in columns: a line for each row. */
export const valuesOf = (
  columns: readonly { field: Field }[],
  rows: readonly Pick<GridRow, 'values'>[],
): CellValue[][] => rows.map((row) => columns.map(({ field }) => row.values(field.id)))

/** Cells of a matrix that list only their first links; copies and fills need all. */
export function partialCells(
  columns: readonly { field: Field }[],
  values: readonly CellValue[][],
): { row: number; column: number }[] {
  const links = columns.flatMap(({ field }, column) => (linkOf(field) ? [column] : []))
  if (links.length === 0) return []
  return values.flatMap((line, row) =>
    links.filter((column) => isPartial(line[column] ?? null)).map((column) => ({ row, column })),
  )
}

/** Completes those cells in place. @throws the error of a failed read */
export async function completeValues(
  completeLinks: GridCommands['completeLinks'],
  columns: readonly { field: Field }[],
  rows: readonly { id: RecordId }[],
  values: CellValue[][],
  signal: AbortSignal,
): Promise<void> {
  const waiting = partialCells(columns, values)
  if (!completeLinks) return
  const work = async () => {
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      const { row, column } = next
      const line = values[row]
      const record = rows[row]
      const target = columns[column]
      if (line && record && target) line[column] = await completeLinks(record.id, target.field.id, signal)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
}

/** A link's value, converted for another link field. */
type CarriedLinks = { ok: true; value: CellValue } | { ok: false }

/**
 * Converts links of one field for another. Fails unless the related table is the same, the field may hold
 * that many, and all links are known, because links would be lost.
 */
export function carryLinks(
  value: CellValue,
  from: { type: string; options: unknown },
  to: { type: string; options: unknown },
): CarriedLinks {
  const [source, target] = [linkOf(from), linkOf(to)]
  if (!source || !target || source.relatedTableId !== target.relatedTableId) return { ok: false }
  const { count, records } = linksIn(value)
  if (count > records.length || (count > 1 && isSingleLink(target))) return { ok: false }
  return { ok: true, value: linkValue(records) }
}
