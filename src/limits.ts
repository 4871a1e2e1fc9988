import { and, desc, gt, lte, sql } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import { nowMs } from './clock.ts'
import { defineLimitsTable } from './db/limits-table.ts'
import type { Meta } from './db/meta.ts'
import type { Events } from './events.ts'
import type { Log } from './log.ts'
import type { Secrets } from './secrets.ts'

/** Windows of rate limits are no longer: events are forgotten after this time. */
export const LONGEST_WINDOW_MS = 3_600_000
/** Keys of a limit in memory. The longest unused are dropped first. */
const MAX_KEYS = 20_000
/** A server that is killed loses the events of this time, unless others run. */
const STORE_EVERY_MS = 1_000
const FORGET_EVERY_MS = 60_000
/** Rows per statement. */
const BATCH_ROWS = 500
/** Stored events that a server reads when it starts, the newest first. */
const MAX_READ = 100_000

/** Events of one limit, by key. */
export interface Counts {
  /** Ascending, after `since`. */
  since(key: string, since: number): number[]
  add(key: string, at: number): void
  remove(key: string, at: number): void
}

export type Limits = ReturnType<typeof createLimits>

interface StoredCount {
  limit: string
  key: string
  at: number
  count: number
}

interface LimitsDeps {
  meta: Meta
  secrets: Pick<Secrets, 'connections'>
  events: Events
  log: Pick<Log, 'error'>
}

/**
 * The events that rate limits count, in memory, on all servers together. Each is announced to the other servers; from
 * `start` on, events are also stored in batches, and read again after a restart, when a server joins others and when
 * messages between servers were lost.
 */
export function createLimits({ meta, secrets, events, log }: LimitsDeps) {
  const { db } = meta
  const rows = meta.tables(defineLimitsTable)
  const limits = new Map<string, { times: LRUCache<string, number[]>; most: number }>()
  /** Changes by this server that are not stored yet, by primary key. */
  let unstored = new Map<string, StoredCount>()
  let storing: Promise<void> | null = null
  /** Failures are logged once, until the database takes counts again. */
  let hasFailed = false
  const timers = new Set<Timer>()

  events.on('limit.counted', ({ limit: name, key, at, isReverted }) => {
    const limit = limits.get(name)
    if (!limit) return
    const { times, most } = limit
    const known = times.get(key) ?? []
    if (!isReverted) {
      times.set(key, [...known, at].slice(-most))
      return
    }
    const own = known.indexOf(at)
    if (own < 0) return
    if (known.length === 1) times.delete(key)
    else times.set(key, known.toSpliced(own, 1))
  })
  events.on('events.missed', () => {
    if (!meta.cluster.isShared) return
    read().catch(report)
    readLater()
  })

  function change(limit: string, key: string, at: number, isReverted: boolean): void {
    noteUnstored({ limit, key, at, count: isReverted ? -1 : 1 })
    events.emit('limit.counted', { limit, key, at, ...(isReverted && { isReverted }) })
  }

  function noteUnstored(change: StoredCount): void {
    const id = `${change.limit} ${change.key} ${change.at}`
    const count = (unstored.get(id)?.count ?? 0) + change.count
    // Most attempts succeed, and no longer count before they are stored.
    if (count === 0) unstored.delete(id)
    else unstored.set(id, { ...change, count })
  }

  /** Adds what this server has counted to the stored counts. Never throws. */
  function store(): Promise<void> {
    storing ??= storeAll().finally(() => {
      storing = null
    })
    return storing
  }

  async function storeAll(): Promise<void> {
    if (unstored.size === 0) return
    // Always in one order, so that servers do not wait for each other in a circle.
    const changes = [...unstored].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, change]) => change)
    unstored = new Map()
    const batches = Array.from({ length: Math.ceil(changes.length / BATCH_ROWS) }, (_, at) =>
      changes.slice(at * BATCH_ROWS, (at + 1) * BATCH_ROWS),
    )
    try {
      await meta.atomically(
        batches.map((batch) =>
          db
            .insert(rows)
            .values(batch)
            .onConflictDoUpdate({
              target: [rows.limit, rows.key, rows.at],
              set: { count: sql`${rows.count} + excluded.count` },
            }),
        ),
      )
      hasFailed = false
    } catch (error) {
      for (const each of changes) noteUnstored(each)
      report(error)
    }
  }

  /** Adds stored events that are not known here, for example those of other servers. */
  async function read(): Promise<void> {
    const stored = await db
      .select()
      .from(rows)
      .where(and(gt(rows.at, nowMs() - LONGEST_WINDOW_MS), gt(rows.count, 0)))
      .orderBy(desc(rows.at))
      .limit(MAX_READ)
    for (const { limit: name, key, at, count } of stored.toReversed()) {
      const limit = limits.get(name)
      if (!limit) continue
      const known = limit.times.get(key) ?? []
      const missing = count - known.filter((time) => time === at).length
      if (missing <= 0) continue
      const all = [...known, ...new Array<number>(missing).fill(at)].toSorted((a, b) => a - b)
      limit.times.set(key, all.slice(-limit.most))
    }
  }

  /** Reads when the other servers have stored what they had counted before. */
  function readLater(): void {
    const timer = setTimeout(() => {
      timers.delete(timer)
      read().catch(report)
    }, 2 * STORE_EVERY_MS)
    timers.add(timer.unref())
  }

  async function forget(): Promise<void> {
    await db.delete(rows).where(lte(rows.at, nowMs() - LONGEST_WINDOW_MS))
  }

  function report(error: unknown): void {
    if (!hasFailed) log.error('the counts of rate limits could not be stored or read', error)
    hasFailed = true
  }

  return {
    /** The events of a limit. @param most events of a key that matter @param name unique among the limits of a server */
    of(name: string, most: number): Counts {
      const times = new LRUCache<string, number[]>({ max: MAX_KEYS })
      limits.set(name, { times, most })
      // Keyed, because all IPv4 addresses are soon tried.
      const hash = (key: string) =>
        new Bun.CryptoHasher('sha256', secrets.connections).update(key).digest('base64url')
      return {
        since: (key, since) => (times.get(hash(key)) ?? []).filter((at) => at > since),
        add: (key, at) => change(name, hash(key), at, false),
        remove: (key, at) => change(name, hash(key), at, true),
      }
    },

    /** Reads the counts of the last hour, and stores new ones from now on. Call it once all limits exist. Never throws. */
    async start(): Promise<void> {
      // A server starts also where nothing can be stored: on a full disk, for one, somebody has to delete something.
      await forget().catch(report)
      await read().catch(report)
      if (meta.cluster.isShared) readLater()
      timers.add(setInterval(() => void store(), STORE_EVERY_MS).unref())
      timers.add(setInterval(() => void forget().catch(report), FORGET_EVERY_MS).unref())
    },

    async close(): Promise<void> {
      for (const timer of timers) clearTimeout(timer)
      await storing
      await store()
    },
  }
}
