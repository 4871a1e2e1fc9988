import type { FromWorker, KnownFile, ToWorker } from '../plan.ts'

/** The import was cancelled, or the server is stopping. */
export class Cancelled extends Error {
  override readonly name = 'Cancelled'
}

const PROGRESS_EVERY_MS = 100

/** The worker's connection to the main thread. */
export interface Link {
  /**
   * Runs `work` while the main thread blocks other writers of the base.
   * @throws Cancelled, without running `work`
   */
  withLease<T>(work: () => T | Promise<T>): Promise<T>
  progress(rows: number, total: number): void
  /** @throws Cancelled */
  check(): void
  /** Yields to incoming messages, such as a cancel. @throws Cancelled */
  breathe(): Promise<void>
  /** Those of the stored files that the actor may use, by path. */
  knownFiles(paths: string[]): Promise<ReadonlyMap<string, KnownFile>>
  /** Handles every message but `start`. */
  receive(message: Exclude<ToWorker, { type: 'start' }>): void
}

export function createLink(send: (message: FromWorker) => void): Link {
  let isCancelled = false
  let waiting: PromiseWithResolvers<void> | null = null
  let asking: PromiseWithResolvers<KnownFile[]> | null = null
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
    async knownFiles(paths) {
      asking = Promise.withResolvers()
      send({ type: 'files', paths })
      const known = await asking.promise
      return new Map(known.map((file) => [file.path, file]))
    },
    receive(message) {
      if (message.type === 'files') return asking?.resolve(message.known)
      if (message.type === 'cancel') isCancelled = true
      // A cancel also ends a long wait for the lease.
      waiting?.resolve()
    },
  }
}
