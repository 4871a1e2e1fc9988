import { type SQL, sql } from 'drizzle-orm'
import type { RecordId } from '../../../src/core/model.ts'
import { type StoredEntry, selectInsertedIds } from '../../../src/db/change-log.ts'
import type { QueryDialect } from '../../../src/dialects/dialect.ts'
import type { TableModel } from '../../schema/index.ts'
import { columnOf } from './columns.ts'

/** Records that one change added, by the ends of their ids: what the log keeps of a large one. */
export interface AddedRange {
  tableId: string
  from: number
  to: number
}

/** The range that an entry's detail holds, or null where it lists its records. */
export function rangeOf(entry: Pick<StoredEntry, 'detail' | 'tableId'>): AddedRange | null {
  const detail = entry.detail as Partial<AddedRange> | null
  const tableId = detail?.tableId ?? entry.tableId
  if (typeof detail?.from !== 'number' || typeof detail.to !== 'number' || !tableId) return null
  return { tableId, from: detail.from, to: detail.to }
}

export function rangeCondition(model: TableModel, range: AddedRange): SQL {
  return sql`where ${columnOf(model.primaryKey)} between ${range.from} and ${range.to}`
}

/**
 * The records of these ids of a table that numbers its own. As literals: more of them are named than a statement can
 * bind.
 */
export function idsCondition(model: TableModel, ids: readonly RecordId[]): SQL {
  const numbers = ids.filter((id) => Number.isSafeInteger(id))
  if (numbers.length < ids.length) throw new Error(`Ids of table ${model.table.id} are not numbers`)
  return sql`where ${columnOf(model.primaryKey)} in (${sql.raw(numbers.join(', '))})`
}

/** The records of a table that a change of the log has put back. */
export function restoredBy(model: TableModel, dialect: QueryDialect, changeId: number): SQL {
  return sql`where ${dialect.logId(columnOf(model.primaryKey))} in (${selectInsertedIds(changeId, model.table.id)})`
}
