import { forEachBreathing } from '../../../src/breathe.ts'
import type { RecordChange, Values } from '../../../src/core/changes.ts'
import type { RecordId } from '../../../src/core/model.ts'
import { findSent } from '../../../src/db/change-log/entries.ts'
import type { StoredEntry } from '../../../src/db/change-log/entry.ts'
import { insertedIds, recordsOf, tablesOf } from '../../../src/db/change-log/records.ts'
import type { Dialect, Transaction } from '../../../src/dialects/dialect.ts'
import type { TableModel } from '../../schema/index.ts'
import { rangeOf, storedId } from '../table/index.ts'

/** Answers list up to this many records; of more they have the count. */
export const MAX_LISTED = 500

/** The result of a change that was written before. */
export interface Repeated {
  entry: { id: number; at: string }
  records: RecordChange[]
  inserted: RecordId[]
  count: number
  tableIds: string[]
}

interface RepeatContext {
  tx: Pick<Transaction, 'all'>
  dialect: Dialect
  load(tableId: string): Promise<TableModel>
}

/**
 * The change that this person’s or visitor’s browser has already sent under the same id, or null. A browser that lost the answer
 * sends its change again; it must not be written twice.
 */
export async function findRepeated(
  { tx, dialect, load }: RepeatContext,
  actorId: string | null,
  clientId: string,
): Promise<Repeated | null> {
  const entry = await findSent(tx, dialect, { actorId, clientId })
  if (!entry) return null
  const repeated = await readRepeated({ tx, dialect, load }, entry)
  const { inserted = repeated.inserted } = (entry.detail ?? {}) as Partial<InsertionOrder>
  return { ...repeated, inserted }
}

/** Ids of new records in the order of their rows, in the detail of an entry whose lines do not tell it. */
interface InsertionOrder {
  inserted: RecordId[]
}

/** The order of a change's new records to store in its entry; undefined where `inRowOrder` finds it in the lines. */
export function insertionOrder(
  operations: readonly { tableId: string }[],
  inserted: RecordId[],
): InsertionOrder | undefined {
  const isOfOneTable = operations.every(({ tableId }) => tableId === operations[0]?.tableId)
  const isCounted = inserted.every(
    (id, at) => typeof id === 'number' && (at === 0 || id > Number(inserted[at - 1])),
  )
  return inserted.length < 2 || (isOfOneTable && isCounted) ? undefined : { inserted }
}

async function readRepeated({ tx, dialect, load }: RepeatContext, entry: StoredEntry): Promise<Repeated> {
  const range = rangeOf(entry)
  if (range) {
    const inserted = Array.from({ length: range.to - range.from + 1 }, (_, index) => range.from + index)
    return { entry, records: [], inserted, count: entry.records, tableIds: [range.tableId] }
  }
  if (entry.records > MAX_LISTED) return repeatedUnlisted({ tx, dialect, load }, entry)
  const logged = await recordsOf(tx, dialect, entry.id)
  const tableIds = [...new Set(logged.map((record) => record.table_id))]
  const models = new Map(await Promise.all(tableIds.map(async (id) => [id, await load(id)] as const)))
  const read = (json: string | null): Values | null => (json === null ? null : JSON.parse(json))
  const records = logged.map(({ table_id: tableId, record_id: id, before, after }) => {
    const model = models.get(tableId)
    const recordId = model ? storedId(model, id) : id
    return { tableId, recordId, before: read(before), after: read(after) }
  })
  // Junction rows count as inserted only if the change addressed the junction itself.
  const isInserted = ({ tableId, before }: RecordChange) =>
    before === null && (tableId === entry.tableId || !models.get(tableId)?.table.isJunction)
  const inserted = Map.groupBy(records.filter(isInserted), ({ tableId }) => tableId)
  return {
    entry,
    records,
    inserted: [...inserted.values()].flatMap((ofTable) =>
      inRowOrder(ofTable.map(({ recordId }) => recordId)),
    ),
    count: records.length,
    tableIds,
  }
}

/** As `readRepeated`, for a change with too many records to list. */
async function repeatedUnlisted({ tx, dialect, load }: RepeatContext, entry: StoredEntry): Promise<Repeated> {
  const { id: changeId, tableId } = entry
  const tableIds = await tablesOf(tx, dialect, changeId)
  const repeated = { entry, records: [], inserted: [], count: entry.records, tableIds }
  if (tableId === null) return repeated
  const model = await load(tableId)
  const ids = await insertedIds(tx, dialect, { changeId, tableId })
  return { ...repeated, inserted: inRowOrder(ids.map((id) => storedId(model, id))) }
}

/**
 * New records of a table in the order of their rows, in which they were given numbers. The log has them in the order of
 * its key, which is a text in PostgreSQL: 10 before 9.
 */
const inRowOrder = (ids: readonly RecordId[]): RecordId[] =>
  ids.toSorted((one, other) => (typeof one === 'number' && typeof other === 'number' ? one - other : 0))

/**
 * Merges the changes of each record: its values before the first operation and after the last. Records that were
 * added and deleted by the change are omitted.
 */
export async function mergeChanges(records: RecordChange[]): Promise<RecordChange[]> {
  if (records.length === 1) return records
  const merged = new Map<string, RecordChange>()
  await forEachBreathing(records, (next) => {
    const key = `${next.tableId} ${next.recordId}`
    const earlier = merged.get(key)
    merged.set(key, earlier ? join(earlier, next) : next)
  })
  const all = [...merged.values()]
  return all.filter(({ before, after }) => before !== null || after !== null)
}

/** Each side has the fields of either operation; for `before` the earlier wins, for `after` the later. */
function join(earlier: RecordChange, later: RecordChange): RecordChange {
  return {
    ...later,
    before: earlier.before && { ...later.before, ...earlier.before },
    after: later.after && { ...earlier.after, ...later.after },
  }
}
