import { AppError, retryAfterOf } from './core/errors.ts'
import { m } from './messages.gen.ts'

const RETRY_AFTER_SECONDS = 3

/** Answered as ever: that the process is well is asked by what would end it otherwise. */
const ANSWERED: ReadonlySet<string> = new Set(['/api/v1/health', '/api/v1/version', '/api/v1/ready'])

/** The answer to a request while the server exchanges its data and restarts: 503; null for those that need no data. */
export function answerWhileRestarting(request: Request): Response | null {
  const { pathname } = new URL(request.url)
  if (ANSWERED.has(pathname)) return null
  const error = new AppError('DATABASE_UNREACHABLE', m.error_restarting(), {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  })
  const { code: appCode, status, message, details } = error
  const headers = { 'retry-after': retryAfterOf(error) ?? '', 'cache-control': 'no-store' }
  if (pathname.startsWith('/trpc/')) {
    const data = { code: 'INTERNAL_SERVER_ERROR', httpStatus: status, appCode, details }
    return Response.json({ error: { message, code: -32_603, data } }, { status, headers })
  }
  const isPage = request.headers.get('accept')?.includes('text/html') ?? false
  if (!isPage) return Response.json({ error: appCode, message }, { status, headers })
  return new Response(message, {
    status,
    headers: {
      ...headers,
      'content-type': 'text/plain; charset=utf-8',
      // Browsers ask again.
      refresh: String(RETRY_AFTER_SECONDS),
    },
  })
}
