import { AsyncLocalStorage } from 'node:async_hooks'
import { currentCaller } from '../caller.ts'
import { AppError } from '../core/errors.ts'

/** Runs callers one after the other, in the order they came. */
export function createMutex() {
  let last: Promise<unknown> = Promise.resolve()
  return function exclusively<T>(work: () => Promise<T>): Promise<T> {
    const result = last.then(work)
    // The queue goes on after a failure; the failure itself is the caller's, in `result`.
    last = result.catch(() => undefined)
    return result
  }
}

/** Properties of a writer. */
export interface Turn {
  /** A change of whole tables: shorter writes that come while it waits go ahead of it. */
  isLong?: boolean
  /** Longest time to wait for the turn. */
  patienceMs?: number
  /** Ends the wait, with its reason. */
  signal?: AbortSignal
}

interface Waiting extends Turn {
  since: number
  start(): void
}

/** Short writes wait this long behind changes of whole tables, then fail. */
export const WRITE_PATIENCE_MS = 20_000

/**
 * How long a write of the present caller waits for its turn: no longer than their reads may take. Undefined for what
 * goes on by itself, such as jobs: nobody is told, so it waits.
 */
export function writePatienceMs(): number | undefined {
  const caller = currentCaller()
  return caller && Math.min(WRITE_PATIENCE_MS, caller.timeoutMs)
}

/** After this wait, a change of whole tables goes before newer writes. */
const LET_AHEAD_MS = 5_000

/**
 * The order in which the writers of a base have their turn: as they came, but changes of whole tables let shorter
 * writes ahead for a while. So an edit of a cell waits for the one change that runs, and not for all that wait.
 */
export function createWriteQueue(now: () => number = () => performance.now()) {
  const waiting: Waiting[] = []
  let isTaken = false

  function next(): void {
    const first = waiting[0]
    if (isTaken || !first) return
    const isDue = !first.isLong || now() - first.since > LET_AHEAD_MS
    const shorter = isDue ? 0 : waiting.findIndex(({ isLong }) => !isLong)
    const [chosen] = waiting.splice(Math.max(0, shorter), 1)
    isTaken = true
    chosen?.start()
  }

  /** @throws BASE_BUSY where the turn has not come within `patienceMs` */
  return function inTurn<T>(
    work: () => Promise<T>,
    { isLong = false, patienceMs, signal }: Turn = {},
  ): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    let timer: ReturnType<typeof setTimeout> | undefined
    // Its turn is given by the writer before it, whose caller is somebody else.
    const run = AsyncLocalStorage.bind(work)
    const entry: Waiting = {
      isLong,
      since: now(),
      start() {
        clearTimeout(timer)
        signal?.removeEventListener('abort', onAbort)
        // A failure is the caller's; the queue goes on.
        Promise.resolve()
          .then(run)
          .then(resolve, reject)
          .finally(() => {
            isTaken = false
            next()
          })
      },
    }
    const leave = (reason: unknown) => {
      waiting.splice(waiting.indexOf(entry), 1)
      reject(reason)
    }
    const onAbort = () => leave(signal?.reason)
    waiting.push(entry)
    next()
    if (patienceMs !== undefined && waiting.includes(entry)) {
      timer = setTimeout(() => leave(baseBusy(patienceMs)), patienceMs)
    }
    if (waiting.includes(entry)) signal?.addEventListener('abort', onAbort, { once: true })
    return promise
  }
}

/** The refusal of a write that has waited for as long as it may. */
export const baseBusy = (patienceMs: number): AppError =>
  new AppError(
    'BASE_BUSY',
    `Another change of this base takes long: this one waited ${Math.round(patienceMs / 1000)} s and was not made. Try again later`,
    { retryAfterSeconds: 5 },
  )
