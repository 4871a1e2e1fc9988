import { readlinkSync } from 'node:fs'
import { constants, platform, setPriority } from 'node:os'

/**
 * Lets the thread that answers requests go first, where there are fewer cores than work: lowers the
 * priority of the worker thread that calls this. Only Linux counts priorities by thread; elsewhere
 * the system is left to share as it does.
 */
export function giveWay(): void {
  if (Bun.isMainThread || platform() !== 'linux') return
  // `/proc/thread-self` leads to `<process>/task/<thread>`, and to Linux a thread's number is as good as a process's.
  const threadId = Number(readlinkSync('/proc/thread-self').split('/').at(-1))
  setPriority(threadId, constants.priority.PRIORITY_BELOW_NORMAL)
}
