import type { Server } from 'bun'

export interface SourceServerOptions {
  /** Each n-th request fails with 500, 502, 503 or a page of HTML that says so. */
  failEvery?: number
  /** Requests per second above which it answers 429 with `Retry-After`. */
  perSecond?: number
  /** Each n-th request is answered with 429 and `Retry-After`, whatever the rate. */
  limitEvery?: number
}

/** A request to a source, with the JSON of its body. */
export interface SourceRequest {
  url: URL
  method: string
  headers: Headers
  body: Record<string, unknown>
}

export type SourceServer = ReturnType<typeof startSourceServer>

/**
 * A local server that stands for another product: it records requests, fails and limits them as told, and serves files
 * without limits. `answer` gives the answers of the product's API.
 */
export function startSourceServer(
  options: SourceServerOptions,
  answer: (request: SourceRequest) => Response | Promise<Response>,
) {
  /** Contents by the last part of the path below `/files/`. */
  const files = new Map<string, Uint8Array<ArrayBuffer>>()
  const requests: string[] = []
  const counts = { failed: 0, limited: 0 }
  /** Answers that replace the server's own, by path; null for its own. */
  const overrides = new Map<string, (url: URL) => Response | null>()
  /** Work before a request is answered, by path. */
  const delays = new Map<string, () => Promise<void>>()
  let recent: number[] = []

  function failure(): Response | null {
    if (!options.failEvery || requests.length % options.failEvery !== 0) return null
    counts.failed += 1
    const kind = counts.failed % 4
    if (kind === 0) return new Response('<html><body>Bad gateway</body></html>', { status: 502 })
    return Response.json({ error: 'SERVER_ERROR' }, { status: [500, 503, 504][kind - 1] ?? 500 })
  }

  function isTooMuch(): boolean {
    if (options.limitEvery && requests.length % options.limitEvery === 0) return true
    if (!options.perSecond) return false
    const now = Date.now()
    recent = recent.filter((at) => at > now - 1000)
    if (recent.length >= options.perSecond) return true
    recent.push(now)
    return false
  }

  function limit(): Response | null {
    if (!isTooMuch()) return null
    counts.limited += 1
    return Response.json({ error: 'RATE_LIMIT' }, { status: 429, headers: { 'retry-after': '1' } })
  }

  const server: Server<undefined> = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const url = new URL(request.url)
      requests.push(url.pathname + url.search)
      await delays.get(url.pathname)?.()
      const isFile = url.pathname.includes('/files/')
      const refused = failure() ?? (isFile ? null : limit()) ?? overrides.get(url.pathname)?.(url)
      if (refused) return refused
      const file = isFile ? files.get(url.pathname.split('/').at(-1) ?? '') : undefined
      if (file) return new Response(file)
      const text = await request.text()
      const body = text === '' ? {} : (JSON.parse(text) as Record<string, unknown>)
      return answer({ url, method: request.method, headers: request.headers, body })
    },
  })

  return {
    url: server.url.origin,
    requests,
    counts,
    files,
    overrides,
    delays,
    stop: () => server.stop(true),
  }
}
