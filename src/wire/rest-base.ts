import { Elysia } from 'elysia'
import type { output, ZodType } from 'zod'
import { type AddressBook, type Authenticator, clientAddress, nameCaller, nameRoute } from '../caller.ts'
import { AppError, badRequest, concernsOperator, retryAfterOf } from '../core/errors.ts'
import { randomText } from '../core/ids.ts'
import { SHARE_HEADERS } from '../core/shares.ts'
import type { Kernel } from '../kernel.ts'
import { m } from '../messages.gen.ts'
import { parseJsonInTurns } from '../parse-json.ts'
import { PREVIEW_HEADER, previewAs } from '../preview-role.ts'
import { explainStorage } from '../storage-full.ts'
import { json, presentError, presentValidation, unlessKnown } from './answer.ts'
import { mediaTypeOf } from './media-type.ts'

/**
 * The base of every REST adapter: provides actor and request id, parses bodies, and formats errors in REST's envelopes.
 */
export function restBase(kernel: Pick<Kernel, 'config' | 'log'>, auth: Authenticator) {
  const address = (request: Request, server: AddressBook | null) =>
    clientAddress(kernel.config, request, server)
  return (
    new Elysia({ name: 'rest-base' })
      .derive({ as: 'scoped' }, async ({ request, route, server, set }) => {
        const requestId = randomText(12)
        nameRoute(route, requestId)
        set.headers['x-request-id'] = requestId
        const isVisitor = isVisit(request.headers)
        // Not for caches that others share: access depends on headers that they do not know, and a link may be closed.
        set.headers['cache-control'] = isVisitor ? 'no-store' : 'private, no-cache'
        refusePrecondition(request)
        // Checked only where needed: it costs as much as everything else here.
        const visitorAddress = isVisitor ? address(request, server) : undefined
        const actor = await auth.authenticate(request.headers, visitorAddress)
        nameCaller(actor)
        if (!request.headers.has(PREVIEW_HEADER)) return { actor, requestId }
        return { actor: previewAs(actor, request.headers, new URL(request.url).pathname), requestId }
      })
      .onParse({ as: 'scoped' }, ({ request, server }) =>
        parseBody(request, {
          maxBytes: kernel.config.bodyMaxBytes,
          anonymousMaxBytes: kernel.config.anonymousBodyMaxBytes,
          isSignedIn: async () =>
            (await auth.authenticate(request.headers, address(request, server))).kind === 'user',
        }),
      )
      // Converts results of handlers to JSON responses, and answers 304 for unchanged content.
      .mapResponse({ as: 'scoped' }, ({ request, responseValue, set }) => {
        if (responseValue instanceof Response) return unlessKnown(request, responseValue)
        const status = typeof set.status === 'number' ? set.status : 200
        return unlessKnown(request, json(responseValue ?? null, status))
      })
      .onError({ as: 'scoped' }, ({ error, set, request, ...rest }) => {
        const requestId = 'requestId' in rest ? String(rest.requestId) : randomText(12)
        const { status, body } = presentError(error, request)
        // Other codes above 500, such as "not implemented", are expected errors.
        const isFailure = status === 500
        if (isFailure || concernsOperator(explainStorage(error)))
          kernel.log.error('request failed', error, {
            requestId,
            method: request.method,
            path: new URL(request.url).pathname,
          })
        const answer = json(isFailure ? { ...body, requestId } : body, status)
        answer.headers.set('x-request-id', requestId)
        const retryAfter = retryAfterOf(explainStorage(error))
        if (retryAfter !== null) answer.headers.set('retry-after', retryAfter)
        set.status = status
        Object.assign(set.headers, Object.fromEntries(answer.headers))
        return answer
      })
  )
}

/**
 * Rejects writes with a precondition such as If-Match: records have no versions, so ignoring it would overwrite changes
 * that the client meant to keep. @throws BAD_REQUEST
 */
function refusePrecondition({ method, headers }: Request): void {
  const condition = headers.get('if-match')
  if (condition !== null && condition !== '*' && method !== 'GET' && method !== 'HEAD')
    throw badRequest(m.request_error_if_match())
}

/** True where a request names a public link. */
const isVisit = (headers: Headers): boolean =>
  Object.values(SHARE_HEADERS).some((header) => headers.has(header))

/**
 * Validates a body inside a handler, after the access check: a schema on the route would answer 400 before it.
 *
 * @throws INVALID_REQUEST_BODY with the issues in the JSON-schema wording that clients parse
 */
export function readBody<T extends ZodType>(schema: T, body: unknown): output<T> {
  const parsed = schema.safeParse(body ?? {})
  if (parsed.success) return parsed.data
  const { msg, errors } = presentValidation(parsed.error, body)
  throw new AppError('INVALID_REQUEST_BODY', msg, { errors }, 'msg')
}

/** Routes that read their multipart bodies themselves. */
const STREAMED =
  /\/(storage\/upload|shared-view\/[^/]+\/rows|meta\/(imports\/files|bases\/[^/]+\/import(\/analysis)?))\/?$/

/** Maximum body sizes by sender. */
interface BodyLimits {
  /** For signed-in users. */
  maxBytes: number
  /** For everybody else. */
  anonymousMaxBytes: number
  /** Called only for bodies between the two limits. */
  isSignedIn(): Promise<boolean>
}

/**
 * A request's body: JSON, a form, or nothing (`text/plain` counts as nothing, as clients expect). Multipart bodies are
 * read whole, so they need a length.
 *
 * @throws BAD_REQUEST or PAYLOAD_TOO_LARGE for a body that is too long for its sender, before it is in memory
 */
async function parseBody(request: Request, limits: BodyLimits): Promise<unknown> {
  const contentType = mediaTypeOf(request)
  // Files, streamed by `multipart.ts`.
  if (contentType === 'multipart/form-data' && STREAMED.test(new URL(request.url).pathname)) return null
  if (contentType === 'multipart/form-data') {
    await refuseLarge(declaredLength(request), limits)
    if (!request.headers.has('content-length')) throw badRequest('Length Required')
    const form = await request.formData().catch(() => null)
    if (form === null) throw badRequest(m.request_error_unreadable_body())
    return valuesOfForm(form)
  }
  // A file, which its route streams. Null, because for undefined Elysia would read the body.
  if (contentType === 'application/octet-stream') return null
  const text = await readText(request, limits)
  if (contentType === 'application/x-www-form-urlencoded')
    return Object.fromEntries(new URLSearchParams(text))
  if (contentType !== 'application/json' || text === '') return {}
  return parseJson(text)
}

/** The values of a form by name, a list where a name is repeated. */
function valuesOfForm(form: FormData): Record<string, unknown> {
  // One pass: `getAll` searches the whole form, so that one with very many names would block the server.
  const byName = new Map<string, unknown[]>()
  for (const [name, value] of form) {
    const values = byName.get(name)
    if (values) values.push(value)
    else byName.set(name, [value])
  }
  return Object.fromEntries(
    [...byName].map(([name, values]) => [name, values.length > 1 ? values : values[0]]),
  )
}

async function readText(request: Request, limits: BodyLimits): Promise<string> {
  await refuseLarge(declaredLength(request), limits)
  if (request.headers.has('content-length')) return request.text()
  // Without a length (chunked), bytes are counted while reading.
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

/** The error for a body size that needs a sign-in. */
export const tooLargeForAnonymous = (maxBytes: number): AppError =>
  new AppError('PAYLOAD_TOO_LARGE', m.request_error_anonymous_size({ maxBytes }))

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
    // Clients expect another wording than the engine's.
    throw badRequest(error.message.endsWith('EOF') ? 'Unexpected end of JSON input' : error.message)
  }
  if (typeof value !== 'object' || value === null) throw badJson()
  return value
}

/** Rejects an address that cannot be decoded, such as `/tables/%ZZ`. Null for others. */
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
