import type * as z from 'zod/mini'
import { type AppError, badRequest } from '../../../src/core/errors.ts'
import { parseJsonText, storableJson } from '../../../src/core/json-text.ts'
import { type HttpClient, HttpFailure, type HttpReply, TRANSIENT_STATUSES } from '../../../src/http.ts'
import { m } from '../../../src/messages.gen.ts'
import { SourceRejection } from '../source.ts'

/** Largest answer of a source: a page of records. */
const MAX_BYTES = 64 * 1024 ** 2
const TIMEOUT_MS = 60_000
/** Tries of one request that the source rejects for now or fails to answer. */
const MAX_TRIES = 8
const FIRST_PAUSE_MS = 300
const LONGEST_PAUSE_MS = 60_000

/** Failures of a connection that may not happen again. */
const TRANSIENT_FAILURES = new Set(['timeout', 'refused', 'unreachable'])

export interface JsonClientOptions {
  http: HttpClient
  /** For messages: `Airtable`. */
  product: string
  /** Sent with every request. */
  headers?: readonly Header[]
  /** Signs in before the first request, and once more when an answer says that the session has expired. */
  signIn?: SignIn
  perSecond: number
  signal: AbortSignal
  /** The message for a status other than 2xx, from the body of the answer; null for the general one. */
  explain?(status: number, body: unknown): AppError | Error | null
}

export type Header = readonly [name: string, value: string]

export interface SignIn {
  /** The header that authenticates requests; `send` is a request without it. */
  header(send: JsonClient['get']): Promise<Header>
  /** False for headers that never expire. */
  expires: boolean
}

export interface JsonRequest {
  method?: 'GET' | 'POST'
  body?: unknown
  headers?: readonly Header[]
}

export interface JsonClient {
  get<T>(address: string, schema: z.ZodMiniType<T>, request?: JsonRequest): Promise<T>
}

/**
 * Requests to the JSON API of another product: limited in rate, repeated after transient failures with growing pauses or
 * after the time that `Retry-After` names.
 */
export function createJsonClient(options: JsonClientOptions): JsonClient {
  const { http, product, headers = [], signIn, perSecond, signal, explain } = options
  let nextAt = 0
  let session: Promise<Header> | null = null

  /** Waits for this request's turn. */
  async function takeTurn(): Promise<void> {
    const now = Date.now()
    const at = Math.max(now, nextAt)
    nextAt = at + 1000 / perSecond
    if (at > now) await pause(at - now, signal)
  }

  async function send(address: string, request: JsonRequest): Promise<HttpReply> {
    const sent = [...headers, ...(request.headers ?? []), ['accept', 'application/json'] as const]
    const hasBody = request.body !== undefined
    return http.send(address, {
      method: request.method ?? 'GET',
      headers: hasBody ? [...sent, ['content-type', 'application/json'] as const] : sent,
      body: hasBody ? JSON.stringify(request.body) : null,
      maxBytes: MAX_BYTES,
      timeoutMs: TIMEOUT_MS,
      signal,
    })
  }

  /** @returns the answer, or the time to wait before the next try and the reason */
  async function attempt(
    address: string,
    request: JsonRequest,
    tried: number,
  ): Promise<{ reply: HttpReply } | { waitMs: number; failure: AppError }> {
    const backoff = Math.min(FIRST_PAUSE_MS * 2 ** tried, LONGEST_PAUSE_MS)
    // Clients that failed together do not come back together.
    const waitMs = backoff * (0.75 + Math.random() / 2)
    try {
      const reply = await send(address, request)
      if (reply.isCut) return { waitMs, failure: unavailable(product, m.base_imports_error_cut()) }
      if (!TRANSIENT_STATUSES.has(reply.status)) return { reply }
      const asked = retryAfterMs(reply.headers.get('retry-after'))
      const failure = unavailable(product, `${reply.status} ${reply.statusText}`.trim())
      return { waitMs: asked ?? waitMs, failure }
    } catch (error) {
      if (!(error instanceof HttpFailure) || !TRANSIENT_FAILURES.has(error.reason)) throw error
      signal.throwIfAborted()
      return { waitMs, failure: error }
    }
  }

  async function replyTo(address: string, request: JsonRequest): Promise<HttpReply> {
    for (let tried = 0; ; tried++) {
      await takeTurn()
      signal.throwIfAborted()
      const outcome = await attempt(address, request, tried)
      if ('reply' in outcome) return outcome.reply
      if (tried + 1 >= MAX_TRIES) throw outcome.failure
      await pause(outcome.waitMs, signal)
    }
  }

  const withoutSession: JsonClient['get'] = async (address, schema, request = {}) =>
    checked(schema, read(await replyTo(address, request)))

  async function signedIn(address: string, request: JsonRequest, { header, expires }: SignIn) {
    const authenticate = () => {
      session ??= header(withoutSession)
      return session
    }
    const send = async (own: Header) =>
      replyTo(address, { ...request, headers: [own, ...(request.headers ?? [])] })
    const used = await authenticate()
    const reply = await send(used)
    if (reply.status !== 401 || !expires) return reply
    // Requests at the same time renew the session once.
    if ((await session) === used) session = null
    return send(await authenticate())
  }

  /**
   * The JSON of an answer.
   *
   * @throws BAD_REQUEST with the reason if the source rejects the request, cannot be reached after several tries, or
   *   answers with something other than JSON of this form
   */
  async function get<T>(address: string, schema: z.ZodMiniType<T>, request: JsonRequest = {}): Promise<T> {
    const reply = signIn ? await signedIn(address, request, signIn) : await replyTo(address, request)
    return checked(schema, read(reply))
  }

  function checked<T>(schema: z.ZodMiniType<T>, answer: unknown): T {
    const parsed = schema.safeParse(answer)
    if (parsed.success) return parsed.data
    const [issue] = parsed.error.issues
    throw malformed(product, issue ? `${issue.path.join('.')}: ${issue.message}` : '')
  }

  function read({ status, statusText, body }: HttpReply): unknown {
    const parsed = parse(body)
    if (status < 200 || status > 299) {
      throw (
        explain?.(status, parsed ?? null) ??
        new SourceRejection(
          status,
          m.base_imports_error_status({ product, status: `${status} ${statusText}`.trim() }),
        )
      )
    }
    if (parsed === undefined) throw malformed(product, m.base_imports_error_not_json())
    return parsed
  }

  return { get }
}

function parse(body: string): unknown {
  try {
    return parseJsonText(storableJson(body))
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** The source answers, but not as its API is documented. */
const malformed = (product: string, detail: string): AppError =>
  badRequest(m.base_imports_error_malformed({ product, detail }))

const unavailable = (product: string, reason: string): AppError =>
  badRequest(m.base_imports_error_unavailable({ product, reason }))

/** The delay that a server asks for, in seconds or as a date (RFC 9110 §10.2.3), up to a minute; null if it names none. */
function retryAfterMs(header: string | null): number | null {
  if (header === null) return null
  const ms = /^\d{1,6}$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now()
  return Number.isNaN(ms) ? null : Math.min(Math.max(0, ms), LONGEST_PAUSE_MS)
}

/** Waits, unless the signal is aborted. @throws the reason of the abort */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  signal.addEventListener('abort', () => resolve(), { once: true })
  await promise
  clearTimeout(timer)
  signal.throwIfAborted()
}
