import type { LogLevel } from './config.ts'
import type { Log } from './log.ts'

type Handler = (request: Request, server: Bun.Server<never>) => Response | Promise<Response>

/**
 * The handler, with a line for each request once it is answered: method, path, status, time and the
 * request id that the client was given too. Only where `debug` is logged, so that it costs nothing
 * elsewhere. Query strings are left out: they may hold people's data.
 */
export function logRequests(log: Log, level: LogLevel, handle: Handler): Handler {
  if (level !== 'debug') return handle
  return async (request, server) => {
    const startedAt = performance.now()
    const response = await handle(request, server)
    log.debug('request', {
      method: request.method,
      // The signature of a link to a file opens it for whoever reads the log.
      path: new URL(request.url).pathname.replace(/^\/dltemp\/[^/]+/, '/dltemp/…'),
      status: response.status,
      ms: Math.round((performance.now() - startedAt) * 10) / 10,
      requestId: response.headers.get('x-request-id'),
    })
    return response
  }
}
