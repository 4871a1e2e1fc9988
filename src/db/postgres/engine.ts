import { LRUCache } from 'lru-cache'
import { breathe, mapBreathing } from '../../breathe.ts'
import { currentCaller } from '../../caller.ts'
import type {
  Dialect,
  Engine,
  ScriptWatch,
  Statement,
  StatementResult,
  Transaction,
} from '../../dialects/dialect.ts'
import { postgres } from '../../dialects/postgres.ts'
import { quotePostgres } from '../../dialects/postgres-tables.ts'
import { quoteText } from '../../dialects/standard-sql.ts'
import { currentWork } from '../../works.ts'
import type { PostgresConnection } from '../connection.ts'
import { type Branch, createGroupCommit, type GroupSession } from '../group-commit.ts'
import {
  baseBusy,
  createWriteQueue,
  FOREIGN_LOCK_MS,
  type Turn,
  WRITE_PATIENCE_MS,
  writePatienceMs,
} from '../mutex.ts'
import { watchedTransaction } from '../script-watch.ts'
import type { EngineWatch } from '../watched-engine.ts'
import { createWriteBatch, type WriteBatch } from '../write-batch.ts'
import {
  isConnectionError,
  isInFailedTransaction,
  isLockTimeout,
  isLostConnection,
  isStalePlan,
  isTooLong,
  OWN_DATABASE,
} from './errors.ts'
import { buildIndex, buildSearchIndex, dropIndex, searchIndexProgress } from './indexes.ts'
import {
  type Lane,
  type Lanes,
  openLanes,
  type PipelinedTransaction,
  rollBack,
  transactionOn,
} from './lanes.ts'
import { createRefusedValues, IndexInUse } from './refused-values.ts'

/** The connections to one database, shared by its bases and sources. */
export interface PostgresDatabase {
  connection: PostgresConnection
  /** For short reads. */
  points: Lanes
  /** For reads that may scan whole tables; few, to leave the server time for other work. */
  scans: Lanes
  writers: Lanes
  /** Maximum wait of a write for locked rows and tables; null for no limit. */
  lockTimeoutMs: number | null
  close(): Promise<void>
}

const POINT_TIMEOUT_MS = 60_000
const SCAN_TIMEOUT_MS = 10 * 60_000

/** Maximum number of connections by purpose. */
export type ConnectionLimits = Record<'points' | 'scans' | 'writers', number>

/** For connected databases. */
const EXTERNAL_LIMITS: ConnectionLimits = { points: 8, scans: 4, writers: 8 }

/**
 * Connects on first use.
 *
 * @param shared of a database that servers share: how long one that stands still within the transaction of a write keeps others
 *   from writing to the base. Null for a connected database
 */
export function openPostgresDatabase(
  connection: PostgresConnection,
  limits: ConnectionLimits = EXTERNAL_LIMITS,
  shared: { idleInTransactionMs: number } | null = null,
): PostgresDatabase {
  const isShared = shared !== null
  const points = openLanes(connection, { max: limits.points, statementTimeoutMs: POINT_TIMEOUT_MS, isShared })
  const scans = openLanes(connection, { max: limits.scans, statementTimeoutMs: SCAN_TIMEOUT_MS, isShared })
  const writers = openLanes(connection, { max: limits.writers, statementTimeoutMs: 0, isShared, ...shared })
  return {
    connection,
    points,
    scans,
    writers,
    // Other programs may lock what they like in a connected database.
    lockTimeoutMs: isShared ? null : FOREIGN_LOCK_MS,
    close: async () => {
      await Promise.all([points.close(), scans.close(), writers.close()])
    },
  }
}

/**
 * The engine of a schema in a PostgreSQL database. Writers queue within this process, and across processes by an
 * advisory lock, which ends with its holder's connection.
 *
 * @param source the database's name in errors, e.g. `this server`
 * @param watch learns of dropped indexes; see `watchEngine` for the others
 */
export function openPostgresEngine(
  database: PostgresDatabase,
  schema: string,
  source: string,
  dialect: Dialect = postgres,
  { refusedBy }: Pick<EngineWatch, 'refusedBy'> = {},
): Engine {
  const { points, scans, writers, lockTimeoutMs } = database
  const inTurn = createWriteQueue()
  /** Statements whose first column has other values than whole numbers. */
  const otherColumns = new LRUCache<string, true>({ max: 100 })
  const key = `hashtextextended(${quoteText(`sheaf ${schema}`)}, 0)`

  const { explained, repeatShort, repeatLong } = createRefusedValues({
    connection: database.connection,
    schema,
    source,
    all: (statement) => engine.all(statement),
    refusedBy,
  })

  /** Runs `work` with a write connection, exclusively within this process. */
  const withWriter = <T>(turn: Turn, work: (lane: Lane) => Promise<T>): Promise<T> =>
    explained(inTurn(() => writers.use(schema, work, turn.patienceMs), turn))

  /** As `withWriter`, and excludes writers of other processes; the lock outlives transactions. */
  const withLock = <T>(turn: Turn, work: (lane: Lane) => Promise<T>): Promise<T> =>
    withWriter(turn, async (lane) => {
      await lane.command(bounded(`select pg_advisory_lock(${key})`, turn)).catch(explainWait(turn))
      try {
        return await work(lane)
      } finally {
        await unlock(lane)
      }
    })

  async function unlock(lane: Lane): Promise<void> {
    await lane.command(`select pg_advisory_unlock(${key})`).catch((error) => {
      // The lock ended with the connection.
      if (!isConnectionError(error)) throw error
    })
  }

  /**
   * @param lock statement that keeps others out, within the transaction
   * @param without indexes that are dropped first, and back if the transaction fails
   */
  async function inTransaction<T>(
    lane: Lane,
    { lock = '', without = [] }: { lock?: string; without?: readonly string[] },
    work: (tx: Transaction) => Promise<T>,
    turn: Turn = {},
    watch?: ScriptWatch,
  ): Promise<T> {
    try {
      await lane.command(begin(lock)).catch(explainWait(turn))
      if (without.length > 0) await dropWithin(lane, without).catch(explainUse)
      const tx = transactionOn(lane, watch?.signal)
      const result = await work(watchedTransaction(tx, watch))
      watch?.commit?.()
      await commit(lane, tx)
      return result
    } catch (error) {
      await rollBack(lane)
      throw error
    }
  }

  const begin = (lock: string): string =>
    lockTimeoutMs === null ? `begin${lock}` : `begin${lock}; set local lock_timeout = ${lockTimeoutMs}`

  /** One statement for each index in a command of its own: Citus drops only one, and sends the whole text to the workers. */
  async function dropWithin(lane: Lane, names: readonly string[]): Promise<void> {
    // The build of another index holds its lock only on the worker. Elsewhere the setting has no effect.
    if (source === OWN_DATABASE) await lane.command(`set local citus.propagate_set_commands = 'local'`)
    await lane.command(`set local lock_timeout = ${DROP_LOCK_MS}`)
    for (const name of names) await lane.command(`drop index if exists ${quotePostgres(name)}`)
    await lane.command(`set local lock_timeout = ${lockTimeoutMs ?? 0}`)
  }

  const lockForTransaction = (turn: Turn) => `; ${bounded(`select pg_advisory_xact_lock(${key})`, turn)}`

  const read = <T>(
    statement: Statement,
    options: { scan?: boolean } | undefined,
    arrays: boolean,
  ): Promise<T[]> => explained(ask(statement, options, arrays))

  /** As `read`, with the driver's errors. */
  async function ask<T>(
    statement: Statement,
    { scan = false }: { scan?: boolean } = {},
    arrays: boolean,
  ): Promise<T[]> {
    const caller = scan ? currentCaller() : undefined
    const once = () =>
      (scan ? scans : points).use(schema, (lane) => lane.query(statement, { arrays, caller }))
    const { rows } = await once().catch((error) => {
      // A restarted server has closed its connections. A read can be repeated on a new one.
      if (!isLostConnection(error) && !isStalePlan(error)) throw error
      return once()
    })
    return rows as T[]
  }

  /**
   * The first column of a statement as one text, if it has whole numbers: a message for each takes several times as
   * long. Null for other values.
   */
  async function readNumbers({ sql, params }: Statement): Promise<number[] | null> {
    if (otherColumns.has(sql)) return null
    // The order is that of the subquery: nothing else is read or joined.
    const packed = `select min(pg_typeof(k)::oid::bigint) as type, count(*) as count, string_agg(k::text, ',') as list
      from (${sql}) as listed (k)`
    const answer = ask<PackedColumn>({ sql: packed, params }, { scan: true }, false).catch((error) => {
      if (isTooLong(error)) return [undefined]
      throw error
    })
    const [found] = await explained(answer)
    if (found?.count === 0) return []
    const numbers = found?.type === INT8 && found.list !== null ? await numbersIn(found.list) : []
    if (numbers.length === found?.count && numbers.every(Number.isSafeInteger)) return numbers
    otherColumns.set(sql, true)
    return null
  }

  const engine: Engine = {
    dialect,
    location: { client: 'pg', connection: database.connection, schema },
    all: <T>(statement: Parameters<Lane['query']>[0], options?: { scan?: boolean }) =>
      read<T>(statement, options, false),
    values: (statement, options) => read<unknown[]>(statement, options, true),
    column: async (statement) =>
      (await readNumbers(statement)) ??
      mapBreathing(await read<unknown[]>(statement, { scan: true }, true), ([value]) => value),
    write: writeWithout([]),
    writeTogether: groupCommit(),
    writeScript: (script, { afterCommit, ...given } = {}) => {
      const watch = watchOf(given)
      const run = async (lane: Lane) => {
        if (given.joinsSets) await lane.command(JOIN_SETS)
        const results = await runScript(lane, typeof script === 'function' ? await script() : script, watch)
        watch.commit?.()
        return results
      }
      const turn: Turn = { isLong: true, signal: watch.signal }
      if (!afterCommit)
        return withWriter(turn, (lane) =>
          inTransaction(lane, { lock: lockForTransaction(turn) }, () => run(lane)),
        )
      return withLock(turn, async (lane) => {
        const results = await inTransaction(lane, {}, () => run(lane))
        await afterCommit()
        return results
      })
    },
    exclusively: (work) => withLock({}, () => work()),
    explain: async (statement, table) =>
      dialect.readPlan(await read(dialect.explain(statement), {}, false), table),
    buildIndex: async (index) => {
      await explained(buildIndex(database.connection, schema, index))
      return []
    },
    dropIndex: (_, name) => explained(dropIndex(database.connection, schema, name)),
    buildSearchIndex: (table, version) =>
      explained(buildSearchIndex(database.connection, schema, table, version)),
    searchIndexProgress: async (table) => {
      const [row] = await read<{ part: number }>(searchIndexProgress(schema, table), {}, false)
      return row?.part ?? null
    },
    // The connections belong to the database and stay open for others.
    close: async () => {},
  }
  return {
    ...engine,
    write: (work, afterCommit, options) =>
      repeatShort((without) => writeWithout(without)(work, afterCommit, options), turnOf(options)),
    writeTogether: (work, onCommit, touches) =>
      repeatShort(
        (without) =>
          without.length === 0
            ? engine.writeTogether(work, onCommit, touches)
            : writeWithout(without)(work, async (result) => onCommit?.(result)),
        turnOf(),
      ),
    // Scripts also read beside their transaction.
    writeScript: (script, options = {}) =>
      repeatLong(() => engine.writeScript(script, options), { signal: watchOf(options).signal }),
  }

  /** @param without indexes that the transaction drops first, and that are back if it fails */
  function writeWithout(without: readonly string[]): Engine['write'] {
    return (work, afterCommit, { isFollowUp = false } = {}) => {
      const watch = isFollowUp ? undefined : currentWork()
      const turn = turnOf({ isFollowUp })
      if (!afterCommit)
        return withWriter(turn, (lane) =>
          inTransaction(lane, { lock: lockForTransaction(turn), without }, work, turn, watch),
        )
      return withLock(turn, async (lane) => {
        const result = await inTransaction(lane, { without }, work, {}, watch)
        await afterCommit(result)
        return result
      })
    }
  }

  function groupCommit(): Engine['writeTogether'] {
    const together = createGroupCommit((work) => {
      const turn = { patienceMs: writePatienceMs() ?? WRITE_PATIENCE_MS }
      return withWriter(turn, (lane) => work(groupSession(lane, begin(lockForTransaction(turn)), turn)))
    })
    return (work, onCommit, touches) => explained(together(work, onCommit, touches))
  }
}

/** How long a short write waits. */
const turnOf = ({ isFollowUp = false } = {}): Turn =>
  isFollowUp ? {} : { patienceMs: writePatienceMs(), signal: currentWork()?.signal }

/** The watch of a script: its own, or that of the current work. */
const watchOf = (given: ScriptWatch): ScriptWatch => (given.signal ? given : (currentWork() ?? given))

/** A column in one row. */
interface PackedColumn {
  /** Oid of its type; null without rows. */
  type: number | null
  count: number
  list: string | null
}

/** Oid of `bigint`. */
const INT8 = 20

/** Letters that are taken apart between turns of the event loop. */
const SLICE = 100_000

/** The numbers of a list with commas. */
async function numbersIn(list: string): Promise<number[]> {
  const numbers: number[] = []
  for (let from = 0; from < list.length; ) {
    await breathe()
    const comma = list.indexOf(',', from + SLICE)
    const end = comma < 0 ? list.length : comma
    for (const digits of list.slice(from, end).split(',')) numbers.push(Number(digits))
    from = end + 1
  }
  return numbers
}

/**
 * A write waits so long for the readers of an index that it drops: less than the second after which PostgreSQL looks for
 * deadlocks, and would end the build of another index.
 */
const DROP_LOCK_MS = 500

const explainUse = (error: unknown): never => {
  throw isLockTimeout(error) ? new IndexInUse() : error
}

/** A statement that takes a lock with `lock_timeout`, which it resets for later statements. */
const bounded = (lock: string, { patienceMs }: Turn): string =>
  patienceMs === undefined
    ? lock
    : `set lock_timeout = ${Math.max(1, Math.round(patienceMs))}; ${lock}; set lock_timeout = 0`

/** Translates a lock timeout into the error of the queue in this process. */
const explainWait =
  ({ patienceMs }: Turn) =>
  (error: unknown): never => {
    throw isLockTimeout(error) && patienceMs !== undefined ? baseBusy(patienceMs) : error
  }

/**
 * Of records that were just logged, PostgreSQL expects one, and would compare each record of a table with the whole set. Plans
 * are not kept from the time when the set was small.
 */
const JOIN_SETS = 'set local enable_nestloop = off; set local plan_cache_mode = force_custom_plan'

async function runScript(
  lane: Lane,
  statements: Statement[],
  { signal, progress }: ScriptWatch,
): Promise<StatementResult[]> {
  const results: StatementResult[] = []
  let written = 0
  for (const statement of statements) {
    const { rows, count } = await lane.query(statement, { signal })
    const changes = rows.length > 0 ? 0 : count
    results.push({ changes, rows: rows as Record<string, unknown>[] })
    written += changes
    progress?.(written)
  }
  return results
}

/** Commits, without waiting for the last writes first: after a failed one, PostgreSQL rolls back instead. */
async function commit(lane: Lane, transaction: PipelinedTransaction): Promise<void> {
  const done = lane.command('commit')
  const [settled] = await Promise.allSettled([transaction.settle(), done])
  if (settled.status === 'rejected') throw settled.reason
  await done
}

/** True for a statement that only reads and locks. */
const isSelect = (sql: string): boolean => /^\s*select\b/i.test(sql)

/** A transaction that runs next to others on the same connection. */
function branchOn(lane: Lane, batch: WriteBatch): Branch {
  let hasWritten = false
  const watched: Lane = {
    command: lane.command,
    query(statement, ...given) {
      hasWritten ||= !isSelect(statement.sql)
      return lane.query(statement, ...given)
    },
  }
  const { settle, ...transaction } = transactionOn(watched)
  return { transaction: { ...transaction, batch }, settle, hasWritten: () => hasWritten }
}

function groupSession(lane: Lane, begin: string, turn: Turn): GroupSession {
  let isLost = false
  let isSaved = false
  const send = (text: string) => async (): Promise<void> => {
    await lane.command(text).catch((error) => {
      if (isConnectionError(error)) isLost = true
      throw error
    })
  }
  const transaction = transactionOn(lane)
  return {
    transaction,
    begin: () => send(begin)().catch(explainWait(turn)),
    settle: () => transaction.settle(),
    commit: () =>
      commit(lane, transaction).catch((error) => {
        if (isConnectionError(error)) isLost = true
        throw error
      }),
    rollback: () => rollBack(lane),
    save() {
      const text = isSaved ? 'release member; savepoint member' : 'savepoint member'
      isSaved = true
      return send(text)()
    },
    rollBackToSaved: send('rollback to member'),
    isOpen: () => !isLost,
    isFollowUp: isInFailedTransaction,
    fork(count) {
      const batch = createWriteBatch()
      return Array.from({ length: count }, () => branchOn(lane, batch))
    },
  }
}
