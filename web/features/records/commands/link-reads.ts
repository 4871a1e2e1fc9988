import { isComputed } from '../../../../src/core/fields/field.ts'
import type { CellValue } from '../../../../src/core/fields/field-type.ts'
import type { LinkedRecord } from '../../../../src/core/fields/list-value.ts'
import { parseValue } from '../../../../src/core/fields/read.ts'
import type { Field, RecordId, TableSchema } from '../../../../src/core/model.ts'
import type { LinkLines } from '../../../cells/cell.ts'
import { cellText, shownText } from '../../../cells/index.ts'
import { linkValue } from '../../../cells/link-value.ts'
import { m } from '../../../messages.gen.ts'
import { timeZone } from '../../../time-zone.ts'
import { api, cache } from '../../../trpc.ts'
import type { TableContext } from '../context/table-context.ts'
import { isWritable } from '../context/table-context.ts'

/** Page size of the API. */
const MAX_PAGE = 100

/** How long a related table's fields stay cached. */
const FRESH_MS = 60_000

/** The schema of a linked table, cached. */
export const relatedTable = (tableId: string): Promise<TableSchema> =>
  cache.schema.table.fetch({ tableId }, { staleTime: FRESH_MS })

/** Options of a link picker; for an unsaved record, those that could be linked. */
export async function readLinkLines(
  place: { tableId: string; fieldId: string; recordId: RecordId | null },
  which: 'linked' | 'linkable',
  { search, ...page }: { search: string; offset: number; limit: number },
  signal: AbortSignal,
): Promise<LinkLines> {
  const wanted = search.trim()
  const request = { ...place, timeZone, ...page, ...(wanted !== '' && { search: wanted }) }
  const found = await api.records[which].query(request, { signal })
  const related = await relatedTable(found.tableId)
  const fields = found.fieldIds.map((id) => related.fields.find((field) => field.id === id))
  // The title goes into the cell, so it is formatted as the server formats it.
  const textOf = (value: CellValue, at: number): string => {
    const field = fields[at]
    return field ? (at === 0 ? cellText : shownText)(field, value) : ''
  }
  return {
    hasMore: found.hasMore,
    mayCreate: wanted !== '' && isName(related, wanted),
    lines: found.ids.map((id, row) => {
      const [title = null, ...others] = found.rows[row] ?? []
      return {
        id,
        title: title === null ? null : textOf(title, 0),
        name: textOf(title, 0) || m.common_record_id({ id: String(id) }),
        details: others.map((value, at) => textOf(value, at + 1)).filter((text) => text !== ''),
      }
    }),
  }
}

/** True when the text is a valid name for a new record of the table. */
function isName({ fields, readOnlyReason }: TableSchema, text: string): boolean {
  const display = fields.find((field) => field.isDisplay)
  return readOnlyReason === null && display !== undefined && nameValue(display, text) !== null
}

/** The name as a value of the display field; null when the field is not writable or the name does not parse. */
export function nameValue(display: Field, text: string): CellValue {
  if (!isWritable(display) || isComputed(display) || display.readOnlyReason !== null) return null
  return parseValue(display, text)
}

/** All linked records, read in pages. */
async function readAllLinked(
  place: { tableId: string; fieldId: string; recordId: RecordId },
  signal: AbortSignal,
): Promise<LinkedRecord[]> {
  const records: LinkedRecord[] = []
  for (;;) {
    const page = { search: '', offset: records.length, limit: MAX_PAGE }
    const { lines, hasMore } = await readLinkLines(place, 'linked', page, signal)
    records.push(...lines.map(({ id, title }) => ({ id, title })))
    if (!hasMore || lines.length === 0) return records
  }
}

/** The complete value of a link cell, with every linked record. */
export async function completeLinks(
  { schema, store }: TableContext,
  recordId: RecordId,
  fieldId: string,
  signal: AbortSignal,
): Promise<CellValue> {
  const place = { tableId: schema.table.id, fieldId, recordId: store.realId(recordId) }
  return linkValue(await readAllLinked(place, signal))
}
