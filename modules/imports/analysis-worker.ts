import { AppError } from '../../src/core/errors.ts'
import { FileError } from '../../src/core/imports/file-error.ts'
import { lowerThreadPriority } from '../../src/db/priority.ts'
import { analyseFile } from './analysis/analyse-file.ts'
import type { FromAnalysis, ToAnalysis } from './analysis/run-analysis.ts'

/* Thread of one analysis at a time: reads a file for the preview of an import. */

declare const self: Worker

const send = (message: FromAnalysis): void => self.postMessage(message)
let isCancelled = false

self.onmessage = async ({ data }: MessageEvent<ToAnalysis>) => {
  if (data.type === 'cancel') {
    isCancelled = true
    return
  }
  isCancelled = false
  lowerThreadPriority()
  try {
    const tables = await analyseFile(data.options, {
      onProgress(rows) {
        // The error closes the file on its way.
        if (isCancelled) throw new DOMException('cancelled', 'AbortError')
        send({ type: 'progress', rows })
      },
      onBlocked: (isBlocked) => send({ type: 'blocked', isBlocked }),
    })
    send({ type: 'done', tables })
  } catch (error) {
    if (isCancelled) send({ type: 'failed', message: '', isFinal: true })
    else if (error instanceof FileError) send({ type: 'failed', message: error.message, isFinal: true })
    else if (error instanceof AppError) send({ type: 'failed', message: error.message, isFinal: false })
    else
      send({
        type: 'crashed',
        reason: error instanceof Error ? (error.stack ?? error.message) : String(error),
      })
  }
}
