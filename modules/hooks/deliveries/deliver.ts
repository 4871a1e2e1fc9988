import { and, asc, eq, inArray, lt, lte, or } from 'drizzle-orm'
import { withoutCaller } from '../../../src/caller.ts'
import { nowIso, nowMs } from '../../../src/clock.ts'
import { AppError } from '../../../src/core/errors.ts'
import type { HookPause, HookPayload } from '../../../src/core/hooks.ts'
import type { MetaStatement } from '../../../src/db/meta.ts'
import type { Kernel } from '../../../src/kernel.ts'
import type { PreparedNotices } from '../../../src/notices.ts'
import type { SchemaReader } from '../../schema/index.ts'
import type { DeliveryRow, HookRow, HookStore } from '../store.ts'
import type { Collector } from './collect.ts'
import type { Failures } from './failures.ts'
import { type Attempt, openTarget, type Sender, type Target } from './send.ts'

/** Calls at the same time, by this server and for one webhook. */
const CALLS = 64
const CALLS_PER_HOOK = 16
/** Calls at the same time for a webhook of which none has succeeded for a while. */
const CALLS_WHILE_FAILING = 2
/**
 * Waiting deliveries of a webhook in memory, in order; further ones are read when half of them are sent. More than
 * usually wait (`MAX_WAITING`), so that one record that fails does not hold back others.
 */
const WINDOW = 6_000
/** Results are stored together after this time, or when so many are there. */
const FLUSH_MS = 15
const FLUSH_ROWS = 200
/** Browsers hear of tried deliveries at this interval. */
const PROGRESS_MS = 250
/** Interval of looking for deliveries that another server has left, and for removing old ones. */
const LOOK_EVERY_MS = 5_000
const FORGET_EVERY_MS = 600_000
/** Calls that are running when the server stops get this long. */
const STOP_PATIENCE_MS = 4_000

/** Tries of a delivery; it is given up after the last. */
export const MAX_TRIES = 9
/** Each delay is four times the one before, up to 2,000 times the first: with 5 s, 9 tries take 3.7 to 7.5 hours. */
const GROWTH = 4
const MAX_GROWTH = 2_000
/** A webhook is paused when a delivery is given up and none has succeeded for so many times the first delay. */
const PATIENCE = 4_000

/** Retention of ended deliveries. */
const DELIVERED_KEPT_MS = 7 * 86_400_000
const DEAD_KEPT_MS = 30 * 86_400_000
/** Deliveries removed per statement. */
const FORGET_ROWS = 1_000

/** The place and the time of a waiting delivery. Whether it is still to be sent, and what, is read just before. */
type Waiting = Pick<DeliveryRow, 'id' | 'recordIds' | 'dueAt'>

/** What is read of a delivery when it is sent. */
type Due = Pick<DeliveryRow, 'id' | 'event' | 'attempts' | 'receivedBy'>

/** The deliveries of one webhook, which this server has claimed. */
interface Lane {
  hookId: string
  /** Null: to be read again. */
  loaded: { hook: HookRow; target: Target } | null
  /** In order. Sent ones stay until their result is stored. */
  window: Map<string, Waiting>
  /** Ids that are being sent or whose result is not stored yet. */
  busy: Set<string>
  /** How often what is in memory has become stale. */
  changes: number
  calls: number
  /** True if there may be further waiting deliveries. */
  hasMore: boolean
  /** How often it was asked to look for more. */
  asked: number
  isRunning: boolean
  isDue: boolean
  timer: Timer | null
}

/** The result of a try, to be stored. */
interface Result {
  lane: Lane
  hook: HookRow
  row: Waiting
  attempt: Attempt
  isEnded: boolean
  /** The lane's when it was sent. */
  changes: number
  statements: MetaStatement[]
}

/**
 * Sends waiting deliveries. One server at a time sends those of a webhook: it claims it as long as there are any. Deliveries
 * of one record are sent in order, each after the result of the one before is stored; others at the same time.
 */
export function createDeliverer(
  kernel: Kernel,
  schema: Pick<SchemaReader, 'load'>,
  store: HookStore,
  sender: Sender,
  collector: Collector,
  failures: Failures,
) {
  const { config, events, log, meta } = kernel
  const { claims } = meta.cluster
  const { hooks, hookDeliveries } = store
  const lanes = new Map<string, Lane>()
  const results: Result[] = []
  const closing = new AbortController()
  const firstDelayMs = config.webhookRetryMs
  /** Webhooks whose progress is announced soon. */
  const progressing = new Map<string, Timer>()
  let calls = 0
  let timers: Timer[] = []
  let flushTimer: Timer | null = null
  let flushing: Promise<void> = Promise.resolve()
  let isStarted = false
  let isClosed = false

  const claimOf = (hookId: string): string => `hook ${hookId}`

  events.on('hook.due', ({ hookId }) => wake(hookId))
  events.on('hook.changed', ({ hookId }) => {
    const lane = lanes.get(hookId)
    if (lane) forget(lane)
    wake(hookId)
  })
  events.on('events.missed', () => {
    for (const lane of lanes.values()) {
      forget(lane)
      run(lane)
    }
    look()
  })

  /** Lets all in memory be read again: others may have changed the webhook, or sent or given up its deliveries. */
  function forget(lane: Lane): void {
    lane.changes++
    lane.loaded = null
    empty(lane)
  }

  function empty(lane: Lane): void {
    for (const id of lane.window.keys()) if (!lane.busy.has(id)) lane.window.delete(id)
    ask(lane)
  }

  function ask(lane: Lane): void {
    lane.asked++
    lane.hasMore = true
  }

  /** Sends the due deliveries of a webhook, unless another server does. */
  function wake(hookId: string): void {
    if (!isStarted || isClosed) return
    const lane = lanes.get(hookId) ?? {
      hookId,
      loaded: null,
      window: new Map(),
      busy: new Set(),
      changes: 0,
      calls: 0,
      hasMore: true,
      asked: 0,
      isRunning: false,
      isDue: false,
      timer: null,
    }
    lanes.set(hookId, lane)
    ask(lane)
    run(lane)
  }

  function run(lane: Lane): void {
    lane.isDue = true
    // Another one may have taken its place.
    if (lane.isRunning || isClosed || lanes.get(lane.hookId) !== lane) return
    lane.isRunning = true
    withoutCaller(() => runWhileDue(lane))
      .catch((error) => {
        log.error('the deliveries of a webhook could not be read', error, { hookId: lane.hookId })
        wakeIn(lane, LOOK_EVERY_MS)
      })
      .finally(() => {
        lane.isRunning = false
        if (lane.isDue) run(lane)
      })
  }

  async function runWhileDue(lane: Lane): Promise<void> {
    while (lane.isDue && !isClosed) {
      lane.isDue = false
      // While the claim may be lost, another server may send.
      if (!meta.cluster.isCurrent()) {
        wakeIn(lane, LOOK_EVERY_MS)
        return
      }
      if (!(await claims.take(claimOf(lane.hookId)))) {
        drop(lane)
        return
      }
      const { changes } = lane
      const loaded = lane.loaded ?? (await load(lane.hookId))
      // It is due again.
      if (lane.changes !== changes) continue
      lane.loaded = loaded
      if (loaded === null) {
        if (lane.busy.size === 0) await release(lane)
        return
      }
      await fill(lane)
      if (lane.changes !== changes) continue
      await dispatch(lane, loaded)
      if (lane.window.size === 0 && !lane.hasMore) {
        // Nothing waits: further deliveries of a webhook that is behind are made now.
        if (await collector.catchUp(lane.hookId)) {
          lane.hasMore = true
          lane.isDue = true
        } else if (!lane.isDue) {
          await release(lane)
          return
        }
      }
    }
  }

  /** The webhook, or null if it is not to be called now. */
  async function load(hookId: string): Promise<Lane['loaded']> {
    const hook = await store.find(hookId)
    // They were made while it was deleted.
    if (!hook) await meta.db.delete(hookDeliveries).where(eq(hookDeliveries.hookId, hookId))
    if (!hook?.isActive || hook.pause !== null) return null
    try {
      await schema.load(hook.tableId)
    } catch (error) {
      // In the trash, or its database is away: it is looked for again.
      if (error instanceof AppError) return null
      throw error
    }
    const target = openTarget(hook, kernel.secrets.connections)
    if (target === null) {
      const reason: HookPause = { reason: 'settings', detail: null, at: nowIso() }
      return (await failures.pauseNow(hook, reason)) ? null : load(hookId)
    }
    return { hook, target }
  }

  function drop(lane: Lane): void {
    if (lane.timer !== null) clearTimeout(lane.timer)
    lanes.delete(lane.hookId)
  }

  async function release(lane: Lane): Promise<void> {
    drop(lane)
    await claims.release(claimOf(lane.hookId))
  }

  /** Reads waiting deliveries into the window. */
  async function fill(lane: Lane): Promise<void> {
    if (!lane.hasMore || lane.window.size > WINDOW / 2) return
    const { asked, changes } = lane
    const rows: Waiting[] = await meta.db
      .select({
        id: hookDeliveries.id,
        recordIds: hookDeliveries.recordIds,
        dueAt: hookDeliveries.dueAt,
      })
      .from(hookDeliveries)
      .where(and(eq(hookDeliveries.hookId, lane.hookId), eq(hookDeliveries.status, 'waiting')))
      .orderBy(
        asc(hookDeliveries.entryId),
        asc(hookDeliveries.part),
        asc(hookDeliveries.createdAt),
        asc(hookDeliveries.id),
      )
      .limit(WINDOW)
    if (lane.changes !== changes) return
    // What was stored during the read is read next.
    lane.hasMore = rows.length === WINDOW || lane.asked !== asked
    // In the order of the database, as deliveries that were sent again may come before others.
    const known = lane.window
    lane.window = new Map(rows.map((row) => [row.id, known.get(row.id) ?? row]))
    for (const id of lane.busy) {
      const row = known.get(id)
      if (row) lane.window.set(id, row)
    }
  }

  /** How many calls may begin now. */
  function freeCalls({ calls: own, loaded }: Lane): number {
    const since = loaded?.hook.failingSince ?? null
    const isFailing = since !== null && nowMs() - since > firstDelayMs * GROWTH
    return Math.min(CALLS - calls, (isFailing ? CALLS_WHILE_FAILING : CALLS_PER_HOOK) - own)
  }

  /** Starts the calls that are due and not behind others of the same record. */
  async function dispatch(lane: Lane, loaded: NonNullable<Lane['loaded']>): Promise<void> {
    const now = nowMs()
    const free = freeCalls(lane)
    if (free <= 0) return
    const ready: Waiting[] = []
    /** Records with an earlier delivery. */
    const taken = new Set<string>()
    let next = Number.POSITIVE_INFINITY
    for (const row of lane.window.values()) {
      const { recordIds } = row
      const isFree = recordIds === null ? taken.size === 0 : !recordIds.some((id) => taken.has(id))
      if (isFree && !lane.busy.has(row.id)) {
        if (row.dueAt > now) next = Math.min(next, row.dueAt)
        else if (ready.push(row) === free) break
      }
      // A delivery whose records are not listed is sent alone.
      if (recordIds === null) break
      for (const id of recordIds) taken.add(id)
    }
    if (next < Number.POSITIVE_INFINITY) wakeIn(lane, next - now)
    if (ready.length === 0) return
    for (const { id } of ready) lane.busy.add(id)
    const { changes } = lane
    const due = await readDue(lane, ready)
    for (const row of ready) {
      const found = lane.changes === changes ? due.get(row.id) : undefined
      if (found) {
        call(lane, loaded, row, found)
      } else {
        lane.busy.delete(row.id)
        lane.window.delete(row.id)
        // Others may have waited for it.
        lane.isDue = true
      }
    }
  }

  /** Those that still wait and belong to the webhook. */
  async function readDue({ hookId }: Lane, list: readonly Waiting[]): Promise<Map<string, Due>> {
    const { id, event, attempts, receivedBy, status } = hookDeliveries
    const ids = list.map((row) => row.id)
    const rows: Due[] = await meta.db
      .select({ id, event, attempts, receivedBy })
      .from(hookDeliveries)
      .where(and(inArray(id, ids), eq(hookDeliveries.hookId, hookId), eq(status, 'waiting')))
    return new Map(rows.map((row) => [row.id, row]))
  }

  function call(
    lane: Lane,
    { hook, target }: NonNullable<Lane['loaded']>,
    row: Waiting,
    { event, attempts, receivedBy }: Due,
  ): void {
    const { changes } = lane
    const payload = JSON.parse(event) as HookPayload
    calls++
    lane.calls++
    withoutCaller(() => sender.send(target, payload, { signal: closing.signal, receivedBy }))
      .then((attempt) => {
        // Not a failure of the receiver.
        if (closing.signal.aborted && !attempt.isDelivered) return
        const latest = lane.loaded?.hook ?? hook
        results.push({
          lane,
          hook: latest,
          row,
          attempt,
          changes,
          ...outcomeOf(latest, row, attempts, attempt),
        })
        if (results.length >= FLUSH_ROWS) flushSoon(0)
        else flushSoon(FLUSH_MS)
      })
      .catch((error) => {
        log.error('a webhook could not be called', error, { hookId: lane.hookId, deliveryId: row.id })
        lane.busy.delete(row.id)
        row.dueAt = nowMs() + LOOK_EVERY_MS
      })
      .finally(() => {
        calls--
        lane.calls--
        run(lane)
      })
  }

  /** What is stored of a try. @param before the tries before it */
  function outcomeOf(
    hook: HookRow,
    row: Waiting,
    before: number,
    attempt: Attempt,
  ): Pick<Result, 'isEnded' | 'statements'> {
    const now = nowMs()
    const { isDelivered, isFinal, isHeld, error, request, response, durationMs } = attempt
    const attempts = isHeld ? Math.max(before, 1) : before + 1
    const isDead = !isDelivered && (isFinal || attempts >= MAX_TRIES)
    const isEnded = isDelivered || isDead
    // What has arrived counts, whatever became of the delivery meanwhile; a failure does only if it still waits.
    const isStored = isDelivered ? undefined : eq(hookDeliveries.status, 'waiting')
    row.dueAt = now + Math.round(attempt.retryAfterMs ?? delayAfter(attempts))
    const statements: MetaStatement[] = [
      meta.db
        .update(hookDeliveries)
        .set({
          status: isDelivered ? 'delivered' : isDead ? 'dead' : 'waiting',
          attempts,
          receivedBy: attempt.receivedBy,
          dueAt: row.dueAt,
          endedAt: isEnded ? now : null,
          request,
          response,
          durationMs,
          errorCode: error?.code ?? null,
          errorMessage: error?.message ?? null,
        })
        .where(and(eq(hookDeliveries.id, row.id), isStored)),
    ]
    const failingSince = isDelivered ? null : isHeld ? hook.failingSince : (hook.failingSince ?? now)
    if (hook.failingSince !== failingSince) {
      hook.failingSince = failingSince
      statements.push(meta.db.update(hooks).set({ failingSince }).where(eq(hooks.id, hook.id)))
    }
    return { isEnded, statements }
  }

  /** Before the try after so many; between half and all of it, so that many deliveries do not return at once. */
  const delayAfter = (attempts: number): number =>
    firstDelayMs * Math.min(GROWTH ** (attempts - 1), MAX_GROWTH) * (0.5 + Math.random() / 2)

  function flushSoon(ms: number): void {
    if (flushTimer !== null) {
      if (ms > 0) return
      clearTimeout(flushTimer)
    }
    flushTimer = setTimeout(() => {
      flushTimer = null
      flushing = flushing.then(flush)
    }, ms)
  }

  /** Stores the results with what follows from failures. Until then, their deliveries count as not sent. */
  async function flush(): Promise<void> {
    const batch = results.splice(0)
    if (batch.length === 0) return
    const consequences: PreparedNotices[] = []
    try {
      for (const ofHook of Map.groupBy(batch, ({ hook }) => hook.id).values()) {
        const given = ofHook.filter(({ isEnded, attempt }) => isEnded && !attempt.isDelivered).at(-1)
        if (given) consequences.push(await giveUp(given))
      }
      await meta.atomically([...batch, ...consequences].flatMap(({ statements }) => statements))
    } catch (error) {
      log.error('the results of webhooks could not be stored', error)
      // The receivers know the ids of the deliveries, which are sent again.
      results.unshift(...batch)
      if (!isClosed) flushSoon(LOOK_EVERY_MS)
      return
    }
    for (const result of batch) {
      const { lane, row } = result
      lane.busy.delete(row.id)
      if (result.isEnded) lane.window.delete(row.id)
      // Whether it still waits is read with its place among the others.
      else if (result.changes !== lane.changes) empty(lane)
    }
    for (const { stored } of consequences) stored()
    for (const lane of new Set(batch.map((result) => result.lane))) {
      if (lane.loaded) announceProgress(lane.loaded.hook)
      run(lane)
    }
  }

  /** Tells browsers that deliveries were tried, at most once in a while for each webhook. */
  function announceProgress({ id, baseId }: HookRow): void {
    if (isClosed || progressing.has(id)) return
    const tell = () => {
      progressing.delete(id)
      events.emit('hook.progressed', { hookId: id, baseId })
    }
    progressing.set(id, setTimeout(tell, PROGRESS_MS))
  }

  /** Notices of a delivery that was given up, and the pause of a webhook that has only failed for long. */
  async function giveUp({ hook, attempt: { error } }: Result): Promise<PreparedNotices> {
    const detail = error?.message ?? null
    log.warn('a delivery was given up', { hookId: hook.id, error: detail })
    const isForLong = hook.failingSince !== null && nowMs() - hook.failingSince >= firstDelayMs * PATIENCE
    // Somebody may have changed it, or let it go on, since it was called.
    const isPaused = isForLong && (await store.find(hook.id))?.updatedAt === hook.updatedAt
    return isPaused
      ? failures.pause(hook, { reason: 'failing', detail, at: nowIso() })
      : failures.gaveUp(hook, detail)
  }

  function wakeIn(lane: Lane, ms: number): void {
    if (lane.timer !== null) clearTimeout(lane.timer)
    lane.timer = setTimeout(
      () => {
        lane.timer = null
        run(lane)
      },
      Math.min(Math.max(ms, 1), 3_600_000),
    )
    lane.timer.unref()
  }

  /** Wakes webhooks with due deliveries, and those that are behind. */
  function look(): void {
    withoutCaller(async () => {
      const due = await meta.db
        .selectDistinct({ id: hookDeliveries.hookId })
        .from(hookDeliveries)
        .where(and(eq(hookDeliveries.status, 'waiting'), lte(hookDeliveries.dueAt, nowMs())))
      for (const id of new Set([...due.map((row) => row.id), ...(await store.behind())])) wake(id)
    }).catch((error) => log.error('due webhooks could not be read', error))
  }

  async function forgetOld(now = nowMs()): Promise<void> {
    const isOld = or(
      and(eq(hookDeliveries.status, 'delivered'), lt(hookDeliveries.createdAt, now - DELIVERED_KEPT_MS)),
      and(eq(hookDeliveries.status, 'dead'), lt(hookDeliveries.createdAt, now - DEAD_KEPT_MS)),
    )
    for (;;) {
      const old = meta.db
        .select({ id: hookDeliveries.id })
        .from(hookDeliveries)
        .where(isOld)
        .limit(FORGET_ROWS)
      const removed = await meta.db
        .delete(hookDeliveries)
        .where(inArray(hookDeliveries.id, old))
        .returning({ id: hookDeliveries.id })
      if (removed.length < FORGET_ROWS || isClosed) return
    }
  }

  const removeOld = () =>
    void forgetOld().catch((error) => log.error('old deliveries could not be removed', error))

  return {
    forgetOld,
    /** Sends the due deliveries of a webhook, by whichever server. */
    due: ({ id, baseId }: Pick<HookRow, 'id' | 'baseId'>) => events.emit('hook.due', { hookId: id, baseId }),

    start() {
      isStarted = true
      timers = [setInterval(look, LOOK_EVERY_MS), setInterval(removeOld, FORGET_EVERY_MS)]
      for (const timer of timers) timer.unref()
      look()
      removeOld()
    },

    async close() {
      isClosed = true
      for (const timer of timers) clearInterval(timer)
      for (const timer of progressing.values()) clearTimeout(timer)
      for (const { timer } of lanes.values()) if (timer !== null) clearTimeout(timer)
      const patience = Date.now() + STOP_PATIENCE_MS
      while (calls > 0 && Date.now() < patience) await Bun.sleep(20)
      closing.abort()
      if (flushTimer !== null) clearTimeout(flushTimer)
      await flushing
      await flush()
      for (const lane of [...lanes.values()]) await claims.release(claimOf(lane.hookId))
    },
  }
}
