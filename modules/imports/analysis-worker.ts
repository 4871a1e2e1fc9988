import { FileError } from '../../src/core/imports/file-error.ts'
import { giveWay } from '../../src/db/background-thread.ts'
import { analyseFile } from './analysis/analyse-file.ts'
import type { AnalysisRequest, FromAnalysis } from './analysis/run-analysis.ts'

/* Thread of one analysis: reads a file for the preview of an import. */

declare const self: Worker

const send = (message: FromAnalysis): void => self.postMessage(message)

self.onmessage = async ({ data }: MessageEvent<AnalysisRequest>) => {
  giveWay()
  try {
    const tables = await analyseFile(data, (rows) => send({ type: 'progress', rows }))
    send({ type: 'done', tables })
  } catch (error) {
    if (error instanceof FileError) send({ type: 'failed', message: error.message, isFinal: true })
    else
      send({
        type: 'crashed',
        reason: error instanceof Error ? (error.stack ?? error.message) : String(error),
      })
  }
}
