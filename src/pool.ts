import { workerUrl } from './worker-url.ts'

/** A message to a worker thread and its answer; `id` pairs them. */
export interface PoolRequest {
  id: number
  task: string
  input: unknown
}

export type PoolReply =
  | { id: number; ok: true; result: unknown }
  | { id: number; ok: false; error: { message: string; code?: string } }

/** Threads for work that grows with a table, so that the thread that answers requests never waits for it. */
export interface WorkerPool {
  /**
   * Runs a task of `src/worker.ts` in the least busy thread and gives its result.
   * @throws PoolTaskError with the task's own message and code
   */
  run(task: string, input: unknown): Promise<unknown>
  /** Waits for nothing: what is running is cut off. */
  close(): void
}

export class PoolTaskError extends Error {
  override readonly name = 'PoolTaskError'
  constructor(
    message: string,
    readonly code?: string,
  ) {
    super(message)
  }
}

interface Thread {
  worker: KeepAlive
  pending: Map<number, { resolve(value: unknown): void; reject(error: Error): void }>
}

/** Bun's workers can let the process end beside them; the DOM types, which this project also has, do not know. */
type KeepAlive = Worker & { ref(): void; unref(): void }

/** A pool of at most `size` threads, each started when it is first needed. */
export function createWorkerPool(size: number): WorkerPool {
  const threads: Thread[] = []
  let nextId = 1
  let closed = false

  function start(): Thread {
    const thread: Thread = { worker: new Worker(workerUrl('src/worker.ts')) as KeepAlive, pending: new Map() }
    thread.worker.onmessage = ({ data }: MessageEvent<PoolReply>) => {
      const waiting = thread.pending.get(data.id)
      thread.pending.delete(data.id)
      if (thread.pending.size === 0) thread.worker.unref()
      if (data.ok) waiting?.resolve(data.result)
      else waiting?.reject(new PoolTaskError(data.error.message, data.error.code))
    }
    thread.worker.onerror = (event) => {
      lose(thread, event.message)
      thread.worker.terminate()
    }
    // A thread can end without an error.
    thread.worker.addEventListener('close', () => lose(thread, 'A worker thread has ended'))
    threads.push(thread)
    return thread
  }

  /** Leaves a thread out from now on, and tells those who wait for it. */
  function lose(thread: Thread, message: string): void {
    const at = threads.indexOf(thread)
    if (at >= 0) threads.splice(at, 1)
    for (const { reject } of thread.pending.values()) reject(new PoolTaskError(message))
    thread.pending.clear()
  }

  function leastBusy(): Thread {
    const idle = threads.find((thread) => thread.pending.size === 0)
    if (idle) return idle
    if (threads.length < size) return start()
    return threads.reduce((best, thread) => (thread.pending.size < best.pending.size ? thread : best))
  }

  return {
    run(task, input) {
      if (closed) return Promise.reject(new PoolTaskError('The server is stopping'))
      const thread = leastBusy()
      const id = nextId++
      return new Promise((resolve, reject) => {
        thread.pending.set(id, { resolve, reject })
        // A process that is stopping waits for what it has begun.
        thread.worker.ref()
        thread.worker.postMessage({ id, task, input } satisfies PoolRequest)
      })
    },
    close() {
      closed = true
      for (const { worker, pending } of threads.splice(0)) {
        worker.terminate()
        for (const { reject } of pending.values()) reject(new PoolTaskError('The server is stopping'))
      }
    },
  }
}
