import { badRequest } from '../../src/core/errors.ts'
import type { Engine } from '../../src/dialects/dialect.ts'
import { workerUrl } from '../../src/worker-url.ts'
import type { FromWorker, ImportOutcome, ImportPlan, KnownFile, ToWorker } from './plan.ts'

/** What an import's thread needs of this one. */
export interface ThreadHost {
  engine: Engine
  signal: AbortSignal
  progress(rows: number, total: number): void
  /**
   * Called under the write lease, before each write of the thread.
   * @throws what then ends the import
   */
  verify(): Promise<void>
  /** Which of these files of the store the person may name; from then on the base's cells may. */
  files(paths: string[]): Promise<KnownFile[]>
}

/**
 * Carries out a plan in a thread of its own and lends it the base's write lease, a chunk at a time, so
 * that others write in between. Rejects once the thread has closed its connection and is gone.
 *
 * @throws BAD_REQUEST saying what is wrong with the file; the signal's reason where it was aborted
 */
export function runInThread(
  plan: ImportPlan,
  { engine, signal, progress, verify, files }: ThreadHost,
): Promise<ImportOutcome> {
  const { promise, resolve, reject } = Promise.withResolvers<ImportOutcome>()
  const worker = new Worker(workerUrl('modules/imports/import-worker.ts'))
  const post = (message: ToWorker) => worker.postMessage(message)
  let release: (() => void) | null = null
  let refusal: unknown = null
  let hasEnded = false

  const cancel = () => post({ type: 'cancel' })

  function end(settle: () => void): void {
    if (hasEnded) return
    hasEnded = true
    signal.removeEventListener('abort', cancel)
    release?.()
    // Only now: a thread that is cut off in the middle of a transaction would keep the file locked.
    worker.terminate()
    settle()
  }

  async function lend(): Promise<void> {
    if (hasEnded) return
    const { promise: returned, resolve: giveBack } = Promise.withResolvers<void>()
    release = giveBack
    try {
      await verify()
      post({ type: 'go' })
    } catch (error) {
      refusal = error
      cancel()
    }
    await returned
    release = null
  }

  async function tell(paths: string[]): Promise<void> {
    const known = await files(paths)
    if (!hasEnded) post({ type: 'files', known })
  }

  worker.onmessage = ({ data }: MessageEvent<FromWorker>) => {
    switch (data.type) {
      case 'lease':
        engine.exclusively(lend).catch(reject)
        break
      case 'release':
        release?.()
        break
      case 'files':
        tell(data.paths).catch((error) => end(() => reject(error)))
        break
      case 'progress':
        progress(data.rows, data.total)
        break
      case 'done':
        end(() => resolve(data.outcome))
        break
      case 'failed':
        end(() => reject(refusal ?? (signal.aborted ? signal.reason : failure(data))))
        break
    }
  }
  worker.onerror = (event) => end(() => reject(new Error(`The import's thread failed: ${event.message}`)))
  // A thread can end without an error. Nobody else would give the lease back.
  worker.addEventListener('close', () => end(() => reject(new Error("The import's thread has ended"))))
  signal.addEventListener('abort', cancel)
  post({ type: 'start', plan })
  if (signal.aborted) cancel()
  return promise
}

const failure = ({ message, code, isRefusal }: Extract<FromWorker, { type: 'failed' }>): Error =>
  isRefusal ? badRequest(message) : Object.assign(new Error(message), { code })
