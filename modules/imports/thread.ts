import { clockOffsetMs } from '../../src/clock.ts'
import { AppError, badRequest, type ErrorCode } from '../../src/core/errors.ts'
import type { BulkWatch } from '../../src/db/bulk-writer.ts'
import type { RefusedIndexes } from '../../src/db/watched-engine.ts'
import type { Engine } from '../../src/dialects/dialect.ts'
import { createKeptThreads } from './kept-threads.ts'
import type { ImportOutcome, ImportPlan } from './plan.ts'

/*
 * Both ends of the connection between the main thread and the thread of an import: `runInThread` starts it and lends
 * it the base's write lease, `connectMainThread` is its end.
 */

/** Messages between the main thread and the worker. */
export type ToWorker =
  | { type: 'start'; plan: ImportPlan; clockOffsetMs: number }
  | { type: 'go' }
  | { type: 'cancel' }
  /** Answers `files`: those that the actor may use. */
  | { type: 'files'; known: KnownFile[] }

/** A stored file. */
export interface KnownFile {
  path: string
  mimetype: string
  /** Bytes. */
  size: number
  /** Pixels; null unless it is an image. */
  width: number | null
  height: number | null
}

export type FromWorker =
  | { type: 'lease' }
  | { type: 'release' }
  /** Asks which of these stored files the actor may use. */
  | { type: 'files'; paths: string[] }
  | { type: 'progress'; rows: number; total: number }
  /** Automatic indexes that were dropped because they refused values. */
  | { type: 'refused'; indexes: RefusedIndexes }
  /** See `OnBlocked`. */
  | { type: 'blocked'; isBlocked: boolean }
  | { type: 'done'; outcome: ImportOutcome }
  /**
   * `refusal`: an error for the user; the file is to blame unless it has an error code.
   * `code`: error code of the system or database.
   */
  | {
      type: 'failed'
      message: string
      code: string | undefined
      refusal: { code?: ErrorCode; details?: Record<string, unknown> } | null
    }

/** The main thread's side of an import. */
interface ThreadHost extends BulkWatch {
  engine: Engine
  signal: AbortSignal
  progress(rows: number, total: number): void
  /**
   * Called under the write lease before each write of the thread.
   * @throws to end the import
   */
  verify(): Promise<void>
  /** Returns the stored files among `paths` that the actor may use, and links them to the base. */
  files(paths: string[]): Promise<KnownFile[]>
}

const importThread = createKeptThreads<ToWorker, FromWorker>('modules/imports/import-worker.ts')

/**
 * Runs a plan in a thread of its own. Lends it the base's write lease for one chunk at a time, so that others can
 * write in between. Rejects once the thread has closed its connection.
 * @throws BAD_REQUEST for an invalid file; the signal's reason after an abort
 */
export function runInThread(
  plan: ImportPlan,
  { engine, signal, progress, verify, files, refusedBy }: ThreadHost,
): Promise<ImportOutcome> {
  const { promise, resolve, reject } = Promise.withResolvers<ImportOutcome>()
  const thread = importThread({
    hear,
    failed: (reason) => end(() => reject(new Error(`The import's thread failed: ${reason}`))),
  })
  const { post } = thread
  let release: (() => void) | null = null
  let refusal: unknown = null
  let hasEnded = false
  let isBlocked = false

  /** Also ends a thread that cannot receive the message, since it parses a file in one go. */
  function cancel(): void {
    if (isBlocked && signal.aborted) end(() => reject(signal.reason))
    else post({ type: 'cancel' })
  }

  /** @param isDone the thread has closed its files and can run another import */
  function end(conclude: () => void, isDone = false): void {
    if (hasEnded) return
    hasEnded = true
    signal.removeEventListener('abort', cancel)
    release?.()
    // Ended only here: a thread stopped within a transaction would keep the file locked.
    if (isDone) thread.giveBack()
    else thread.end()
    conclude()
  }

  async function lend(): Promise<void> {
    if (hasEnded) return
    const { promise: returned, resolve: returnLease } = Promise.withResolvers<void>()
    release = returnLease
    try {
      await verify()
      post({ type: 'go' })
    } catch (error) {
      refusal = error
      cancel()
    }
    await returned
    release = null
  }

  async function sendFiles(paths: string[]): Promise<void> {
    const known = await files(paths)
    if (!hasEnded) post({ type: 'files', known })
  }

  function hear(data: FromWorker): void {
    switch (data.type) {
      case 'lease':
        engine.exclusively(lend).catch((error) => end(() => reject(error)))
        break
      case 'release':
        release?.()
        break
      case 'files':
        sendFiles(data.paths).catch((error) => end(() => reject(error)))
        break
      case 'progress':
        progress(data.rows, data.total)
        break
      case 'refused':
        refusedBy?.(data.indexes)
        break
      case 'blocked':
        isBlocked = data.isBlocked
        if (signal.aborted) cancel()
        break
      case 'done':
        end(() => resolve(data.outcome), true)
        break
      case 'failed':
        end(() => reject(refusal ?? (signal.aborted ? signal.reason : failure(data))))
        break
    }
  }

  signal.addEventListener('abort', cancel)
  post({ type: 'start', plan, clockOffsetMs: clockOffsetMs() })
  if (signal.aborted) cancel()
  return promise
}

function failure({ message, code, refusal }: Extract<FromWorker, { type: 'failed' }>): Error {
  if (refusal === null) return Object.assign(new Error(message), { code })
  return refusal.code ? new AppError(refusal.code, message, refusal.details) : badRequest(message)
}

/** The import was cancelled, or the server is stopping. */
class Cancelled extends Error {
  override readonly name = 'Cancelled'
}

const PROGRESS_EVERY_MS = 100

/** The worker's connection to the main thread. */
export interface MainThread {
  /**
   * Runs `work` while the main thread blocks other writers of the base.
   * @throws Cancelled, without running `work`
   */
  withLease<T>(work: () => T | Promise<T>): Promise<T>
  progress(rows: number, total: number): void
  /** Aborted once the import is cancelled: for waits that a cancel has to end. */
  readonly signal: AbortSignal
  /** @throws Cancelled */
  check(): void
  /** Yields to incoming messages, such as a cancel. @throws Cancelled */
  yieldNow(): Promise<void>
  /** Those of the stored files that the actor may use, by path. */
  knownFiles(paths: string[]): Promise<ReadonlyMap<string, KnownFile>>
  /** Handles every message but `start`. */
  receive(message: Exclude<ToWorker, { type: 'start' }>): void
}

export function connectMainThread(send: (message: FromWorker) => void): MainThread {
  const cancellation = new AbortController()
  const { signal } = cancellation
  let leaseRequest: PromiseWithResolvers<void> | null = null
  let filesRequest: PromiseWithResolvers<KnownFile[]> | null = null
  let sentAt = 0

  const check = (): void => signal.throwIfAborted()

  return {
    signal,
    check,
    async withLease(work) {
      check()
      leaseRequest = Promise.withResolvers()
      send({ type: 'lease' })
      await leaseRequest.promise
      leaseRequest = null
      try {
        check()
        return await work()
      } finally {
        send({ type: 'release' })
      }
    },
    progress(rows, total) {
      const now = performance.now()
      if (now - sentAt < PROGRESS_EVERY_MS) return
      sentAt = now
      send({ type: 'progress', rows, total })
    },
    async yieldNow() {
      await Bun.sleep(0)
      check()
    },
    async knownFiles(paths) {
      filesRequest = Promise.withResolvers()
      send({ type: 'files', paths })
      const known = await filesRequest.promise
      return new Map(known.map((file) => [file.path, file]))
    },
    receive(message) {
      if (message.type === 'files') return filesRequest?.resolve(message.known)
      if (message.type === 'cancel') cancellation.abort(new Cancelled('The import was cancelled'))
      // A cancel also ends a long wait for the lease.
      leaseRequest?.resolve()
    },
  }
}
