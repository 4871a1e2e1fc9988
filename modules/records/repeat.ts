import type { RecordChange, Values } from '../../src/core/changes.ts'
import type { RecordId } from '../../src/core/model.ts'
import { toEntry } from '../../src/db/change-log.ts'
import type { Transaction } from '../../src/dialects/dialect.ts'
import { rangeOf } from './range.ts'

/** A change that was written before: what its sender would have been answered. */
export interface Repeated {
  entry: { id: number; at: string }
  records: RecordChange[]
  inserted: RecordId[]
  count: number
  tableIds: string[]
}

interface LoggedRecord {
  table_id: string
  record_id: RecordId
  before: string | null
  after: string | null
}

/**
 * The change that this person's browser has sent before under the same id, or null. A browser that
 * lost the answer sends its change again; it must not be written twice.
 */
export async function findRepeated(
  tx: Pick<Transaction, 'all'>,
  actorId: string,
  clientId: string,
): Promise<Repeated | null> {
  const [row] = await tx.all<Parameters<typeof toEntry>[0]>({
    sql: `select id, at, actor_id, kind, table_id, records, undoes, detail from sheaf_changes
      where client_id = ? and actor_id = ?`,
    params: [clientId, actorId],
  })
  if (!row) return null
  const entry = toEntry(row)
  const range = rangeOf(entry)
  if (range) {
    const inserted = Array.from({ length: range.to - range.from + 1 }, (_, index) => range.from + index)
    return { entry, records: [], inserted, count: entry.records, tableIds: [range.tableId] }
  }
  const logged = await tx.all<LoggedRecord>({
    sql: 'select table_id, record_id, before, after from sheaf_change_records where change_id = ?',
    params: [entry.id],
  })
  const read = (json: string | null): Values | null => (json === null ? null : JSON.parse(json))
  const records = logged.map(({ table_id: tableId, record_id: recordId, before, after }) => ({
    ...{ tableId, recordId, before: read(before), after: read(after) },
  }))
  return {
    entry,
    records,
    inserted: records.filter(({ before }) => before === null).map(({ recordId }) => recordId),
    count: records.length,
    tableIds: [...new Set(records.map(({ tableId }) => tableId))],
  }
}
