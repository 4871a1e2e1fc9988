import type { Cluster } from './cluster.ts'
import { AppError, retryAfterOf } from './core/errors.ts'
import { m } from './messages.gen.ts'
import { errorOfCall, isCall } from './trpc.ts'

/** A PostgreSQL that restarts is back by then, and one that has stopped refuses connections at once. */
const SILENCE_MS = 10_000
/** How long each request waits for a silent PostgreSQL. */
const PATIENCE_MS = 5_000
const LOOK_EVERY_MS = 1_000
const RETRY_AFTER_SECONDS = 5

/** Answers requests in time even if their database does not. */
export interface AnswersInTime {
  /** The answer of `handle`, or 503 while the database is silent; `handle` then goes on, and what it writes may be stored. */
  answer(request: Request, handle: () => Response | Promise<Response>): Response | Promise<Response>
  close(): void
}

/**
 * Notices a PostgreSQL that has stopped answering and keeps its connections open, as on a machine that is paused or cut off:
 * a query there takes until it goes on.
 */
export function createAnswersInTime(cluster: Pick<Cluster, 'isShared' | 'isCurrent'>): AnswersInTime {
  // Files have no other machine to wait for.
  if (!cluster.isShared) return { answer: (_request, handle) => handle(), close() {} }
  /** The requests under way, with when they began, by what answers them. */
  const waiting = new Map<(answer: Response) => void, { request: Request; startedAt: number }>()
  let silentSince: number | null = null
  const timer = setInterval(look, LOOK_EVERY_MS)
  timer.unref()

  function look(): void {
    const now = performance.now()
    if (cluster.isCurrent()) {
      silentSince = null
      return
    }
    silentSince ??= now
    if (now - silentSince < SILENCE_MS) return
    for (const [resolve, { request, startedAt }] of waiting)
      if (now - startedAt >= PATIENCE_MS) resolve(unavailable(request))
  }

  return {
    answer(request, handle) {
      const { promise, resolve, reject } = Promise.withResolvers<Response>()
      waiting.set(resolve, { request, startedAt: performance.now() })
      void Promise.try(handle)
        .then(resolve, reject)
        .finally(() => waiting.delete(resolve))
      return promise
    },
    close: () => clearInterval(timer),
  }
}

function unavailable(request: Request): Response {
  const error = new AppError('DATABASE_UNREACHABLE', m.error_database_silent(), {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    // What it writes may be stored.
    isUnanswered: true,
  })
  const headers = { 'retry-after': retryAfterOf(error) ?? '' }
  if (isCall(request)) return errorOfCall(error, { headers })
  return Response.json({ error: error.code, message: error.message }, { status: error.status, headers })
}
