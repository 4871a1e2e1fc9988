import type { Analysis } from '../../../src/core/imports/analysis.ts'
import type { ChosenFormat } from '../../../src/core/imports/format.ts'
import { AnalyseError, type AnalyseReply, type AnalyseRequest, type FileSamples } from './analysis.ts'

/** Analyses text files in a worker. */
export interface Analyser {
  /**
   * Returns null for a file of a kind that only the server reads.
   * @throws AnalyseError where the file cannot be read
   */
  analyse(samples: FileSamples, chosen: ChosenFormat): Promise<Analysis | null>
  close(): void
}

/** Starts the worker; call `close` when its dialog closes. */
export function createAnalyser(): Analyser {
  const worker = new Worker(new URL('../../workers/csv.ts', import.meta.url), { type: 'module' })
  const waiting = new Map<number, PromiseWithResolvers<Analysis | null>>()
  let nextId = 1
  worker.onmessage = ({ data }: MessageEvent<AnalyseReply>) => {
    const request = waiting.get(data.id)
    waiting.delete(data.id)
    if (data.ok) request?.resolve(data.analysis)
    else request?.reject(new AnalyseError(data.message, data.fault))
  }
  worker.onerror = (event) => {
    for (const { reject } of waiting.values()) reject(new Error(event.message))
    waiting.clear()
  }
  return {
    analyse(samples, chosen) {
      const id = nextId++
      const request = Promise.withResolvers<Analysis | null>()
      waiting.set(id, request)
      worker.postMessage({ id, samples, chosen } satisfies AnalyseRequest)
      return request.promise
    },
    close: () => worker.terminate(),
  }
}
