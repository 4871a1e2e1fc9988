import { heapStats } from 'bun:jsc'
import { isMainThread } from 'node:worker_threads'
import { SERVER_MAIN } from '../support/server-main.ts'

/*
 * Loaded before the server (`BUN_OPTIONS=--preload …`): tells the size of its heap without garbage, on the socket that
 * `HEAP_PROBE` names.
 */

/** What a server's main thread holds on to. */
export interface Heap {
  bytes: number
  /** Objects by type. */
  counts: Record<string, number>
}

const { HEAP_PROBE: unix } = process.env
if (unix && isMainThread && Bun.main === SERVER_MAIN) {
  // Readers and other processes that it starts have no probe.
  delete process.env.HEAP_PROBE
  Bun.serve({
    unix,
    async fetch() {
      // Finalizers of the first collection let go of more.
      for (let round = 0; round < 3; round++) {
        Bun.gc(true)
        await Bun.sleep(20)
      }
      const { heapSize, objectTypeCounts } = heapStats()
      return Response.json({ bytes: heapSize, counts: objectTypeCounts } satisfies Heap)
    },
  })
}
