import { LRUCache } from 'lru-cache'
import { AppError } from '../../../src/core/errors.ts'
import { NEWEST_ENTRY } from '../../../src/db/change-log/append.ts'
import { type Effect, recordsSince } from '../../../src/db/change-log/effects.ts'
import type { Engine, QueryDialect, Statement } from '../../../src/dialects/dialect.ts'
import type { TableModel } from '../../schema/index.ts'
import { columnName, isForeign, isLink } from '../table/index.ts'
import { wholeOf } from './expression/scope.ts'
import type { LogFollower } from './log-follower.ts'
import type { Opened } from './plan.ts'
import type { PlanContext } from './plan-cache.ts'
import { type MaintainedStatement, readContributions } from './upkeep.ts'

/** Memory for results, estimated by the length of their JSON. */
const MAX_BYTES = 32 * 1024 ** 2
/** Larger results are read again each time. */
const MAX_RESULT_BYTES = 256 * 1024
/** Faster reads are not cached: the bookkeeping costs more. */
const MIN_READ_MS = 1
/** As above, where each use of the cache costs a query for what changed in the base. */
const MIN_SHARED_READ_MS = 5
/** Where shared, results are read again after this time, in case another program has written to PostgreSQL. */
const MAX_AGE_MS = 10 * 60_000
/** Results over more tables would rarely stay valid. */
const MAX_TABLES = 20

interface Entry {
  /** The result includes all changes up to this time. */
  at: number
  rows: Promise<object[]>
}

interface Result {
  /** As of `Entry`. */
  at: number
  /** The newest entry of the base’s log that the rows include, and no later one; null if that is unknown. */
  entryId: number | null
  rows: object[]
}

/** When the records of a table changed. */
interface TableChanges {
  /** Records came or went, or any field may have changed. */
  at: number
  /** Existing records got new values in these fields. */
  fields: Map<string, number>
  /** Records changed that are not listed one by one. */
  unlistedAt: number
}

/**
 * The results of counts, groups, summaries and slow pages, until a change of records that they depend on: any record
 * that comes or goes in one of their tables, and new values in a column that their statement names. So editing notes
 * does not read the groups by status again. After changes of a few records, results with `upkeep` are brought up to date
 * by the log. Requests for the same result while it is read share that read.
 *
 * Only a statement that comes from the plan cache a second time is cached: others depend on the time or the caller, or
 * are read once.
 *
 * The times are those of this server's changes. Where several servers write to the same base, they are the ids of the
 * base's log, which is read first: no answer is older than the request.
 */
export interface ResultCache {
  /** The engine of an opened table, with reads that use the cache. */
  over(opened: Pick<Opened, 'engine' | 'context'>): CachedEngine
  /** The latest cached result of a statement, which may be out of date: for estimates. Undefined if there is none. */
  latest(statement: Statement): readonly object[] | undefined
  /** Call when changes of records are committed, before they are acknowledged. */
  touch(effects: Iterable<Effect>): void
  /** Drops all results. Call when this server may have missed changes by others. */
  clear(): void
}

/** Reports committed changes to everything that is cached of records, before they are acknowledged. */
export type TouchRecords = ResultCache['touch']

export type CachedEngine = Pick<Engine, 'all' | 'values' | 'dialect'>

/**
 * @param follower of the logs, where other processes write to the same tables; null where none does
 * @param minReadMs faster reads are not cached
 */
export function createResultCache(
  follower: LogFollower | null,
  minReadMs = follower ? MIN_SHARED_READ_MS : MIN_READ_MS,
): ResultCache {
  const changes = new Map<string, TableChanges>()
  /** When anything may have changed, by base. */
  const unknown = new Map<string, number>()
  let changed = 0
  const known = new WeakSet<Statement>()
  /** Where shared: statements that took long enough for the cache. */
  const slow = new WeakSet<Statement>()
  const reading = new WeakMap<Statement, Entry>()
  const kept = new LRUCache<Statement, Result>({
    maxSize: MAX_BYTES,
    maxEntrySize: MAX_RESULT_BYTES,
    ttl: follower ? MAX_AGE_MS : 0,
    sizeCalculation: ({ rows }) => JSON.stringify(rows).length + 200,
  })

  function note(baseId: string | null, { tableId, fieldIds, added }: Effect, at: number): void {
    if (tableId === null) {
      if (baseId !== null) unknown.set(baseId, at)
      return
    }
    const table = changes.get(tableId) ?? { at: -1, fields: new Map<string, number>(), unlistedAt: -1 }
    changes.set(tableId, table)
    if (added === null) table.unlistedAt = at
    if (fieldIds === null) {
      table.at = at
      table.fields.clear()
    } else {
      for (const fieldId of fieldIds) table.fields.set(fieldId, at)
    }
  }

  follower?.listen((baseId, effect) => note(baseId, effect, effect.entryId))

  /** True if nothing that a statement reads has changed since. */
  function isCurrent(
    statement: Statement,
    { dialect, tables }: { dialect: QueryDialect; tables: readonly TableModel[] },
    since: number,
  ): boolean {
    return tables.every((model) => {
      if ((unknown.get(model.table.baseId) ?? -1) > since) return false
      const table = changes.get(model.table.id)
      if (!table) return true
      if (table.at > since) return false
      for (const [fieldId, at] of table.fields)
        if (at > since && mayRead(statement, dialect, model, fieldId)) return false
      return true
    })
  }

  /** Reads a result to cache, together with its position in the log if it can be kept up to date. */
  async function timed(statement: MaintainedStatement, run: Run<object>, at: number): Promise<object[]> {
    const isFollowed = statement.upkeep?.() != null
    const startedAt = performance.now()
    const rows = await run(isFollowed ? positioned(statement) : statement)
    const entryId = isFollowed ? takePosition(rows) : null
    if (performance.now() - startedAt >= minReadMs) kept.set(statement, { at, entryId, rows })
    return rows
  }

  /**
   * Brings a cached result up to date where the log lists what has changed in its table since, and its other tables have
   * not changed. Null where the statement has to run again.
   */
  async function followed(
    { engine, tables }: { engine: Engine; tables: readonly TableModel[] },
    statement: MaintainedStatement,
    now: number,
  ): Promise<object[] | null> {
    const cached = kept.get(statement)
    const [own, ...others] = tables
    if (!cached || cached.entryId === null || !own) return null
    const { table } = own
    const upkeep = statement.upkeep?.() ?? null
    const isListed =
      (unknown.get(table.baseId) ?? -1) <= cached.at && (changes.get(table.id)?.unlistedAt ?? -1) <= cached.at
    const over = { dialect: engine.dialect, tables: others }
    if (!upkeep || !isListed || !isCurrent(statement, over, cached.at)) return null
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const since = await recordsSince(engine, table.id, cached.entryId)
      const selected = since && upkeep.select(engine.dialect, since.records)
      if (!since || !selected) return null
      const { newest, list } = readContributions(await engine.values(selected))
      // Another change came between the two statements.
      if (newest !== since.newest) continue
      const rows = upkeep.adjust(cached.rows, list)
      const ttl = kept.getRemainingTTL(statement)
      if (rows) kept.set(statement, { at: now, entryId: newest, rows }, follower ? { ttl } : {})
      return rows
    }
    return null
  }

  /** Reads without the cache, and remembers whether it would have been worth it. */
  async function probed<T extends object>(statement: Statement, run: Run<T>): Promise<T[]> {
    const startedAt = performance.now()
    const rows = await run(statement)
    if (performance.now() - startedAt >= minReadMs) slow.add(statement)
    return rows
  }

  async function read<T extends object>(
    { engine, context }: Pick<Opened, 'engine' | 'context'>,
    statement: Statement,
    run: Run<T>,
  ): Promise<T[]> {
    const tables = tablesOf(context)
    if (tables === null) return run(statement)
    const over = { dialect: engine.dialect, tables }
    if (!known.has(statement)) {
      known.add(statement)
      return run(statement)
    }
    if (follower && !slow.has(statement)) return probed(statement, run)
    const now = follower ? await follower.catchUp(engine, wholeOf(context).table.baseId) : changed
    const cached = kept.get(statement)
    if (cached && isCurrent(statement, over, cached.at)) {
      cached.at = Math.max(cached.at, now)
      return copyOf(cached.rows as T[])
    }
    const adjusted = await followed({ engine, tables }, statement, now)
    if (adjusted) return copyOf(adjusted as T[])
    const open = reading.get(statement)
    if (open && isCurrent(statement, over, open.at)) {
      const shared = await open.rows.catch(unlessEndedEarly)
      if (shared) return copyOf(shared as T[])
    }
    const rows = timed(statement, run, now)
    const own = { at: now, rows }
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
        read({ engine, context }, statement, (given) => engine.all<T & object>(given, options)) as Promise<
          T[]
        >,
      values: (statement, options) =>
        read({ engine, context }, statement, (given) => engine.values(given, options)),
    }),
    latest: (statement) => kept.peek(statement)?.rows,
    clear: () => kept.clear(),
    touch(effects) {
      // With a follower, the effects come from the log, and so do their times.
      if (follower) return
      changed++
      for (const effect of effects) note(null, effect, changed)
    },
  }
}

/** Runs a statement on the engine. */
type Run<T> = (statement: Statement) => Promise<T[]>

/** Attempts to read the changes and the changed records in one state of the table. */
const MAX_ATTEMPTS = 3

/** Name of the column with the position; titles contain no control characters. */
const POSITION = '~\u0001entry'

/** The statement with one more column: the newest entry of the log in its snapshot. */
function positioned({ sql, params }: Statement): Statement {
  return { sql: `select read_.*, ${NEWEST_ENTRY} as "${POSITION}" from (${sql}) as read_`, params }
}

/** Removes the position from the rows, and returns it. Null without rows. */
function takePosition(rows: object[]): number | null {
  let position: unknown = null
  for (const row of rows) {
    if (Array.isArray(row)) {
      position = row.pop()
    } else {
      position = (row as Record<string, unknown>)[POSITION]
      delete (row as Record<string, unknown>)[POSITION]
    }
  }
  return position === null ? null : Number(position)
}

/** Null if a read ended with its own request, whose client left or ran out of time. @throws any other error */
function unlessEndedEarly(error: unknown): null {
  if (error instanceof AppError && ENDED_EARLY.has(error.code)) return null
  throw error
}

const ENDED_EARLY: ReadonlySet<string> = new Set(['QUERY_CANCELLED', 'QUERY_TIMEOUT'])

/** All tables that a query may read; null if its results cannot be cached. */
function tablesOf(context: PlanContext): TableModel[] | null {
  const whole = wholeOf(context)
  const { baseId } = whole.table
  if (context.models.size > MAX_TABLES) return null
  const tables = [whole, ...[...context.models.values()].filter(({ table }) => table.id !== whole.table.id)]
  return tables.some((model) => isForeign(model) || model.table.baseId !== baseId) ? null : tables
}

/** Names of our own tables, such as a search index, which has the values of all columns. */
const OWN_TABLE = /["`]sheaf_|\bsheaf_/

/** False if a statement names no column of the field, so that its values cannot matter. */
function mayRead({ sql }: Statement, { quote }: QueryDialect, model: TableModel, fieldId: string): boolean {
  const field = model.field(fieldId)
  // Links are not kept in columns, nor are positions in a view.
  return !field || isLink(field) || OWN_TABLE.test(sql) || sql.includes(quote(columnName(field)))
}

/** Rows that the caller may change in place, as decoders and presenters do. */
const copyOf = <T extends object>(rows: T[]): T[] =>
  rows.map((row) => (Array.isArray(row) ? (row.slice() as T & unknown[]) : { ...row }))
