import { createCsvReader } from '../../../src/core/csv/reader.ts'
import { readAttachments } from '../../../src/core/fields/attachment-item.ts'
import type { FieldOptions } from '../../../src/core/fields/field-type.ts'
import type { FieldTypeName } from '../../../src/core/fields/index.ts'
import { parseValue } from '../../../src/core/fields/read.ts'
import { FOREIGN_ENTRY_COLUMNS, FOREIGN_RECORD_COLUMNS } from '../../../src/db/change-log/foreign.ts'
import { CHANGE_RECORDS_TABLE, CHANGES_TABLE } from '../../../src/db/change-log/tables.ts'
import {
  type ColumnKind,
  canonicalReal,
  type StoredRow,
  type StoredTable,
  type TableStore,
} from '../../../src/db/move/store.ts'
import { lowerThreadPriority } from '../../../src/db/priority.ts'
import { withHome } from '../../../src/db/sheaf-files/index.ts'
import { PLACE_KINDS, PLACES_TABLE } from '../../../src/db/view-places.ts'
import type { EngineLocation, Statement } from '../../../src/dialects/dialect.ts'
import { serve } from '../../../src/thread-calls.ts'
import { type ChangedRecords, changesSince, type IdRange, MAX_IDS } from './changed-records.ts'
import { copyHistory, type HistoryIds, type HistoryTarget } from './copy-history.ts'

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
  /** The tables that decide on the values from the main thread, beside the record itself. */
  reads: ReadonlySet<string>
}

/** A column of the target with the source of its values. */
export type FilledColumn = { to: string; kind: ColumnKind; isIdentity: boolean } & (
  | { from: string; holdsFiles: boolean }
  /** The main thread has its values, as texts that the field parses. */
  | { field: { type: FieldTypeName; options: FieldOptions } }
)

/** What is copied beside the records. */
export interface FurtherFill {
  /** The views whose manual orders are copied, which have no effect in the target before its views exist. */
  places: ReadonlyMap<string, { viewId: string; tableId: string }>
  /** The history is appended to the log of the target: it has no effect there before its tables exist. */
  history: HistoryIds | null
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
}

export type TablesMain = {
  /** Grants the write lease of the target. */
  lease(): Promise<void>
  release(): Promise<void>
  /** The next lines of a table's computed values, each beginning with the record's id, ascending; null at the end. */
  values(tableAt: number, how: { isFirst: boolean }): Promise<Uint8Array | null>
  /** All these lines for some records. */
  valuesOf(tableAt: number, recordIds: number[]): Promise<Uint8Array[]>
  /** Removes the copied manual orders. */
  forgetPlaces(): Promise<void>
  /** Removes what the target's log has of the tables after an entry. */
  forgetHistory(after: number): Promise<void>
  /** Names stored files that the copies have. */
  files(paths: string[]): Promise<void>
  progress(rows: number): Promise<void>
}

export type TablesThread = typeof functions

/** Rows per turn of writing. */
const ROWS_PER_LEASE = 5_000

lowerThreadPriority()

/** A copy and what is left to do for it. Tables are positions in the plan. */
interface RunningCopy {
  plan: CopiedTables
  filled: Filled
  /** An entry of the target's log after those of the copied history. */
  logEnd: number
  /** True if the last call of `follow` failed. */
  isInterrupted: boolean
  /** The records of tables that were being replaced then: their rows may be missing. */
  unfinished: Map<number, ChangedRecords>
  /** Tables whose values from the main thread may be out of date. */
  outdated: Set<number>
  /** How long it takes to read these values of a table. */
  valuesMs: Map<number, number>
}

/** The copy that this thread makes. */
let copy: RunningCopy | null = null

const functions = {
  /** Copies the tables as they are now. */
  fill(plan: CopiedTables): Promise<Filled> {
    const { tables, places, history } = plan
    return withHomes(plan, async ({ source, target, require }) => {
      const lastChange = Number((await source.lastKey(require(CHANGES_TABLE)))?.[0] ?? 0)
      const filled: Filled = { lastIds: [], rows: tables.map(() => 0), lastChange }
      copy = {
        plan,
        filled,
        logEnd: 0,
        isInterrupted: false,
        unfinished: new Map(),
        outdated: new Set(),
        valuesMs: new Map(),
      }
      for (const [at, { from }] of tables.entries()) {
        filled.lastIds.push(require(from).lastId)
        await fillTable({ source, target, require }, at)
      }
      await fillPlaces({ source, target, require }, places, null)
      if (history) copy.logEnd = await fillHistory({ source, target, require }, history, 0)
      return filled
    })
  },

  /** Builds indexes of tables of the target, each with its table. */
  async index(indexes: readonly { table: string; statements: readonly Statement[] }[]): Promise<void> {
    await withHome(required(copy).plan.to, { isSnapshot: false, isShared: true }, async (target) => {
      for (const { table, statements } of indexes) await target.buildIndexes(table, statements, leased)
    })
  },

  /**
   * Copies what has changed since. May fail anywhere and be called again: it does what is left, and what has changed until
   * then. Null if something else than records has changed, so that a new copy is needed.
   *
   * @param compareMs values that depend on changed records of other tables are compared as well if that takes at most so
   *   long; otherwise by a later call
   */
  async follow(compareMs: number): Promise<Filled | null> {
    const current = required(copy)
    const { plan, filled } = current
    const { places, history } = plan
    return withHomes(plan, async ({ source, target, require }) => {
      const changes = await changesSince(source, require, {
        tableIds: plan.tables.map(({ id }) => id),
        junctions: plan.tables.flatMap(({ id, isJunction }) => (isJunction ? [id] : [])),
        alsoRead: new Set(plan.tables.flatMap(({ reads }) => [...reads])),
        after: filled.lastChange,
      })
      if (changes === null) return null
      const { unfinished, outdated, valuesMs } = current
      for (const [at, { reads }] of plan.tables.entries())
        if ([...reads].some((id) => changes.touched.has(id))) outdated.add(at)
      const compared = [...outdated].filter((at) => (valuesMs.get(at) ?? 0) <= compareMs)
      const { isInterrupted } = current
      if (changes.last === filled.lastChange && compared.length === 0 && !isInterrupted) return filled
      current.isInterrupted = true
      for (const [at, { id, from, to }] of plan.tables.entries()) {
        filled.lastIds[at] = require(from).lastId
        let changed = together(changes.tables.get(id), unfinished.get(at))
        if (compared.includes(at) && changed !== 'all')
          changed = await withStaleValues({ source, target, require }, at, changed)
        if (changed) unfinished.set(at, changed)
        if (changed === 'all') {
          await leased(() => target.clear(to))
          filled.rows[at] = 0
          await fillTable({ source, target, require }, at)
        } else if (changed) await copyChanged({ source, target, require }, at, changed)
        unfinished.delete(at)
        if (changed === 'all' || compared.includes(at)) outdated.delete(at)
      }
      await followPlaces({ source, target, require }, places, [...changes.tables.values()])
      if (history) {
        if (isInterrupted || changes.isPurged) await main.forgetHistory(changes.isPurged ? 0 : current.logEnd)
        const after = changes.isPurged ? 0 : filled.lastChange
        current.logEnd = await fillHistory({ source, target, require }, history, after)
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

const tableOfKinds = (name: string, kinds: Readonly<Record<string, ColumnKind>>): StoredTable =>
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

/** Copies all rows of a table. */
async function fillTable({ source, target, require }: Homes, at: number): Promise<void> {
  const { plan, filled, valuesMs } = required(copy)
  const from = performance.now()
  const fill = required(plan.tables[at] ?? null)
  const table = require(fill.from)
  const write = createWriter(target, targetTable(fill.to, fill.columns))
  const values = createValues(valuePages(at))
  for await (const rows of filledRows(source.rows(table), table, fill, values)) {
    await write.add(rows)
    filled.rows[at] = (filled.rows[at] ?? 0) + rows.length
    await main.progress(sumOf(filled.rows))
  }
  await write.end()
  valuesMs.set(at, performance.now() - from)
}

/**
 * Adds the copied records whose values from the main thread are others by now. Their originals need not have changed: they
 * look up what other tables have.
 */
async function withStaleValues(
  { target }: Homes,
  at: number,
  changed: Exclude<ChangedRecords, 'all'> = { ids: new Set(), ranges: [] },
): Promise<ChangedRecords> {
  const { plan, valuesMs } = required(copy)
  const { to, columns } = required(plan.tables[at] ?? null)
  const from = performance.now()
  const key = required(columns.find(({ isIdentity }) => isIdentity) ?? null)
  const computed = columns.filter((column) => 'field' in column)
  const values = createValues(valuePages(at))
  const ids = new Set(changed.ids)
  for await (const rows of target.rows({ ...targetTable(to, [key, ...computed]), key: [key.to] })) {
    await main.progress(sumOf(required(copy).filled.rows))
    for (const [id, ...stored] of rows) {
      const texts = await values.of(Number(id))
      const isSame = computed.every(
        ({ field, kind }, index) => toStored(parseText(field, texts?.[index + 1]), kind) === stored[index],
      )
      if (!isSame) ids.add(Number(id))
    }
    if (ids.size >= MAX_IDS) return 'all'
  }
  valuesMs.set(at, performance.now() - from)
  return { ids, ranges: changed.ranges }
}

/** Two sets of changed records as one. */
function together(one: ChangedRecords | undefined, other: ChangedRecords | undefined) {
  if (!one || !other) return one ?? other
  if (one === 'all' || other === 'all') return 'all'
  return { ids: one.ids.union(other.ids), ranges: [...one.ranges, ...other.ranges] }
}

/** Reads the computed values of all records of a table. */
function valuePages(at: number): () => Promise<Uint8Array | null> {
  let isFirst = true
  return () => {
    const next = main.values(at, { isFirst })
    isFirst = false
    return next
  }
}

/** Records that are looked up by one statement. */
const IDS_AT_ONCE = 1_000

/**
 * Replaces the rows of changed records, each portion in one turn. All are removed first: records may have exchanged unique
 * values.
 */
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
    const removed = await leased(() => target.remove(to, { column: toKey, texts: recordIds.map(String) }))
    filled.rows[at] = (filled.rows[at] ?? 0) - removed
  }
  for (const recordIds of portionsOf(ids, ranges)) {
    const texts = recordIds.map(String)
    const lines = fill.columns.some((column) => 'field' in column) ? await main.valuesOf(at, recordIds) : []
    const values = createValues(async () => lines.shift() ?? null)
    const fresh: StoredRow[] = []
    const found = source.rows(table, null, { column: table.key[0] ?? '', texts })
    for await (const rows of filledRows(found, table, fill, values)) for (const row of rows) fresh.push(row)
    if (fresh.length > 0) await leased(() => target.insert(to, fresh))
    filled.rows[at] = (filled.rows[at] ?? 0) + fresh.length
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

/** The manual orders of a target, with the columns that copied positions have. */
const PLACES = tableOfKinds(PLACES_TABLE, PLACE_KINDS)

/** Copies manual positions: all, or those of records with some ids, in whichever of the tables. */
async function fillPlaces(
  { source, target, require }: Homes,
  views: FurtherFill['places'],
  recordIds: readonly string[] | null,
): Promise<void> {
  const write = createWriter(target, PLACES)
  const table = require(PLACES_TABLE)
  const ofViews = { column: 'view_id', texts: [...views.keys()] }
  if (ofViews.texts.length === 0) return
  const only = recordIds ? [ofViews, { column: 'record_id', texts: recordIds }] : [ofViews]
  for await (const batch of source.rows(table, null, ...only)) {
    await write.add(
      batch.map((row) => {
        const values = Object.fromEntries(table.columns.map(({ name }, at) => [name, row[at] ?? null]))
        const view = views.get(values.view_id ?? '')
        const placed: Record<string, string | null> = {
          ...values,
          view_id: view?.viewId ?? null,
          table_id: view?.tableId ?? null,
        }
        return Object.keys(PLACE_KINDS).map((name) => placed[name] ?? null)
      }),
    )
  }
  await write.end()
}

/** Copies the manual positions of changed records anew. */
async function followPlaces(
  homes: Homes,
  views: FurtherFill['places'],
  changed: readonly ChangedRecords[],
): Promise<void> {
  if (views.size === 0) return
  const listed = changed.filter((each) => each !== 'all')
  // Renumbering a table moves all positions of its views.
  if (listed.length < changed.length) {
    await main.forgetPlaces()
    return fillPlaces(homes, views, null)
  }
  const ofViews = { column: 'view_id', texts: Array.from(views.values(), ({ viewId }) => viewId) }
  const ids = new Set(listed.flatMap((each) => [...each.ids]))
  // Records in ranges are new, and have no positions yet.
  for (const recordIds of portionsOf(ids, [])) {
    const texts = recordIds.map(String)
    await leased(() => homes.target.remove(PLACES, ofViews, { column: 'record_id', texts }))
    await fillPlaces(homes, views, texts)
  }
}

/** The log of a target, with the columns that copied entries have. */
const LOG = {
  entries: { ...tableOfKinds(CHANGES_TABLE, FOREIGN_ENTRY_COLUMNS), key: ['id'] },
  records: tableOfKinds(CHANGE_RECORDS_TABLE, FOREIGN_RECORD_COLUMNS),
}

/**
 * Appends the history to the log of the target, which shows nothing of it before the tables exist.
 *
 * @param after the last entry that has been copied
 * @returns an entry of the target's log after those of the history
 */
async function fillHistory(
  { source, target, require }: Homes,
  ids: HistoryIds,
  after: number,
): Promise<number> {
  const lastEntry = async () => Number((await target.lastKey(LOG.entries))?.[0] ?? 0)
  const records = createWriter(target, LOG.records)
  const log = { entries: require(CHANGES_TABLE), records: require(CHANGE_RECORDS_TABLE) }
  const into: HistoryTarget = {
    entries: (rows) =>
      leased(async () => {
        const last = await lastEntry()
        const numbered = rows.map((row, at) => ({ ...row, id: String(last + 1 + at) }))
        await target.insert(
          LOG.entries,
          numbered.map((row) => LOG.entries.columns.map(({ name }) => row[name as keyof typeof row])),
        )
        await target.continueIds({ ...LOG.entries, lastId: String(last + rows.length) })
        return last
      }),
    records: records.add,
    files: main.files,
  }
  await copyHistory(source, log, ids, into, after)
  await records.end()
  return lastEntry()
}
