import { availableParallelism } from 'node:os'
import { clockOffsetMs } from '../../src/clock.ts'
import type { PoolMessage } from '../../src/pool-runner.ts'
import { startReaderWith } from '../../src/reader-process.ts'

/** Threads of the runtime that may wait for a disk to have stored what others go on to compress. */
const WAITING = 2

/** Reading and compressing files is native code: to compile the rest for speed takes a twentieth of the processor time. */
const MOSTLY_NATIVE = { BUN_JSC_useDFGJIT: '0' }

/**
 * Runs a task of `src/pool-tasks.ts` in a process that has no other connections to the databases, as snapshots need it,
 * and that is killed when the signal aborts: a killed backup leaves earlier ones as they were.
 *
 * @throws Error with the task's message; the signal's reason
 */
export async function runInProcess<T>(
  task: string,
  input: unknown,
  {
    signal,
    isMostlyNative = false,
    onProgress,
  }: { signal: AbortSignal; isMostlyNative?: boolean; onProgress?: (bytes: number) => void },
): Promise<T> {
  signal.throwIfAborted()
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const handlers: Parameters<typeof startReaderWith>[0] = {
    reply(message: PoolMessage) {
      if ('written' in message) onProgress?.(message.written)
      else if ('ok' in message && message.ok) resolve(message.result as T)
      else if ('ok' in message) reject(new Error(message.error.message))
    },
    ended: (message) => reject(new Error(message)),
  }
  const runner = startReaderWith(handlers, {
    UV_THREADPOOL_SIZE: String(availableParallelism() + WAITING),
    ...(isMostlyNative && MOSTLY_NATIVE),
  })
  const abort = () => {
    runner.end()
    reject(signal.reason)
  }
  signal.addEventListener('abort', abort, { once: true })
  runner.post({ id: 1, task, input, clockOffsetMs: clockOffsetMs() })
  try {
    return await promise
  } finally {
    signal.removeEventListener('abort', abort)
    runner.end()
    // It has written its last then.
    await runner.hasEnded
  }
}
