import { toStored } from '../../src/core/dates.ts'
import { badRequest } from '../../src/core/errors.ts'
import { readAttachments, writeAttachments } from '../../src/core/fields/attachment-item.ts'
import type { FieldOptions } from '../../src/core/fields/field-type.ts'
import type { FieldTypeName } from '../../src/core/fields/index.ts'
import { fieldType } from '../../src/core/fields/index.ts'
import { idsIn, joinIds } from '../../src/core/fields/people.ts'
import { readValue } from '../../src/core/fields/read.ts'
import { holdsFiles, isForeignKey, isRecordId, showsPeople } from '../../src/core/fields/traits.ts'
import { giveWay } from '../../src/db/background-thread.ts'
import { type ColumnKind, canonicalReal, type StoredRow, type StoredTable } from '../../src/db/move/store.ts'
import {
  type FileValue,
  type MetaTable,
  openSheafFile,
  type SheafFileReader,
  withHome,
} from '../../src/db/sheaf-files/index.ts'
import type { EngineLocation } from '../../src/dialects/dialect.ts'
import { m } from '../../src/messages.gen.ts'
import { serve } from './calls.ts'

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
}

export interface FillColumn {
  /** Title of the field, for messages. */
  title: string
  /** Null: the file has no values of the field. */
  fileColumn: string | null
  type: FieldTypeName
  options: FieldOptions
}

/** A value that does not fit its field and was left out. */
export interface LeftOut {
  table: string
  field: string
  count: number
  /** One of the values, shortened. */
  example: string
}

export type ReadMain = {
  progress(rows: number): Promise<void>
}

export type ReadThread = typeof functions

giveWay()

let file: SheafFileReader | null = null
let isCancelled = false

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
  cancel(): void {
    isCancelled = true
  },
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
    let rows = 0
    await withHome(location, { isSnapshot: false }, async (home) => {
      for (const { fileTable, target, columns } of plans) {
        const stored = columns.flatMap(({ fileColumn }) => fileColumn ?? [])
        if (!requireFile().hasColumns(fileTable, stored)) throw badRequest(m.base_files_error_damaged())
        await home.create(target)
        const readers = columns.map((column, at) =>
          createReader(column, target.columns[at]?.kind ?? 'text', people, files, (value) =>
            note(leftOut, fileTable, column.title, value),
          ),
        )
        const idAt = columns.findIndex(isRecordId)
        let last = 0n
        const idColumn = columns[idAt]?.fileColumn ?? ''
        for (const batch of requireFile().rows(fileTable, stored, [idColumn])) {
          if (isCancelled) throw new Error('The import was cancelled')
          const read: StoredRow[] = batch.map((values) => {
            let next = 0
            return readers.map(({ isInFile, read }) => (isInFile ? read(values[next++] ?? null) : null))
          })
          for (const row of read) {
            const id = row[idAt]
            if (id === null || id === undefined || BigInt(id) <= last)
              throw badRequest(m.base_files_error_ids({ table: fileTable }))
            last = BigInt(id)
          }
          await home.insert(target, read)
          rows += read.length
          await main.progress(rows)
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

/** Numbering continues after the highest id, wherever the file says that it ended. */
function lastIdOf(told: string | null, last: bigint): string | null {
  const known = told === null ? 0n : BigInt(told)
  const highest = known > last ? known : last
  return highest === 0n ? null : String(highest)
}

const MAX_EXAMPLE = 60

function note(leftOut: LeftOut[], table: string, field: string, value: FileValue): void {
  const known = leftOut.find((each) => each.table === table && each.field === field)
  if (known) {
    known.count++
    return
  }
  const example = value instanceof Uint8Array ? '(bytes)' : String(value).slice(0, MAX_EXAMPLE).toWellFormed()
  leftOut.push({ table, field, count: 1, example })
}

/** Reads the values of a column as canonical texts (`ColumnKind`); one that does not fit is null and reported. */
function createReader(
  { fileColumn, type, options }: FillColumn,
  kind: ColumnKind,
  people: ReadonlyMap<string, string>,
  files: ReadonlyMap<string, string>,
  report: (value: FileValue) => void,
) {
  const definition = fieldType(type)
  const field = { type, options }
  // Checks may have been turned on after a value was stored.
  const unchecked = { type, options: { ...options, validate: false } }

  /** The value, or undefined if it does not fit. */
  function accept(value: string | number | boolean): unknown {
    if (isRecordId(field) || definition.ordersRecords || definition.numbersRecords)
      return typeof value === 'number' && Number.isFinite(value) ? value : undefined
    if (definition.storage === 'datetime' && definition.readOnly) return instant(value)
    if (isForeignKey(field) && typeof value === 'string' && options.isText !== true) return undefined
    const read = readValue(field, value)
    if (read.ok) return read.value
    if (read.fault !== 'check') return undefined
    const again = readValue(unchecked, value)
    return again.ok ? again.value : undefined
  }

  function cell(value: Exclude<FileValue, null>): string | null | undefined {
    if (value instanceof Uint8Array) return undefined
    const plain = typeof value === 'bigint' ? fromInteger(value, kind) : value
    if (plain === undefined) return undefined
    if (showsPeople(field)) {
      const ids = idsIn(String(plain))
      const known = ids.flatMap((name) => people.get(name) ?? [])
      // People without an account are reported as such.
      const joined = joinIds(known)
      return joined === null ? null : String(joined)
    }
    if (holdsFiles(field)) {
      const items = readAttachments(String(plain))
      const kept = items.flatMap((item) => {
        if (item.path === undefined) return item
        const path = files.get(item.path)
        return path === undefined ? [] : { ...item, path }
      })
      if (kept.length < items.length || items.length === 0) report(value)
      const written = writeAttachments(kept)
      return written === null ? null : String(written)
    }
    const accepted = accept(plain)
    if (accepted === undefined) return undefined
    return accepted === null ? null : canonical(accepted as string | number | boolean, kind)
  }

  return {
    isInFile: fileColumn !== null,
    read(value: FileValue): string | null {
      if (value === null) return null
      const text = cell(value)
      if (text !== undefined) return text
      report(value)
      return null
    },
  }
}

function fromInteger(value: bigint, kind: ColumnKind): number | boolean | undefined {
  if (kind === 'boolean') return value === 1n ? true : value === 0n ? false : undefined
  const number = Number(value)
  return BigInt(number) === value && Number.isSafeInteger(number) ? number : undefined
}

const INSTANT = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,3})?\+00:00$/

/** A stored time of a record; undefined for other texts. */
function instant(value: unknown): string | undefined {
  if (typeof value !== 'string' || !INSTANT.test(value)) return undefined
  const ms = Date.parse(value.replace(' ', 'T'))
  return Number.isNaN(ms) ? undefined : (toStored(ms) ?? undefined)
}

function canonical(value: string | number | boolean, kind: ColumnKind): string {
  return kind === 'real' ? canonicalReal(Number(value)) : String(value)
}
