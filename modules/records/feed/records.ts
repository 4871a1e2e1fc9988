import type { Values } from '../../../src/core/changes.ts'
import type { RecordId } from '../../../src/core/model.ts'
import type { StoredEntry } from '../../../src/db/change-log/entry.ts'
import { type ListedRecords, pageOfRecords } from '../../../src/db/change-log/records.ts'
import type { Engine } from '../../../src/dialects/dialect.ts'
import type { TableModel } from '../../schema/index.ts'
import { type AddedRange, rangeOf, storedId } from '../table/index.ts'

/** The records of one table that an entry touches. */
export type FeedTable = ListedRecords

/** A record under an entry, with the touched values before and after by field id. */
export interface FeedRecord {
  recordId: RecordId
  /** Null if the entry added the record. */
  before: Values | null
  /** Null if the entry deleted the record. Empty for a record of a large insert, which the log stores as a range of ids. */
  after: Values | null
}

/** The tables that an entry touches: those of its listed records, with the records that it added as a range. */
export function tablesOfEntry(entry: StoredEntry, listed: readonly ListedRecords[]): FeedTable[] {
  const range = addedRange(entry)
  if (range === null) return [...listed]
  const added = range.to - range.from + 1
  const own = listed.find(({ tableId }) => tableId === range.tableId)
  const { inserted = 0, updated = 0, deleted = 0 } = own ?? {}
  const others = listed.filter((each) => each !== own)
  return [{ tableId: range.tableId, inserted: inserted + added, updated, deleted }, ...others]
}

/** The range of records that an entry added. Undoing it lists the records. */
const addedRange = (entry: StoredEntry): AddedRange | null =>
  entry.kind === 'records.insert' || entry.kind === 'records.import' ? rangeOf(entry) : null

/** Where the next page begins: after a listed record, in the form of the log, or after a number of the range. JSON. */
export type FeedCursor = { listed: RecordId } | { range: number }

/**
 * A page of the records of a table that an entry touches: first those that it lists, by id, then those of its range.
 *
 * @param after the `next` of the previous page; null for the first page
 * @returns `next` is null after the last page
 */
export async function pageOfEntry(
  engine: Engine,
  model: TableModel,
  entry: StoredEntry,
  { after, limit }: { after: FeedCursor | null; limit: number },
): Promise<{ records: FeedRecord[]; next: FeedCursor | null }> {
  const tableId = model.table.id
  const range = addedRange(entry)
  const isListing = after === null || 'listed' in after
  const listed = isListing
    ? await pageOfRecords(engine, engine.dialect, {
        changeId: entry.id,
        tableId,
        after: after?.listed ?? null,
        limit,
      })
    : []
  const records = listed.map(
    ({ record_id, before, after }): FeedRecord => ({
      recordId: storedId(model, record_id),
      before: parse(before),
      after: parse(after),
    }),
  )
  const last = listed.at(-1)
  if (last && listed.length === limit) return { records, next: { listed: last.record_id } }
  if (range?.tableId !== tableId) return { records, next: null }
  const from = isListing ? range.from : after.range + 1
  const to = Math.min(range.to, from + limit - records.length - 1)
  for (let id = from; id <= to; id++) records.push({ recordId: id, before: null, after: {} })
  return { records, next: to < range.to ? { range: to } : null }
}

const parse = (text: string | null): Values | null => (text === null ? null : JSON.parse(text))
