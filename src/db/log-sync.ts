import { closeSync, fdatasync, fdatasyncSync, openSync } from 'node:fs'

/** Brings write-ahead logs to disk. One that has been removed is: the last connection removes it once its file has everything. */
export interface Disk {
  /** Blocks the thread meanwhile. @throws the system’s error */
  syncNow(path: string): void
  /**
   * Blocks the thread while the disk is quick and only one log is written, and returns undefined; else resolves when the thread
   * pool has synced the log.
   *
   * @throws the system’s error, or rejects with it
   */
  sync(path: string): Promise<void> | undefined
}

/** A sync this quick takes less time than its way through the thread pool and the event loop. */
const QUICK_MS = 0.4
/** Syncs in the thread pool after a slow one, before the thread tries one again: twice as many each time that is slow. */
const FIRST_PAUSE = 16
const LONGEST_PAUSE = 1_024

/** The disk of all logs of a process. */
export function createDisk(
  system: {
    fdatasync(descriptor: number, done: (error: Error | null) => void): void
    fdatasyncSync(descriptor: number): void
  } = { fdatasync, fdatasyncSync },
  clock: () => number = () => performance.now(),
): Disk {
  let left = 0
  let pause = FIRST_PAUSE
  let lastPath = ''

  function syncNow(path: string): undefined {
    const log = openLog(path)
    if (log === null) return
    const startedAt = clock()
    try {
      system.fdatasyncSync(log)
    } finally {
      closeSync(log)
    }
    const isQuick = clock() - startedAt <= QUICK_MS
    left = isQuick ? 0 : pause
    pause = isQuick ? FIRST_PAUSE : Math.min(2 * pause, LONGEST_PAUSE)
  }

  async function syncInPool(path: string): Promise<void> {
    const log = openLog(path)
    if (log === null) return
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    try {
      system.fdatasync(log, (error) => (error ? reject(error) : resolve()))
      await promise
    } finally {
      closeSync(log)
    }
  }

  return {
    syncNow,
    sync(path) {
      const isOnly = path === lastPath
      lastPath = path
      if (left === 0 && isOnly) return syncNow(path)
      if (left > 0) left--
      return syncInPool(path)
    },
  }
}

/** Closing the descriptor releases no locks: those of SQLite are on the base’s file and on the log’s index. */
function openLog(path: string): number | null {
  try {
    return openSync(path, 'r')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}

const systemDisk = createDisk()

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
   * Brings all commits before the call to disk, as `Disk.sync`. Calls resolve in order, and those during a sync share the next
   * one. Rejects with the system’s error, or that of an earlier sync.
   */
  soon(): Promise<void> | undefined
}

/** @param path of the write-ahead log */
export function createLogSync(path: string, disk: Disk = systemDisk): LogSync {
  let failure: Error | null = null
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined

  /** Remembers the first failure. */
  function fail(error: unknown): Error {
    failure ??= error instanceof Error ? error : new Error(String(error))
    return failure
  }

  function run(): Promise<void> | undefined {
    try {
      if (failure) throw failure
      const synced = disk.sync(path)
      running = synced && settle(synced)
      return running
    } catch (error) {
      return Promise.reject(fail(error))
    }
  }

  async function settle(synced: Promise<void>): Promise<void> {
    try {
      await synced
    } catch (error) {
      throw fail(error)
    } finally {
      running = undefined
    }
  }

  /** The sync after the running one, whose failure `run` repeats. */
  async function runNext(): Promise<void> {
    await running?.catch(() => undefined)
    next = undefined
    await run()
  }

  return {
    get failure() {
      return failure
    },
    now() {
      try {
        if (failure) throw failure
        disk.syncNow(path)
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
