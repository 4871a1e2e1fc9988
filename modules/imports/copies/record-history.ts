import type { RecordId } from '../../../src/core/model.ts'
import { listRanges } from '../../../src/db/change-log/entries.ts'
import { findEntries, NO_TABLE, type StoredEntry } from '../../../src/db/change-log/entry.ts'
import {
  appendForeignEntries,
  type ForeignEntry,
  foreignEntriesOf,
  KINDS_FROM_ANOTHER_BASE,
  type LoggedLine,
  linesOfRecords,
  logLines,
  removeForeignLines,
  removeUnusedEntries,
} from '../../../src/db/change-log/foreign.ts'
import type { Engine } from '../../../src/dialects/dialect.ts'
import { withNewIds } from './copy-history.ts'

/** Entries of the log that are read or appended at once. */
const ENTRIES_AT_ONCE = 500

interface Ids {
  /** New ids of fields whose logged values are those of the new ones. */
  fields: ReadonlyMap<string, string>
  /** Ids of those original fields that hold files. */
  fileFields: ReadonlySet<string>
}

/** The history of records that move to another table. */
export interface RecordHistory {
  /**
   * Appends the entries about some of the records that are not there yet, before the records are: the log is read by the order of
   * its entries.
   */
  begin(recordIds: readonly RecordId[]): Promise<void>
  /**
   * Lists new records under the entries; may be called for some of the records at a time, and again for the same ones.
   *
   * @param newIds by the ids of the originals, as text
   * @param claimFiles called with paths of stored files in logged values
   */
  complete(
    newIds: ReadonlyMap<string, RecordId>,
    claimFiles: (paths: string[]) => Promise<void>,
  ): Promise<void>
  /** Removes the entries that list no record. */
  removeUnused(): Promise<void>
}

/**
 * Copies the history of records that move to another table. Its entries are marked as `FROM_ANOTHER_BASE`, as those of moved tables:
 * nobody can undo them there.
 *
 * @param jobId of the job that moves them, which may have begun the history in an earlier run: the entries are found by it
 */
export async function openHistory(
  from: { home: Engine; tableId: string; recordIds: readonly RecordId[] },
  to: { home: Engine; tableId: string },
  ids: Ids,
  jobId: string | null,
): Promise<RecordHistory> {
  const { home, tableId, recordIds } = from
  const withinRange = createRangeFinder(recordIds)
  const ranges = (await listRanges(home, tableId, Number.MAX_SAFE_INTEGER)).flatMap((entry) => {
    const { from: first, to: last, tableId: own = tableId } = (entry.detail ?? {}) as Record<string, unknown>
    const added = own === tableId ? withinRange(Number(first), Number(last)) : []
    return added.length === 0 ? [] : [{ entry, added }]
  })
  const inRange = new Map(ranges.map(({ entry, added }) => [entry.id, added]))
  const prefix = prefixOf(jobId)
  const begun = jobId === null ? new Map<string, number>() : await foreignEntriesOf(to.home, prefix)
  /** The new entries by the ids of those that they are copies of. */
  const newEntries = new Map([...begun].map(([id, newId]) => [Number(id), newId]))
  return {
    async begin(beginning) {
      const changeIds = new Set(inRange.keys())
      for await (const lines of linesOfRecords(home, { tableId, recordIds: beginning, withValues: false }))
        for (const { changeId } of lines) changeIds.add(changeId)
      const sorted = [...changeIds].filter((id) => !newEntries.has(id)).toSorted((a, b) => a - b)
      for (let at = 0; at < sorted.length; at += ENTRIES_AT_ONCE) {
        const found = await findEntries(home, sorted.slice(at, at + ENTRIES_AT_ONCE))
        const entries = found.toSorted((a, b) => a.id - b.id)
        const rows = entries.map((entry) => asForeign(entry, jobId === null ? null : `${prefix}${entry.id}`))
        const numbers = await to.home.write((tx) => appendForeignEntries(tx, to.home.dialect, rows))
        for (const [index, { id }] of entries.entries()) newEntries.set(id, numbers[index] ?? 0)
      }
    },
    removeUnused: () => removeUnusedOf(to.home, newEntries),
    async complete(newIds, claimFiles) {
      const copies = [...newIds.values()]
      await to.home.write((tx) => removeForeignLines(tx, to.home.dialect, to.tableId, copies))
      const log = async (lines: readonly LoggedLine[]) => {
        const paths = new Set<string>()
        const rows = lines.flatMap((line): LoggedLine[] => {
          const [changeId, recordId] = [newEntries.get(line.changeId), newIds.get(String(line.recordId))]
          if (changeId === undefined || recordId === undefined) return []
          const renamed = (json: string | null) =>
            withNewIds(json, { ...ids, tables: new Map(), views: new Map() }, paths)
          const [before, after] = [renamed(line.before), renamed(line.after)]
          const isOfOthers = line.before !== null && before === '{}' && after === '{}'
          return isOfOthers ? [] : [{ changeId, recordId, before, after }]
        })
        if (paths.size > 0) await claimFiles([...paths])
        if (rows.length > 0) await to.home.write((tx) => logLines(tx, to.home.dialect, to.tableId, rows))
      }
      const replaced = recordIds.filter((id) => newIds.has(String(id)))
      const listed = new Set<string>()
      for await (const lines of linesOfRecords(home, { tableId, recordIds: replaced, withValues: true })) {
        for (const { changeId, recordId } of lines)
          if (inRange.has(changeId)) listed.add(`${changeId} ${recordId}`)
        await log(lines)
      }
      // A large insert has only the range of its records.
      for (const [changeId, added] of inRange)
        await log(
          added
            .filter((id) => newIds.has(String(id)) && !listed.has(`${changeId} ${id}`))
            .map((recordId) => ({ changeId, recordId, before: null, after: '{}' })),
        )
    },
  }
}

/** Of the client ids of a job's entries. */
const prefixOf = (jobId: string | null): string => `${jobId} `

/** Removes the entries of a job that list no record. */
export const removeUnusedHistory = async (home: Engine, jobId: string): Promise<void> =>
  removeUnusedOf(home, await foreignEntriesOf(home, prefixOf(jobId)))

const removeUnusedOf = ({ write, dialect }: Engine, entries: ReadonlyMap<unknown, number>): Promise<void> =>
  write((tx) => removeUnusedEntries(tx, dialect, [...entries.values()]))

/** Finds the ids in a range: a table may have thousands of ranges, and a job moves many records. */
function createRangeFinder(ids: readonly RecordId[]): (first: number, last: number) => RecordId[] {
  const sorted = ids.toSorted((a, b) => Number(a) - Number(b))
  /** The position of the first id from a number on. */
  function positionFrom(number: number): number {
    let [low, high] = [0, sorted.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (Number(sorted[middle]) < number) low = middle + 1
      else high = middle
    }
    return low
  }
  return (first, last) => sorted.slice(positionFrom(first), positionFrom(last + 1))
}

const asForeign = ({ at, actorId, kind, records }: StoredEntry, clientId: string | null): ForeignEntry => ({
  at,
  actorId,
  kind: KINDS_FROM_ANOTHER_BASE[kind] ?? 'records.update',
  tableId: NO_TABLE,
  records,
  clientId,
})
