import { Elysia } from 'elysia'
import { type Actor, ANONYMOUS } from './core/actor.ts'
import { AppError, badRequest } from './core/errors.ts'
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
    .onParse({ as: 'scoped' }, ({ request, contentType }) => parseBody(request, contentType, kernel.config.bodyMaxBytes))
    .onError({ as: 'scoped' }, ({ error, set, request, ...rest }) => {
      const requestId = 'requestId' in rest ? String(rest.requestId) : randomText(12)
      const { status, body } = presentError(error, request)
      if (status >= 500) kernel.log.error('request failed', error, { requestId, method: request.method, path: new URL(request.url).pathname })
      set.status = status
      set.headers['x-request-id'] = requestId
      return Response.json(status >= 500 ? { ...body, requestId } : body, { status, headers: { 'x-request-id': requestId } })
    })
}

export type RestContext = { actor: Actor; requestId: string }

/**
 * A request's body: JSON, a form, or nothing (`text/plain` counts as nothing, as clients expect).
 * Multipart is left to the routes that take files.
 */
export async function parseBody(request: Request, contentType: string, maxBytes: number): Promise<unknown> {
  if (contentType === 'multipart/form-data') return undefined
  const text = await readText(request, maxBytes)
  if (contentType === 'application/x-www-form-urlencoded') return Object.fromEntries(new URLSearchParams(text))
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
export function presentError(error: unknown, request: Request): { status: number; body: Record<string, unknown> } {
  if (error instanceof AppError) {
    const { status, code, message, details } = error
    if (error.envelope === 'msg') return { status, body: { msg: message, ...details } }
    return { status, body: { error: code, message, ...(details && { details }) } }
  }
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
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
  expected?: string
  input?: unknown
}

/** The issues of a refused body, in the JSON-schema wording that clients parse. */
function presentValidation(error: unknown): Record<string, unknown> {
  const issues = issuesOf(error)
  return {
    msg: 'Invalid request body',
    errors: issues.map((issue) => {
      const path = issue.path ?? []
      if (issue.code === 'invalid_type' && issue.message?.includes('received undefined')) {
        const missingProperty = String(path.at(-1))
        return {
          instancePath: pointer(path.slice(0, -1)),
          schemaPath: '#/required',
          keyword: 'required',
          params: { missingProperty },
          message: `must have required property '${missingProperty}'`,
        }
      }
      const isShort = issue.code === 'too_small' && issue.minimum !== undefined
      const keyword = isShort ? 'minLength' : (issue.code ?? 'invalid')
      return {
        instancePath: pointer(path),
        schemaPath: `#/properties${pointer(path)}/${keyword}`,
        keyword,
        params: isShort ? { limit: issue.minimum } : {},
        message: isShort ? `must NOT have fewer than ${issue.minimum} characters` : (issue.message ?? 'is invalid'),
      }
    }),
  }
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

/** For routes that everyone may call without being known. */
export const asAnonymous = (): Actor => ANONYMOUS

/**
 * A bare scalar as REST clients know it: the text of it, as `text/html` (a 200 where clients expect
 * `true`, `1`, …; they parse it as JSON whatever its type says).
 */
export function scalar(value: string | number | boolean, status = 200): Response {
  return new Response(String(value), { status, headers: { 'content-type': 'text/html; charset=utf-8' } })
}
