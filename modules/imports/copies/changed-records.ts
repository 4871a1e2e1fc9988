import { CHANGE_RECORDS_TABLE, CHANGES_TABLE } from '../../../src/db/change-log/tables.ts'
import type { StoredTable, TableStore } from '../../../src/db/move/store.ts'

/** What has changed in a table: `all` if the log does not say which records, or too many. */
export type ChangedRecords = 'all' | { ids: ReadonlySet<number>; ranges: readonly IdRange[] }

/** Ids of records, both inclusive. */
export interface IdRange {
  from: number
  to: number
}

/** What the log of a home has of some tables since an entry. */
export interface LoggedChanges {
  /** The newest entry. */
  last: number
  /** By table. Tables without changes are missing. */
  tables: ReadonlyMap<string, ChangedRecords>
  /** Records were deleted forever: lines are missing from the history. */
  isPurged: boolean
  /** Those of the tables in `alsoRead` that have changed in any way. */
  touched: ReadonlySet<string>
}

/** With more changed records, a table is copied anew: their ids are kept in memory. */
export const MAX_IDS = 500_000

/**
 * Reads which records of some tables have changed since an entry of their home's log. Null if something else of the tables
 * has changed, such as a field.
 *
 * @param junctions the junction tables among them: their records that an import adds are not logged
 * @param alsoRead further tables
 */
export async function changesSince(
  source: TableStore,
  require: (name: string) => StoredTable,
  {
    tableIds,
    junctions,
    alsoRead,
    after,
  }: {
    tableIds: readonly string[]
    junctions: readonly string[]
    alsoRead: ReadonlySet<string>
    after: number
  },
): Promise<LoggedChanges | null> {
  const changed = new Map<string, ChangedRecords>()
  const isOurs = (tableId: string | null): tableId is string => tableId !== null && tableIds.includes(tableId)
  const touched = new Set<string>()
  const touch = (tableId: string | null) => {
    if (tableId !== null && alsoRead.has(tableId)) touched.add(tableId)
  }
  const copyAnew = (ids: readonly string[]) => {
    for (const id of ids) changed.set(id, 'all')
  }
  const add = (tableId: string, { from, to }: IdRange) => {
    const known = changed.get(tableId) ?? { ids: new Set<number>(), ranges: [] }
    if (known === 'all') return
    const { ids, ranges } = known
    if (from < to) changed.set(tableId, { ids, ranges: [...ranges, { from, to }] })
    else changed.set(tableId, { ids: ids.size < MAX_IDS ? (ids as Set<number>).add(from) : ids, ranges })
    if (ids.size >= MAX_IDS) changed.set(tableId, 'all')
  }

  /** The number of records that each entry lists, of whatever table. */
  const listed = new Map<number, number>()
  const lines = columnsOnly(require(CHANGE_RECORDS_TABLE), ['change_id', 'table_id', 'record_id'])
  // Before the first line of the next entry.
  for await (const batch of source.rows(lines, [String(after + 1), '', '']))
    for (const [changeId, tableId = null, recordId] of batch) {
      listed.set(Number(changeId), (listed.get(Number(changeId)) ?? 0) + 1)
      touch(tableId)
      if (isOurs(tableId)) add(tableId, { from: Number(recordId), to: Number(recordId) })
    }

  let last = after
  let isPurged = false
  let isFollowed = false
  const entries = columnsOnly(require(CHANGES_TABLE), ['id', 'kind', 'table_id', 'records', 'detail'])
  for await (const batch of source.rows(entries, [String(after - 1)]))
    for (const [id, kind = null, tableId = null, records, detail = null] of batch) {
      // Old entries are removed from the first on: without this one, later ones may be gone as well.
      if (Number(id) === after) isFollowed = true
      if (Number(id) <= after) continue
      last = Number(id)
      const { from, to, renumbered = [] } = detailOf(detail)
      copyAnew(renumbered.filter(isOurs))
      touch(tableId)
      if (!isOurs(tableId)) continue
      if (kind === null || !isOfRecords(kind)) return null
      if (kind === 'records.purge') {
        isPurged = true
        copyAnew(tableIds)
      }
      const isRange = from !== undefined && to !== undefined
      if (isRange) add(tableId, { from, to })
      if (kind === 'records.import') copyAnew(junctions)
      const known = (listed.get(last) ?? 0) + (isRange ? to - from + 1 : 0)
      if (known < Number(records)) copyAnew(tableIds)
    }
  if (!isFollowed && last > after) {
    copyAnew(tableIds)
    for (const tableId of alsoRead) touched.add(tableId)
  }
  return { last, tables: changed, isPurged, touched }
}

const isOfRecords = (kind: string): boolean =>
  kind.startsWith('records.') || kind === 'undo' || kind === 'redo'

/** The table with some of its columns, to read only these, in this order. */
const columnsOnly = (table: StoredTable, names: readonly string[]): StoredTable => ({
  ...table,
  columns: names.flatMap((name) => table.columns.find((column) => column.name === name) ?? []),
})

/** What an entry says of records that it does not list. */
function detailOf(json: string | null): { from?: number; to?: number; renumbered?: string[] } {
  const detail = (json === null ? {} : JSON.parse(json)) as Record<string, unknown> | null
  const { from, to, renumbered } = detail ?? {}
  return {
    ...(typeof from === 'number' && typeof to === 'number' && { from, to }),
    ...(Array.isArray(renumbered) && { renumbered: renumbered as string[] }),
  }
}
