import { existsSync, readlinkSync } from 'node:fs'
import { constants, setPriority } from 'node:os'

/** Link to `<process>/task/<thread>` of the reading thread. Only Linux has it and sets priorities per thread. */
const THREAD_SELF = '/proc/thread-self'

/**
 * Lets the thread that answers requests go first, where there are fewer cores than work: lowers the
 * priority of the worker thread that calls this. Where the system cannot, it shares as it always does.
 */
export function giveWay(): void {
  if (Bun.isMainThread || !existsSync(THREAD_SELF)) return
  const threadId = Number(readlinkSync(THREAD_SELF).split('/').at(-1))
  try {
    // To Linux the number of a thread is as good as that of a process.
    setPriority(threadId, constants.priority.PRIORITY_BELOW_NORMAL)
  } catch (error) {
    // A sandbox may forbid it. The work still gets done, so such an error is ignored.
    if (!(error instanceof Error && 'code' in error)) throw error
  }
}
