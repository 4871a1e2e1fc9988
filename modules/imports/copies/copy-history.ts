import { readAttachments } from '../../../src/core/fields/attachment-item.ts'
import { FROM_ANOTHER_BASE } from '../../../src/db/change-log/entry.ts'
import { type FOREIGN_ENTRY_COLUMNS, KINDS_FROM_ANOTHER_BASE } from '../../../src/db/change-log/foreign.ts'
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

/** Where a history goes. */
export interface HistoryTarget {
  /** Appends entries under the next numbers. Returns the number before the first. */
  entries(rows: HistoryEntry[]): Promise<number>
  /** Appends records under entries. */
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

/** An entry before it gets its number. */
export type HistoryEntry = Record<Exclude<keyof typeof FOREIGN_ENTRY_COLUMNS, 'id'>, string | null>

/** An entry of the copied history. */
interface Copied {
  row: HistoryEntry
  /** Null before it is appended. */
  number: number | null
}

/**
 * Copies what the log of a home has of some tables, under their new ids. Both tables of the log are read once, in the order
 * of their entries.
 *
 * @param after the last entry of the source's log that has been copied before
 */
export async function copyHistory(
  source: TableStore,
  log: { entries: StoredTable; records: StoredTable },
  ids: HistoryIds,
  to: HistoryTarget,
  after: number,
): Promise<void> {
  const entries = entriesOf(source, log.entries, after)
  let entry = await entries.next()
  let waiting: Copied[] = []

  /** @param tableId of the copy */
  function copy({ values }: Entry, tableId: string): Copied {
    const kind = KINDS_FROM_ANOTHER_BASE[values.kind ?? ''] ?? 'records.update'
    const row = {
      at: values.at ?? null,
      actor_id: values.actor_id ?? null,
      kind,
      table_id: tableId,
      records: values.records ?? null,
      detail: ADDING.has(kind) ? rangeIn(values.detail ?? null) : null,
      undone_by: String(FROM_ANOTHER_BASE),
    }
    const copied = { row, number: null }
    waiting.push(copied)
    return copied
  }

  async function flush(): Promise<void> {
    if (waiting.length === 0) return
    const last = await to.entries(waiting.map(({ row }) => row))
    for (const [at, copied] of waiting.entries()) copied.number = last + 1 + at
    waiting = []
  }

  /** The table of the copy that an entry is about by itself. */
  const ownTable = ({ values }: Entry): string | undefined =>
    KINDS_FROM_ANOTHER_BASE[values.kind ?? ''] === undefined
      ? undefined
      : ids.tables.get(values.table_id ?? '')

  let current: { id: number; copied: Copied } | null = null
  /** The copy of the entry with this id, after those of all entries before it. */
  async function copyOf(changeId: number, tableId: string): Promise<Copied | null> {
    if (current?.id === changeId) return current.copied
    while (!entry.done && entry.value.id <= changeId) {
      const found = entry.value
      const own = ownTable(found)
      // Changes of other tables may have touched records of these, such as those that they were linked to.
      const table = found.id === changeId ? (own ?? tableId) : own
      if (table !== undefined) {
        const copied = copy(found, table)
        if (found.id === changeId) current = { id: changeId, copied }
      }
      entry = await entries.next()
    }
    return current?.id === changeId ? current.copied : null
  }

  const positions = new Map(log.records.columns.map(({ name }, at) => [name, at]))
  const at = (row: StoredRow, name: string): string | null => row[positions.get(name) ?? -1] ?? null
  const only = { column: 'table_id', texts: [...ids.tables.keys()] }
  for await (const batch of source.rows(log.records, [String(after + 1), '', ''], only)) {
    const rows: { entry: Copied; values: StoredRow }[] = []
    const paths = new Set<string>()
    for (const row of batch) {
      const tableId = ids.tables.get(at(row, 'table_id') ?? '')
      if (tableId === undefined) continue
      const entry = await copyOf(Number(at(row, 'change_id')), tableId)
      // Entries that were removed already leave records to be removed.
      if (entry === null) continue
      const logged = (name: string) => withNewIds(at(row, name), ids, paths)
      rows.push({ entry, values: [tableId, at(row, 'record_id'), logged('before'), logged('after')] })
    }
    await flush()
    if (rows.length > 0) await to.records(rows.map(({ entry, values }) => [String(entry.number), ...values]))
    if (paths.size > 0) await to.files([...paths])
  }
  for (; !entry.done; entry = await entries.next()) {
    const own = ownTable(entry.value)
    if (own !== undefined) copy(entry.value, own)
    if (waiting.length >= 1_000) await flush()
  }
  await flush()
}

async function* entriesOf(
  source: TableStore,
  table: StoredTable,
  after: number,
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
export function withNewIds(json: string | null, ids: HistoryIds, paths: Set<string>): string | null {
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
