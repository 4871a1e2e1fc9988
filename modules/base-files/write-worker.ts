import { readAttachments } from '../../src/core/fields/attachment-item.ts'
import { idsIn } from '../../src/core/fields/people.ts'
import { type StoredTable, sqliteValueOf, type TableStore } from '../../src/db/move/store.ts'
import { lowerThreadPriority } from '../../src/db/priority.ts'
import {
  createSheafFile,
  type FileColumn,
  type FileValue,
  type MetaTable,
  type SheafFileWriter,
  withHome,
} from '../../src/db/sheaf-files/index.ts'
import type { EngineLocation } from '../../src/dialects/dialect.ts'
import { serve } from '../../src/thread-calls.ts'
import { type HistoryPlan, writeHistory } from './history.ts'

/*
 * Thread of one export: writes the file. It reads the stored values of all tables from the home at one moment; what is
 * computed comes from the main thread, page by page.
 */

/** A table of records to be written. */
export interface RecordTablePlan {
  /** In the home. */
  tableName: string
  /** In the file. */
  fileTable: string
  columns: RecordColumn[]
}

export interface RecordColumn extends FileColumn {
  /** Title of the field. */
  title: string
  /** Column in the home; null for values that the main thread computes. */
  from: string | null
  holds?: 'people' | 'files'
}

/** Functions of the main thread. */
export type WriteMain = {
  /** The next page of a table's computed values: JSON objects by field title, one per line; null at the end. */
  computed(tableAt: number): Promise<Uint8Array | null>
  /** How cells name these people, by user id. */
  people(ids: string[]): Promise<[id: string, name: string][]>
  progress(rows: number): Promise<void>
}

/** Functions of this thread. */
export type WriteThread = typeof functions

lowerThreadPriority()

let writer: SheafFileWriter | null = null
const people = new Map<string, string>()
/** Paths of the stored files that the written values name. */
const files = new Set<string>()
/** Records and changes that were written. */
let rows = 0

async function progress(count: number): Promise<void> {
  rows += count
  await main.progress(rows)
}

function requireWriter(): SheafFileWriter {
  if (!writer) throw new Error('No file is open')
  return writer
}

const functions = {
  create(path: string): void {
    writer = createSheafFile(path)
  },
  insert(table: MetaTable, rows: FileValue[][]): void {
    requireWriter().insert(table, rows)
  },
  /** Writes all tables. Returns the last record id of each. */
  async writeRecords(location: EngineLocation, plans: RecordTablePlan[]): Promise<(string | null)[]> {
    return withHome(location, { isSnapshot: true }, async (home) => {
      const tables = new Map((await home.tables()).map((table) => [table.name, table]))
      const found: (string | null)[] = []
      for (const [at, plan] of plans.entries()) {
        const table = tables.get(plan.tableName)
        if (!table) throw new Error(`The table ${plan.tableName} is missing from ${home.name}`)
        found.push(table.lastId)
        const add = requireWriter().addRecordTable(plan.fileTable, plan.columns)
        for await (const batch of recordsOf(home, table, plan, at)) {
          add(batch)
          await progress(batch.length)
        }
      }
      return found
    })
  },
  /** Copies the change log. */
  async writeHistory(location: EngineLocation, plan: HistoryPlan): Promise<void> {
    await withHome(location, { isSnapshot: true }, (home) =>
      writeHistory(home, plan, {
        insert: (table, batch) => requireWriter().insert(table, batch),
        async namesOf(ids) {
          await learnPeople(ids)
          return people
        },
        onFile: (path) => files.add(path),
        onRows: progress,
      }),
    )
  },
  /** The stored files that records and changes name, by path. */
  storedFiles: (): string[] => [...files],
  /** Copies the manual order of views; rows of other views are left out. */
  async writePlaces(location: EngineLocation, viewIds: string[]): Promise<void> {
    const wanted = new Set(viewIds)
    await withHome(location, { isSnapshot: true }, async (home) => {
      const table = (await home.tables()).find(({ name }) => name === 'sheaf_places')
      if (!table) return
      const [view, record, place] = ['view_id', 'record_id', 'place'].map((name) => positionOf(table, name))
      for await (const batch of home.rows(table)) {
        const kept = batch.filter((row) => wanted.has(row[view ?? 0] ?? ''))
        requireWriter().insert(
          'sheaf_places',
          kept.map((row) => [
            row[view ?? 0] ?? null,
            sqliteValueOf(row[record ?? 0] ?? null, 'integer'),
            sqliteValueOf(row[place ?? 0] ?? null, 'real'),
          ]),
        )
      }
    })
  },
  hasContent: (content: string): boolean => requireWriter().hasContent(content),
  addPart(content: string, part: number, bytes: Uint8Array): void {
    requireWriter().insert('sheaf_contents', [[content, part, bytes]])
  },
  renameContent: (from: string, to: string): void => requireWriter().renameContent(from, to),
  finish(): void {
    requireWriter().finish()
    writer = null
  },
  close(): void {
    writer?.close()
    writer = null
  },
}

const main = serve<WriteMain>(functions)

const positionOf = ({ columns }: StoredTable, name: string): number => {
  const at = columns.findIndex((column) => column.name === name)
  if (at < 0) throw new Error(`The column ${name} is missing`)
  return at
}

/** The rows of a table as the file has them, in batches by ascending id. */
async function* recordsOf(
  home: TableStore,
  table: StoredTable,
  { columns }: RecordTablePlan,
  tableAt: number,
): AsyncIterable<FileValue[][]> {
  const sources = columns.map((column) => {
    if (column.from === null) return null
    const at = positionOf(table, column.from)
    return { at, kind: table.columns[at]?.kind ?? 'text', holds: column.holds }
  })
  const peopleAt = sources.flatMap((source) => (source?.holds === 'people' ? source.at : []))
  const filesAt = sources.flatMap((source) => (source?.holds === 'files' ? source.at : []))
  const idAt = sources[0]?.at ?? 0
  const computed = columns.some(({ from }) => from === null)
    ? createComputed(columns[0]?.title ?? '', tableAt)
    : null
  for await (const batch of home.rows(table)) {
    if (peopleAt.length > 0)
      await learnPeople(batch.flatMap((row) => peopleAt.flatMap((at) => idsIn(row[at] ?? null))))
    for (const at of filesAt)
      for (const row of batch)
        for (const { path } of readAttachments(row[at] ?? null)) if (path !== undefined) files.add(path)
    const rows: FileValue[][] = []
    for (const row of batch) {
      const values = computed ? await computed.of(Number(row[idAt])) : undefined
      rows.push(
        sources.map((source, at) => {
          if (source === null) return computedValue(values?.[columns[at]?.title ?? ''])
          const text = row[source.at] ?? null
          if (source.holds !== 'people' || text === null) return sqliteValueOf(text, source.kind)
          return idsIn(text)
            .map((id) => people.get(id) ?? id)
            .join(',')
        }),
      )
    }
    yield rows
  }
}

const computedValue = (value: unknown): FileValue => {
  if (value === undefined || value === null) return null
  if (typeof value === 'boolean') return value ? 1 : 0
  if (typeof value === 'number' || typeof value === 'string') return value
  return JSON.stringify(value)
}

/** Asks how the file names people, each once. */
async function learnPeople(ids: readonly string[]): Promise<void> {
  const unknown = new Set(ids.filter((id) => !people.has(id)))
  if (unknown.size === 0) return
  for (const id of unknown) people.set(id, id)
  for (const [id, name] of await main.people([...unknown])) people.set(id, name)
}

/** The computed values of records, which are asked for in ascending order of their ids. */
function createComputed(idTitle: string, tableAt: number) {
  let page: Record<string, unknown>[] = []
  let next = 0
  let isOver = false
  return {
    async of(id: number): Promise<Record<string, unknown> | undefined> {
      for (;;) {
        const row = page[next]
        if (row && Number(row[idTitle]) > id) return undefined
        if (row) {
          next++
          if (Number(row[idTitle]) === id) return row
          continue
        }
        if (isOver) return undefined
        const bytes = await main.computed(tableAt)
        if (bytes === null) isOver = true
        else page = JSON.parse(`[${new TextDecoder().decode(bytes).trimEnd().replaceAll('\n', ',')}]`)
        next = 0
        if (isOver) page = []
      }
    },
  }
}
