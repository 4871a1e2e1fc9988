import { badRequest } from '../../src/core/errors.ts'
import { fieldType } from '../../src/core/fields/index.ts'
import { isRecordId } from '../../src/core/fields/traits.ts'
import { canonicalReal, type StoredRow, type StoredTable } from '../../src/db/move/store.ts'
import { lowerThreadPriority } from '../../src/db/priority.ts'
import {
  type FileValue,
  type MetaTable,
  openSeenValues,
  openSheafFile,
  type SheafFileReader,
  withHome,
} from '../../src/db/sheaf-files/index.ts'
import type { EngineLocation } from '../../src/dialects/dialect.ts'
import { m } from '../../src/messages.gen.ts'
import { serve } from '../../src/thread-calls.ts'
import { createReader, type FillColumn, type LeftOut, note } from './cell-reader.ts'
import { fillHistory, type HistoryFill } from './history.ts'

/*
 * Thread of one import: checks the file, hands out its definitions, and fills the home of the new base. Every value is read
 * by its field type, as if it came over the API.
 */

/** A table of the new base to be filled. */
export interface FillPlan {
  fileTable: string
  /** In the home; created and indexed here. */
  target: StoredTable
  /** In the order of the target's columns. */
  columns: FillColumn[]
  /** Columns of the target in which no two rows may have the same values. */
  distinct: string[][]
  /** True if the rows are the pairs of a link: each counts once, and they have no order. */
  isJunction: boolean
}

export type ReadMain = {
  progress(rows: number): Promise<void>
}

export type ReadThread = typeof functions

lowerThreadPriority()

let file: SheafFileReader | null = null
/** Records and changes that were read. */
let rows = 0

async function progress(count: number): Promise<void> {
  rows += count
  await main.progress(rows)
}

function requireFile(): SheafFileReader {
  if (!file) throw new Error('No file is open')
  return file
}

const functions = {
  /** @throws BAD_REQUEST for a file that cannot be opened as a base */
  async open(path: string): Promise<void> {
    file = await openSheafFile(path)
  },
  definitions: (table: MetaTable, maxRows: number): Record<string, FileValue>[] =>
    requireFile().definitions(table, maxRows),
  /**
   * Creates and fills the tables of the home.
   *
   * @param people user ids by how the file names them
   * @param files paths of stored files by those in the file; other files are left out
   * @throws BAD_REQUEST for a missing table or column, or repeated ids
   */
  async fill(
    location: EngineLocation,
    plans: FillPlan[],
    people: ReadonlyMap<string, string>,
    files: ReadonlyMap<string, string>,
  ): Promise<{ rows: number; leftOut: LeftOut[] }> {
    const leftOut: LeftOut[] = []
    await withHome(location, { isSnapshot: false }, async (home) => {
      for (const { fileTable, target, columns, distinct, isJunction } of plans) {
        const stored = columns.flatMap(({ fileColumn }) => fileColumn ?? [])
        if (!requireFile().hasColumns(fileTable, stored)) throw badRequest(m.base_files_error_damaged())
        await home.create(target)
        const readers = columns.map((column, at) =>
          createReader(column, target.columns[at]?.kind ?? 'text', people, files, (value) =>
            note(leftOut, fileTable, column.title, value),
          ),
        )
        const idAt = columns.findIndex(isRecordId)
        const orderAt = isJunction ? -1 : columns.findIndex(({ type }) => fieldType(type).ordersRecords)
        let [last, lastOrder] = [0n, 0]
        const idColumn = columns[idAt]?.fileColumn ?? ''
        using repeats = openRepeats(target, distinct)
        for (const batch of requireFile().rows(fileTable, stored, [idColumn])) {
          const kept: StoredRow[] = []
          for (const values of batch) {
            let next = 0
            const row = readers.map(({ isInFile, read }) => (isInFile ? read(values[next++] ?? null) : null))
            const id = row[idAt]
            if (id === null || id === undefined || BigInt(id) <= last)
              throw badRequest(m.base_files_error_ids({ table: fileTable }))
            last = BigInt(id)
            // Rows that were added with another program have no position.
            if (orderAt >= 0) row[orderAt] ??= canonicalReal(lastOrder + 1)
            lastOrder = Math.max(lastOrder, Number(row[orderAt] ?? 0))
            const repeated = repeats.of(row)
            if (isJunction && repeated.length > 0) continue
            for (const at of repeated) {
              const value = row[at] ?? null
              if (value !== null) note(leftOut, fileTable, columns[at]?.title ?? '', value)
              row[at] = null
            }
            kept.push(row)
          }
          await home.insert(target, kept)
          await progress(kept.length)
        }
        await home.complete({ ...target, lastId: lastIdOf(target.lastId, last) })
      }
    })
    return { rows, leftOut }
  },
  /** Copies the manual order of views, which get new ids; others are left out. */
  async fillPlaces(
    location: EngineLocation,
    views: ReadonlyMap<string, { viewId: string; tableId: string }>,
  ): Promise<void> {
    await withHome(location, { isSnapshot: false }, async (home) => {
      const target = (await home.tables()).find(({ name }) => name === 'sheaf_places')
      if (!target) throw new Error(`${home.name} has no manual order`)
      const columns = ['view_id', 'record_id', 'place']
      for (const batch of requireFile().rows('sheaf_places', columns, ['view_id', 'record_id'])) {
        const rows = batch.flatMap(([view, record, place]): StoredRow[] => {
          const known = views.get(String(view))
          if (!known || typeof record !== 'bigint' || typeof place !== 'number') return []
          const values: Record<string, string> = {
            view_id: known.viewId,
            table_id: known.tableId,
            record_id: String(record),
            place: canonicalReal(place),
          }
          return [target.columns.map(({ name }) => values[name] ?? null)]
        })
        if (rows.length > 0) await home.insert(target, rows)
      }
    })
  },
  /** Copies the change log; entries of unknown kinds or tables are left out. Returns the number of entries. */
  async fillHistory(
    location: EngineLocation,
    plan: HistoryFill,
    people: ReadonlyMap<string, string>,
    files: ReadonlyMap<string, string>,
  ): Promise<{ entries: number; leftOut: LeftOut[] }> {
    const leftOut: LeftOut[] = []
    const entries = await withHome(location, { isSnapshot: false }, (home) =>
      fillHistory(home, requireFile(), plan, { people, files, leftOut, onRows: progress }),
    )
    return { entries, leftOut }
  },
  /** Begins to read a content; `nextPart` returns its bytes, part by part, and null at the end. */
  openContent(content: string): void {
    parts = requireFile().content(content)[Symbol.iterator]()
  },
  nextPart(): Uint8Array | null {
    const next = parts?.next()
    return next && !next.done ? next.value : null
  },
  close(): void {
    file?.close()
    file = null
  },
}

let parts: Iterator<Uint8Array> | null = null

const main = serve<ReadMain>(functions)

/** Finds values that must differ and do not. They are compared as they are stored: `08:20` and `08:20:00` are the same time. */
function openRepeats({ columns }: StoredTable, distinct: FillPlan['distinct']) {
  const groups = distinct.map((names) => names.map((name) => columns.findIndex((one) => one.name === name)))
  const seen = openSeenValues()
  return {
    /** The positions of columns in which an earlier row has the values of this one. A row that lacks one of them has no equals. */
    of: (row: StoredRow): number[] =>
      groups.flatMap((positions, group) => {
        const values = positions.flatMap((at) => row[at] ?? [])
        return values.length < positions.length || seen.add(group, ...values) ? [] : positions
      }),
    [Symbol.dispose]: () => seen.close(),
  }
}

/** Numbering continues after the highest id, wherever the file says that it ended. */
function lastIdOf(told: string | null, last: bigint): string | null {
  const known = told === null ? 0n : BigInt(told)
  const highest = known > last ? known : last
  return highest === 0n ? null : String(highest)
}
