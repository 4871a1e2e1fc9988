import { AsyncLocalStorage } from 'node:async_hooks'
import { currentCaller } from '../caller.ts'
import { AppError } from '../core/errors.ts'
import { m } from '../messages.gen.ts'

/** Runs callers one at a time, first come, first served. */
export function createMutex() {
  let last: Promise<unknown> = Promise.resolve()
  return function exclusively<T>(work: () => Promise<T>): Promise<T> {
    const result = last.then(work)
    // The queue continues after a failure, which `result` passes to the caller.
    last = result.catch(() => undefined)
    return result
  }
}

/** Options of a turn in the write queue. */
export interface Turn {
  /** True for a change of whole tables: shorter writes go ahead while it waits. */
  isLong?: boolean
  /** Maximum wait for the turn. */
  patienceMs?: number
  /** Aborts the wait with its reason. */
  signal?: AbortSignal
}

interface Waiting extends Turn {
  since: number
  start(): void
}

/** Maximum wait of short writes behind changes of whole tables. */
export const WRITE_PATIENCE_MS = 20_000

/**
 * Maximum wait for what another program has locked in a connected database: of a write for rows and tables, since every other
 * write of the base waits with it, and of each statement for a SQLite file.
 */
export const FOREIGN_LOCK_MS = 5_000

/**
 * Maximum wait of the current caller's write: no longer than their read timeout. Undefined (no limit) for background
 * work such as jobs.
 */
export function writePatienceMs(): number | undefined {
  const caller = currentCaller()
  return caller && Math.min(WRITE_PATIENCE_MS, caller.timeoutMs)
}

/** After this wait, a change of whole tables goes ahead of newer writes. */
const LET_AHEAD_MS = 5_000

/**
 * The write queue of a base: first come, first served, but changes of whole tables let shorter writes go ahead for a
 * while. A cell edit thus waits for the running change only, not for all queued ones.
 */
export function createWriteQueue(now: () => number = () => performance.now()) {
  const waiting: Waiting[] = []
  let isTaken = false

  /** Grants the turn to the writer that is to go next. */
  function next(): void {
    const first = waiting[0]
    if (!first) return
    const isDue = !first.isLong || now() - first.since > LET_AHEAD_MS
    const shorter = isDue ? 0 : waiting.findIndex(({ isLong }) => !isLong)
    const [chosen] = waiting.splice(Math.max(0, shorter), 1)
    chosen?.start()
  }

  /** Runs the work, whose turn it is, and grants the next turn. */
  async function take<T>(work: () => Promise<T>): Promise<T> {
    isTaken = true
    try {
      return await work()
    } finally {
      isTaken = false
      next()
    }
  }

  /** @throws BASE_BUSY if the turn has not come within `patienceMs` */
  return function inTurn<T>(
    work: () => Promise<T>,
    { isLong = false, patienceMs, signal }: Turn = {},
  ): Promise<T> {
    if (!isTaken) return take(work)
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    let timer: ReturnType<typeof setTimeout> | undefined
    // The previous writer grants this turn, in the async context of another caller.
    const run = AsyncLocalStorage.bind(work)
    const entry: Waiting = {
      isLong,
      since: now(),
      start() {
        clearTimeout(timer)
        signal?.removeEventListener('abort', onAbort)
        // The caller gets a failure; the queue continues.
        take(run).then(resolve, reject)
      },
    }
    const leave = (reason: unknown) => {
      waiting.splice(waiting.indexOf(entry), 1)
      reject(reason)
    }
    const onAbort = () => leave(signal?.reason)
    waiting.push(entry)
    if (patienceMs !== undefined) timer = setTimeout(() => leave(baseBusy(patienceMs)), patienceMs)
    signal?.addEventListener('abort', onAbort, { once: true })
    return promise
  }
}

/** The error for a write that has waited too long. */
export const baseBusy = (patienceMs: number): AppError =>
  new AppError('BASE_BUSY', m.base_error_busy({ seconds: Math.round(patienceMs / 1000) }), {
    retryAfterSeconds: 5,
  })
