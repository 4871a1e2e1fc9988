import { codeOf } from './driver-errors.ts'
import { FOREIGN_LOCK_MS } from './mutex.ts'

const LOCK_RETRY_MS = 50

/** True for the error of a SQLite file that another connection has locked. */
export const isLocked = (error: unknown): boolean => codeOf(error).startsWith('SQLITE_BUSY')

/**
 * Repeats an attempt while another program holds the lock of a connected file, between turns of the event loop.
 *
 * @throws SQLITE_BUSY after `FOREIGN_LOCK_MS`
 */
export async function patiently<T>(attempt: () => T | Promise<T>): Promise<T> {
  const until = performance.now() + FOREIGN_LOCK_MS
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (!isLocked(error) || performance.now() > until) throw error
    }
    await Bun.sleep(LOCK_RETRY_MS)
  }
}
