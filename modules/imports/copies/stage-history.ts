import { readAttachments } from '../../../src/core/fields/attachment-item.ts'
import { KINDS_FROM_ANOTHER_BASE, STAGED_ENTRY_COLUMNS } from '../../../src/db/change-log.ts'
import type { StoredRow, StoredTable, TableStore } from '../../../src/db/move/store.ts'

/** New ids in the history of tables that come to another base. */
export interface HistoryIds {
  /** By the ids of the originals, junction tables included. */
  tables: ReadonlyMap<string, string>
  /** The fields that are copied as they are; logged values of others are left out. */
  fields: ReadonlyMap<string, string>
  views: ReadonlyMap<string, string>
  /** Ids of the original fields that hold files. */
  fileFields: ReadonlySet<string>
}

interface StageTo {
  entries(rows: StoredRow[]): Promise<void>
  records(rows: StoredRow[]): Promise<void>
  /** Called with paths of stored files in logged values. */
  files(paths: string[]): Promise<void>
}

/** An entry of the source's log. */
interface Entry {
  id: number
  values: Readonly<Record<string, string | null>>
}

/** Kinds of entries that may list the records they added as a range of ids. */
const ADDING: ReadonlySet<string> = new Set(['records.insert', 'records.import'])

/** Where the history that is staged so far ends. */
export interface StagedUntil {
  /** The last entry of the source's log that was read. */
  after: number
  /** The number of staged entries. */
  count: number
}

/**
 * Reads what the log of a home has of some tables, under their new ids and numbered from 1. Returns the number of entries
 * that are staged then. Both tables of the log are read once, in the order of their entries.
 */
export async function stageHistory(
  source: TableStore,
  log: { entries: StoredTable; records: StoredTable },
  ids: HistoryIds,
  to: StageTo,
  until: StagedUntil,
): Promise<number> {
  const entries = entriesOf(source, log.entries, until)
  let entry = await entries.next()
  let { count } = until
  let waiting: StoredRow[] = []

  /** Stages an entry under the next number. @param tableId of the copy */
  function stage({ values }: Entry, tableId: string): number {
    const kind = KINDS_FROM_ANOTHER_BASE[values.kind ?? ''] ?? 'records.update'
    count++
    const staged: Record<string, string | null> = {
      ...values,
      id: String(count),
      kind,
      table_id: tableId,
      detail: ADDING.has(kind) ? rangeIn(values.detail ?? null) : null,
    }
    waiting.push(Object.keys(STAGED_ENTRY_COLUMNS).map((name) => staged[name] ?? null))
    return count
  }

  async function flush(): Promise<void> {
    if (waiting.length === 0) return
    await to.entries(waiting)
    waiting = []
  }

  /** The table of the copy that an entry is about by itself. */
  const ownTable = ({ values }: Entry): string | undefined =>
    KINDS_FROM_ANOTHER_BASE[values.kind ?? ''] === undefined
      ? undefined
      : ids.tables.get(values.table_id ?? '')

  let current: { id: number; number: number } | null = null
  /** The number of the entry with this id, after all entries before it. */
  async function numberOf(changeId: number, tableId: string): Promise<number | null> {
    if (current?.id === changeId) return current.number
    while (!entry.done && entry.value.id <= changeId) {
      const found = entry.value
      const own = ownTable(found)
      // Changes of other tables may have touched records of these, such as those that they were linked to.
      const table = found.id === changeId ? (own ?? tableId) : own
      if (table !== undefined) {
        const number = stage(found, table)
        if (found.id === changeId) current = { id: changeId, number }
      }
      entry = await entries.next()
    }
    return current?.id === changeId ? current.number : null
  }

  const positions = new Map(log.records.columns.map(({ name }, at) => [name, at]))
  const at = (row: StoredRow, name: string): string | null => row[positions.get(name) ?? -1] ?? null
  const only = { column: 'table_id', texts: [...ids.tables.keys()] }
  for await (const batch of source.rows(log.records, [String(until.after + 1), '', ''], only)) {
    const rows: StoredRow[] = []
    const paths = new Set<string>()
    for (const row of batch) {
      const tableId = ids.tables.get(at(row, 'table_id') ?? '')
      if (tableId === undefined) continue
      const number = await numberOf(Number(at(row, 'change_id')), tableId)
      // Entries that were removed already leave records to be removed.
      if (number === null) continue
      const values = (name: string) => renamed(at(row, name), ids, paths)
      rows.push([String(number), tableId, at(row, 'record_id'), values('before'), values('after')])
    }
    await flush()
    if (rows.length > 0) await to.records(rows)
    if (paths.size > 0) await to.files([...paths])
  }
  for (; !entry.done; entry = await entries.next()) {
    const own = ownTable(entry.value)
    if (own !== undefined) stage(entry.value, own)
    if (waiting.length >= 1_000) await flush()
  }
  await flush()
  return count
}

async function* entriesOf(
  source: TableStore,
  table: StoredTable,
  { after }: StagedUntil,
): AsyncGenerator<Entry, void, undefined> {
  for await (const batch of source.rows(table, [String(after)]))
    for (const row of batch) {
      const values = Object.fromEntries(table.columns.map(({ name }, at) => [name, row[at] ?? null]))
      yield { id: Number(values.id), values }
    }
}

function rangeIn(detail: string | null): string | null {
  const { from, to } = (detail === null ? {} : JSON.parse(detail)) as { from?: unknown; to?: unknown }
  return typeof from === 'number' && typeof to === 'number' ? JSON.stringify({ from, to }) : null
}

/** Logged values under the ids of the copy. @param paths gets the stored files that they name */
function renamed(json: string | null, ids: HistoryIds, paths: Set<string>): string | null {
  if (json === null) return null
  const kept: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(JSON.parse(json) as Record<string, unknown>)) {
    const view = key.startsWith('@') ? ids.views.get(key.slice(1)) : undefined
    if (view !== undefined) kept[`@${view}`] = value
    const field = ids.fields.get(key)
    if (field === undefined) continue
    kept[field] = value
    if (ids.fileFields.has(key) && typeof value === 'string')
      for (const { path } of readAttachments(value)) if (path !== undefined) paths.add(path)
  }
  return JSON.stringify(kept)
}
