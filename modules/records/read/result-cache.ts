import { LRUCache } from 'lru-cache'
import { lastChangeId } from '../../../src/db/change-log.ts'
import type { Engine, Statement } from '../../../src/dialects/dialect.ts'
import { isForeign } from '../table/index.ts'
import { wholeOf } from './expression/scope.ts'
import type { Opened } from './plan.ts'
import type { PlanContext } from './plan-cache.ts'

/** Memory for results, estimated by the length of their JSON. */
const MAX_BYTES = 32 * 1024 ** 2
/** Larger results are read again each time. */
const MAX_RESULT_BYTES = 256 * 1024
/** Faster reads are not cached: the bookkeeping costs more. */
const MIN_READ_MS = 1
/** As above, where each use of the cache costs a query for the last change of the base. */
const MIN_SHARED_READ_MS = 5
/** Results over more tables would rarely stay valid. */
const MAX_TABLES = 20

interface Entry {
  /** The versions of the tables it was read from, before the read began. */
  versions: string
  rows: Promise<object[]>
}

/**
 * The results of counts, groups, summaries and slow pages, until a record of one of their tables changes. Requests
 * for the same result while it is read share that read.
 *
 * Only a statement that comes from the plan cache a second time is cached: others depend on the time or the caller, or
 * are read once.
 *
 * Where several servers write to the same base, a result also depends on the last entry of the base's change log, which
 * is read first: every write of records appends one in its transaction. So a change by any server invalidates all results
 * of its base, and no answer is older than the request.
 */
export interface ResultCache {
  /** The engine of an opened table, with reads that use the cache. */
  over(opened: Pick<Opened, 'engine' | 'context'>): CachedEngine
  /** Call when a change of records of these tables is committed, before it is acknowledged. */
  touch(tableIds: Iterable<string>): void
  /** Drops all results. Call when this server may have missed changes by others. */
  clear(): void
}

export type CachedEngine = Pick<Engine, 'all' | 'values' | 'dialect'>

/** @param isShared true if other processes write to the same tables */
export function createResultCache(isShared: boolean): ResultCache {
  const versions = new Map<string, number>()
  const known = new WeakSet<Statement>()
  /** Where shared: statements that took long enough for the cache. */
  const slow = new WeakSet<Statement>()
  const reading = new WeakMap<Statement, Entry>()
  const kept = new LRUCache<Statement, { versions: string; rows: object[] }>({
    maxSize: MAX_BYTES,
    maxEntrySize: MAX_RESULT_BYTES,
    sizeCalculation: ({ rows }) => JSON.stringify(rows).length + 200,
  })

  /** The versions of all tables that a query may read, joined; null if its results cannot be cached. */
  function versionsOf(context: PlanContext): string | null {
    const { models } = context
    const { table } = wholeOf(context)
    if (models.size > MAX_TABLES || isForeign(wholeOf(context))) return null
    let text = String(versions.get(table.id) ?? 0)
    for (const model of models.values()) {
      if (isForeign(model) || model.table.baseId !== table.baseId) return null
      text += ` ${versions.get(model.table.id) ?? 0}`
    }
    return text
  }

  async function timed(statement: Statement, run: () => Promise<object[]>, before: string) {
    const startedAt = performance.now()
    const rows = await run()
    if (performance.now() - startedAt >= (isShared ? MIN_SHARED_READ_MS : MIN_READ_MS))
      kept.set(statement, { versions: before, rows })
    return rows
  }

  /** Reads without the cache, and remembers whether it would have been worth it. */
  async function probed<T extends object>(statement: Statement, run: () => Promise<T[]>): Promise<T[]> {
    const startedAt = performance.now()
    const rows = await run()
    if (performance.now() - startedAt >= MIN_SHARED_READ_MS) slow.add(statement)
    return rows
  }

  async function read<T extends object>(
    { engine, context }: Pick<Opened, 'engine' | 'context'>,
    statement: Statement,
    run: () => Promise<T[]>,
  ): Promise<T[]> {
    const ownVersions = versionsOf(context)
    if (ownVersions === null) return run()
    if (!known.has(statement)) {
      known.add(statement)
      return run()
    }
    if (isShared && !slow.has(statement)) return probed(statement, run)
    const before = isShared ? `${ownVersions} ${await lastChangeId(engine)}` : ownVersions
    const cached = kept.get(statement)
    if (cached?.versions === before) return copyOf(cached.rows as T[])
    const open = reading.get(statement)
    if (open?.versions === before) return copyOf((await open.rows) as T[])
    const rows = timed(statement, run, before)
    const own = { versions: before, rows }
    reading.set(statement, own)
    try {
      return copyOf((await rows) as T[])
    } finally {
      if (reading.get(statement) === own) reading.delete(statement)
    }
  }

  return {
    over: ({ engine, context }) => ({
      dialect: engine.dialect,
      all: <T>(statement: Statement, options?: { scan?: boolean }) =>
        read({ engine, context }, statement, () => engine.all<T & object>(statement, options)) as Promise<
          T[]
        >,
      values: (statement, options) =>
        read({ engine, context }, statement, () => engine.values(statement, options)),
    }),
    clear: () => kept.clear(),
    touch(tableIds) {
      for (const tableId of tableIds) versions.set(tableId, (versions.get(tableId) ?? 0) + 1)
    },
  }
}

/** Rows that the caller may change in place, as decoders and presenters do. */
const copyOf = <T extends object>(rows: T[]): T[] =>
  rows.map((row) => (Array.isArray(row) ? (row.slice() as T & unknown[]) : { ...row }))
