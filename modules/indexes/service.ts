import { withinTime } from '../../src/caller.ts'
import { nowIso, nowMs } from '../../src/clock.ts'
import type { Actor } from '../../src/core/actor.ts'
import { AppError, badRequest, notFound } from '../../src/core/errors.ts'
import { fieldType } from '../../src/core/fields/index.ts'
import { randomText } from '../../src/core/ids.ts'
import type {
  IndexTerm,
  TableIndex,
  TablePerformance,
  UnindexedReason,
  ViewMeasurement,
  ViewPerformance,
} from '../../src/core/performance.ts'
import { collectsAnswers } from '../../src/core/views/index.ts'
import { createMutex } from '../../src/db/mutex.ts'
import type { RefusedIndexes } from '../../src/db/watched-engine.ts'
import { isAutomaticIndex, NAME_PREFIX } from '../../src/dialects/automatic-index.ts'
import type { Engine } from '../../src/dialects/dialect.ts'
import type { Kernel } from '../../src/kernel.ts'
import { m } from '../../src/messages.gen.ts'
import type { AuthService } from '../auth/index.ts'
import type { CopiedIndexes } from '../imports/index.ts'
import {
  type AutomaticIndexes,
  EXPRESSION_PREFIX,
  indexedValue,
  indexSql,
  isForeign,
  isIndexable,
  type ObservedRead,
  type ReadContext,
  type RecordsService,
  unindexedFormula,
} from '../records/index.ts'
import type { SchemaReader, TableModel } from '../schema/index.ts'
import { createIndexStore, type IndexRow, type ReadsRow, WANTED } from './store.ts'

const ROUND_MS = 20_000
/** An unused index is dropped when nobody has written to the base for this long: SQLite's writers wait for it. */
const QUIET_MS = 5_000
const DAY_MS = 24 * 60 * 60 * 1000

/** An index pays off after this many long reads. */
const MIN_SLOW_READS = 3
/** …whose time is at least what building the index takes: about a second per million records. */
const BUILD_MS_PER_RECORD = 0.0005
/** Each index makes a write slower: a table has at most this many automatic ones. */
const MAX_AUTOMATIC = 6
/** …and those of a base, with its search indexes, take at most this part of its size. */
const MAX_PART_OF_BASE = 2 / 3
/** Stored in place of terms where a table was searched, or filtered for a text. */
const SEARCH_KEY = JSON.stringify('search')
/** Automatic indexes without a use for so long are dropped. */
const UNUSED_MS = 30 * DAY_MS
/** An automatic index that could not be built, for example on a full disk, is decided on again after this time. */
const FAILED_MS = DAY_MS
/** Letters of the reason why an index could not be built. */
const MAX_REASON = 500
/** Estimated bytes per term and record. */
const TERM_BYTES = 12
/** Indexes that people may ask for, per table. */
const MAX_INDEXES = 20
/** Time for counting the records of all views together, before their numbers are left open. */
const COUNT_MS = 500
/** A server that adds an index to the same table keeps others waiting for moments only. */
const TAKE_AGAIN_MS = 20
/** Records on a page for which the plans of views are explained. */
const PAGE = 25

/** Terms as text, in one form: PostgreSQL returns the keys of stored objects in another order. */
const keyOf = (terms: readonly IndexTerm[]): string =>
  JSON.stringify(terms.map(({ fieldId, as, direction }) => ({ fieldId, as, direction })))

/** Messages about formulas of which there can be no index. */
const REFUSALS: Record<UnindexedReason, (given: { field: string }) => string> = {
  time: m.indexes_error_time,
  zone: m.indexes_error_zone,
  otherRecords: m.indexes_error_other_records,
  expression: m.indexes_error_expression,
  length: m.indexes_error_length,
}

/** The row of an index that is to be built. */
function unbuilt(
  index: Pick<IndexRow, 'baseId' | 'tableId' | 'terms' | 'columns' | 'isAutomatic'>,
): IndexRow {
  const now = nowIso()
  return {
    ...index,
    id: `${NAME_PREFIX}${randomText(14)}`,
    state: 'building',
    error: null,
    createdAt: now,
    usedAt: now,
  }
}

/** The message of a refusal; null if there is none. */
async function refusalOf(check: () => Promise<void>): Promise<string | null> {
  try {
    await check()
    return null
  } catch (error) {
    if (error instanceof AppError) return error.message
    throw error
  }
}

/** The columns and expressions of terms; empty texts for those of which there can be no index. */
const valuesOf = (context: ReadContext, terms: readonly IndexTerm[]): string[] =>
  terms.map(({ fieldId }) => indexedValue(context, fieldId))

/** True if an index is over the columns and expressions that its fields have now. */
const isCurrent = (context: ReadContext, { terms, columns }: IndexRow): boolean =>
  valuesOf(context, terms).every((value, at) => value !== '' && columns[at] === value)

/** True if an index is not built again by itself. */
const hasEnded = ({ state }: IndexRow): boolean => state === 'refused' || state === 'declined'

const isExpression = (value: string | undefined): boolean => value?.startsWith(EXPRESSION_PREFIX) === true

/** True if an index that is not current can be built again: only formulas have changed, or their SQL. */
const canFollow = (context: ReadContext, { state, terms, columns }: IndexRow): boolean =>
  state !== 'declined' &&
  valuesOf(context, terms).every(
    (value, at) =>
      value !== '' && (columns[at] === value || (isExpression(value) && isExpression(columns[at]))),
  )

/** True if an index has the terms of another at its beginning, and serves the same reads. */
const begins = (longer: string, key: string): boolean =>
  longer === key || longer.startsWith(`${key.slice(0, -1)},`)

export type IndexesService = ReturnType<typeof createIndexesService>

/** Indexes of tables: created for the reads that take long, dropped without use, or managed by people. */
export function createIndexesService(
  kernel: Kernel,
  { access }: Pick<AuthService, 'access'>,
  schema: Pick<SchemaReader, 'load' | 'loadReachable' | 'engineOf' | 'table' | 'refuseIndexes' | 'isKept'>,
  records: Pick<
    RecordsService,
    | 'total'
    | 'explainView'
    | 'measureView'
    | 'searchIndexState'
    | 'searchIndexBytes'
    | 'dropSearchIndex'
    | 'wantSearchIndex'
  >,
) {
  const { config, events, log, meta } = kernel
  const { claims } = meta.cluster
  /** False: only indexes that people ask for are built, and none is dropped without a use. */
  const buildsByItself = config.indexSlowMs > 0
  const store = createIndexStore(kernel)
  /** The terms of finished indexes by table, with the version they were read for. */
  const known = new Map<string, { model: TableModel; terms: Promise<readonly IndexTerm[][]> }>()
  /** Reads since the last round, by table and key. */
  const observed = new Map<string, ReadsRow>()
  /** Time of the last write of each base. */
  const writtenAt = new Map<string, number>()
  const building = new Map<string, { done: Promise<void>; stop: AbortController }>()
  /** The last build of each database. */
  const lastBuilds = new Map<string, Promise<void>>()
  const addInTurn = createMutex()
  /** Tables whose indexes in the database were compared with their rows. */
  const compared = new Map<string, TableModel>()
  /** Tables that this server has read, and those of them since the last round. */
  const read = new Set<string>()
  const newlyRead = new Map<string, TableModel>()
  let round: Promise<void> | null = null
  let isClosed = false

  // Indexes that people asked for come along; the others follow from the reads of the table.
  kernel.tableMoves.push({
    isCopied: true,
    async statements({ toBaseId, tables, fields, columns }) {
      const rows: IndexRow[] = []
      for (const [fromId, tableId] of tables) {
        for (const row of await store.ofTable(fromId)) {
          const kept = row.terms.flatMap(({ fieldId }, at) => {
            // The expression of the copy names columns of its own: it is known when the index is built.
            if (isExpression(row.columns[at])) return fields.has(fieldId) ? EXPRESSION_PREFIX : []
            const column = columns.get(fieldId)
            return column && column.from === row.columns[at] ? column.to : []
          })
          if (row.isAutomatic || kept.length < row.terms.length) continue
          const terms = row.terms.map((term) => ({ ...term, fieldId: fields.get(term.fieldId) ?? '' }))
          rows.push(unbuilt({ baseId: toBaseId, tableId, terms, columns: kept, isAutomatic: false }))
        }
      }
      return store.inserting(rows)
    },
    moved({ tables }) {
      for (const tableId of tables.values())
        schema
          .load(tableId)
          .then(resume)
          .catch((error) => log.error('the indexes of a copied table could not be built', error, { tableId }))
    },
  })
  events.on('records.changed', ({ baseId }) => void writtenAt.set(baseId, Date.now()))
  events.on('indexes.changed', ({ tableId }) => void known.delete(tableId))
  events.on('events.missed', () => known.clear())
  events.on('indexes.refused', (refused) => {
    lose(refused).catch((error) => log.error('dropped indexes could not be noted', error))
  })

  const indexes: AutomaticIndexes = {
    of(model) {
      const { id } = model.table
      if (!read.has(id)) {
        read.add(id)
        newlyRead.set(id, model)
      }
      const kept = known.get(id)
      if (kept?.model === model) return kept.terms
      const terms = readyTerms(model)
      known.set(id, { model, terms })
      terms.catch(() => known.delete(id))
      return terms
    },
    observe: ({ model, terms, ms }: ObservedRead) => note(model, keyOf(terms), ms),
    observeSearch: (model, ms = 0) => note(model, SEARCH_KEY, ms),
    isSlow,
  }

  function isSlow(ms: number): boolean {
    return buildsByItself && ms >= config.indexSlowMs
  }

  /**
   * Notes that a write has dropped indexes. One that refused the write stays as it is; where nobody knows which of several
   * did, the next round builds all of them again, and one that refuses a stored value fails with the reason.
   */
  async function lose({ names, reason }: RefusedIndexes): Promise<void> {
    const state = reason === null ? 'building' : 'refused'
    const tables = await store.lost(names, { state, error: reason?.slice(0, MAX_REASON) ?? null })
    for (const tableId of tables) events.emit('indexes.changed', { tableId })
  }

  /** Adds a read to those since the last round. */
  function note({ table: { id: tableId, baseId } }: TableModel, key: string, ms: number): void {
    const before = observed.get(`${tableId} ${key}`)
    observed.set(`${tableId} ${key}`, {
      tableId,
      baseId,
      key,
      slowReads: (before?.slowReads ?? 0) + Number(isSlow(ms)),
      slowMs: (before?.slowMs ?? 0) + (isSlow(ms) ? ms : 0),
      lastAt: nowIso(),
    })
  }

  async function readyTerms(model: TableModel): Promise<IndexTerm[][]> {
    const rows = (await store.ofTable(model.table.id)).filter(({ state }) => state === 'ready')
    if (rows.length === 0) return []
    const { context } = await contextOf(model)
    return rows.filter((row) => isCurrent(context, row)).map(({ terms }) => terms)
  }

  async function contextOf(model: TableModel): Promise<{ engine: Engine; context: ReadContext }> {
    const engine = await schema.engineOf(model.table)
    const models = await schema.loadReachable(model.table.id)
    return { engine, context: { model, models, dialect: engine.dialect, moment: { now: new Date(nowMs()) } } }
  }

  /** Builds an index, unless another server is building it. One that is stopped stays unbuilt. */
  async function build(row: IndexRow, signal: AbortSignal): Promise<void> {
    const claim = `index ${row.id}`
    if (!(await claims.take(claim))) return
    try {
      await buildClaimed(row, signal)
    } finally {
      await claims.release(claim)
    }
  }

  /** Builds an index and stores its end. Other servers build other indexes meanwhile. */
  async function buildClaimed(row: IndexRow, signal: AbortSignal): Promise<void> {
    // Read when its turn has come: somebody may have dropped it on another server.
    const now = await store.find(row.id)
    if (signal.aborted || !now || !WANTED.has(now.state)) return
    try {
      // A field may have changed its column, or its table been deleted.
      const model = await schema.load(row.tableId)
      const { engine, context } = await contextOf(model)
      const terms = canFollow(context, row) ? indexSql(context, row.terms) : null
      if (terms === null) throw badRequest(m.indexes_error_not_indexable())
      const { tableName } = model.table
      const faults = await engine.buildIndex({ name: row.id, table: tableName, terms }, signal)
      if (faults.length > 0)
        log.warn('a table was damaged before its index was built', {
          tableId: row.tableId,
          faults: faults.join('; '),
        })
      const built = { state: 'ready', error: null, columns: valuesOf(context, row.terms) } as const
      if (!(await store.ended(row.id, built))) {
        await engine.dropIndex(tableName, row.id)
        return
      }
      log.info('index built', { tableId: row.tableId, index: row.id })
    } catch (error) {
      if (signal.aborted) return
      // Of a table in the trash, it is built when the table is restored.
      if ((await findTable(row.tableId)) === null) return
      log.warn('an index could not be built', { tableId: row.tableId, index: row.id, error: String(error) })
      const reason = error instanceof Error ? error.message : String(error)
      const isRefused = error instanceof AppError && error.details?.failure === 'value'
      await store.ended(row.id, {
        state: isRefused ? 'refused' : 'failed',
        error: reason.slice(0, MAX_REASON),
      })
    }
    events.emit('indexes.changed', { tableId: row.tableId })
  }

  /** Starts to build an index, once. */
  function start({ table }: TableModel, row: IndexRow): Promise<void> {
    const running = building.get(row.id)
    if (running) return running.done
    const stop = new AbortController()
    if (isClosed) stop.abort()
    // One after the other in each database: each reads a whole table.
    const work = (lastBuilds.get(table.sourceId) ?? Promise.resolve())
      .then(() => build(row, stop.signal))
      .catch((error) => log.error('building an index failed', error, { index: row.id }))
      .finally(() => {
        building.delete(row.id)
        if (lastBuilds.get(table.sourceId) === work) lastBuilds.delete(table.sourceId)
      })
    building.set(row.id, { done: work, stop })
    lastBuilds.set(table.sourceId, work)
    return work
  }

  async function stopBuild(id: string): Promise<void> {
    const running = building.get(id)
    running?.stop.abort()
    await running?.done
  }

  /** Decides on a new index of a table while no other is added to it, on this or another server. */
  const adding = <T>(tableId: string, work: () => Promise<T>): Promise<T> =>
    addInTurn(async () => {
      const claim = `adding an index ${tableId}`
      while (!(await claims.take(claim))) await Bun.sleep(TAKE_AGAIN_MS)
      try {
        return await work()
      } finally {
        await claims.release(claim)
      }
    })

  const newRow = (context: ReadContext, terms: IndexTerm[], isAutomatic: boolean): IndexRow =>
    unbuilt({
      baseId: context.model.table.baseId,
      tableId: context.model.table.id,
      terms,
      columns: valuesOf(context, terms),
      isAutomatic,
    })

  async function remove(engine: Engine, model: TableModel, ids: string[]): Promise<void> {
    for (const id of ids) await engine.dropIndex(model.table.tableName, id)
    if (ids.length === 0) return
    await store.remove(ids)
    events.emit('indexes.changed', { tableId: model.table.id })
  }

  /**
   * Makes the database and the rows agree: drops indexes over replaced columns and those of a copied base, builds
   * those that are missing and those over changed formulas, and goes on with what another server has begun to build.
   */
  async function compare(engine: Engine, model: TableModel): Promise<void> {
    const { id, tableName } = model.table
    // Left by another server, which may have been killed, or lost in a write.
    const isLeft = (await store.ofTable(id)).some((row) => row.state === 'building' && !building.has(row.id))
    if (compared.get(id) === model && !isLeft) return
    // Listed before the rows: an index that another server starts in between has its row by then.
    const listed = await engine.all<{ name: string; isUnfinished?: number }>(
      engine.dialect.listIndexes(tableName),
      { scan: true },
    )
    const { context } = await contextOf(model)
    const found = listed.filter(({ name }) => isAutomaticIndex(name))
    const names = new Set(found.map(({ name }) => name))
    const finished = new Set(found.filter(({ isUnfinished }) => !isUnfinished).map(({ name }) => name))
    for (const row of await store.ofTable(id)) {
      if (isCurrent(context, row) || !canFollow(context, row) || building.has(row.id)) continue
      await engine.dropIndex(tableName, row.id)
      names.delete(row.id)
      await store.update(row.id, { state: 'building', error: null, columns: valuesOf(context, row.terms) })
    }
    const rows = await store.ofTable(id)
    const isUnbuilt = ({ id: name, state }: IndexRow): boolean =>
      state === 'building' || (state === 'ready' && !finished.has(name))
    const stale = rows.filter(
      (row) => !isCurrent(context, row) || (row.isAutomatic && !buildsByItself && isUnbuilt(row)),
    )
    const unknown = [...names].filter((name) => !rows.some((row) => row.id === name))
    await remove(engine, model, [...stale.map((row) => row.id), ...unknown])
    for (const row of rows) {
      if (stale.includes(row) || building.has(row.id)) continue
      // The failed build could not remove it.
      if (!WANTED.has(row.state) && names.has(row.id)) await engine.dropIndex(tableName, row.id)
      if (isUnbuilt(row)) await start(model, row)
    }
    known.delete(id)
    compared.set(id, model)
  }

  /** Notes the uses of a table's indexes, and drops automatic ones without any, or that have failed a day ago. */
  async function dropUnused(
    engine: Engine,
    model: TableModel,
    reads: ReadsRow[],
    now: number,
  ): Promise<void> {
    const unused: string[] = []
    for (const row of await store.ofTable(model.table.id)) {
      const has = new Set(row.terms.map(({ fieldId, as }) => `${as} ${fieldId}`))
      const uses = reads.filter(({ key }) =>
        (JSON.parse(key) as IndexTerm[]).every(({ fieldId, as }) => has.has(`${as} ${fieldId}`)),
      )
      const last = [row.usedAt, ...uses.map(({ lastAt }) => lastAt)].toSorted().at(-1) ?? row.usedAt
      if (last.slice(0, 10) > row.usedAt.slice(0, 10)) await store.update(row.id, { usedAt: last })
      const isUnused = buildsByItself && now - Date.parse(last) > UNUSED_MS
      const hasFailed = row.state === 'failed' && now - Date.parse(row.createdAt) > FAILED_MS
      const mayGo = row.state === 'ready' || row.state === 'refused'
      if (row.isAutomatic && (hasFailed || (mayGo && isUnused))) unused.push(row.id)
    }
    await remove(engine, model, unused)
  }

  /** Builds the search index of a table for filters that look for texts, once it pays off. */
  async function buildSearch(engine: Engine, model: TableModel): Promise<void> {
    const { id } = model.table
    const found = (await store.readsOf(id)).find(({ key }) => key === SEARCH_KEY)
    if (!found || found.slowReads < MIN_SLOW_READS) return
    if (found.slowMs < (await records.total(engine, model)) * BUILD_MS_PER_RECORD) return
    records.wantSearchIndex(engine, model, await schema.loadReachable(id))
  }

  /** Drops the search index of a table that nobody searches any more. */
  async function dropUnusedSearch(engine: Engine, model: TableModel, now: number): Promise<void> {
    const { id } = model.table
    const last = (await store.readsOf(id)).find(({ key }) => key === SEARCH_KEY)
    if (!last || now - Date.parse(last.lastAt) <= UNUSED_MS) return
    await records.dropSearchIndex(engine, model)
    await store.forgetReads(id, SEARCH_KEY)
    log.info('search index dropped, as nobody searched for 30 days', { tableId: id })
  }

  /** A table; null if it is deleted, forever or in the trash. */
  const findTable = (tableId: string): Promise<TableModel | null> =>
    schema.load(tableId).catch((error) => {
      if (error instanceof AppError && /_NOT_FOUND$/.test(error.code)) return null
      throw error
    })

  /** The estimated bytes of the automatic indexes of a base, without those of tables in the trash. */
  async function automaticBytes(engine: Engine, baseId: string): Promise<number> {
    const rows = (await store.all()).filter(
      (row) => row.baseId === baseId && row.isAutomatic && row.state === 'ready',
    )
    let bytes = 0
    for (const [tableId, own] of Map.groupBy(rows, (row) => row.tableId)) {
      const model = await findTable(tableId)
      if (model === null) continue
      const terms = own.reduce((sum, row) => sum + row.terms.length, 0)
      bytes += terms * TERM_BYTES * (await records.total(engine, model))
    }
    return bytes
  }

  /** The reads whose index pays off, the most expensive first. */
  async function wanted(context: ReadContext, reads: ReadsRow[], engine: Engine): Promise<IndexTerm[][]> {
    const { model } = context
    const rows = await store.ofTable(model.table.id)
    const have = rows.map((row) => keyOf(row.terms))
    const slow = reads
      .filter(({ key, slowReads }) => slowReads >= MIN_SLOW_READS && !have.some((own) => begins(own, key)))
      .toSorted((a, b) => b.slowMs - a.slowMs)
    const free = MAX_AUTOMATIC - rows.filter((row) => row.isAutomatic && !hasEnded(row)).length
    if (slow.length === 0 || free <= 0) return []
    const count = await records.total(engine, model)
    const paying = slow.filter(({ slowMs }) => slowMs >= count * BUILD_MS_PER_RECORD)
    if (paying.length === 0) return []
    const { bytes } = (await engine.storage?.measure()) ?? { bytes: 0 }
    const used = await automaticBytes(engine, model.table.baseId)
    let room = bytes * MAX_PART_OF_BASE - used - (await records.searchIndexBytes(engine))
    const chosen: IndexTerm[][] = []
    for (const { key } of paying) {
      if (chosen.length === free) break
      if (paying.some((other) => other.key !== key && begins(other.key, key))) continue
      const terms = JSON.parse(key) as IndexTerm[]
      room -= terms.length * TERM_BYTES * count
      if (room >= 0 && indexSql(context, terms) !== null) chosen.push(terms)
    }
    return chosen
  }

  /** The recent reads of a table; older ones are forgotten, so that a dropped index does not come back for them. */
  async function recentReads(tableId: string, now: number): Promise<ReadsRow[]> {
    const oldest = new Date(now - UNUSED_MS).toISOString()
    const reads = (await store.readsOf(tableId)).filter(({ key }) => key !== SEARCH_KEY)
    for (const { key, lastAt } of reads) if (lastAt < oldest) await store.forgetReads(tableId, key)
    return reads.filter(({ lastAt }) => lastAt >= oldest)
  }

  /** Builds the indexes of a table that are not built yet. */
  async function resume(model: TableModel): Promise<void> {
    const rows = (await store.ofTable(model.table.id)).filter(
      ({ id, state }) => state === 'building' && !building.has(id),
    )
    for (const row of rows) await start(model, row)
  }

  async function maintainTable(
    tableId: string,
    isQuiet: (baseId: string) => boolean,
    now: number,
  ): Promise<void> {
    const model = await findTable(tableId)
    // An index of a table in the trash stays with it.
    if (model === null) {
      return (await schema.isKept(tableId)) ? store.forgetReads(tableId) : store.forgetTable(tableId)
    }
    if (isForeign(model)) return resume(model)
    const engine = await schema.engineOf(model.table)
    if (buildsByItself) await buildSearch(engine, model)
    const mayDrop = !engine.dialect.dropsBlockWriters || isQuiet(model.table.baseId)
    const claim = `indexes ${tableId}`
    if (!(await claims.take(claim))) return
    try {
      const reads = await recentReads(tableId, now)
      await compare(engine, model)
      if (mayDrop) await dropUnused(engine, model, reads, now)
      if (!buildsByItself) return
      if (mayDrop) await dropUnusedSearch(engine, model, now)
      const { context } = await contextOf(model)
      for (const terms of await wanted(context, reads, engine)) {
        if (isClosed) return
        const row = newRow(context, terms, true)
        const isNew = await adding(tableId, async () => {
          const rows = await store.ofTable(tableId)
          if (rows.some((other) => keyOf(other.terms) === keyOf(terms))) return false
          await store.insert(row)
          return true
        })
        if (isNew) await start(model, row)
      }
    } finally {
      await claims.release(claim)
    }
  }

  /** True if the database has indexes for reads of a table. */
  async function hasIndexes(model: TableModel): Promise<boolean> {
    const engine = await schema.engineOf(model.table)
    const { sql, params } = engine.dialect.listIndexes(model.table.tableName)
    // Without their sizes, for which SQLite reads each page.
    const listed = { sql: `select name from (${sql}) as listed`, params }
    return (await engine.all<{ name: string }>(listed)).some(({ name }) => isAutomaticIndex(name))
  }

  /**
   * The tables among `models` to maintain for indexes that nobody knows: a backup has the metadata and the bases of
   * different moments.
   */
  async function withUnknownIndexes(models: readonly TableModel[]): Promise<string[]> {
    const found: string[] = []
    for (const model of models) {
      const { id: tableId } = model.table
      if (isClosed || isForeign(model)) continue
      const hasAny = await hasIndexes(model).catch((error) => {
        log.error('the indexes of a table could not be listed', error, { tableId })
        return false
      })
      if (hasAny) found.push(tableId)
    }
    return found
  }

  async function runRound(isQuiet: (baseId: string) => boolean, now: number): Promise<void> {
    const rows = [...observed.values()]
    observed.clear()
    await store.addReads(rows)
    const tables = new Set([
      ...(await store.readTables()),
      ...(await store.all()).map(({ tableId }) => tableId),
    ])
    const others = [...newlyRead.values()].filter(({ table }) => !tables.has(table.id))
    newlyRead.clear()
    for (const tableId of await withUnknownIndexes(others)) tables.add(tableId)
    for (const tableId of tables) {
      if (isClosed) return
      await maintainTable(tableId, isQuiet, now).catch((error) =>
        log.error('the indexes of a table could not be maintained', error, { tableId }),
      )
    }
  }

  const isQuietNow = (baseId: string): boolean => Date.now() - (writtenAt.get(baseId) ?? 0) >= QUIET_MS

  /**
   * Runs one round of observation, creation and removal after the other.
   *
   * @param now the time by which unused indexes are judged, in milliseconds since 1970
   */
  async function maintain(isQuiet: (baseId: string) => boolean = isQuietNow, now = nowMs()): Promise<void> {
    await round
    round = runRound(isQuiet, now).finally(() => {
      round = null
    })
    await round
  }

  const timer = setInterval(() => {
    if (round) return
    maintain().catch((error) => log.error('maintaining indexes failed', error))
  }, ROUND_MS)
  timer.unref()

  const copies: CopiedIndexes = {
    async requestedOf(tableIds) {
      const rows = await Promise.all(tableIds.map((id) => store.ofTable(id)))
      return rows.flat().filter(({ isAutomatic }) => !isAutomatic)
    },
    storing(baseId, requested, ids) {
      const rows = requested.flatMap(({ tableId: from, terms: own, columns }) => {
        const tableId = ids.get(from)
        const terms = own.flatMap((term) => {
          const fieldId = ids.get(term.fieldId)
          return fieldId === undefined ? [] : [{ ...term, fieldId }]
        })
        if (tableId === undefined || terms.length < own.length) return []
        return [unbuilt({ baseId, tableId, terms, columns, isAutomatic: false })]
      })
      return store.inserting(rows)
    },
  }

  async function enter(actor: Actor, tableId: string): Promise<TableModel> {
    const model = await schema.load(tableId)
    await access.authorize(actor, 'table.indexes', model.table.baseId)
    return model
  }

  const present = (row: IndexRow, bytes: number | null): TableIndex => ({
    id: row.id,
    terms: row.terms,
    isAutomatic: row.isAutomatic,
    state: row.state === 'building' || row.state === 'ready' ? row.state : 'failed',
    error: row.error,
    bytes,
    createdAt: row.createdAt,
    usedAt: row.usedAt,
  })

  async function listOf(model: TableModel): Promise<TableIndex[]> {
    const engine = await schema.engineOf(model.table)
    const sizes = new Map(
      (
        await engine.all<{ name: string; bytes: number | null }>(
          engine.dialect.listIndexes(model.table.tableName),
          { scan: true },
        )
      ).map(({ name, bytes }) => [name, bytes]),
    )
    const { context } = await contextOf(model)
    const rows = await store.ofTable(model.table.id)
    return rows
      .filter((row) => row.state !== 'declined' && isCurrent(context, row))
      .map((row) => present(row, sizes.get(row.id) ?? null))
  }

  function readTerms(context: ReadContext, terms: IndexTerm[]): void {
    const { model, dialect } = context
    for (const { fieldId } of terms) {
      const field = model.field(fieldId)
      if (!field) throw notFound('Field', fieldId.slice(0, 64))
      if (isIndexable(context, field)) continue
      const isFormula = fieldType(field.type).computed === 'formula' && field.error === null
      const reason = isFormula ? unindexedFormula(model, dialect, field) : null
      const message = reason === null ? m.indexes_error_field : REFUSALS[reason]
      throw badRequest(message({ field: field.title }))
    }
    if (new Set(terms.map(({ fieldId, as }) => `${as} ${fieldId}`)).size < terms.length) {
      throw badRequest(m.indexes_error_repeated())
    }
  }

  return {
    /** Fills `AUTOMATIC_INDEXES`. */
    automatic: indexes,
    /** Fills `COPIED_INDEXES`. */
    copies,
    maintain,

    /** The indexes of a table. @throws TABLE_NOT_FOUND; PERMISSION_DENIED below creator */
    list: async (actor: Actor, tableId: string): Promise<TableIndex[]> => listOf(await enter(actor, tableId)),

    /**
     * Creates an index in the background; one with the same terms is returned as it is.
     *
     * @throws TABLE_NOT_FOUND, FIELD_NOT_FOUND; PERMISSION_DENIED below creator; BAD_REQUEST for a field without an
     *   index, such as a long text or a formula that reads the time, a field named twice, too many indexes, a database view, or a source
     *   without schema changes
     */
    async create(actor: Actor, tableId: string, terms: IndexTerm[]): Promise<TableIndex> {
      const model = await enter(actor, tableId)
      await schema.refuseIndexes(model)
      const { context } = await contextOf(model)
      readTerms(context, terms)
      if (indexSql(context, terms) === null) throw badRequest(m.indexes_error_not_indexable())
      const key = keyOf(terms)
      return adding(tableId, async () => {
        const rows = (await store.ofTable(tableId)).filter(
          (row) => isCurrent(context, row) || canFollow(context, row),
        )
        const same = rows.find((row) => keyOf(row.terms) === key)
        const isThere = same && isCurrent(context, same) && ['ready', 'building'].includes(same.state)
        if (isThere) return present(same, null)
        if (rows.filter(({ state }) => state !== 'declined').length >= MAX_INDEXES) {
          throw badRequest(m.indexes_error_too_many({ max: MAX_INDEXES }))
        }
        // Failed, dropped by somebody before, or of a formula that has changed: `compare` drops what is left of it.
        if (same) await store.remove([same.id])
        const row = newRow(context, terms, false)
        await store.insert(row)
        start(model, row).catch(() => undefined)
        return present(row, null)
      })
    },

    /**
     * Drops an index. An automatic one is not created automatically again.
     *
     * @throws TABLE_NOT_FOUND; PERMISSION_DENIED below creator; NOT_FOUND; BAD_REQUEST in a source without schema
     *   changes
     */
    async drop(actor: Actor, tableId: string, indexId: string): Promise<void> {
      const model = await enter(actor, tableId)
      const row = await store.find(indexId)
      if (row?.tableId !== tableId || row.state === 'declined') throw notFound('Index', indexId.slice(0, 64))
      await schema.refuseIndexes(model)
      await stopBuild(row.id)
      const engine = await schema.engineOf(model.table)
      // Also one that failed, or that another server is still building.
      await engine.dropIndex(model.table.tableName, row.id)
      if (row.isAutomatic) await store.update(row.id, { state: 'declined' })
      else await store.remove([row.id])
      events.emit('indexes.changed', { tableId })
    },

    /**
     * How each view of a table is read, with the index that would help. No page is read, and records are counted for
     * half a second at most, so that it can be asked often.
     *
     * @throws as `list`
     */
    async performance(actor: Actor, tableId: string): Promise<TablePerformance> {
      const model = await enter(actor, tableId)
      const shown = (await schema.table(actor, tableId)).views.filter((view) => !collectsAnswers(view))
      const own = await listOf(model)
      const { engine, context } = await contextOf(model)
      const views: ViewPerformance[] = []
      const refusal = await refusalOf(() => schema.refuseIndexes(model))
      const timeUp = AbortSignal.timeout(COUNT_MS)
      const ready = own.filter(({ state }) => state === 'ready').map(({ terms }) => keyOf(terms))
      for (const { id: viewId } of shown) {
        const found = await records.explainView(actor, tableId, viewId, PAGE, timeUp).catch((error) => {
          // Deleted meanwhile.
          if (error instanceof AppError && error.code === 'VIEW_NOT_FOUND') return null
          throw error
        })
        if (found === null) continue
        const { terms, wantsSearchIndex, ...explained } = found
        const isServed = terms !== null && ready.some((key) => begins(key, keyOf(terms)))
        const readsOnlyPage = explained.reads !== null && explained.reads === explained.returns
        const bySearch = wantsSearchIndex || explained.usesSearchIndex
        const helps = terms !== null && refusal === null && !isServed && !readsOnlyPage && !bySearch
        const suggestion = helps && indexSql(context, terms) !== null ? terms : null
        const suggestsSearchIndex = wantsSearchIndex && !readsOnlyPage
        views.push({ viewId, ...explained, suggestion, suggestsSearchIndex })
      }
      const total = await withinTime(timeUp, () => records.total(engine, model))
      const search = await records.searchIndexState(engine, model, context.models, total ?? 0)
      return { records: total, views, indexes: own, search }
    },

    /**
     * Reads the first page of a view and takes the time.
     *
     * @throws as `list`; VIEW_NOT_FOUND; QUERY_TIMEOUT
     */
    async measure(actor: Actor, tableId: string, viewId: string): Promise<ViewMeasurement> {
      await enter(actor, tableId)
      return records.measureView(actor, tableId, viewId, PAGE)
    },

    /** Stops builds in steps, with which the next server goes on, and waits for others. */
    async close(): Promise<void> {
      isClosed = true
      clearInterval(timer)
      await Promise.all([...building.keys()].map(stopBuild))
      await round
    },
  }
}
