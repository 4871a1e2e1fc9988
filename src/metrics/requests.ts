import { currentCaller } from '../caller.ts'
import type { Metrics } from './metrics.ts'

const METHODS = new Set(['GET', 'POST', 'PATCH', 'PUT', 'DELETE', 'HEAD', 'OPTIONS'])

/** Label of requests that matched no route: their paths are chosen by clients. */
const UNMATCHED = 'unmatched'

/**
 * Measures the handling of a request inside `asCaller`, from which it reads the matched route. The time ends with the
 * response's headers: a download continues after that.
 */
export async function measureRequests(
  metrics: Metrics,
  request: Request,
  handle: () => Response | Promise<Response>,
): Promise<Response> {
  const startedAt = performance.now()
  const caller = currentCaller()
  let status = 500
  metrics.inFlight(1)
  try {
    const response = await handle()
    status = response.status
    return response
  } finally {
    metrics.inFlight(-1)
    const method = METHODS.has(request.method) ? request.method : 'other'
    metrics.request(method, caller?.route || UNMATCHED, status, (performance.now() - startedAt) / 1000)
  }
}
