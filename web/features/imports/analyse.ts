import type { CsvFormat } from '../../../src/core/csv/format.ts'
import {
  AnalyseError,
  type AnalyseReply,
  type AnalyseRequest,
  type Analysis,
  type FileSamples,
} from './analysis.ts'

/** Analyses files in a worker. */
export interface Analyser {
  /** @throws AnalyseError where the file cannot be read as CSV */
  analyse(samples: FileSamples, chosen: Partial<CsvFormat>, monthFirst: boolean): Promise<Analysis>
  close(): void
}

/** Starts the worker; call `close` when its dialog closes. */
export function createAnalyser(): Analyser {
  const worker = new Worker(new URL('../../workers/csv.ts', import.meta.url), { type: 'module' })
  const waiting = new Map<number, PromiseWithResolvers<Analysis>>()
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
    analyse(samples, chosen, monthFirst) {
      const id = nextId++
      const request = Promise.withResolvers<Analysis>()
      waiting.set(id, request)
      worker.postMessage({ id, samples, chosen, monthFirst } satisfies AnalyseRequest)
      return request.promise
    },
    close: () => worker.terminate(),
  }
}
