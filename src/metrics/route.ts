import { createHash, timingSafeEqual } from 'node:crypto'
import { Elysia } from 'elysia'
import { currentCaller, nameRoute } from '../caller.ts'
import type { Kernel } from '../kernel.ts'
import type { Metrics } from './metrics.ts'

/**
 * `GET /metrics` for Prometheus, which sends `Authorization: Bearer` with `METRICS_TOKEN`. Without that variable the
 * route does not exist, so that public servers expose no metrics by default, even behind a proxy.
 */
export function metricsRoute({ config, metrics }: Pick<Kernel, 'config' | 'metrics'>) {
  return new Elysia({ name: 'metrics' }).get('/metrics', async ({ request }) => {
    nameRoute('/metrics')
    const token = config.metricsToken
    if (metrics === null || token === null)
      return Response.json({ msg: 'Cannot GET /metrics' }, { status: 404 })
    const given = /^Bearer +(\S+) *$/i.exec(request.headers.get('authorization') ?? '')?.[1] ?? ''
    if (!isSame(given, token))
      return Response.json(
        { msg: 'Send METRICS_TOKEN as bearer token' },
        { status: 401, headers: { 'www-authenticate': 'Bearer' } },
      )
    return new Response(await metrics.text(), {
      headers: { 'content-type': metrics.contentType, 'cache-control': 'no-store' },
    })
  })
}

/** Compares in constant time. */
function isSame(given: string, expected: string): boolean {
  const [left, right] = [given, expected].map((text) => createHash('sha256').update(text).digest())
  return left !== undefined && right !== undefined && timingSafeEqual(left, right)
}

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
