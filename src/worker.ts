import type { PoolRequest } from './pool-runner.ts'
import { answer } from './pool-tasks.ts'

/** Entry of the worker threads. */

declare const self: Worker

self.onmessage = async ({ data }: MessageEvent<PoolRequest>) => {
  self.postMessage(await answer(data))
}
