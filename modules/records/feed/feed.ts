import { randomUUID } from 'node:crypto'
import { and, eq, sql } from 'drizzle-orm'
import { withoutCaller } from '../../../src/caller.ts'
import { AppError } from '../../../src/core/errors.ts'
import { entriesAfter } from '../../../src/db/change-log/entries.ts'
import { FROM_ANOTHER_BASE, lastChangeId, type StoredEntry } from '../../../src/db/change-log/entry.ts'
import { listedRecords } from '../../../src/db/change-log/records.ts'
import type { MetaStatement } from '../../../src/db/meta.ts'
import type { Engine } from '../../../src/dialects/dialect.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { defineRecordsTables } from '../tables.ts'
import { type FeedTable, tablesOfEntry } from './records.ts'

/** Entries per batch. */
const BATCH = 200
/** The records of entries with more in total are counted as a read over a whole table. */
const LARGE = 10_000
/** A server asks this often for a base that another server reads. */
const CLAIM_AGAIN_MS = 5_000
/** The server that reads a log is asked again after this time without an answer: it may have ended. */
const ASK_AGAIN_MS = 500
/** One that has not answered by then is of an earlier version that does not know the question. */
const SILENCE_MS = 60_000
/** Delays after a failure: doubled each time, up to the second. */
const FIRST_DELAY_MS = 500
const MAX_DELAY_MS = 60_000
/** The position is stored after so many entries that did not concern the consumer, or when the feed closes. */
const STORE_AFTER = 1_000
/** Changes of records are read together after this time: writers come first. */
const GATHER_MS = 20
/** Bases whose logs are read at the same time when the server starts. */
const STARTS_AT_ONCE = 2

/** An entry of a base's log, with the numbers of touched records by table. */
export interface FeedEntry extends StoredEntry {
  tables: FeedTable[]
}

export interface FeedBatch {
  baseId: string
  /** In the order of the log. */
  entries: FeedEntry[]
}

/**
 * Takes the entries of the logs of the bases that it follows: all of them, in order. What it writes for an entry is
 * stored exactly once, but it may be asked for the same entries again, as long as nothing was stored for them or later
 * ones.
 */
export interface FeedConsumer {
  /** Stored with its positions. */
  name: string
  /**
   * Reads whatever it needs, and returns the statements that store what follows from the entries. They are run in one
   * transaction with the consumer's position. Empty: the entries do not concern it. If it throws, it gets the entries
   * again later; other consumers go on meanwhile.
   */
  take(batch: FeedBatch): Promise<MetaStatement[]>
  /** Called when statements of `take` are stored. After a crash in between it is not called: look for work at the start. */
  stored?(baseId: string): void
}

export interface Feed {
  /** Adds a consumer, while the services are created. */
  consume(consumer: FeedConsumer): void
  /**
   * Begins to follow a base, unless the consumer does so already. With `sinceSchemaChange` it also gets the entries after
   * the latest change of a table, field or view, if that is one of the newest entries.
   *
   * @returns the id of the newest entry: the consumer gets all later ones
   */
  follow(consumer: string, baseId: string, options?: { sinceSchemaChange?: boolean }): Promise<number>
  /** Whether a consumer follows a base, as far as this server knows. */
  follows(consumer: string, baseId: string): boolean
  /**
   * Ends it. Entries that were not taken yet are left out.
   *
   * @param isWanted asked afterwards: true if somebody needs it again meanwhile, which then goes on where it was
   */
  unfollow(consumer: string, baseId: string, isWanted?: () => Promise<boolean>): Promise<void>
  /** The entries of a base from an id on, in order. */
  read(baseId: string, from: number, limit: number): Promise<FeedEntry[]>
  /** Begins; in the background, consumers get what the logs have gained while no server ran. */
  start(): Promise<void>
  /**
   * Resolves once everything in the log of a base has been taken, by whichever server, or has failed.
   *
   * @param check called between steps; what it throws ends the wait
   */
  settled(baseId: string, check?: () => void): Promise<void>
  close(): Promise<void>
}

/** How far a consumer is with a base. */
interface Reader {
  consumer: FeedConsumer
  position: number
  /** The position in the metadata. */
  stored: number
  failures: number
  /** Not asked before this time, after a failure. */
  notBefore: number
}

/** The reading of one base's log. */
interface Run {
  current: Promise<void>
  isActive: boolean
  isDue: boolean
  /** Null while another server has the claim, or after a failure. */
  readers: Map<string, Reader> | null
  isElsewhere: boolean
  timer: Timer | null
  /** When the timer ends. */
  timerAt: number
}

/**
 * Passes the logs of bases to consumers. One server at a time reads the log of a base: it keeps the claim until it
 * ends, and is told by the events of all servers when the log has gained entries.
 */
export function createFeed(kernel: Kernel): Feed {
  const { events, log, meta, sources } = kernel
  const { claims } = meta.cluster
  const { feedPositions } = meta.tables(defineRecordsTables)
  const consumers = new Map<string, FeedConsumer>()
  /** The consumers of each followed base, by any server. */
  const followers = new Map<string, Set<string>>()
  /** How often they have changed, or may have. */
  let changes = 0
  const runs = new Map<string, Run>()
  /** Bases whose changes are being gathered. */
  const gathering = new Map<string, Timer>()
  let isStarted = false
  let isClosed = false

  const claimOf = (baseId: string): string => `feed ${baseId}`
  const atRow = (consumer: string, baseId: string) =>
    and(eq(feedPositions.consumer, consumer), eq(feedPositions.baseId, baseId))

  events.on('records.changed', ({ baseId }) => nudgeSoon(baseId))
  events.on('schema.changed', ({ baseId }) => nudge(baseId))
  events.on('feed.followed', ({ baseId, consumer, isFollowed }) => {
    changes++
    note(baseId, consumer, isFollowed)
    const readers = runs.get(baseId)?.readers
    // Read anew with the position from which on it follows.
    if (!isFollowed) readers?.delete(consumer)
    nudge(baseId)
  })
  events.on('feed.asked', ({ baseId, askId }) => {
    const run = runs.get(baseId)
    if (isClosed || !run || run.isElsewhere) return
    nudge(baseId)
    answer(run, askId).catch((error) => log.error('an answer to another server failed', error, { baseId }))
  })
  kernel.removals.push((baseId) => [meta.db.delete(feedPositions).where(eq(feedPositions.baseId, baseId))])
  events.on('events.missed', () => {
    changes++
    if (!isStarted) return
    readFollowers()
      .then(() => [...followers.keys()].forEach(nudge))
      .catch((error) => log.error('reading what is followed failed', error))
  })

  function note(baseId: string, consumer: string, isFollowed: boolean): void {
    const names = followers.get(baseId) ?? new Set()
    if (isFollowed) followers.set(baseId, names.add(consumer))
    else if (names.delete(consumer) && names.size === 0) followers.delete(baseId)
  }

  async function readFollowers(): Promise<void> {
    const before = changes
    const rows = await meta.db
      .select({ baseId: feedPositions.baseId, consumer: feedPositions.consumer })
      .from(feedPositions)
    // The rows may be from before a change that is noted already.
    if (changes !== before) return readFollowers()
    followers.clear()
    for (const { baseId, consumer } of rows) note(baseId, consumer, true)
  }

  /** Reads a base's log now, or once more after the current read. */
  function nudge(baseId: string): void {
    if (!isStarted || isClosed || !followers.has(baseId)) return
    const run = runs.get(baseId) ?? {
      current: Promise.resolve(),
      isActive: false,
      isDue: false,
      readers: null,
      isElsewhere: false,
      timer: null,
      timerAt: 0,
    }
    runs.set(baseId, run)
    run.isDue = true
    // Without readers the timer waits for another server or an unreachable base, with them only for consumers that failed.
    if (run.isActive || (run.timer !== null && run.readers === null)) return
    run.isActive = true
    run.current = withoutCaller(() => readWhileDue(baseId, run))
  }

  /** Tells the server that asked when the present read has ended or failed, unless this server stops in the middle of it. */
  async function answer(run: Run, askId: string): Promise<void> {
    await run.current
    if (!run.isElsewhere && !isClosed) events.emit('feed.answered', { askId })
  }

  /** Nudges once for all changes that come within a moment. */
  function nudgeSoon(baseId: string): void {
    if (!isStarted || isClosed || gathering.has(baseId) || !followers.has(baseId)) return
    const timer = setTimeout(() => {
      gathering.delete(baseId)
      nudge(baseId)
    }, GATHER_MS)
    timer.unref()
    gathering.set(baseId, timer)
  }

  /** Nudges at the earliest of the times asked for. */
  function nudgeIn(baseId: string, run: Run, ms: number): void {
    const at = Date.now() + ms
    if (isClosed || (run.timer !== null && run.timerAt <= at)) return
    if (run.timer !== null) clearTimeout(run.timer)
    run.timerAt = at
    run.timer = setTimeout(() => {
      run.timer = null
      nudge(baseId)
    }, ms)
    run.timer.unref()
  }

  async function readWhileDue(baseId: string, run: Run): Promise<void> {
    try {
      while (run.isDue && !isClosed) {
        run.isDue = false
        run.isElsewhere = !(await claims.take(claimOf(baseId)))
        if (run.isElsewhere) {
          run.readers = null
          nudgeIn(baseId, run, CLAIM_AGAIN_MS)
          return
        }
        run.readers ??= await storedReaders(baseId)
        await addReaders(baseId, run.readers)
        await readLog(baseId, run, run.readers)
        askFailedAgain(baseId, run)
      }
    } catch (error) {
      // A base in the trash, or whose database is away, is read when there is news of it again.
      if (!(error instanceof AppError))
        log.error('reading a change log for its consumers failed', error, { baseId })
      run.readers = null
      run.isElsewhere = false
      nudgeIn(baseId, run, MAX_DELAY_MS)
    } finally {
      run.isActive = false
    }
  }

  function askFailedAgain(baseId: string, run: Run): void {
    const delays = [...(run.readers?.values() ?? [])].map(({ notBefore }) => notBefore - Date.now())
    const ahead = delays.filter((ms) => ms > 0)
    if (ahead.length > 0) nudgeIn(baseId, run, Math.min(...ahead))
  }

  /** Never throws. */
  async function readEach(waiting: string[]): Promise<void> {
    for (let baseId = waiting.shift(); baseId !== undefined; baseId = waiting.shift()) {
      nudge(baseId)
      await runs.get(baseId)?.current
    }
  }

  async function storedReaders(baseId: string): Promise<Map<string, Reader>> {
    const rows = await meta.db.select().from(feedPositions).where(eq(feedPositions.baseId, baseId))
    return new Map(
      rows.flatMap(({ consumer: name, position }) => {
        const consumer = consumers.get(name)
        // A consumer of a later version keeps its position.
        if (!consumer) return []
        const reader = { consumer, position, stored: position, failures: 0, notBefore: 0 }
        return [[name, reader] as const]
      }),
    )
  }

  /** Adds those that began to follow since the positions were read. */
  async function addReaders(baseId: string, readers: Map<string, Reader>): Promise<void> {
    const names = [...(followers.get(baseId) ?? [])]
    if (names.every((name) => readers.has(name) || !consumers.has(name))) return
    for (const [name, reader] of await storedReaders(baseId)) {
      if (!readers.has(name)) readers.set(name, reader)
    }
  }

  /** Passes on everything that the log has. */
  async function readLog(baseId: string, run: Run, readers: Map<string, Reader>): Promise<void> {
    const engine = await sources.engine(baseId)
    for (;;) {
      const ready = [...readers.values()].filter(({ notBefore }) => notBefore <= Date.now())
      if (ready.length === 0 || isClosed) return
      const from = Math.min(...ready.map(({ position }) => position))
      const entries = await entriesAfter(engine, from, BATCH)
      if (entries.length === 0) {
        await resetLost(engine, baseId, ready)
        return
      }
      // What tables brought along from another base happened there.
      const own = entries.filter(({ undoneBy }) => undoneBy !== FROM_ANOTHER_BASE)
      const batch = own.length === 0 ? [] : await withTables(engine, own)
      const until = entries.at(-1)?.id ?? from
      for (const reader of ready) {
        if (readers.get(reader.consumer.name) === reader) await pass(baseId, run, reader, { batch, until })
        if (run.readers !== readers) return
      }
    }
  }

  async function withTables(engine: Engine, entries: readonly StoredEntry[]): Promise<FeedEntry[]> {
    const range = { from: entries[0]!.id, to: entries.at(-1)!.id }
    const records = entries.reduce((sum, entry) => sum + entry.records, 0)
    const listed = await listedRecords(engine, range, { scan: records > LARGE })
    return entries.map((entry) => ({ ...entry, tables: tablesOfEntry(entry, listed.get(entry.id) ?? []) }))
  }

  /** Passes the entries of a batch that a consumer has not taken yet. Never throws. */
  async function pass(
    baseId: string,
    run: Run,
    reader: Reader,
    { batch, until: position }: { batch: readonly FeedEntry[]; until: number },
  ): Promise<void> {
    const { consumer } = reader
    if (position <= reader.position) return
    const entries = batch.filter(({ id }) => id > reader.position)
    try {
      const statements = entries.length === 0 ? [] : await consumer.take({ baseId, entries })
      if (statements.length > 0 || position - reader.stored >= STORE_AFTER) {
        await meta.atomically([advance(baseId, reader, position), ...statements])
        reader.stored = position
      }
      reader.position = position
      reader.failures = 0
      if (statements.length > 0) consumer.stored?.(baseId)
    } catch (error) {
      if (await isReadElsewhere(baseId, reader)) return giveUp(baseId, run)
      reader.failures++
      reader.notBefore = Date.now() + Math.min(FIRST_DELAY_MS * 2 ** (reader.failures - 1), MAX_DELAY_MS)
      log.error('a consumer of a change log failed', error, {
        baseId,
        consumer: consumer.name,
        entry: position,
      })
    }
  }

  /** Fails, and with it the transaction, if another server has taken entries since the position was read. */
  const advance = (baseId: string, { consumer, stored }: Reader, position: number) =>
    meta.db
      .update(feedPositions)
      .set({
        position: sql`case when ${feedPositions.position} = ${stored} then cast(${position} as bigint) end`,
      })
      .where(atRow(consumer.name, baseId))

  /** True if the claim was lost unnoticed, as it may be with the connection to PostgreSQL. */
  async function isReadElsewhere(baseId: string, { consumer, stored }: Reader): Promise<boolean> {
    const [row] = await meta.db.select().from(feedPositions).where(atRow(consumer.name, baseId))
    return row !== undefined && row.position !== stored
  }

  async function giveUp(baseId: string, run: Run): Promise<void> {
    run.readers = null
    run.isElsewhere = true
    await claims.release(claimOf(baseId))
    nudgeIn(baseId, run, CLAIM_AGAIN_MS)
  }

  /** A base that was replaced by an older copy continues with lower ids. */
  async function resetLost(engine: Engine, baseId: string, readers: readonly Reader[]): Promise<void> {
    const newest = await lastChangeId(engine)
    for (const reader of readers) {
      if (reader.position <= newest) continue
      const { name } = reader.consumer
      log.warn('a change log is older than what was read of it', { baseId, consumer: name, newest })
      await meta.atomically([advance(baseId, reader, newest)])
      reader.position = newest
      reader.stored = newest
    }
  }

  return {
    consume(consumer) {
      if (consumers.has(consumer.name)) throw new Error(`The feed has a consumer ${consumer.name} already`)
      consumers.set(consumer.name, consumer)
    },

    async follow(consumer, baseId, { sinceSchemaChange = false } = {}) {
      const engine = await sources.engine(baseId)
      const newest = await lastChangeId(engine)
      const position = sinceSchemaChange ? await latestSchemaChange(engine, newest) : newest
      // Always: another server may be about to end it.
      await meta.db.insert(feedPositions).values({ consumer, baseId, position }).onConflictDoNothing()
      if (!followers.get(baseId)?.has(consumer)) {
        events.emit('feed.followed', { baseId, consumer, isFollowed: true })
      }
      return newest
    },

    follows: (consumer, baseId) => followers.get(baseId)?.has(consumer) ?? false,

    async unfollow(consumer, baseId, isWanted = async () => false) {
      const [row] = await meta.db.delete(feedPositions).where(atRow(consumer, baseId)).returning()
      events.emit('feed.followed', { baseId, consumer, isFollowed: false })
      if (!row || !(await isWanted())) return
      await meta.db
        .insert(feedPositions)
        .values(row)
        .onConflictDoUpdate({
          target: [feedPositions.consumer, feedPositions.baseId],
          set: { position: row.position },
        })
      events.emit('feed.followed', { baseId, consumer, isFollowed: true })
    },

    async read(baseId, from, limit) {
      const engine = await sources.engine(baseId)
      const entries = await entriesAfter(engine, from - 1, limit)
      return entries.length === 0 ? [] : withTables(engine, entries)
    },

    async start() {
      isStarted = true
      await readFollowers()
      const waiting = [...followers.keys()]
      for (let lane = 0; lane < STARTS_AT_ONCE; lane++) withoutCaller(() => void readEach(waiting))
    },

    async settled(baseId, check = () => {}) {
      const askId = randomUUID()
      const answered = Promise.withResolvers<true>()
      const ignore = events.on('feed.answered', (answer) => {
        if (answer.askId === askId) answered.resolve(true)
      })
      const until = Date.now() + SILENCE_MS
      try {
        for (;;) {
          check()
          nudge(baseId)
          const run = runs.get(baseId)
          await run?.current
          if (!run?.isElsewhere || isClosed || !followers.has(baseId)) return
          events.emit('feed.asked', { baseId, askId })
          if (await Promise.race([answered.promise, Bun.sleep(ASK_AGAIN_MS).then(() => false)])) return
          if (Date.now() < until) continue
          log.warn('the server that reads a change log does not answer', { baseId })
          return
        }
      } finally {
        ignore()
      }
    },

    async close() {
      isClosed = true
      for (const timer of gathering.values()) clearTimeout(timer)
      for (const [baseId, run] of runs) {
        if (run.timer !== null) clearTimeout(run.timer)
        await run.current
        if (run.readers === null) continue
        try {
          await storePositions(baseId, run.readers)
          // Others go on at once, and not when this server has ended.
          await claims.release(claimOf(baseId))
        } catch (error) {
          // As after a kill, entries without effect are read again at the next start.
          log.error('the positions in a change log could not be stored', error, { baseId })
        }
      }
    },
  }

  async function storePositions(baseId: string, readers: Map<string, Reader>): Promise<void> {
    const behind = [...readers.values()].filter(({ position, stored }) => position > stored)
    if (behind.length === 0) return
    await meta.atomically(behind.map((reader) => advance(baseId, reader, reader.position)))
    for (const reader of behind) reader.stored = reader.position
  }
}

/** The id of the latest change of a table, field or view among the newest entries, or of the newest entry. */
async function latestSchemaChange(engine: Engine, newest: number): Promise<number> {
  const entries = await entriesAfter(engine, newest - BATCH, BATCH)
  return entries.findLast(({ kind }) => !kind.startsWith('records.'))?.id ?? newest
}
