import { Elysia } from 'elysia'
import type { output, ZodType } from 'zod'
import { type AddressBook, type Authenticator, clientAddress, nameCaller } from '../caller.ts'
import { AppError, badRequest, concernsOperator, retryAfterOf } from '../core/errors.ts'
import { randomText } from '../core/ids.ts'
import { SHARE_HEADERS } from '../core/shares.ts'
import type { Kernel } from '../kernel.ts'
import { parseJsonInTurns } from '../parse-json.ts'
import { PREVIEW_HEADER, previewAs } from '../preview-role.ts'
import { explainStorage } from '../storage-full.ts'
import { json, presentError, presentValidation, unlessKnown } from './answer.ts'

/**
 * The base of every REST adapter: the actor and a request id for the handlers, bodies read as
 * REST clients send them, and errors in the envelopes that they know.
 */
export function restBase(kernel: Pick<Kernel, 'config' | 'log'>, auth: Authenticator) {
  const address = (request: Request, server: AddressBook | null) =>
    clientAddress(kernel.config, request, server)
  return (
    new Elysia({ name: 'rest-base' })
      .derive({ as: 'scoped' }, async ({ request, server, set }) => {
        const requestId = randomText(12)
        set.headers['x-request-id'] = requestId
        const isVisitor = isVisit(request.headers)
        // Who may see it is said by headers, which a cache on the way does not look at; and a link may be closed.
        if (isVisitor) set.headers['cache-control'] = 'no-store'
        refusePrecondition(request)
        // Looked for only where it counts: it costs as much as all else here.
        const visitorAddress = isVisitor ? address(request, server) : undefined
        const actor = await auth.authenticate(request.headers, visitorAddress)
        nameCaller(actor)
        if (!request.headers.has(PREVIEW_HEADER)) return { actor, requestId }
        return { actor: previewAs(actor, request.headers, new URL(request.url).pathname), requestId }
      })
      .onParse({ as: 'scoped' }, ({ request, contentType, server }) =>
        parseBody(request, contentType, {
          maxBytes: kernel.config.bodyMaxBytes,
          anonymousMaxBytes: kernel.config.anonymousBodyMaxBytes,
          isSignedIn: async () =>
            (await auth.authenticate(request.headers, address(request, server))).kind === 'user',
        }),
      )
      // After every handler: what is not yet an answer becomes JSON, and what the client has is not sent again.
      .mapResponse({ as: 'scoped' }, ({ request, responseValue, set }) => {
        if (responseValue instanceof Response) return unlessKnown(request, responseValue)
        const status = typeof set.status === 'number' ? set.status : 200
        return unlessKnown(request, json(responseValue ?? null, status))
      })
      .onError({ as: 'scoped' }, ({ error, set, request, ...rest }) => {
        const requestId = 'requestId' in rest ? String(rest.requestId) : randomText(12)
        const { status, body } = presentError(error, request)
        // Other codes above it, such as "not implemented", are refusals like any other.
        const isFailure = status === 500
        if (isFailure || concernsOperator(explainStorage(error)))
          kernel.log.error('request failed', error, {
            requestId,
            method: request.method,
            path: new URL(request.url).pathname,
          })
        const answer = json(isFailure ? { ...body, requestId } : body, status)
        answer.headers.set('x-request-id', requestId)
        const retryAfter = retryAfterOf(error)
        if (retryAfter !== null) answer.headers.set('retry-after', retryAfter)
        set.status = status
        Object.assign(set.headers, Object.fromEntries(answer.headers))
        return answer
      })
  )
}

/**
 * A write that asks to be refused where a record has changed since: records have no versions to compare, so taking it
 * anyway would overwrite what the client meant to keep. @throws BAD_REQUEST
 */
function refusePrecondition({ method, headers }: Request): void {
  const condition = headers.get('if-match')
  if (condition !== null && condition !== '*' && method !== 'GET' && method !== 'HEAD')
    throw badRequest('If-Match is not supported: read the record again before writing')
}

/** True where a request names a public link. */
const isVisit = (headers: Headers): boolean =>
  Object.values(SHARE_HEADERS).some((header) => headers.has(header))

/**
 * A body as its schema reads it. For handlers that first check who asks: a schema given to the route
 * itself would answer 400 to those who may not even know that there is something.
 *
 * @throws INVALID_REQUEST_BODY with the problems in the JSON-schema wording that clients parse
 */
export function readBody<T extends ZodType>(schema: T, body: unknown): output<T> {
  const parsed = schema.safeParse(body ?? {})
  if (parsed.success) return parsed.data
  const { msg, errors } = presentValidation(parsed.error, body)
  throw new AppError('INVALID_REQUEST_BODY', msg, { errors }, 'msg')
}

/** Routes that read their multipart bodies themselves. */
const STREAMED = /\/(storage\/upload|shared-view\/[^/]+\/rows)$/

/** How long a body may be, by who sends it. */
interface BodyLimits {
  /** For those who are signed in. */
  maxBytes: number
  /** For everybody else. */
  anonymousMaxBytes: number
  /** Asked only about bodies between the two. */
  isSignedIn(): Promise<boolean>
}

/**
 * A request's body: JSON, a form, or nothing (`text/plain` counts as nothing, as clients expect).
 * Multipart is read by the framework, which reads it whole and so has to know its length.
 *
 * @throws BAD_REQUEST or PAYLOAD_TOO_LARGE for a body that is too long for its sender, before it is kept in memory
 */
async function parseBody(request: Request, contentType: string, limits: BodyLimits): Promise<unknown> {
  // Files, read part by part as they arrive (`multipart.ts`).
  if (contentType === 'multipart/form-data' && STREAMED.test(new URL(request.url).pathname)) return null
  if (contentType === 'multipart/form-data') {
    await refuseLarge(declaredLength(request), limits)
    if (!request.headers.has('content-length')) throw badRequest('Length Required')
    return undefined
  }
  // A file: its route reads the body as it arrives. Null, because undefined would have Elysia read it whole.
  if (contentType === 'application/octet-stream') return null
  const text = await readText(request, limits)
  if (contentType === 'application/x-www-form-urlencoded')
    return Object.fromEntries(new URLSearchParams(text))
  if (contentType !== 'application/json' || text === '') return {}
  return parseJson(text)
}

async function readText(request: Request, limits: BodyLimits): Promise<string> {
  await refuseLarge(declaredLength(request), limits)
  if (request.headers.has('content-length')) return request.text()
  // Without a length (chunked) the bytes are counted as they come.
  const chunks: Uint8Array[] = []
  let size = 0
  let allowed = limits.anonymousMaxBytes
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength
    if (size > allowed) {
      await refuseLarge(size, limits)
      allowed = limits.maxBytes
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

const declaredLength = (request: Request): number => Number(request.headers.get('content-length') ?? 0)

async function refuseLarge(bytes: number, limits: BodyLimits): Promise<void> {
  if (bytes > limits.maxBytes) throw badRequest('request entity too large')
  if (bytes <= limits.anonymousMaxBytes || (await limits.isSignedIn())) return
  throw tooLargeForAnonymous(limits.anonymousMaxBytes)
}

/** The refusal of a body that only someone who is signed in may send. */
export const tooLargeForAnonymous = (maxBytes: number): AppError =>
  new AppError('PAYLOAD_TOO_LARGE', `Without signing in, a request may send ${maxBytes} bytes at most`)

/**
 * Clients distinguish text that is not JSON at all from a malformed object or list.
 * @throws BAD_JSON, BAD_REQUEST with the parser's message
 */
async function parseJson(text: string): Promise<unknown> {
  let value: unknown
  try {
    value = await parseJsonInTurns(text)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    if (!/^\s*[[{]/.test(text) || /Unexpected (identifier|token)/.test(error.message)) throw badJson()
    // Clients know a different wording than the engine's.
    throw badRequest(error.message.endsWith('EOF') ? 'Unexpected end of JSON input' : error.message)
  }
  if (typeof value !== 'object' || value === null) throw badJson()
  return value
}

/**
 * Rejects an address that cannot be decoded, such as `/tables/%ZZ`.
 * Null for all others.
 */
export function refuseMalformedPath(request: Request): Response | null {
  if (!request.url.includes('%')) return null
  const { pathname } = new URL(request.url)
  const malformed = pathname.split('/').find((part) => !isDecodable(part))
  if (malformed === undefined) return null
  return json({ msg: `Failed to decode param '${malformed.slice(0, 100)}'` }, 400)
}

function isDecodable(part: string): boolean {
  try {
    decodeURIComponent(part)
    return true
  } catch (error) {
    if (error instanceof URIError) return false
    throw error
  }
}

const badJson = (): AppError => new AppError('BAD_JSON', 'Invalid JSON in request body')
