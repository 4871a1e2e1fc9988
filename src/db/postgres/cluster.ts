import type { Sql } from 'postgres'
import { clockOffsetMs, followClock } from '../../clock.ts'
import { CACHED_TABLES, type CachedTable, type Claims, type Cluster, type StaleRow } from '../../cluster.ts'
import type { Statement } from '../../dialects/dialect.ts'
import type { PostgresConnection } from '../connection.ts'
import { connectPostgres } from './driver.ts'
import { explainPostgres, OWN_DATABASE } from './errors.ts'

const CHANNEL = 'sheaf'
/** Class of the advisory locks that mark running servers; the second key is the server's number. */
const MEMBER_LOCK = 7_433_202

/** PostgreSQL limits a notification to 8,000 bytes. */
const MAX_NOTICE_BYTES = 7_900
/** Longer payloads are stored, and the notification names their row. */
const PAYLOAD_KEPT = '10 minutes'
/** Messages per statement. */
const MAX_BATCH = 200

/**
 * Caches may be used for this time after the start of the last successful check. A change that a server does not
 * confirm waits as long: from then on that server does not use its caches.
 */
const LEASE_MS = 3_000
const CHECK_EVERY_MS = 1_000
/** Time for one statement on the cluster's connection. */
const STATEMENT_TIMEOUT_MS = 5_000
const RECONNECT_MIN_MS = 50
const RECONNECT_MAX_MS = 1_000
/** A call that needs the connection waits this long for it. */
const CONNECTION_PATIENCE_MS = 4_000
/** A change of the difference to the database's clock from which it is reported. */
const REPORTED_CLOCK_MS = 5_000
/** How often a waiting change looks whether the servers it waits for are still running. */
const LOOK_EVERY_MS = 250
/** How often a new connection looks whether the former ones of its server have ended. */
const FORMER_LOOKS = 40

/** A notification. Rows become stale by triggers, everything else is sent by servers. */
type Notice =
  | { stale: CachedTable; row: Record<string, string> }
  | { from: number; event: string; payload?: unknown; ref?: string }
  | { from: number; confirm: number }
  | { from: number; to: number; confirmed: number }
  | { from: number; bye: true }
  /** Messages of the sender were lost, after the others may have noticed its interruption. */
  | { from: number; gap: true }
  /** Former numbers of the sender, which has used no cache since it lost their connections. */
  | { from: number; replaced: number[] }

/** The tables, function and triggers that servers need to hear of each other; versioned by the function's comment. */
const SCHEMA_VERSION = 'sheaf cluster 2'

/**
 * Installs the triggers that announce changes of cached rows, and the table of large payloads. Triggers rather than
 * statements of the server, because the announcement is then part of the transaction: it cannot be lost when a server
 * is killed, and it also covers changes by other versions of Sheaf and by an operator.
 *
 * They are not a migration: an earlier version may still run, or start again, next to this one.
 */
export async function installCluster(client: Pick<Sql, 'unsafe'>): Promise<void> {
  const [known] = await client.unsafe(
    `select obj_description(to_regproc('sheaf_row_changed')::oid, 'pg_proc') as version`,
  )
  if (known?.version === SCHEMA_VERSION) return
  await client.unsafe(
    'create unlogged table if not exists cluster_payloads (id bigint generated always as identity primary key, ' +
      'payload text not null, created_at timestamptz not null default now())',
  )
  await client.unsafe(`create or replace function sheaf_row_changed() returns trigger language plpgsql as $$
    declare
      identity jsonb;
    begin
      if tg_op <> 'INSERT' then
        select jsonb_object_agg(name, to_jsonb(old) ->> name) into identity from unnest(tg_argv) as name;
        perform pg_notify('${CHANNEL}', jsonb_build_object('stale', tg_table_name, 'row', identity)::text);
      end if;
      if tg_op <> 'DELETE' then
        select jsonb_object_agg(name, to_jsonb(new) ->> name) into identity from unnest(tg_argv) as name;
        perform pg_notify('${CHANNEL}', jsonb_build_object('stale', tg_table_name, 'row', identity)::text);
      end if;
      return null;
    end $$`)
  for (const [table, columns] of Object.entries(CACHED_TABLES)) {
    const names = columns.map((column) => `'${column}'`).join(', ')
    await client.unsafe(`drop trigger if exists sheaf_row_changed on "${table}"`)
    await client.unsafe(
      `create trigger sheaf_row_changed after insert or update or delete on "${table}" ` +
        `for each row execute function sheaf_row_changed(${names})`,
    )
  }
  await client.unsafe(`comment on function sheaf_row_changed() is '${SCHEMA_VERSION}'`)
}

/** As the contract, with the part that only `Meta` uses. */
export interface PostgresCluster extends Cluster {
  /** Resolves once the connection was opened for the first time. @throws if it cannot be */
  opened: Promise<void>
  /**
   * Resolves once every running server has handled the changes of cached rows that were committed before the call, or
   * no longer uses its caches.
   */
  confirmed(): Promise<void>
}

/** True for a statement that changes rows which other servers may have cached. */
export function changesCachedRows(sql: string): boolean {
  const [, verb, table = ''] = /^\s*(insert into|update|delete from) "(\w+)"/i.exec(sql) ?? []
  if (verb === undefined || !Object.hasOwn(CACHED_TABLES, table)) return false
  // The absence of a row is not cached, except in these lists of rows.
  return verb.toLowerCase() !== 'insert into' || table === 'memberships' || table === 'plugins'
}

/**
 * Joins the servers of a database. All of it runs on one connection, so that losing it ends everything at once: the
 * subscription, the lock that tells the others that this server runs, and the claims.
 *
 * @param metadata runs statements on the metadata's own connections, for large payloads
 */
export function joinCluster(
  connection: PostgresConnection,
  metadata: { query<T>(statement: Statement): Promise<T[]> },
  onError: (message: string, error: unknown) => void,
): PostgresCluster {
  const staleHandlers = new Map<string, Set<(row: never) => void | Promise<void>>>()
  const missedHandlers = new Set<() => void>()
  const messageHandlers = new Set<(name: string, payload: unknown) => void>()
  const held = new Set<string>()

  let active: Sql | null = null
  /** This server's number; a new one for each connection, so that the others notice an interruption. */
  let self = 0
  /** Numbers of this server's connections whose end PostgreSQL may not have noticed. */
  const former = new Set<number>()
  let others: ReadonlySet<number> = new Set()
  let isAlone = true
  /** Servers that have said that they stop: nothing of theirs is lost. */
  const leaving = new Set<number>()
  /**
   * Servers that have vanished without a farewell, with when this was noticed. One that does not know that it has lost its
   * connection uses its caches to the end of its lease.
   */
  const vanished = new Map<number, number>()
  /** Numbers of servers that have others by now. */
  const replaced = new Set<number>()
  let leaseUntil = 0
  let isClosing = false
  let connected = Promise.withResolvers<Sql>()
  connected.promise.catch(() => {})
  const firstOpened = Promise.withResolvers<void>()
  firstOpened.promise.catch(() => {})

  const isCurrent = () => performance.now() < leaseUntil

  const report = (error: unknown) => onError('a message of another server could not be handled', error)

  function safely(run: () => void): void {
    try {
      run()
    } catch (error) {
      report(error)
    }
  }

  const tellMissed = () => {
    for (const handle of missedHandlers) safely(handle)
  }

  // Connection

  async function keepConnected(): Promise<void> {
    for (let wait = RECONNECT_MIN_MS; !isClosing; wait = Math.min(2 * wait, RECONNECT_MAX_MS)) {
      try {
        const { lost } = await connect()
        wait = RECONNECT_MIN_MS
        firstOpened.resolve()
        if (active) await Promise.race([lost, keepChecking(active)])
      } catch (error) {
        firstOpened.reject(error)
      }
      disconnect()
      if (!isClosing) await Bun.sleep(wait)
    }
  }

  /** Joins the others. The inner promise resolves when the connection is lost. */
  async function connect(): Promise<{ lost: Promise<void> }> {
    const lost = Promise.withResolvers<void>()
    const opened = connectPostgres(connection, {
      searchPath: 'public',
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
      isShared: true,
      onclose: lost.resolve,
      onnotify: (_channel, text) => receive(text),
    })
    try {
      const numbers = [...former]
      await endFormer(opened)
      self = 1 + Math.floor(Math.random() * (2 ** 31 - 2))
      former.add(self)
      await opened.unsafe(`listen ${CHANNEL}`)
      await opened.unsafe('set synchronous_commit = off')
      // From now on the others wait for this server's confirmations. It has cached nothing yet.
      await opened.unsafe(`select pg_advisory_lock(${MEMBER_LOCK}, ${self})`)
      for (const key of [...held]) {
        // Another server may have taken it meanwhile.
        if (!(await tryClaim(opened, key))) held.delete(key)
      }
      const startedAt = performance.now()
      note(await readOthers(opened))
      active = opened
      tellMissed()
      leaseUntil = startedAt + LEASE_MS
      connected.resolve(opened)
      if (numbers.length > 0) send({ from: self, replaced: numbers })
      announceGap()
      return { lost: lost.promise }
    } catch (error) {
      abandon(opened)
      throw error
    }
  }

  /**
   * Ends the former connections of this server. Where the network was cut off, PostgreSQL may notice their end minutes
   * later: until then they have this server's claims, and afterwards another server would take them.
   */
  async function endFormer(on: Sql): Promise<void> {
    if (former.size === 0) return
    const theirs = `from pg_locks where ${IS_MEMBER} and objid::bigint in (${[...former].join(', ')})`
    await on.unsafe(`select pg_terminate_backend(pid) ${theirs}`)
    for (let looks = 0; looks < FORMER_LOOKS; looks++) {
      if ((await on.unsafe(`select 1 ${theirs}`)).length === 0) return former.clear()
      await Bun.sleep(RECONNECT_MIN_MS)
    }
  }

  function disconnect(): void {
    const last = active
    active = null
    leaseUntil = 0
    connected = Promise.withResolvers()
    connected.promise.catch(() => {})
    drop(outbox.splice(0))
    if (last) abandon(last)
  }

  /** Renews the lease until a check fails or takes too long. */
  async function keepChecking(opened: Sql): Promise<void> {
    while (!isClosing && active === opened) {
      await Bun.sleep(CHECK_EVERY_MS)
      if (active !== opened) return
      const startedAt = performance.now()
      const timeout = Bun.sleep(STATEMENT_TIMEOUT_MS).then(() => null)
      const running = await Promise.race([readOthers(opened).catch(() => null), timeout])
      if (running === null) return
      // Notifications of changes before the check have arrived ahead of its answer.
      leaseUntil = startedAt + LEASE_MS
      // It may have committed a change without announcing it.
      if (note(running)) tellMissed()
    }
  }

  /** Notes which others are running. True if one has vanished without a farewell. */
  function note(running: ReadonlySet<number>): boolean {
    const gone = [...others].filter((number) => !running.has(number) && !leaving.delete(number))
    for (const number of gone) if (!replaced.delete(number)) vanished.set(number, performance.now())
    others = running
    return gone.length > 0
  }

  /** True while a server that has vanished may use its caches. */
  function isAwaitingLease(): boolean {
    for (const [number, at] of vanished) if (performance.now() - at > LEASE_MS) vanished.delete(number)
    return vanished.size > 0
  }

  /** The other running servers, after sending them a request in the same statement. */
  async function readOthers(on: Sql, request: object | null = null): Promise<ReadonlySet<number>> {
    const startedMs = Date.now()
    const rows =
      request === null
        ? await on.unsafe<Running[]>(RUNNING)
        : await on.unsafe<Running[]>(`with sent as materialized (select pg_notify($1, $2)) ${ASK}`, [
            CHANNEL,
            JSON.stringify(request),
          ])
    // This server is one of them.
    if (rows[0]) readClock(rows[0].time, startedMs)
    const found = new Set(rows.map(({ number }) => Number(number)).filter((number) => number !== self))
    isAlone = found.size === 0
    return found
  }

  function readClock(time: number, startedMs: number): void {
    const changedMs = followClock(time, startedMs, Date.now())
    if (Math.abs(changedMs) < REPORTED_CLOCK_MS) return
    const seconds = Math.round(clockOffsetMs() / 1000)
    const problem = new Error(
      `The database is ${Math.abs(seconds)} seconds ${seconds < 0 ? 'behind' : 'ahead'}`,
    )
    onError(
      'the clock of this machine differs from the clock of the database, which is used instead',
      problem,
    )
  }

  /** @throws DATABASE_UNREACHABLE if there is no connection within some seconds */
  async function whenConnected(): Promise<Sql> {
    const timer = Promise.withResolvers<never>()
    const timeout = setTimeout(() => {
      const error = Object.assign(new Error('There is no connection'), { code: 'CONNECTION_CLOSED' })
      timer.reject(explainPostgres(error, OWN_DATABASE))
    }, CONNECTION_PATIENCE_MS)
    try {
      return await Promise.race([connected.promise, timer.promise])
    } finally {
      clearTimeout(timeout)
    }
  }

  // Receiving

  /** Handlers of stale rows that still run; confirmations wait for them. */
  const handling = new Set<Promise<unknown>>()
  /** Messages are handled one after the other, because a large payload has to be read first. */
  let messages: Promise<void> | null = null

  function receive(text: string): void {
    let notice: Notice
    try {
      notice = JSON.parse(text)
    } catch (error) {
      onError('a notification could not be read', error)
      return
    }
    if ('stale' in notice) forget(notice.stale, notice.row)
    else if (notice.from !== self) takeNotice(notice)
  }

  function takeNotice(notice: Exclude<Notice, { stale: string }>): void {
    isAlone = false
    if ('event' in notice) takeMessage(notice)
    else if ('bye' in notice) leaving.add(notice.from)
    else if ('gap' in notice) tellMissed()
    else if ('replaced' in notice) {
      for (const number of notice.replaced)
        if (!vanished.delete(number) && others.has(number)) replaced.add(number)
    } else if ('confirm' in notice) confirm(notice.from, notice.confirm).catch(report)
    else if (notice.to === self) waitingFor.get(notice.confirmed)?.(notice.from)
  }

  function forget(table: string, row: Record<string, string>): void {
    for (const handle of staleHandlers.get(table) ?? []) {
      safely(() => {
        const done = handle(row as never)
        if (!done) return
        const settled: Promise<unknown> = done.catch(report).finally(() => handling.delete(settled))
        handling.add(settled)
      })
    }
  }

  async function confirm(to: number, number: number): Promise<void> {
    await Promise.all([...handling])
    send({ from: self, to, confirmed: number })
  }

  function takeMessage(notice: Extract<Notice, { event: string }>): void {
    if (messages === null && notice.ref === undefined) {
      deliver(notice.event, notice.payload)
      return
    }
    const previous = messages ?? Promise.resolve()
    const mine = previous.then(async () => {
      if (notice.ref === undefined) deliver(notice.event, notice.payload)
      else await fetchPayload(notice.event, notice.ref)
      if (messages === mine) messages = null
    })
    messages = mine
  }

  async function fetchPayload(event: string, ref: string): Promise<void> {
    const rows = await metadata
      .query<{ payload: string }>({
        sql: 'select payload from cluster_payloads where id = $1',
        params: [ref],
      })
      .catch((error) => {
        onError('a message of another server could not be read', error)
        return []
      })
    // Deleted after a while, or lost in a crash of the database.
    if (rows[0]) deliver(event, JSON.parse(rows[0].payload))
    else tellMissed()
  }

  function deliver(event: string, payload: unknown): void {
    for (const handle of messageHandlers) safely(() => handle(event, payload))
  }

  // Sending

  const outbox: object[] = []
  let isSending = false
  let sequence = 0
  /** True while the others do not know of a message that was lost here. */
  let hasGap = false

  /** Notes lost messages. Confirmations are asked for again. */
  function drop(notices: readonly object[]): void {
    if (notices.some((notice) => 'event' in notice || 'gap' in notice)) hasGap = true
  }

  /**
   * Tells the others that messages were lost. They notice an interruption by themselves, but perhaps before the last of
   * the messages was lost.
   */
  function announceGap(): void {
    if (!hasGap || active === null) return
    hasGap = false
    send({ from: self, gap: true })
  }

  function send(notice: object): void {
    if (active === null) {
      drop([notice])
      return
    }
    sequence++
    // PostgreSQL drops a notification that equals another one of its transaction.
    outbox.push({ ...notice, n: sequence })
    if (isSending) return
    isSending = true
    // Messages published in the same turn go out in one statement.
    queueMicrotask(() => void flush())
  }

  async function flush(): Promise<void> {
    for (let on = active; on !== null && outbox.length > 0; on = active) {
      const batch = outbox.splice(0, MAX_BATCH)
      try {
        const texts = await Promise.all(batch.map(asText))
        await on.unsafe(
          `select pg_notify('${CHANNEL}', value) from json_array_elements_text($1::text::json)`,
          [JSON.stringify(texts)],
        )
      } catch (error) {
        if (!isClosing) onError('messages to other servers could not be sent', error)
        drop(batch)
        if (active === on) disconnect()
        else announceGap()
      }
    }
    isSending = false
  }

  async function asText(notice: object): Promise<string> {
    const text = JSON.stringify(notice)
    if (!('payload' in notice) || Buffer.byteLength(text) <= MAX_NOTICE_BYTES) return text
    const { payload, ...rest } = notice
    const [row] = await metadata.query<{ id: string }>({
      sql: `with old as (delete from cluster_payloads where created_at < now() - interval '${PAYLOAD_KEPT}')
       insert into cluster_payloads (payload) values ($1) returning id::text as id`,
      params: [JSON.stringify(payload)],
    })
    return JSON.stringify({ ...rest, ref: row?.id })
  }

  // Confirmation of changes

  const waitingFor = new Map<number, (from: number) => void>()
  let confirmations = 0
  let next: Promise<void> | null = null

  /** Calls that wait for the start of the same round share it. */
  function confirmed(): Promise<void> {
    next ??= Promise.resolve().then(() => {
      next = null
      return runRound()
    })
    return next
  }

  async function runRound(): Promise<void> {
    const deadline = performance.now() + LEASE_MS
    const number = ++confirmations
    const answered = new Set<number>()
    let arrived = Promise.withResolvers<void>()
    waitingFor.set(number, (from) => {
      answered.add(from)
      arrived.resolve()
    })
    const isDone = (running: ReadonlySet<number>) =>
      !isAwaitingLease() && [...running].every((other) => answered.has(other))
    let asked: Sql | null = null
    while (performance.now() < deadline) {
      const on: Sql | null = active
      arrived = Promise.withResolvers()
      try {
        if (on === null) throw new Error('There is no connection')
        const request = { from: self, confirm: number }
        const running: ReadonlySet<number> = await readOthers(on, asked === on ? null : request)
        asked = on
        if (note(running)) tellMissed()
        if (isDone(running)) break
        await Promise.race([arrived.promise, Bun.sleep(LOOK_EVERY_MS)])
        if (isDone(running)) break
      } catch {
        // Asks again on the next connection.
        await Bun.sleep(RECONNECT_MIN_MS)
      }
    }
    waitingFor.delete(number)
  }

  async function tryClaim(on: Sql, key: string): Promise<boolean> {
    const [row] = await on.unsafe<{ got: boolean }[]>(`select pg_try_advisory_lock(${claimKey(key)}) as got`)
    return row?.got === true
  }

  /** Locks of a connection are counted, a claim is not: calls for the same key at the same time share one. */
  const taking = new Map<string, Promise<boolean>>()

  async function takeNow(key: string): Promise<boolean> {
    const isTaken = await tryClaim(await whenConnected(), key)
    if (isTaken) held.add(key)
    return isTaken
  }

  const claims: Claims = {
    async take(key) {
      if (held.has(key)) return true
      const present = taking.get(key) ?? takeNow(key).finally(() => taking.delete(key))
      taking.set(key, present)
      return present
    },
    async release(key) {
      if (!held.delete(key)) return
      const on = await whenConnected()
      await on.unsafe(`select pg_advisory_unlock(${claimKey(key)})`)
    },
  }

  keepConnected().catch(report)

  return {
    isShared: true,
    opened: firstOpened.promise,
    confirmed,
    isCurrent,
    isAlone: () => isAlone,
    onStale<T extends CachedTable>(table: T, handle: (row: StaleRow<T>) => void | Promise<void>) {
      const handlers = staleHandlers.get(table) ?? new Set()
      staleHandlers.set(table, handlers.add(handle))
      return () => handlers.delete(handle)
    },
    onMissed(handle) {
      missedHandlers.add(handle)
      return () => missedHandlers.delete(handle)
    },
    publish: (event, payload) => send({ from: self, event, payload }),
    onMessage(handle) {
      messageHandlers.add(handle)
      return () => messageHandlers.delete(handle)
    },
    claims,
    async close() {
      isClosing = true
      const last = active
      await last
        ?.unsafe(`select pg_notify('${CHANNEL}', $1)`, [JSON.stringify({ from: self, bye: true })])
        .catch(() => {})
      disconnect()
    },
  }
}

/** The number of running servers. */
export async function countServers(client: Pick<Sql, 'unsafe'>): Promise<number> {
  return (await client.unsafe(RUNNING)).length
}

/** Closes a connection without waiting: the driver may wait for one that is already lost. */
function abandon(client: Sql): void {
  client.end({ timeout: 0 }).catch(() => {})
}

const claimKey = (key: string): string =>
  `hashtextextended('${`sheaf claim ${key}`.replaceAll("'", "''")}', 0)`

const IS_MEMBER = `locktype = 'advisory' and classid = ${MEMBER_LOCK} and objsubid = 2 and granted
  and database = (select oid from pg_database where datname = current_database())`
/** A running server's number, and the time of the database's clock in milliseconds since 1970. */
interface Running {
  number: string
  time: number
}
const COLUMNS = 'objid::text as number, floor(extract(epoch from clock_timestamp()) * 1000)::float8 as time'
const RUNNING = `select ${COLUMNS} from pg_locks where ${IS_MEMBER}`
const ASK = `select ${COLUMNS} from pg_locks, sent where ${IS_MEMBER}`
