import { closeSync, fdatasync, fdatasyncSync, openSync } from 'node:fs'

/**
 * Brings the commits of a connection with `synchronous = normal` to disk. SQLite itself then syncs its write-ahead log only
 * for checkpoints and when the log starts over: enough to keep the file whole, but a power failure would take the last
 * commits (https://sqlite.org/pragma.html#pragma_synchronous).
 */
export interface LogSync {
  /** The error of the first sync that failed: the system may have dropped the pages that it could not write. */
  readonly failure: Error | null
  /** Blocks the thread until all commits are on disk. @throws the system’s error */
  now(): void
  /**
   * Resolves when all commits before the call are on disk, without blocking the thread. Calls resolve in order, and those
   * during a sync share the next one.
   *
   * @throws the system’s error, or that of an earlier sync
   */
  soon(): Promise<void>
}

/** As `fdatasync` of node:fs. */
export type SyncDescriptor = (descriptor: number, done: (error: Error | null) => void) => void

/** @param path of the write-ahead log */
export function createLogSync(path: string, syncDescriptor: SyncDescriptor = fdatasync): LogSync {
  let failure: Error | null = null
  let running: Promise<void> | null = null
  let next: Promise<void> | null = null

  /** Remembers the first failure. */
  function fail(error: unknown): Error {
    failure ??= error instanceof Error ? error : new Error(String(error))
    return failure
  }

  async function run(): Promise<void> {
    try {
      if (failure) throw failure
      running = syncLog(path, syncDescriptor)
      await running
    } catch (error) {
      throw fail(error)
    } finally {
      running = null
    }
  }

  /** The sync after the running one, whose failure `run` repeats. */
  async function runNext(): Promise<void> {
    await running?.catch(() => undefined)
    next = null
    return run()
  }

  return {
    get failure() {
      return failure
    },
    now() {
      try {
        if (failure) throw failure
        const log = openLog(path)
        if (log === null) return
        try {
          fdatasyncSync(log)
        } finally {
          closeSync(log)
        }
      } catch (error) {
        throw fail(error)
      }
    },
    soon() {
      if (!running && !next) return run()
      next ??= runNext()
      return next
    },
  }
}

async function syncLog(path: string, syncDescriptor: SyncDescriptor): Promise<void> {
  const log = openLog(path)
  if (log === null) return
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  try {
    syncDescriptor(log, (error) => (error ? reject(error) : resolve()))
    await promise
  } finally {
    closeSync(log)
  }
}

/**
 * The log’s descriptor, or null if it has been removed: the last connection does that once everything is in the base’s file.
 * Closing it releases no locks, because those of SQLite are on the base’s file and on the log’s index.
 */
function openLog(path: string): number | null {
  try {
    return openSync(path, 'r')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}
