import { sql } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import { withoutCaller } from '../../../src/caller.ts'
import { nowMs } from '../../../src/clock.ts'
import type { Claims } from '../../../src/cluster.ts'
import type { SearchIndexState } from '../../../src/core/performance.ts'
import type {
  Engine,
  IndexedTable,
  SearchIndexAbilities,
  SearchIndexBatches,
  SearchIndexes,
  SearchIndexVersion,
  SearchMatch,
  SearchTexts,
  Statement,
  TextMatch,
} from '../../../src/dialects/dialect.ts'
import type { Log } from '../../../src/log.ts'
import type { TableModel } from '../../schema/index.ts'
import { columnName, isForeign, isKeyless, ownOrder } from '../table/index.ts'
import { indexedText, searchable } from './expression/conditions.ts'
import { rootScope } from './expression/expression-of.ts'
import { joinTexts } from './expression/filtered-texts.ts'
import {
  type CandidateUse,
  type Models,
  type SearchCandidates,
  type TableSearchIndex,
  wholeOf,
} from './expression/scope.ts'
import type { Opened } from './plan.ts'

/** Tables with fewer records are searched fast enough without an index. */
const MIN_RECORDS = 20_000
/** With more candidates, a page in the table’s order, or a read of all matches, is faster without the index. */
const MAX_PAGE_CANDIDATES = 20_000
const MAX_CANDIDATES = 200_000
/** Records of which an engine that cannot count its candidates reads a sample: a few milliseconds of work. */
const SAMPLE = 1_000
/** With a larger share of candidates, reading all matches is faster without the index. */
const MAX_SHARE = 0.2
/** So few candidates are looked up by their keys, whatever the engine expects. */
const FEW_CANDIDATES = 1_000
/** Records indexed in one transaction, during which other writers wait: a number that takes about this long. */
const BATCH_MS = 15
const MIN_BATCH = 20
const MAX_BATCH = 1_000
/** Steps of merging after each batch; a batch leaves less work than that. */
const MERGE_STEPS = 8
/** From this many changed records on they are indexed; fewer are searched one by one. */
const REFRESH_FROM = 500
/** Interval at which a searched index looks for changed records. */
const REFRESH_EVERY_MS = 2_000

/** A build that failed is tried again by the next search after this time, or after a change of the table. */
const RETRY_MS = 10 * 60_000

/** What the present version builds. */
const ALL_ABILITIES: SearchIndexAbilities = { knowsAllLetters: true, knowsShortTexts: true }

/** An index is dropped after the searches that had begun to use it. */
const BEGUN_SEARCHES_MS = 500

/** Decisions about filters are kept in this number and for so long. */
const MAX_USES = 2_000
const USES_MS = 60_000

/** The number of matches in the table's order that end a read; `all` of them. */
export type CandidateRead = { first: number } | 'all'

/** An index in use. */
interface Loaded {
  table: IndexedTable
  version: SearchIndexVersion
  index: TableSearchIndex
}

/** The last build of an index, as long as it matters. */
interface Attempt {
  model: TableModel
  state: 'building' | 'failed' | 'unavailable'
  /** Records that batches have indexed. */
  records: number
  at: number
}

interface Deps {
  log: Pick<Log, 'error' | 'warn'>
  claims: Claims
  /** False if indexes are only kept up to date, and none is built. */
  mayBuild: boolean
}

/**
 * Search indexes of large tables. The first search of a table builds its index in the background, and searches without it
 * until it is complete. A field that the index does not hold is searched as without an index, and the next search builds
 * a new index that holds it. One server at a time builds the index of a table.
 */
export function createSearchIndexes({ log, claims, mayBuild }: Deps) {
  /** By version of the table, because a change of its fields may replace columns. */
  const loaded = new WeakMap<TableModel, Promise<Loaded | null>>()
  /** Tables whose index is being built or refreshed, by id. */
  const busy = new Set<string>()
  const attempts = new Map<string, Attempt>()
  const refreshedAt = new Map<string, number>()
  /** Bases whose searches cannot be indexed, which the log says once. */
  const warned = new Set<string>()
  const uses = new LRUCache<string, { use: CandidateUse }>({ max: MAX_USES, ttl: USES_MS })
  let isClosed = false
  /** Builds run one after the other. */
  let last: Promise<void> = Promise.resolve()

  /** The complete index of a table, or undefined. */
  async function of(
    engine: Engine,
    model: TableModel,
    models: Models,
  ): Promise<TableSearchIndex | undefined> {
    return (await load(engine, model, models))?.index
  }

  function load(engine: Engine, model: TableModel, models: Models): Promise<Loaded | null> {
    const known = loaded.get(model)
    if (known) return known
    const fresh = read(engine, model, models)
    loaded.set(model, fresh)
    fresh.catch(() => loaded.delete(model))
    return fresh
  }

  async function read(engine: Engine, model: TableModel, models: Models): Promise<Loaded | null> {
    const indexes = engine.dialect.searchIndexes
    const table = tableOf(model)
    if (!indexes || !table || !(await hasList(engine, indexes))) return null
    const current = new Set(indexes.readsColumns ? columnsOf(engine, model, models) : [])
    const version = (await versionsOf(engine, indexes, table)).findLast(
      ({ isComplete, columns }) =>
        isComplete && (!indexes.readsColumns || columns.every((column) => current.has(column))),
    )
    if (!version) return null
    const index: TableSearchIndex = {
      generation: version.generation,
      columns: new Set(version.columns),
      search: 'many',
      filter: null,
      isCandidate(key, texts) {
        const match = matchOf(indexes, version, texts)
        return match === null ? null : indexes.isCandidate(key, table, version, match)
      },
      isOneOfFew(key, texts) {
        const match = matchOf(indexes, version, texts)
        return match === null ? null : (indexes.isOneOfFew?.(key, table, version, match) ?? null)
      },
      candidates(texts) {
        const match = matchOf(indexes, version, texts)
        if (match === null) return null
        const { countCandidates, estimates } = indexes
        return {
          match,
          ...(countCandidates && { count: (most) => countCandidates(table, version, match, most) }),
          ...(estimates && {
            sample: (share) => estimates.sample(table, version, match, share),
            among: (range) => estimates.among(table, version, match, range),
          }),
        }
      },
    }
    return { table, version, index }
  }

  /**
   * How the index of an opened table should be asked for texts. Not at all if more candidates have to be checked than are
   * worth it: a page of a frequent text is read sooner in the order of the table, where it ends after the first matches.
   *
   * @param read the number of matches in the table's order that end a page, or all
   */
  async function decideFor(
    opened: Opened,
    texts: SearchTexts,
    read: CandidateRead,
    countRecords: () => Promise<number>,
  ): Promise<CandidateUse> {
    const statements = opened.context.searchIndex?.candidates(texts)
    if (!statements) return null
    const few = await (statements.count
      ? countedCandidates(opened, statements.count, read)
      : estimatedCandidates(opened, statements, read, await countRecords()))
    return few === null ? null : few ? 'few' : 'many'
  }

  /** As `decideFor`, for texts of a filter, which is asked again and again: the answer is kept for a while. */
  async function decideForFilter(...given: Parameters<typeof decideFor>): Promise<CandidateUse> {
    const [{ context }, texts, read] = given
    const { searchIndex } = context
    const first = read === 'all' ? read : read.first
    const key = JSON.stringify([wholeOf(context).table.id, searchIndex?.generation, texts, first])
    const known = uses.get(key)
    if (known !== undefined) return known.use
    const use = await decideFor(...given)
    uses.set(key, { use })
    return use
  }

  /** True if an index that a table of so many records may get could find the texts. */
  function mayBuildFor(engine: Engine, model: TableModel, texts: SearchTexts, records: number): boolean {
    const indexes = engine.dialect.searchIndexes
    const attempt = attempts.get(model.table.id)
    const isRefused = attempt?.model === model && attempt.state !== 'building'
    return (
      mayBuild &&
      !isRefused &&
      indexes !== undefined &&
      tableOf(model) !== null &&
      records >= MIN_RECORDS &&
      matchOf(indexes, ALL_ABILITIES, texts) !== null
    )
  }

  /** Builds or refreshes the index of a table that is being searched, if it is large enough, without waiting. */
  function want(opened: Opened, countRecords: () => Promise<number>): void {
    const { engine } = opened
    const { models } = opened.context
    const model = wholeOf(opened.context)
    const indexes = engine.dialect.searchIndexes
    const { id } = model.table
    if (!indexes || isClosed || busy.has(id) || !tableOf(model)) return
    const isFresh = performance.now() - (refreshedAt.get(id) ?? Number.NEGATIVE_INFINITY) < REFRESH_EVERY_MS
    const attempt = attempts.get(id)
    if (isFresh || (attempt?.model === model && performance.now() - attempt.at < RETRY_MS)) return
    busy.add(id)
    const work = async () => {
      const claim = `search ${id}`
      try {
        if (isClosed || !(await claims.take(claim))) return
        try {
          await maintain(engine, indexes, model, models, countRecords)
        } finally {
          await claims.release(claim)
        }
      } catch (error) {
        // The base may have been deleted, or the server is stopping.
        if (!isClosed) log.error('search index not built', error, { table: id })
        const attempt = attempts.get(id)
        if (attempt?.state === 'building') {
          attempts.set(id, { ...attempt, state: 'failed', at: performance.now() })
        }
      } finally {
        busy.delete(id)
        refreshedAt.set(id, performance.now())
      }
    }
    last = withoutCaller(() => last.then(work))
  }

  async function maintain(
    engine: Engine,
    indexes: SearchIndexes,
    model: TableModel,
    models: Models,
    countRecords: () => Promise<number>,
  ): Promise<void> {
    const { id } = model.table
    const columns = columnsOf(engine, model, models)
    // An index of an earlier build serves until another one may be built.
    const isCurrent = (each: Loaded | null): each is Loaded =>
      each !== null && isSameSet(each.index.columns, columns) && (each.version.knowsShortTexts || !mayBuild)
    let current = await load(engine, model, models)
    if (!isCurrent(current)) {
      // Another server may have built it.
      loaded.delete(model)
      current = await load(engine, model, models)
    }
    if (isCurrent(current)) {
      // Another server may have dropped it.
      if (!(await refresh(engine, indexes, current))) loaded.delete(model)
      return
    }
    if (!mayBuild || columns.length === 0 || (await countRecords()) < MIN_RECORDS) return
    const attempt: Attempt = { model, state: 'building', records: 0, at: performance.now() }
    attempts.set(id, attempt)
    if ((await build(engine, indexes, model, columns, attempt)) === 'unavailable') {
      attempts.set(id, { ...attempt, state: 'unavailable', at: performance.now() })
      const { baseId } = model.table
      if (!warned.has(baseId)) {
        log.warn('searches are not indexed: pg_trgm is missing and cannot be created', { baseId })
      }
      warned.add(baseId)
      return
    }
    attempts.delete(id)
    loaded.delete(model)
  }

  async function build(
    engine: Engine,
    indexes: SearchIndexes,
    model: TableModel,
    columns: string[],
    attempt: Attempt,
  ): Promise<'built' | 'unavailable'> {
    const table = tableOf(model)
    if (!table) return 'built'
    if (indexes.batches) await engine.writeScript([indexes.batches.prepare])
    const old = await versionsOf(engine, indexes, table)
    const inUse = old.findLast(({ isComplete }) => isComplete)
    const useless = old.filter((each) => each !== inUse)
    const version: SearchIndexVersion = {
      generation: (old.at(-1)?.generation ?? 0) + 1,
      columns,
      isComplete: false,
      ...ALL_ABILITIES,
    }
    if (indexes.batches) {
      await buildInBatches(engine, indexes.batches, { table, version, useless, attempt })
      return 'built'
    }
    for (const { generation } of useless) {
      await engine.dropIndex(table.name, indexes.indexName(table, generation))
    }
    return (await engine.buildSearchIndex?.(table, version)) ?? 'unavailable'
  }

  interface BatchedBuild {
    table: IndexedTable
    version: SearchIndexVersion
    useless: SearchIndexVersion[]
    attempt: Attempt
  }

  async function buildInBatches(
    engine: Engine,
    batches: SearchIndexBatches,
    { table, version, useless, attempt }: BatchedBuild,
  ): Promise<void> {
    const all = await engine.all<{ name: string; generation: number; isLost: number }>(batches.listAll)
    const lost = all.filter(({ isLost }) => isLost === 1)
    await engine.writeScript([
      ...lost.flatMap(({ name, generation }) => batches.drop({ name, key: '' }, generation)),
      ...useless.flatMap(({ generation }) => batches.drop(table, generation)),
      ...batches.create(table, version),
    ])
    let batch = MIN_BATCH
    for (let after = 0; !isClosed; ) {
      const quoted = { name: engine.dialect.quote(table.name), key: engine.dialect.quote(table.key) }
      const [row] = await engine.all<{ upTo: number | null; records: number }>({
        sql: `select max(k) as "upTo", count(*) as records from (select ${quoted.key} as k from ${quoted.name}
          where ${quoted.key} > ? order by ${quoted.key} limit ${batch}) as page`,
        params: [after],
      })
      const upTo = row?.upTo ?? null
      if (upTo === null) {
        await engine.writeScript([batches.complete(table, version.generation)])
        return
      }
      const statements = [batches.fill(table, version, after, upTo)]
      batch = nextBatch(batch, await timed(engine, statements))
      await merge(engine, batches, table, version.generation)
      attempt.records += row?.records ?? 0
      after = upTo
    }
  }

  /** Merges what batches have inserted, a step in each transaction. */
  async function merge(
    engine: Engine,
    batches: SearchIndexBatches,
    table: IndexedTable,
    generation: number,
  ): Promise<void> {
    for (let step = 0; step < MERGE_STEPS; step++) {
      const results = await engine.writeScript(batches.merge(table, generation))
      const [before, after] = [results.at(0), results.at(-1)].map((each) => Number(each?.rows[0]?.n ?? 0))
      if ((after ?? 0) - (before ?? 0) < 2) return
    }
  }

  /** Drops older indexes than this one, and indexes what has changed. False if the index is gone. */
  async function refresh(
    engine: Engine,
    indexes: SearchIndexes,
    { table, version }: Loaded,
  ): Promise<boolean> {
    const { generation } = version
    const { batches } = indexes
    const versions = await versionsOf(engine, indexes, table)
    if (!versions.some((each) => each.generation === generation)) return false
    // Not dropped with the completion of this one, for searches that had begun.
    for (const old of versions) {
      if (old.generation < generation) await dropVersion(engine, indexes, table, old.generation)
    }
    let batch = MIN_BATCH
    while (batches && !isClosed) {
      const [row] = await engine.all<{ waiting: number }>(
        batches.countChanged(table, generation, REFRESH_FROM),
      )
      if ((row?.waiting ?? 0) < REFRESH_FROM) return true
      const statements = batches.refresh(table, version, batch)
      batch = nextBatch(batch, await timed(engine, statements))
      await merge(engine, batches, table, generation)
    }
    return true
  }

  /** Drops the search index of a table, unless it is being built. The next search builds it again. */
  async function drop(engine: Engine, model: TableModel): Promise<void> {
    const indexes = engine.dialect.searchIndexes
    const table = tableOf(model)
    const { id } = model.table
    if (!indexes || !table || isClosed || busy.has(id) || !(await hasList(engine, indexes))) return
    busy.add(id)
    const claim = `search ${id}`
    try {
      if (!(await claims.take(claim))) return
      try {
        loaded.set(model, Promise.resolve(null))
        await Bun.sleep(BEGUN_SEARCHES_MS)
        for (const { generation } of await versionsOf(engine, indexes, table)) {
          await dropVersion(engine, indexes, table, generation)
        }
      } finally {
        await claims.release(claim)
      }
    } finally {
      loaded.delete(model)
      busy.delete(id)
    }
  }

  /** The space that the search indexes of a base take, in bytes. */
  async function bytesOf(engine: Engine): Promise<number> {
    const indexes = engine.dialect.searchIndexes
    if (!indexes) return 0
    const [row] = await engine.all<{ bytes: number }>(indexes.size, { scan: true })
    return Number(row?.bytes ?? 0)
  }

  /**
   * What the search index of a table does; null if it cannot have one.
   *
   * @param records in the table
   */
  async function stateOf(
    engine: Engine,
    model: TableModel,
    models: Models,
    records: number,
  ): Promise<SearchIndexState | null> {
    const table = tableOf(model)
    const indexes = engine.dialect.searchIndexes
    if (!table || !indexes) return null
    const { id } = model.table
    const attempt = attempts.get(id)
    if (attempt?.model === model && attempt.state === 'building' && indexes.batches) {
      return { state: 'building', part: records === 0 ? 0 : Math.min(1, attempt.records / records) }
    }
    // Another server may be building it…
    const part = (await engine.searchIndexProgress?.(table)) ?? null
    if (part !== null) return { state: 'building', part }
    // …or have built it. Ready is what the searches of this server use.
    if (!(await load(engine, model, models)) && !busy.has(id)) loaded.delete(model)
    if (await load(engine, model, models)) return { state: 'ready', part: 1 }
    return { state: attempt?.model === model ? attempt.state : 'none', part: 0 }
  }

  return {
    of,
    decideFor,
    decideForFilter,
    mayBuildFor,
    want,
    stateOf,
    drop,
    bytesOf,
    /** Stops after the transaction that is running. */
    async close(): Promise<void> {
      isClosed = true
      await last
    },
  }
}

/** What an index is asked for texts: what it cannot tell is left out, if that leaves all matches. Null for nothing. */
function matchOf(
  indexes: SearchIndexes,
  version: SearchIndexAbilities,
  texts: SearchTexts,
): SearchMatch | null {
  return typeof texts === 'string'
    ? indexes.match(texts, version)
    : joinTexts<TextMatch>(
        texts.join,
        texts.of.map((each) => matchOf(indexes, version, each)),
      )
}

/** True for few candidates, null for too many. */
async function countedCandidates(
  { engine }: Opened,
  count: NonNullable<SearchCandidates['count']>,
  read: CandidateRead,
): Promise<boolean | null> {
  const most = read === 'all' ? MAX_CANDIDATES : MAX_PAGE_CANDIDATES
  const [row] = await engine.all<{ n: number }>(count(most + 1), { scan: true })
  const candidates = row?.n ?? 0
  return candidates > most ? null : candidates <= FEW_CANDIDATES
}

/** The same from a sample of the table. */
async function estimatedCandidates(
  { engine, context }: Opened,
  { sample, among }: SearchCandidates,
  read: CandidateRead,
  total: number,
): Promise<boolean | null> {
  if (!sample || !among || total === 0) return false
  const [row] = await engine.all<{ records: number; n: number }>(sample(SAMPLE / total), { scan: true })
  // A sample takes whole blocks, and may be empty.
  const share = row && row.records > 0 ? row.n / row.records : 1
  const candidates = share * total
  if (candidates <= FEW_CANDIDATES) return true
  if (read === 'all') return share <= MAX_SHARE && candidates <= MAX_CANDIDATES ? false : null
  // A record that is compared costs about as much as a candidate.
  const walked = read.first / share
  if (candidates <= walked) return false
  // The matches may all be at the end of the table.
  const order = engine.dialect.render(sql.join(ownOrder(rootScope(context)), sql`, `)).sql
  const range = { order, first: Math.ceil(1.5 * walked), most: read.first }
  const [found] = await engine.all<{ n: number }>(among(range), { scan: true })
  return (found?.n ?? 0) < read.first && candidates <= MAX_CANDIDATES ? false : null
}

/** The duration of a script in milliseconds, without its wait for other writers. */
async function timed(engine: Engine, statements: Statement[]): Promise<number> {
  let startedAt = 0
  await engine.writeScript(async () => {
    startedAt = performance.now()
    return statements
  })
  return performance.now() - startedAt
}

/** The number of records for the next batch, by the duration of the last one. */
const nextBatch = (batch: number, ms: number): number =>
  Math.round(Math.min(MAX_BATCH, batch * 2, Math.max(MIN_BATCH, (batch * BATCH_MS) / Math.max(ms, 1))))

export type TableSearchIndexes = ReturnType<typeof createSearchIndexes>

/** The table with an integer key of its own, or null. */
function tableOf(model: TableModel): IndexedTable | null {
  if (isForeign(model) || isKeyless(model)) return null
  return { name: model.table.tableName, key: columnName(model.primaryKey) }
}

async function dropVersion(
  engine: Engine,
  { batches, indexName }: SearchIndexes,
  table: IndexedTable,
  generation: number,
): Promise<void> {
  if (batches) await engine.writeScript(batches.drop(table, generation))
  else await engine.dropIndex(table.name, indexName(table, generation))
}

async function hasList(engine: Engine, indexes: SearchIndexes): Promise<boolean> {
  if (!indexes.hasList) return true
  const [row] = await engine.all<{ n: number }>(indexes.hasList)
  return Number(row?.n ?? 0) > 0
}

async function versionsOf(
  engine: Engine,
  indexes: SearchIndexes,
  table: IndexedTable,
): Promise<SearchIndexVersion[]> {
  const rows = await engine.all<{
    generation: number
    columns: string
    isComplete: number
    knowsAllLetters: number
    knowsShortTexts: number
  }>(indexes.list(table))
  return rows.map(({ generation, columns, isComplete, knowsAllLetters, knowsShortTexts }) => ({
    generation,
    columns: JSON.parse(columns) as string[],
    isComplete: isComplete === 1,
    knowsAllLetters: knowsAllLetters === 1,
    knowsShortTexts: knowsShortTexts === 1,
  }))
}

const isSameSet = (left: ReadonlySet<string>, right: readonly string[]): boolean =>
  left.size === new Set(right).size && right.every((each) => left.has(each))

/** The SQL texts that an index of the table holds. */
function columnsOf({ dialect }: Engine, model: TableModel, models: Models): string[] {
  const context = { model, models, view: null, dialect, moment: { now: new Date(nowMs()) } }
  return searchable(context).flatMap((field) => indexedText(context, field) ?? [])
}
