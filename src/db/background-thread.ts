import { existsSync, readlinkSync } from 'node:fs'
import { constants, setPriority } from 'node:os'

/** Link to `<process>/task/<thread>` of the reading thread. Only Linux has it and sets priorities per thread. */
const THREAD_SELF = '/proc/thread-self'

/**
 * Lowers the priority of the calling worker thread, so that the request thread goes first when cores are short. Does
 * nothing on systems without per-thread priorities.
 */
export function giveWay(): void {
  if (Bun.isMainThread || !existsSync(THREAD_SELF)) return
  const threadId = Number(readlinkSync(THREAD_SELF).split('/').at(-1))
  try {
    // Linux accepts a thread id in place of a process id.
    setPriority(threadId, constants.priority.PRIORITY_BELOW_NORMAL)
  } catch (error) {
    // A sandbox may forbid it. The work still gets done, so such an error is ignored.
    if (!(error instanceof Error && 'code' in error)) throw error
  }
}
