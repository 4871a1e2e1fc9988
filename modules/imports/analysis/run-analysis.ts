import type { AnalysisMessage } from '../../../src/core/imports/analysis.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { m } from '../../../src/messages.gen.ts'
import { createKeptThreads } from '../kept-threads.ts'
import type { AnalysisOptions } from './analyse-file.ts'

/** `cancel` ends the work early. */
export type ToAnalysis = { type: 'start'; options: AnalysisOptions } | { type: 'cancel' }
export type FromAnalysis =
  | AnalysisMessage
  | { type: 'crashed'; reason: string }
  /** See `OnBlocked`. */
  | { type: 'blocked'; isBlocked: boolean }

const analysisThread = createKeptThreads<ToAnalysis, FromAnalysis>('modules/imports/analysis-worker.ts')

/** Threads of analyses at a time; more wait. */
const MAX_RUNNING = 2
const TIMEOUT_MS = 10 * 60_000
/** Time for a cancelled thread to close its files; terminated threads leave them open. A blocked one has none. */
const CLOSE_TIMEOUT_MS = 60_000
/** Between two messages, so that the progress is shown and proxies keep the connection. */
const PROGRESS_EVERY_MS = 300

let running = 0
const waiting: (() => void)[] = []

/**
 * Analyses a file in a thread of its own, so that the main thread and the worker pool never wait for it.
 * @param signal ends the thread
 * @returns progress, and at last the result or a failure
 */
export async function* runAnalysis(
  options: AnalysisOptions,
  { signal, log }: { signal: AbortSignal; log: Kernel['log'] },
): AsyncGenerator<AnalysisMessage> {
  if (running >= MAX_RUNNING) await new Promise<void>((resolve) => waiting.push(resolve))
  running++
  let rows = 0
  let result: AnalysisMessage | null = null
  let isBlocked = false
  /** True once the thread has closed its files and can read another one. */
  let isDone = false
  let wake = () => {}
  const nextMessage = () =>
    new Promise<void>((resolve) => {
      wake = resolve
    })
  const finish = (message: AnalysisMessage) => {
    result ??= message
    wake()
  }
  function fail(reason: string): void {
    if (result === null) log.error('a file could not be analysed', new Error(reason))
    finish({ type: 'failed', message: m.imports_error_analysis_failed(), isFinal: false })
  }
  const thread = analysisThread({
    hear(data) {
      if (data.type === 'progress') rows = data.rows
      else if (data.type === 'blocked') {
        isBlocked = data.isBlocked
        wake()
      } else if (data.type === 'crashed') fail(data.reason)
      else {
        isDone = data.type === 'done'
        finish(data)
      }
    },
    failed: fail,
  })
  const timer = setTimeout(
    () => finish({ type: 'failed', message: m.imports_error_analysis_timeout(), isFinal: true }),
    TIMEOUT_MS,
  )
  const abort = () => wake()
  signal.addEventListener('abort', abort)
  thread.post({ type: 'start', options })
  try {
    while (result === null && !signal.aborted) {
      await Promise.race([nextMessage(), Bun.sleep(PROGRESS_EVERY_MS)])
      if (result === null && !signal.aborted) yield { type: 'progress', rows }
    }
    if (result !== null) yield result
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', abort)
    if (result === null) {
      thread.post({ type: 'cancel' })
      const deadline = Date.now() + CLOSE_TIMEOUT_MS
      while (result === null && !isBlocked && Date.now() < deadline) {
        await Promise.race([nextMessage(), Bun.sleep(deadline - Date.now())])
      }
      result ??= { type: 'failed', message: '', isFinal: true }
    }
    if (isDone) thread.giveBack()
    else thread.end()
    running--
    waiting.shift()?.()
  }
}
