import { PATIENCE_MS } from './until.ts'

/** A completely received request. */
interface RecordedRequest {
  method: string
  /** Path with the query string, e.g. `/hook?x=1`. */
  path: string
  /** Names in lower case. */
  headers: Record<string, string>
  body: string
}

/** The response; by default 200 with an empty body. */
interface ProgrammedAnswer {
  status?: number
  headers?: Record<string, string>
  /** Text is sent unchanged, other values as JSON. */
  body?: unknown
  /** How long to wait before answering, for testing timeouts. */
  delayMs?: number
}

/** A fixed response, or one computed from the request. */
export type Answer = ProgrammedAnswer | ((request: RecordedRequest) => ProgrammedAnswer)

/** Replaces external servers: webhook receivers, OAuth providers, chat services. */
export interface OutboundRecorder {
  /** e.g. `http://127.0.0.1:40123`, without a slash at the end. */
  url: string
  /** All received requests, oldest first. */
  requests: RecordedRequest[]
  /** Sets the response for a path (without query string); `*` is for all other paths. */
  answer(path: string, answer: Answer): void
  /**
   * Resolves with all requests once there are `count` of them.
   * @throws Error listing the received requests after `timeoutMs`
   */
  waitFor(count: number, timeoutMs?: number): Promise<RecordedRequest[]>
  /** Forgets requests and answers. */
  clear(): void
  stop(): Promise<void>
}

/** Starts a recorder on a free port of 127.0.0.1. */
export function startOutboundRecorder(): OutboundRecorder {
  const requests: RecordedRequest[] = []
  const answers = new Map<string, Answer>()
  let arrived = Promise.withResolvers<void>()
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const url = new URL(request.url)
      const recorded = {
        method: request.method,
        path: url.pathname + url.search,
        headers: Object.fromEntries(request.headers),
        body: await request.text(),
      }
      requests.push(recorded)
      arrived.resolve()
      arrived = Promise.withResolvers()
      return respond(answers.get(url.pathname) ?? answers.get('*') ?? {}, recorded)
    },
  })
  return {
    url: server.url.origin,
    requests,
    answer: (path, answer) => void answers.set(path, answer),
    async waitFor(count, timeoutMs = PATIENCE_MS) {
      const deadline = Bun.sleep(timeoutMs).then(() => 'late' as const)
      while (requests.length < count) {
        if ((await Promise.race([arrived.promise, deadline])) === 'late') {
          const seen = requests.map(({ method, path }) => `${method} ${path}`).join(', ')
          throw new Error(`${requests.length} of ${count} requests in ${timeoutMs} ms: ${seen || 'none'}`)
        }
      }
      return requests
    },
    clear() {
      requests.length = 0
      answers.clear()
    },
    stop: () => server.stop(true),
  }
}

async function respond(answer: Answer, request: RecordedRequest): Promise<Response> {
  const { status = 200, headers, body, delayMs = 0 } = typeof answer === 'function' ? answer(request) : answer
  if (delayMs > 0) await Bun.sleep(delayMs)
  if (body === undefined) return new Response(null, { status, headers })
  return typeof body === 'string'
    ? new Response(body, { status, headers })
    : Response.json(body, { status, headers })
}
