import { Elysia } from 'elysia'
import type { output, ZodType } from 'zod'
import type { Actor } from './core/actor.ts'
import { AppError, badRequest, retryAfterOf } from './core/errors.ts'
import { randomText } from './core/ids.ts'
import type { Kernel } from './kernel.ts'

/** What the adapters need to know who asks; the auth module gives it. */
export interface Authenticator {
  /**
   * The actor of a request by its `xc-auth` (session JWT), `xc-token` or `Authorization: Bearer`
   * (API token) header. A header that is wrong, expired or revoked gives the anonymous actor: what
   * needs a right refuses it later, after unknown ids have been refused.
   */
  authenticate(headers: Headers): Actor | Promise<Actor>
}

/**
 * The base of every REST adapter: the actor and a request id for the handlers, bodies read as
 * REST clients send them, and errors in the envelopes that they know.
 */
export function restBase(kernel: Pick<Kernel, 'config' | 'log'>, auth: Authenticator) {
  return new Elysia({ name: 'rest-base' })
    .derive({ as: 'scoped' }, async ({ request, set }) => {
      const requestId = randomText(12)
      set.headers['x-request-id'] = requestId
      return { actor: await auth.authenticate(request.headers), requestId }
    })
    .onParse({ as: 'scoped' }, ({ request, contentType }) =>
      parseBody(request, contentType, kernel.config.bodyMaxBytes),
    )
    .onError({ as: 'scoped' }, ({ error, set, request, ...rest }) => {
      const requestId = 'requestId' in rest ? String(rest.requestId) : randomText(12)
      const { status, body } = presentError(error, request)
      if (status >= 500)
        kernel.log.error('request failed', error, {
          requestId,
          method: request.method,
          path: new URL(request.url).pathname,
        })
      set.status = status
      const headers: Record<string, string> = { 'x-request-id': requestId }
      const retryAfter = retryAfterOf(error)
      if (retryAfter !== null) headers['retry-after'] = retryAfter
      Object.assign(set.headers, headers)
      return Response.json(status >= 500 ? { ...body, requestId } : body, { status, headers })
    })
}

export type RestContext = { actor: Actor; requestId: string }

/**
 * A body as its schema reads it. For handlers that first check who asks: a schema given to the route
 * itself would answer 400 to those who may not even know that there is something.
 *
 * @throws INVALID_REQUEST_BODY with the problems in the JSON-schema wording that clients parse
 */
export function readBody<T extends ZodType>(schema: T, body: unknown): output<T> {
  const parsed = schema.safeParse(body ?? {})
  if (parsed.success) return parsed.data
  const { msg, errors } = presentValidation(parsed.error)
  throw new AppError('INVALID_REQUEST_BODY', msg, { errors }, 'msg')
}

/**
 * A request's body: JSON, a form, or nothing (`text/plain` counts as nothing, as clients expect).
 * Multipart is left to the routes that take files.
 */
export async function parseBody(request: Request, contentType: string, maxBytes: number): Promise<unknown> {
  if (contentType === 'multipart/form-data') return undefined
  // A file: its route reads the body as it arrives. Null, because undefined would have Elysia read it whole.
  if (contentType === 'application/octet-stream') return null
  const text = await readText(request, maxBytes)
  if (contentType === 'application/x-www-form-urlencoded')
    return Object.fromEntries(new URLSearchParams(text))
  if (contentType !== 'application/json' || text === '') return {}
  return parseJson(text)
}

async function readText(request: Request, maxBytes: number): Promise<string> {
  const tooLarge = () => badRequest('request entity too large')
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw tooLarge()
  if (request.headers.has('content-length')) return request.text()
  // Without a length (chunked) the bytes are counted as they come.
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength
    if (size > maxBytes) throw tooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function parseJson(text: string): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw badRequest(error instanceof Error ? error.message : 'Invalid JSON')
  }
  if (typeof value !== 'object' || value === null) {
    throw new AppError('BAD_JSON', 'Invalid JSON in request body')
  }
  return value
}

/** Status and body of an error, in the envelope that REST clients know (spec §8, wire envelopes). */
export function presentError(
  error: unknown,
  request: Request,
): { status: number; body: Record<string, unknown> } {
  if (error instanceof AppError) {
    const { status, code, message, details } = error
    if (error.envelope === 'msg') return { status, body: { msg: message, ...details } }
    return { status, body: { error: code, message, ...(details && { details }) } }
  }
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
  // Elysia wraps what `parseBody` throws.
  if (code === 'PARSE' && error instanceof Error && error.cause instanceof AppError) {
    return presentError(error.cause, request)
  }
  if (code === 'NOT_FOUND') {
    return { status: 404, body: { msg: `Cannot ${request.method} ${new URL(request.url).pathname}` } }
  }
  if (code === 'PARSE' || code === 'INVALID_FILE_TYPE') {
    return { status: 400, body: { msg: 'The request body could not be read' } }
  }
  if (code === 'VALIDATION') return { status: 400, body: presentValidation(error) }
  return {
    status: 500,
    body: { error: 'INTERNAL_SERVER_ERROR', message: 'Please check server log for more details' },
  }
}

interface Issue {
  path?: PropertyKey[]
  message?: string
  code?: string
  minimum?: number
  maximum?: number
  expected?: string
  format?: string
  values?: unknown[]
}

/** The issues of a refused body, in the JSON-schema wording that clients parse. */
function presentValidation(error: unknown): { msg: string; errors: Record<string, unknown>[] } {
  return { msg: 'Invalid request body', errors: issuesOf(error).map(presentIssue) }
}

function presentIssue(issue: Issue): Record<string, unknown> {
  const path = issue.path ?? []
  if (issue.code === 'invalid_type' && issue.message?.includes('received undefined') && path.length > 0) {
    const missingProperty = String(path.at(-1))
    return {
      instancePath: pointer(path.slice(0, -1)),
      schemaPath: '#/required',
      keyword: 'required',
      params: { missingProperty },
      message: `must have required property '${missingProperty}'`,
    }
  }
  const { keyword, params, message } = wordIssue(issue)
  const schemaPath = `#${path.map((part) => `/properties/${String(part)}`).join('')}/${keyword}`
  return { instancePath: pointer(path), schemaPath, keyword, params, message }
}

function wordIssue(issue: Issue): { keyword: string; params: Record<string, unknown>; message: string } {
  const { code, minimum, maximum, expected, format, values, message = 'is invalid' } = issue
  if (code === 'too_small' && minimum !== undefined) {
    const params = { limit: minimum }
    return { keyword: 'minLength', params, message: `must NOT have fewer than ${minimum} characters` }
  }
  if (code === 'too_big' && maximum !== undefined) {
    const params = { limit: maximum }
    return { keyword: 'maxLength', params, message: `must NOT have more than ${maximum} characters` }
  }
  if (code === 'invalid_type')
    return { keyword: 'type', params: { type: expected }, message: `must be ${expected}` }
  if (code === 'invalid_format') {
    return { keyword: 'format', params: { format }, message: `must match format "${format}"` }
  }
  if (code === 'invalid_value') {
    const params = { allowedValues: values }
    return { keyword: 'enum', params, message: 'must be equal to one of the allowed values' }
  }
  return { keyword: code ?? 'invalid', params: {}, message }
}

const pointer = (path: PropertyKey[]): string => path.map((part) => `/${String(part)}`).join('')

function issuesOf(error: unknown): Issue[] {
  if (typeof error !== 'object' || error === null) return []
  for (const key of ['issues', 'all'] as const) {
    const found = key in error ? (error as Record<string, unknown>)[key] : undefined
    if (Array.isArray(found)) return found as Issue[]
  }
  return []
}

/**
 * A bare scalar as REST clients know it: the text of it, as `text/html` (a 200 where clients expect
 * `true`, `1`, …; they parse it as JSON whatever its type says).
 */
export function scalar(value: string | number | boolean, status = 200): Response {
  return new Response(String(value), { status, headers: { 'content-type': 'text/html; charset=utf-8' } })
}
