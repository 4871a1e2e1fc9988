import { workerUrl } from '../../src/worker-url.ts'

/** Bun's workers have `ref` and `unref`, which the DOM types lack. */
type KeepAlive = Worker & { ref(): void; unref(): void }

/** A thread that nobody has used for so long ends, and gives back its memory. */
const IDLE_MS = 10_000
/** A thread that was used for longer ends at once: it may have much memory, and starting another one takes little in comparison. */
const SHORT_USE_MS = 5_000

/** Who uses a thread at the moment. */
interface ThreadUser<From> {
  hear(message: From): void
  /** The thread has ended by itself, or its script has thrown. It is not used again. */
  failed(reason: string): void
}

/** A thread while it is used. */
export interface KeptThread<To> {
  post(message: To): void
  /** Gives it back, for the next user. It must have nothing left to do, and have closed its files. It takes no more messages. */
  giveBack(): void
  /** Ends it. */
  end(): void
}

/**
 * Threads of a script. One that is given back waits a while for its next user, since starting the script takes longer than
 * reading most files.
 */
export function createKeptThreads<To, From>(script: string): (user: ThreadUser<From>) => KeptThread<To> {
  interface Thread {
    worker: KeepAlive
    user: ThreadUser<From> | null
    hasFailed: boolean
  }
  let idle: { thread: Thread; timer: Timer } | null = null

  function startThread(): Thread {
    const worker = new Worker(workerUrl(script)) as KeepAlive
    const thread: Thread = { worker, user: null, hasFailed: false }
    const fail = (reason: string) => {
      thread.hasFailed = true
      if (idle?.thread === thread) endIdle()
      thread.user?.failed(reason)
    }
    worker.onmessage = ({ data }: MessageEvent<From>) => thread.user?.hear(data)
    worker.onerror = ({ message }) => fail(message)
    // A thread can end without an error.
    worker.addEventListener('close', () => fail('it has ended'))
    return thread
  }

  function takeIdle(): Thread | null {
    if (idle === null) return null
    const { thread, timer } = idle
    clearTimeout(timer)
    idle = null
    thread.worker.ref()
    return thread
  }

  function endIdle(): void {
    takeIdle()?.worker.terminate()
  }

  return (user) => {
    const thread = takeIdle() ?? startThread()
    const { worker } = thread
    const usedSince = performance.now()
    thread.user = user
    const end = () => {
      thread.user = null
      worker.terminate()
    }
    return {
      post(message) {
        // One that was given back may have another user.
        if (thread.user === user) worker.postMessage(message)
      },
      end,
      giveBack() {
        const wasShort = performance.now() - usedSince <= SHORT_USE_MS
        if (thread.hasFailed || idle !== null || !wasShort) return end()
        thread.user = null
        worker.unref()
        const timer = setTimeout(endIdle, IDLE_MS)
        timer.unref()
        idle = { thread, timer }
      },
    }
  }
}
