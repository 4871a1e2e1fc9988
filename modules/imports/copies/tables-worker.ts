import { createCsvReader } from '../../../src/core/csv/reader.ts'
import { readAttachments } from '../../../src/core/fields/attachment-item.ts'
import type { FieldOptions } from '../../../src/core/fields/field-type.ts'
import type { FieldTypeName } from '../../../src/core/fields/index.ts'
import { parseValue } from '../../../src/core/fields/read.ts'
import { giveWay } from '../../../src/db/background-thread.ts'
import {
  CHANGE_RECORDS_TABLE,
  CHANGES_TABLE,
  STAGED_ENTRY_COLUMNS,
  STAGED_RECORD_COLUMNS,
  type StagedLog,
} from '../../../src/db/change-log.ts'
import {
  type ColumnKind,
  canonicalReal,
  type StoredRow,
  type StoredTable,
  type TableStore,
} from '../../../src/db/move/store.ts'
import { withHome } from '../../../src/db/sheaf-files/index.ts'
import { PLACES_TABLE, STAGED_PLACE_COLUMNS } from '../../../src/db/view-places.ts'
import type { EngineLocation } from '../../../src/dialects/dialect.ts'
import { serve } from '../../../src/thread-calls.ts'
import { type HistoryIds, stageHistory } from './stage-history.ts'

/*
 * Thread that copies tables from one home into staging tables of another, row by row as they are stored. The source is
 * read at one moment; what is computed comes from the main thread as CSV, page by page.
 */

/** A table to be filled, which exists and is empty. */
export interface TableFill {
  /** Name in the source. */
  from: string
  /** Name in the target. */
  to: string
  columns: FilledColumn[]
}

/** A column of the target with the source of its values. */
export type FilledColumn = { to: string; kind: ColumnKind; isIdentity: boolean } & (
  | { from: string; holdsFiles: boolean }
  /** The main thread has its values, as texts that the field parses. */
  | { field: { type: FieldTypeName; options: FieldOptions } }
)

/** What is copied beside the records. */
export interface FurtherFill {
  /** The manual orders of views, which are staged in a table. */
  places: { to: string; views: ReadonlyMap<string, { viewId: string; tableId: string }> } | null
  history: { to: StagedLog; ids: HistoryIds } | null
}

/** What was read. */
export interface Filled {
  /** The last record id that the source has assigned, for each table; null before the first. */
  lastIds: (string | null)[]
  /** Of each table. */
  rows: number[]
  /** The newest entry of the source's log at the moment of the copy. */
  lastChange: number
  /** The number of staged entries of its history. */
  entries: number
}

export type TablesMain = {
  /** Grants the write lease of the target. */
  lease(): Promise<void>
  release(): Promise<void>
  /** The next lines of a table's computed values, each beginning with the record's id, ascending; null at the end. */
  values(tableAt: number): Promise<Uint8Array | null>
  /** Names stored files that the copies have. */
  files(paths: string[]): Promise<void>
  progress(rows: number): Promise<void>
}

export type TablesThread = typeof functions

/** Rows per turn of writing. */
const ROWS_PER_LEASE = 5_000

giveWay()

const functions = {
  fill(
    { from, to }: { from: EngineLocation; to: EngineLocation },
    tables: TableFill[],
    { places, history }: FurtherFill,
  ): Promise<Filled> {
    return withHome(from, { isSnapshot: true }, async (source) => {
      const stored = new Map((await source.tables()).map((table) => [table.name, table]))
      const require = (name: string): StoredTable => {
        const table = stored.get(name)
        if (!table) throw new Error(`The table ${name} is missing from ${source.name}`)
        return table
      }
      const lastChange = Number((await source.lastKey(require(CHANGES_TABLE)))?.[0] ?? 0)
      return withHome(to, { isSnapshot: false, isShared: true }, async (target) => {
        const filled: Filled = { lastIds: [], rows: [], lastChange, entries: 0 }
        let done = 0
        for (const [at, fill] of tables.entries()) {
          const table = require(fill.from)
          filled.lastIds.push(table.lastId)
          filled.rows.push(0)
          const write = createWriter(target, targetTable(fill.to, fill.columns))
          for await (const rows of filledRows(source, table, fill, at)) {
            await write.add(rows)
            filled.rows[at] = (filled.rows[at] ?? 0) + rows.length
            done += rows.length
            await main.progress(done)
          }
          await write.end()
        }
        if (places) await fillPlaces(source, require(PLACES_TABLE), target, places)
        if (history) filled.entries = await fillHistory(source, require, target, history)
        return filled
      })
    })
  },
}

const main = serve<TablesMain>(functions)

const targetTable = (
  name: string,
  columns: readonly { to: string; kind: ColumnKind; isIdentity?: boolean }[],
): StoredTable => ({
  name,
  columns: columns.map(({ to, kind, isIdentity = false }) => ({
    name: to,
    kind,
    isIdentity,
    isRequired: false,
    defaultText: null,
  })),
  key: [],
  indexes: [],
  lastId: null,
})

const stagingTable = (name: string, kinds: Readonly<Record<string, ColumnKind>>): StoredTable =>
  targetTable(
    name,
    Object.entries(kinds).map(([to, kind]) => ({ to, kind })),
  )

/** Collects rows, and writes them in turns: others write to the home in between. */
function createWriter(target: TableStore, table: StoredTable) {
  let waiting: StoredRow[] = []
  async function end(): Promise<void> {
    if (waiting.length === 0) return
    await main.lease()
    try {
      await target.insert(table, waiting)
    } finally {
      await main.release()
    }
    waiting = []
  }
  return {
    async add(rows: readonly StoredRow[]): Promise<void> {
      for (const row of rows) waiting.push(row)
      if (waiting.length >= ROWS_PER_LEASE) await end()
    },
    end,
  }
}

/** The rows of a table as those of its copy. */
async function* filledRows(
  source: TableStore,
  table: StoredTable,
  { columns }: TableFill,
  tableAt: number,
): AsyncGenerator<StoredRow[], void, undefined> {
  const positionOf = (name: string): number => {
    const at = table.columns.findIndex((column) => column.name === name)
    if (at < 0) throw new Error(`The column ${table.name}.${name} is missing`)
    return at
  }
  const idAt = positionOf(table.key[0] ?? '')
  const hasValues = columns.some((column) => 'field' in column)
  const values = hasValues ? createValues(tableAt) : null
  let next = 1
  const reads = columns.map((column) => {
    if ('field' in column) {
      const at = next++
      const { field, kind } = column
      return (_: StoredRow, texts: readonly string[] | undefined) =>
        toStored(parseText(field, texts?.[at]), kind)
    }
    const at = positionOf(column.from)
    return (row: StoredRow) => row[at] ?? null
  })
  const filesAt = columns.flatMap((column) =>
    'from' in column && column.holdsFiles ? positionOf(column.from) : [],
  )
  for await (const batch of source.rows(table)) {
    if (filesAt.length > 0) {
      const paths = batch.flatMap((row) => filesAt.flatMap((at) => pathsIn(row[at] ?? null)))
      if (paths.length > 0) await main.files([...new Set(paths)])
    }
    const rows: StoredRow[] = []
    for (const row of batch) {
      const texts = values ? await values.of(Number(row[idAt])) : undefined
      rows.push(reads.map((read) => read(row, texts)))
    }
    yield rows
  }
}

const pathsIn = (value: string | null): string[] =>
  readAttachments(value).flatMap(({ path }) => (path === undefined ? [] : [path]))

const parseText = (field: { type: FieldTypeName; options: FieldOptions }, text: string | undefined) =>
  text === undefined || text === '' ? null : parseValue(field, text)

function toStored(value: string | number | boolean | null, kind: ColumnKind): string | null {
  if (value === null) return null
  return kind === 'real' ? canonicalReal(Number(value)) : String(value)
}

/** The computed values of records, which are asked for in ascending order of their ids. */
function createValues(tableAt: number) {
  const decoder = new TextDecoder()
  const reader = createCsvReader({ delimiter: ',', quote: '"' })
  let page: string[][] = []
  let next = 0
  let isOver = false
  return {
    async of(id: number): Promise<string[] | undefined> {
      for (;;) {
        const row = page[next]
        if (row && Number(row[0]) > id) return undefined
        if (row) {
          next++
          if (Number(row[0]) === id) return row
          continue
        }
        if (isOver) return undefined
        const bytes = await main.values(tableAt)
        isOver = bytes === null
        page = bytes === null ? reader.end() : reader.push(decoder.decode(bytes, { stream: true }))
        next = 0
      }
    },
  }
}

async function fillPlaces(
  source: TableStore,
  table: StoredTable,
  target: TableStore,
  { to, views }: NonNullable<FurtherFill['places']>,
): Promise<void> {
  const write = createWriter(target, stagingTable(to, STAGED_PLACE_COLUMNS))
  const only = { column: 'view_id', texts: [...views.keys()] }
  if (only.texts.length === 0) return
  for await (const batch of source.rows(table, null, only)) {
    await write.add(
      batch.map((row) => {
        const values = Object.fromEntries(table.columns.map(({ name }, at) => [name, row[at] ?? null]))
        const view = views.get(values.view_id ?? '')
        const placed: Record<string, string | null> = {
          ...values,
          view_id: view?.viewId ?? null,
          table_id: view?.tableId ?? null,
        }
        return Object.keys(STAGED_PLACE_COLUMNS).map((name) => placed[name] ?? null)
      }),
    )
  }
  await write.end()
}

async function fillHistory(
  source: TableStore,
  require: (name: string) => StoredTable,
  target: TableStore,
  { to, ids }: NonNullable<FurtherFill['history']>,
): Promise<number> {
  const entries = createWriter(target, stagingTable(to.entries, STAGED_ENTRY_COLUMNS))
  const records = createWriter(target, stagingTable(to.records, STAGED_RECORD_COLUMNS))
  const log = { entries: require(CHANGES_TABLE), records: require(CHANGE_RECORDS_TABLE) }
  const count = await stageHistory(source, log, ids, {
    entries: entries.add,
    records: records.add,
    files: main.files,
  })
  await entries.end()
  await records.end()
  return count
}
