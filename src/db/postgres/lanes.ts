import { LRUCache } from 'lru-cache'
import type { Sql } from 'postgres'
import { type Caller, currentCaller, whileWanted } from '../../caller.ts'
import type { Statement, Transaction } from '../../dialects/dialect.ts'
import { quotePostgres } from '../../dialects/postgres-tables.ts'
import { bound } from '../../dialects/standard-sql.ts'
import type { PostgresConnection } from '../connection.ts'
import { createInsertBatches } from '../insert-batches.ts'
import { baseBusy } from '../mutex.ts'
import { untilStopped } from '../script-watch.ts'
import { type ConnectionSettings, connectPostgres, NOWHERE } from './driver.ts'
import { isCancelled, isConnectionError, isLostConnection, isStalePlan } from './errors.ts'

/** Result of a statement: its rows, and the number of rows written. */
interface LaneResult {
  rows: unknown[]
  count: number
}

/** A connection reserved for one caller. */
export interface Lane {
  /**
   * @param options `arrays`: rows as arrays; `bytes`: as arrays of the texts in UTF-8; `caller` ends a read with its
   *   request, `signal` a write
   * @throws the driver's error; a lost connection ends everything that was begun on it
   */
  query(
    statement: Statement,
    options?: { arrays?: boolean; bytes?: boolean; caller?: Caller; signal?: AbortSignal },
  ): Promise<LaneResult>
  /** Several statements without values, separated by semicolons. */
  command(text: string): Promise<void>
}

/** How much of a connection pool is in use. */
export interface ConnectionCounts {
  /** Open connections that run work. */
  used: number
  /** Open connections that do not. */
  idle: number
  /** Callers that wait for one. */
  waiting: number
  /** The most that may be open. */
  limit: number
}

/** A connection pool for one database, shared by all its schemas. */
export interface Lanes {
  /**
   * Runs `work` with a connection whose search path is the schema.
   *
   * @throws BASE_BUSY if no connection is free within `patienceMs`; the driver's error, at once for all waiting callers,
   *   if the server cannot be reached
   */
  use<T>(schema: string, work: (lane: Lane) => Promise<T>, patienceMs?: number): Promise<T>
  counts(): ConnectionCounts
  close(): Promise<void>
}

interface LanesOptions
  extends Pick<ConnectionSettings, 'statementTimeoutMs' | 'idleInTransactionMs' | 'isShared'> {
  max: number
}

/** Prepared statements per connection; at this number it is replaced, because the driver never drops any. */
const MAX_PREPARED = 500
/** Remembered statement texts, to detect repeated ones. */
const MAX_SEEN = 2_000
/** A connection is not used again if a request to cancel takes longer to be delivered. */
const CANCEL_MS = 2_000
/** Idle connections are closed after this time. */
const IDLE_MS = 60_000
/** How often a connection that may be in a transaction is heard of within `idleInTransactionMs`. */
const BEATS = 6

interface Member {
  driver: Sql
  /** The current search path; null on a new connection. */
  schema: string | null
  /** Incremented when the connection is lost, so that work does not continue on a new one. */
  session: number
  isBusy: boolean
  /** The user whose work it runs. */
  user: string
  usedAt: number
  prepared: Set<string>
  /** True once a table has changed under a prepared statement, or a cancel request is still on its way. */
  isStale: boolean
  /** True once its connection was lost or refused. */
  isBroken: boolean
}

/**
 * Each connection opens on first use. None opens after `close` where servers share the database, which may get other data
 * then.
 */
export function openLanes(connection: PostgresConnection, { max, ...settings }: LanesOptions): Lanes {
  const members: Member[] = []
  const waiting: { user: string; take(member: Member): void; fail(error: unknown): void }[] = []
  const seen = new LRUCache<string, true>({ max: MAX_SEEN })
  let sweeper: ReturnType<typeof setInterval> | null = null
  let isClosed = false

  const closed = () => Object.assign(new Error('The connections are closed'), { code: 'CONNECTION_ENDED' })

  function refuseClosed(): void {
    if (isClosed && settings.isShared) throw closed()
  }

  function open(): Member {
    const driver: Sql = connect(() => {
      if (member.driver === driver) markBroken(member)
    })
    const member: Member = {
      driver,
      schema: null,
      session: 0,
      isBusy: true,
      user: '',
      usedAt: 0,
      prepared: new Set(),
      isStale: false,
      isBroken: false,
    }
    members.push(member)
    sweeper ??= setInterval(sweep, IDLE_MS)
    sweeper.unref()
    return member
  }

  const connect = (onclose: () => void): Sql =>
    connectPostgres(connection, {
      searchPath: NOWHERE,
      ...settings,
      onclose,
    })

  /**
   * Ends a connection that was lost, or whose statement found no database. Citus answers that where a worker is away: the
   * coordinator would keep the transaction with its locks as long as the connection exists.
   */
  function markBroken(member: Member): void {
    if (member.isBroken) return
    member.isBroken = true
    member.session++
    member.schema = null
    member.prepared.clear()
    member.driver.end({ timeout: 0 }).catch(() => undefined)
  }

  /** Gives a broken connection a new client. */
  function renew(member: Member): void {
    const fresh: Sql = connect(() => {
      if (member.driver === fresh) markBroken(member)
    })
    member.driver = fresh
    member.isBroken = false
  }

  function take(schema: string, patienceMs: number | undefined): Promise<Member> {
    const idle = members.filter((member) => !member.isBusy)
    const ready = idle.find((member) => member.schema === schema)
    const chosen = ready ?? (members.length < max ? open() : idle.reduce<Member | null>(leastRecent, null))
    const user = currentCaller()?.key ?? ''
    if (!chosen) return waitForOne(user, patienceMs)
    chosen.isBusy = true
    chosen.user = user
    return Promise.resolve(chosen)
  }

  function waitForOne(user: string, patienceMs: number | undefined): Promise<Member> {
    const { promise, resolve, reject } = Promise.withResolvers<Member>()
    let timer: ReturnType<typeof setTimeout> | undefined
    const entry = {
      user,
      take(member: Member) {
        clearTimeout(timer)
        resolve(member)
      },
      fail(error: unknown) {
        clearTimeout(timer)
        reject(error)
      },
    }
    waiting.push(entry)
    if (patienceMs !== undefined) {
      timer = setTimeout(() => {
        waiting.splice(waiting.indexOf(entry), 1)
        reject(baseBusy(patienceMs))
      }, patienceMs)
    }
    return promise
  }

  function giveBack(member: Member): void {
    member.usedAt = performance.now()
    if (member.isStale || member.prepared.size > MAX_PREPARED) retire(member)
    member.isBusy = false
    const next = takeNext()
    if (!next) return
    const free = members.includes(member) ? member : open()
    free.isBusy = true
    free.user = next.user
    next.take(free)
  }

  /**
   * Picks the first waiting read of the user with the fewest connections, so that one user's reads do not block others.
   */
  function takeNext() {
    const held = new Map<string, number>()
    for (const { isBusy, user } of members) if (isBusy) held.set(user, (held.get(user) ?? 0) + 1)
    let best = 0
    for (let at = 1; at < waiting.length; at++) {
      const [rank, bestRank] = [at, best].map((index) => held.get(waiting[index]?.user ?? '') ?? 0)
      if ((rank ?? 0) < (bestRank ?? 0)) best = at
    }
    return waiting.splice(best, 1)[0]
  }

  function retire(member: Member): void {
    const at = members.indexOf(member)
    if (at >= 0) members.splice(at, 1)
    // A connection that is already lost has nothing left to close.
    member.driver.end({ timeout: 5 }).catch(() => undefined)
  }

  function sweep(): void {
    const before = performance.now() - IDLE_MS
    for (const member of members.filter(({ isBusy, usedAt }) => !isBusy && usedAt < before)) retire(member)
    if (members.length > 0 || sweeper === null) return
    clearInterval(sweeper)
    sweeper = null
  }

  /** True from the second use of a text: a prepared statement takes one round trip instead of two. */
  function isWorthPreparing(text: string): boolean {
    // Columns added later would change the result of the prepared statement.
    if (/^\s*select \*/i.test(text)) return false
    const isKnown = seen.has(text)
    seen.set(text, true)
    return isKnown
  }

  function laneOf(member: Member): Lane {
    const { session } = member
    const refuseLost = () => {
      if (member.session !== session) {
        throw Object.assign(new Error('The connection was lost'), { code: 'CONNECTION_CLOSED' })
      }
    }
    return {
      async query({ sql, params }, { arrays = false, bytes = false, caller, signal } = {}) {
        refuseLost()
        const prepare = isWorthPreparing(sql)
        // The same text in another schema reads other tables, whose columns may have other types.
        const text = prepare ? `/* ${member.schema} */ ${sql}` : sql
        if (prepare) member.prepared.add(text)
        // Without parameters it would be sent as a simple query, which cannot be prepared.
        const query = member.driver.unsafe(text, bound(params), { prepare })
        let cancelling: Promise<boolean> | null = null
        const cancel = () => {
          cancelling ??= cancelled(query)
          return cancelling
        }
        try {
          const read = async () => (bytes ? await query.raw() : arrays ? await query.values() : await query)
          const rows = await untilStopped(signal, () => whileWanted(caller, read, cancel), cancel)
          return { rows, count: rows.count ?? 0 }
        } catch (error) {
          if (isStalePlan(error)) member.isStale = true
          if (isConnectionError(error)) markBroken(member)
          throw error
        } finally {
          // A request that arrives later would end another statement.
          if (cancelling && !(await cancelling)) member.isStale = true
        }
      },
      async command(text) {
        refuseLost()
        await member.driver.unsafe(text).catch((error) => {
          if (isConnectionError(error)) markBroken(member)
          throw error
        })
      },
    }
  }

  async function enter(member: Member, schema: string): Promise<void> {
    refuseClosed()
    if (member.schema === schema) return
    if (member.isBroken) renew(member)
    try {
      await member.driver.unsafe(`set search_path to ${quotePostgres(schema)}`)
    } catch (error) {
      if (isConnectionError(error)) markBroken(member)
      throw error
    }
    member.schema = schema
  }

  return {
    async use(schema, work, patienceMs) {
      refuseClosed()
      const member = await take(schema, patienceMs)
      const { idleInTransactionMs } = settings
      try {
        await enter(member, schema)
          .catch((error) => {
            // An idle connection was lost; the next attempt opens a new one.
            if (!isLostConnection(error)) throw error
            return enter(member, schema)
          })
          .catch((error) => {
            // Each waiting caller would otherwise wait for an attempt of its own, which may take seconds.
            if (isConnectionError(error)) for (const each of waiting.splice(0)) each.fail(error)
            throw error
          })
        const lane = laneOf(member)
        return await (idleInTransactionMs === undefined
          ? work(lane)
          : whileBeating(lane, idleInTransactionMs / BEATS, work))
      } finally {
        giveBack(member)
      }
    },
    counts() {
      const used = members.filter(({ isBusy }) => isBusy).length
      return { used, idle: members.length - used, waiting: waiting.length, limit: max }
    },
    async close() {
      isClosed = true
      if (settings.isShared) for (const each of waiting.splice(0)) each.fail(closed())
      if (sweeper) clearInterval(sweeper)
      sweeper = null
      await Promise.all(members.splice(0).map(({ driver }) => driver.end({ timeout: 5 })))
    },
  }
}

/**
 * Sends an empty statement whenever the connection was idle for a while. A transaction may wait long for something else, such as a
 * connected database; only that of a process that stands still reaches `idleInTransactionMs`.
 */
async function whileBeating<T>(lane: Lane, everyMs: number, work: (lane: Lane) => Promise<T>): Promise<T> {
  let running = 0
  let idleSince = performance.now()
  async function counted<R>(ask: () => Promise<R>): Promise<R> {
    running++
    try {
      return await ask()
    } finally {
      running--
      idleSince = performance.now()
    }
  }
  const beat = () => {
    if (running > 0 || performance.now() - idleSince < everyMs) return
    // A lost connection fails the next statement of the work. Otherwise the transaction had failed already.
    counted(() => lane.command('select 1')).catch(() => undefined)
  }
  const timer = setInterval(beat, everyMs)
  try {
    return await work({
      query: (...asked) => counted(() => lane.query(...asked)),
      command: (text) => counted(() => lane.command(text)),
    })
  } finally {
    clearInterval(timer)
  }
}

/**
 * Asks the server to end a statement.
 *
 * @returns false if the request may still arrive
 */
function cancelled(query: object): Promise<boolean> {
  // `query.cancel()` drops the promise of the request (postgres 3.4.9).
  const { canceller } = query as { canceller: ((query: object) => Promise<unknown>) | null }
  if (!canceller) return Promise.resolve(true)
  Object.assign(query, { canceller: null })
  // A request that fails ends nothing. One for a statement behind another may never be sent.
  const sent = canceller(query).then(
    () => true,
    () => true,
  )
  return Promise.race([sent, Bun.sleep(CANCEL_MS).then(() => false)])
}

const leastRecent = (best: Member | null, member: Member): Member =>
  best && best.usedAt <= member.usedAt ? best : member

/** Rolls back a transaction; a lost connection has done so already. */
export async function rollBack(lane: Lane): Promise<void> {
  await lane
    .command('rollback')
    .catch((error) => {
      // A cancel request that arrived after its statement had ended.
      if (isCancelled(error)) return lane.command('rollback')
      throw error
    })
    .catch((error) => {
      if (!isConnectionError(error)) throw error
    })
}

/** Statements sent before their results have arrived (pipelining). */
const SENT_AHEAD = 200

/** Rows whose results the next statement may wait for. */
const FEW_ROWS = 32

const batchesOf = createInsertBatches({ placeholder: (index) => `$${index + 1}` })

/** A transaction whose last writes may still be on their way. */
export interface PipelinedTransaction extends Transaction {
  /** Waits for all writes. @throws the first error */
  settle(): Promise<void>
}

/**
 * A transaction that has begun on a connection. A few rows of `runMany` are sent without waiting for their result, which
 * saves a round trip; the next statement, or `settle`, throws their error. Statements after a failed one do nothing.
 *
 * @param signal cancels the running statement, but not the rows of `runMany`, which take milliseconds
 */
export function transactionOn(lane: Lane, signal?: AbortSignal): PipelinedTransaction {
  let sent: Promise<unknown>[] = []

  async function settle(): Promise<void> {
    const waiting = sent
    sent = []
    const failed = (await Promise.allSettled(waiting)).find((answer) => answer.status === 'rejected')
    if (failed) throw failed.reason
  }

  /** Without the signal: the driver never ends the cancellation of a statement that waits behind another. */
  function send(statement: Statement): Promise<LaneResult> {
    const answer = lane.query(statement)
    // Handled by `settle`, or by `result` unless an earlier error comes first.
    answer.catch(() => {})
    return answer
  }

  async function result(statement: Statement): Promise<LaneResult> {
    if (signal) {
      await settle()
      return lane.query(statement, { signal })
    }
    const answer = send(statement)
    await settle()
    return answer
  }

  return {
    settle,
    run: async (statement) => ({ changes: (await result(statement)).count }),
    all: async <T>(statement: Statement) => (await result(statement)).rows as T[],
    async insertOne({ sql, params }, key) {
      const { rows } = await result({ sql: `${sql} returning ${quotePostgres(key)} as key`, params })
      return (rows[0] as { key: unknown } | undefined)?.key
    },
    async insertMany({ sql, params }, key) {
      const { rows } = await result({ sql: `${sql} returning ${quotePostgres(key)} as key`, params })
      return (rows as { key: unknown }[]).map((row) => row.key)
    },
    async runMany(sql, rows) {
      const uses = new Map<string, number>()
      for (const { sql: text, from, size } of batchesOf(sql, rows)) {
        const params = size === 1 ? rows[from]! : rows.slice(from, from + size).flat()
        const used = (uses.get(text) ?? 0) + 1
        uses.set(text, used)
        // The first two of a text prepare it; later ones are pipelined.
        if (used === 2 || used === 3) await settle()
        sent.push(send({ sql: text, params }))
        // Waits for these before sending more; after a failure the rest only repeat it.
        if (sent.length >= SENT_AHEAD) await settle()
      }
      if (rows.length > FEW_ROWS) await settle()
    },
  }
}
