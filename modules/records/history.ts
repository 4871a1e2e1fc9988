import type { Values } from '../../src/core/changes.ts'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import type { RecordId } from '../../src/core/model.ts'
import type { Engine } from '../../src/dialects/dialect.ts'
import type { TableModel } from '../schema/index.ts'

/** Entries that one call gives. */
const PAGE = 50

export interface HistoryEntry {
  id: number
  at: string
  actorId: string | null
  /** `records.update`, `records.insert`, `records.import`, `undo`, … */
  kind: string
  changes: { fieldId: string; before: CellValue; after: CellValue }[]
}

interface Row {
  id: number
  at: string
  actor_id: string | null
  kind: string
  before: string | null
  after: string | null
}

/**
 * What happened to a record, newest first, of the fields that are still there. `before` is the id of
 * the last entry seen.
 */
export async function readHistory(
  engine: Engine,
  model: TableModel,
  recordId: RecordId,
  before: number | undefined,
): Promise<HistoryEntry[]> {
  const until = before ?? Number.MAX_SAFE_INTEGER
  const tableId = model.table.id
  const rows = await engine.all<Row>({
    sql: `select c.id, c.at, c.actor_id, c.kind, r.before, r.after
      from sheaf_change_records r join sheaf_changes c on c.id = r.change_id
      where r.table_id = ? and r.record_id = ? and r.change_id < ?
      order by r.change_id desc limit ${PAGE}`,
    params: [tableId, recordId, until],
  })
  // A change that added many records keeps their range alone; it is the record's first entry.
  const added = await engine.all<Row>({
    sql: `select id, at, actor_id, kind, null as before, null as after from sheaf_changes
      where detail is not null and table_id = ? and id < ? and kind in ('records.insert', 'records.import')
        and ? between json_extract(detail, '$.from') and json_extract(detail, '$.to')`,
    params: [tableId, until, recordId],
  })
  return [...rows, ...added]
    .sort((a, b) => b.id - a.id)
    .slice(0, PAGE)
    .map((row) => ({
      id: row.id,
      at: row.at,
      actorId: row.actor_id,
      kind: row.kind,
      changes: changesOf(model, row),
    }))
}

function changesOf(model: TableModel, row: Row): HistoryEntry['changes'] {
  const before: Values = row.before === null ? {} : JSON.parse(row.before)
  const after: Values = row.after === null ? {} : JSON.parse(row.after)
  return model.fields
    .filter((field) => !field.isSystem && !field.isPrimaryKey)
    .filter((field) => (before[field.id] ?? null) !== (after[field.id] ?? null))
    .map((field) => ({ fieldId: field.id, before: before[field.id] ?? null, after: after[field.id] ?? null }))
}
