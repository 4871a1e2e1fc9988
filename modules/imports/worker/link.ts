import type { FromWorker } from '../plan.ts'

/** The import was cancelled, or the server stops. */
export class Cancelled extends Error {
  override readonly name = 'Cancelled'
}

const PROGRESS_EVERY_MS = 100

/** The worker's end of its talk with the main thread. */
export interface Link {
  /**
   * Runs `work` while the main thread keeps other writers of the base out.
   * @throws Cancelled where the import was cancelled meanwhile; `work` is not run then
   */
  withLease<T>(work: () => T | Promise<T>): Promise<T>
  progress(rows: number, total: number): void
  /** @throws Cancelled where the import was cancelled */
  check(): void
  /** Lets messages in, such as a cancel. @throws Cancelled */
  breathe(): Promise<void>
  /** To be called with each message that is about the lease or a cancel. */
  receive(type: 'go' | 'cancel'): void
}

export function createLink(send: (message: FromWorker) => void): Link {
  let isCancelled = false
  let waiting: PromiseWithResolvers<void> | null = null
  let sentAt = 0

  function check(): void {
    if (isCancelled) throw new Cancelled('The import was cancelled')
  }

  return {
    check,
    async withLease(work) {
      check()
      waiting = Promise.withResolvers()
      send({ type: 'lease' })
      await waiting.promise
      waiting = null
      try {
        check()
        return await work()
      } finally {
        send({ type: 'release' })
      }
    },
    progress(rows, total) {
      const now = performance.now()
      if (now - sentAt < PROGRESS_EVERY_MS) return
      sentAt = now
      send({ type: 'progress', rows, total })
    },
    async breathe() {
      await Bun.sleep(0)
      check()
    },
    receive(type) {
      if (type === 'cancel') isCancelled = true
      // A cancel also ends the wait for a lease that is held by someone else for long.
      waiting?.resolve()
    },
  }
}
