import { existsSync, readdirSync, readlinkSync } from 'node:fs'
import { constants, setPriority } from 'node:os'

/*
 * Requests go first when processors are short: whatever else runs has a lower priority. Linux gives each thread a
 * priority of its own, which threads that it starts inherit, and takes a thread's id in place of a process's.
 */

const { PRIORITY_BELOW_NORMAL, PRIORITY_LOW } = constants.priority

/** Link to `<process>/task/<thread>` of the reading thread. Only Linux has it. */
const THREAD_SELF = '/proc/thread-self'
const THREADS = '/proc/self/task'

/** Lowers the priority of the calling worker thread. Does nothing on systems without priorities of threads. */
export function lowerThreadPriority(): void {
  if (Bun.isMainThread || !existsSync(THREAD_SELF)) return
  setIfAllowed(Number(readlinkSync(THREAD_SELF).split('/').at(-1)), PRIORITY_BELOW_NORMAL)
}

/**
 * Lowers the priority of this process with all threads that it has, also those that collect garbage and compile.
 *
 * @param level `lowest` for work that nobody waits for
 */
export function lowerProcessPriority(level: 'below normal' | 'lowest'): void {
  const threads = existsSync(THREADS) ? readdirSync(THREADS).map(Number) : []
  for (const thread of [0, ...threads])
    setIfAllowed(thread, level === 'lowest' ? PRIORITY_LOW : PRIORITY_BELOW_NORMAL)
}

/** @param id of a process or thread; 0 for the calling one */
function setIfAllowed(id: number, priority: number): void {
  try {
    setPriority(id, priority)
  } catch (error) {
    // A sandbox may forbid it, and a thread may have ended. The work still gets done, so such an error is ignored.
    if (!(error instanceof Error && 'code' in error)) throw error
  }
}
