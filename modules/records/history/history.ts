import type { Values } from '../../../src/core/changes.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { linkOf } from '../../../src/core/fields/link-options.ts'
import type { RecordId } from '../../../src/core/model.ts'
import { listRanges } from '../../../src/db/change-log/entries.ts'
import { entriesOfRecord, type RecordEntry } from '../../../src/db/change-log/records.ts'
import type { Engine } from '../../../src/dialects/dialect.ts'
import type { TableModel } from '../../schema/index.ts'
import { type LinkSchema, linkDelta, removedLinks } from '../links/index.ts'
import { type AddedRange, maskValues, rangeOf } from '../table/index.ts'

/** Entries per page. */
const PAGE = 50

export interface HistoryEntry {
  id: number
  at: string
  actorId: string | null
  /** `records.update`, `records.insert`, `records.import`, `undo`, … */
  kind: string
  /** True if the entry added the record. */
  isNew: boolean
  changes: { fieldId: string; before: CellValue; after: CellValue }[]
}

/**
 * The history of a record, newest first, for the fields that still exist. `before` is the id of the last entry seen.
 *
 * @param home the database with the log
 */
export async function readHistory(
  { home, schema, model }: { home: Engine; schema: LinkSchema; model: TableModel },
  recordId: RecordId,
  before: number | undefined,
): Promise<HistoryEntry[]> {
  const until = before ?? Number.MAX_SAFE_INTEGER
  const tableId = model.table.id
  const entries = await entriesOfRecord(home, { tableId, recordId, before: until, limit: PAGE })
  // A large insert has only the range of its records; it is their first entry.
  const ranges = await listRanges(home, tableId, until)
  const added = ranges
    .filter((entry) => isInRange(rangeOf(entry), recordId))
    .map((entry): RecordEntry => ({ ...entry, before: null, after: null }))
  const page = [...entries, ...added].sort((a, b) => b.id - a.id).slice(0, PAGE)
  const found: HistoryEntry[] = []
  for (const entry of page) {
    const isDeletion = entry.after === null && entry.before !== null
    const removed = isDeletion
      ? await removedLinks(home, schema, model, { changeId: entry.id, recordIds: [recordId] })
      : null
    found.push({
      id: entry.id,
      at: entry.at,
      actorId: entry.actorId,
      kind: entry.kind,
      isNew: entry.before === null,
      changes: changesOf(model, entry, removed?.get(String(recordId))),
    })
  }
  return found
}

/** True for a record that a change added as part of a range. */
export const isInRange = (range: AddedRange | null, id: RecordId): boolean =>
  range !== null && typeof id === 'number' && id >= range.from && id <= range.to

/**
 * The changes of a record under an entry.
 *
 * @param removed of a deleted record, as `removedLinks` reads them
 */
export function changesOf(
  model: TableModel,
  entry: Pick<RecordEntry, 'before' | 'after'>,
  removed: Values = {},
): HistoryEntry['changes'] {
  const raw = [entry.before, entry.after].map((text): Values => (text === null ? {} : JSON.parse(text)))
  const [before = {}, after = {}] = raw.map((values) => maskValues(model, values))
  return changesBetween(model, before, { ...after, ...removed })
}

/** The fields that differ between two versions of a record; a key is listed as its link. */
export function changesBetween(model: TableModel, before: Values, after: Values): HistoryEntry['changes'] {
  const links = linksByKey(model)
  return model.fields
    .filter((field) => !field.isSystem && !field.isPrimaryKey)
    .filter((field) => (before[field.id] ?? null) !== (after[field.id] ?? null))
    .flatMap((field) => {
      const [from, to] = [before[field.id] ?? null, after[field.id] ?? null]
      const linkId = links.get(field.id)
      if (linkId === undefined) return [{ fieldId: field.id, before: from, after: to }]
      // A key is listed as its link. Changes of many records have no marks.
      if (linkId in after) return []
      return [{ fieldId: linkId, before: null, after: linkDelta(idsOf(to), idsOf(from)) }]
    })
}

/** The link fields of a table by the id of their key field. */
function linksByKey(model: TableModel): Map<string, string> {
  return new Map(
    model.fields.flatMap((field) => {
      const link = linkOf(field)
      return link?.holdsKey && link.keyFieldId ? [[link.keyFieldId, field.id] as const] : []
    }),
  )
}

const idsOf = (value: CellValue): RecordId[] =>
  typeof value === 'number' || typeof value === 'string' ? [value] : []
