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
import { type ChangedRecords, changesSince, type IdRange } from './changed-records.ts'
import { type HistoryIds, type StagedUntil, stageHistory } from './stage-history.ts'

/*
 * Thread that copies tables from one home into staging tables of another, row by row as they are stored, and then the
 * records that have changed since. The source is read at one moment each time; what is computed comes from the main thread
 * as CSV, page by page.
 */

/** A table to be filled, which exists and is empty. */
export interface TableFill {
  /** Id of the original. */
  id: string
  isJunction: boolean
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

/** What is copied, and where. */
export interface CopiedTables extends FurtherFill {
  from: EngineLocation
  to: EngineLocation
  tables: TableFill[]
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
  /** The number of staged manual positions. */
  places: number
}

export type TablesMain = {
  /** Grants the write lease of the target. */
  lease(): Promise<void>
  release(): Promise<void>
  /** The next lines of a table's computed values, each beginning with the record's id, ascending; null at the end. */
  values(tableAt: number, how: { isFirst: boolean }): Promise<Uint8Array | null>
  /** All these lines for some records. */
  valuesOf(tableAt: number, recordIds: number[]): Promise<Uint8Array[]>
  /** Names stored files that the copies have. */
  files(paths: string[]): Promise<void>
  progress(rows: number): Promise<void>
}

export type TablesThread = typeof functions

/** Rows per turn of writing. */
const ROWS_PER_LEASE = 5_000

giveWay()

/** The copy that this thread makes. */
let copy: { plan: CopiedTables; filled: Filled; isInterrupted: boolean } | null = null

const functions = {
  /** Copies the tables as they are now. */
  fill(plan: CopiedTables): Promise<Filled> {
    const { tables, places, history } = plan
    return withHomes(plan, async ({ source, target, require }) => {
      const lastChange = Number((await source.lastKey(require(CHANGES_TABLE)))?.[0] ?? 0)
      const filled: Filled = { lastIds: [], rows: tables.map(() => 0), lastChange, entries: 0, places: 0 }
      copy = { plan, filled, isInterrupted: false }
      for (const [at, { from }] of tables.entries()) {
        filled.lastIds.push(require(from).lastId)
        await fillTable({ source, target, require }, at)
      }
      if (places) filled.places = await fillPlaces(source, require(PLACES_TABLE), target, places)
      if (history) filled.entries = await fillHistory({ source, target, require }, history, NOTHING_STAGED)
      return filled
    })
  },

  /**
   * Copies what has changed since. May fail anywhere and be called again: it does what is left, and what has changed until
   * then. Null if something else than records has changed, so that a new copy is needed.
   */
  async follow(): Promise<Filled | null> {
    const current = required(copy)
    const { plan, filled } = current
    const { places, history } = plan
    return withHomes(plan, async ({ source, target, require }) => {
      const changes = await changesSince(source, require, {
        tableIds: plan.tables.map(({ id }) => id),
        junctions: plan.tables.flatMap(({ id, isJunction }) => (isJunction ? [id] : [])),
        after: filled.lastChange,
      })
      if (changes === null) return null
      if (changes.tables.size === 0 && changes.last === filled.lastChange) return filled
      const { isInterrupted } = current
      current.isInterrupted = true
      for (const [at, { id, from, to, columns }] of plan.tables.entries()) {
        filled.lastIds[at] = require(from).lastId
        const changed = changes.tables.get(id)
        if (changed === 'all') {
          const removed = await leased(() => target.remove(targetTable(to, columns), null))
          filled.rows[at] = (filled.rows[at] ?? 0) - removed
          await fillTable({ source, target, require }, at)
        } else if (changed) await copyChanged({ source, target, require }, at, changed)
      }
      if (places) {
        const staged = stagingTable(places.to, STAGED_PLACE_COLUMNS)
        if (filled.places > 0 || isInterrupted) await leased(() => target.remove(staged, null))
        filled.places = await fillPlaces(source, require(PLACES_TABLE), target, places)
      }
      if (history) {
        const isAnew = isInterrupted || changes.isPurged
        if (isAnew) {
          await leased(() => target.remove(stagingTable(history.to.entries, STAGED_ENTRY_COLUMNS), null))
          await leased(() => target.remove(stagingTable(history.to.records, STAGED_RECORD_COLUMNS), null))
        }
        const until = isAnew ? NOTHING_STAGED : { after: filled.lastChange, count: filled.entries }
        filled.entries = await fillHistory({ source, target, require }, history, until)
      }
      filled.lastChange = changes.last
      current.isInterrupted = false
      return filled
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

/** Runs `work` with the write lease of the target. */
async function leased<T>(work: () => Promise<T>): Promise<T> {
  await main.lease()
  try {
    return await work()
  } finally {
    await main.release()
  }
}

/** The homes of a copy, the source as it is at one moment. */
interface Homes {
  source: TableStore
  target: TableStore
  /** A table of the source. */
  require: (name: string) => StoredTable
}

const withHomes = <T>({ from, to }: CopiedTables, work: (homes: Homes) => Promise<T>): Promise<T> =>
  withHome(from, { isSnapshot: true }, async (source) => {
    const stored = new Map((await source.tables()).map((table) => [table.name, table]))
    const require = (name: string): StoredTable => {
      const table = stored.get(name)
      if (!table) throw new Error(`The table ${name} is missing from ${source.name}`)
      return table
    }
    return withHome(to, { isSnapshot: false, isShared: true }, (target) => work({ source, target, require }))
  })

function required<T>(value: T | null): T {
  if (value === null) throw new Error('Nothing was copied')
  return value
}

const NOTHING_STAGED: StagedUntil = { after: 0, count: 0 }

/** Copies all rows of a table. */
async function fillTable({ source, target, require }: Homes, at: number): Promise<void> {
  const { plan, filled } = required(copy)
  const fill = required(plan.tables[at] ?? null)
  const table = require(fill.from)
  const write = createWriter(target, targetTable(fill.to, fill.columns))
  let isFirst = true
  const values = createValues(() => {
    const next = main.values(at, { isFirst })
    isFirst = false
    return next
  })
  for await (const rows of filledRows(source.rows(table), table, fill, values)) {
    await write.add(rows)
    filled.rows[at] = (filled.rows[at] ?? 0) + rows.length
    await main.progress(sumOf(filled.rows))
  }
  await write.end()
}

/** Records that are looked up by one statement. */
const IDS_AT_ONCE = 1_000

/** Replaces the rows of changed records, each portion in one turn. */
async function copyChanged(
  { source, target, require }: Homes,
  at: number,
  { ids, ranges }: Exclude<ChangedRecords, 'all'>,
): Promise<void> {
  const { plan, filled } = required(copy)
  const fill = required(plan.tables[at] ?? null)
  const table = require(fill.from)
  const to = targetTable(fill.to, fill.columns)
  const toKey = required(fill.columns.find(({ isIdentity }) => isIdentity)?.to ?? null)
  for (const recordIds of portionsOf(ids, ranges)) {
    const texts = recordIds.map(String)
    const lines = fill.columns.some((column) => 'field' in column) ? await main.valuesOf(at, recordIds) : []
    const values = createValues(async () => lines.shift() ?? null)
    const fresh: StoredRow[] = []
    const found = source.rows(table, null, { column: table.key[0] ?? '', texts })
    for await (const rows of filledRows(found, table, fill, values)) for (const row of rows) fresh.push(row)
    await leased(async () => {
      const removed = await target.remove(to, { column: toKey, texts })
      filled.rows[at] = (filled.rows[at] ?? 0) - removed
      if (fresh.length > 0) await target.insert(to, fresh)
      filled.rows[at] = (filled.rows[at] ?? 0) + fresh.length
    })
    await main.progress(sumOf(filled.rows))
  }
}

/** All ids of a set and of ranges, ascending within each portion. */
function* portionsOf(ids: ReadonlySet<number>, ranges: readonly IdRange[]): Generator<number[]> {
  const sorted = [...ids].sort((a, b) => a - b)
  for (let at = 0; at < sorted.length; at += IDS_AT_ONCE) yield sorted.slice(at, at + IDS_AT_ONCE)
  for (const { from, to } of ranges)
    for (let first = from; first <= to; first += IDS_AT_ONCE)
      yield Array.from({ length: Math.min(IDS_AT_ONCE, to - first + 1) }, (_, at) => first + at)
}

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, each) => sum + each, 0)

/** Collects rows, and writes them in turns: others write to the home in between. */
function createWriter(target: TableStore, table: StoredTable) {
  let waiting: StoredRow[] = []
  async function end(): Promise<void> {
    if (waiting.length === 0) return
    await leased(() => target.insert(table, waiting))
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
  found: AsyncIterable<StoredRow[]>,
  table: StoredTable,
  { columns }: TableFill,
  computed: ReturnType<typeof createValues>,
): AsyncGenerator<StoredRow[], void, undefined> {
  const positionOf = (name: string): number => {
    const at = table.columns.findIndex((column) => column.name === name)
    if (at < 0) throw new Error(`The column ${table.name}.${name} is missing`)
    return at
  }
  const idAt = positionOf(table.key[0] ?? '')
  const hasValues = columns.some((column) => 'field' in column)
  const values = hasValues ? computed : null
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
  for await (const batch of found) {
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

/** The computed values of records, which are asked for in ascending order of their ids. @param read the next lines */
function createValues(read: () => Promise<Uint8Array | null>) {
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
        const bytes = await read()
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
): Promise<number> {
  const write = createWriter(target, stagingTable(to, STAGED_PLACE_COLUMNS))
  const only = { column: 'view_id', texts: [...views.keys()] }
  if (only.texts.length === 0) return 0
  let count = 0
  for await (const batch of source.rows(table, null, only)) {
    count += batch.length
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
  return count
}

async function fillHistory(
  { source, target, require }: Homes,
  { to, ids }: NonNullable<FurtherFill['history']>,
  until: StagedUntil,
): Promise<number> {
  const entries = createWriter(target, stagingTable(to.entries, STAGED_ENTRY_COLUMNS))
  const records = createWriter(target, stagingTable(to.records, STAGED_RECORD_COLUMNS))
  const log = { entries: require(CHANGES_TABLE), records: require(CHANGE_RECORDS_TABLE) }
  const into = { entries: entries.add, records: records.add, files: main.files }
  const count = await stageHistory(source, log, ids, into, until)
  await entries.end()
  await records.end()
  return count
}
