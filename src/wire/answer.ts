import { AppError } from '../core/errors.ts'
import { explainStorage } from '../storage-full.ts'

/** A JSON response with a weak ETag, as all of REST (wire §1.2). */
export function json(value: unknown, status = 200): Response {
  return jsonText(JSON.stringify(value), status)
}

/** As `json`, for a value that is text already. */
export const jsonText = (text: string, status = 200): Response =>
  tagged(text, 'application/json; charset=utf-8', status)

/** A scalar response as REST clients expect it: text of type `text/html`, which they parse as JSON (`true`, `1`, …). */
export function scalar(value: string | number | boolean, status = 200): Response {
  return tagged(String(value), 'text/html; charset=utf-8', status)
}

/** The response, or 304 for a conditional read of unchanged content (RFC 9110 §13.1.2). */
export function unlessKnown(request: Request, answer: Response): Response {
  const known = request.headers.get('if-none-match')
  const etag = answer.headers.get('etag')
  if (known === null || etag === null || answer.status !== 200) return answer
  if (request.method !== 'GET' && request.method !== 'HEAD') return answer
  const isKnown = known.split(',').some((tag) => ['*', etag, etag.slice(2)].includes(tag.trim()))
  return isKnown ? new Response(null, { status: 304, headers: { etag } }) : answer
}

function tagged(text: string, type: string, status: number): Response {
  const etag = `W/"${text.length.toString(16)}-${Bun.hash(text).toString(36)}"`
  return new Response(text, { status, headers: { 'content-type': type, etag } })
}

/** Status and body of an error, in its REST envelope (spec §8, wire §1.3). */
export function presentError(
  thrown: unknown,
  request: Request,
): { status: number; body: Record<string, unknown> } {
  const error = explainStorage(thrown)
  if (error instanceof AppError) {
    const { status, code, message, details } = error
    // This envelope has two shapes: the message alone, and with a list of problems.
    if (error.envelope === 'msg')
      return {
        status,
        body: { msg: message, ...(Array.isArray(details?.errors) && { errors: details.errors }) },
      }
    return { status, body: { error: code, message, ...(details && { details }) } }
  }
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
  // Elysia wraps errors of `parseBody`.
  if (code === 'PARSE' && error instanceof Error && error.cause instanceof AppError) {
    return presentError(error.cause, request)
  }
  if (code === 'NOT_FOUND') {
    const { pathname } = new URL(request.url)
    const message = `Cannot ${request.method} ${pathname}`
    // Version 3 of the API uses the typed envelope only.
    const isV3 = pathname.startsWith('/api/v3/')
    return { status: 404, body: isV3 ? { error: 'NOT_FOUND', message } : { msg: message } }
  }
  if (code === 'PARSE' || code === 'INVALID_FILE_TYPE') {
    return { status: 400, body: { msg: 'The request body could not be read' } }
  }
  return {
    status: 500,
    body: { error: 'INTERNAL_SERVER_ERROR', message: 'Please check server log for more details' },
  }
}

/** An issue as reported by Zod. */
interface Issue {
  path: PropertyKey[]
  message: string
  code: string
  params?: Record<string, unknown>
  /** Kind of value that is too small or too big: `string`, `array`, `number`, … */
  origin?: string
  minimum?: number | bigint
  maximum?: number | bigint
  expected?: string
  format?: string
  pattern?: string
  values?: unknown[]
}

/**
 * The issues of a rejected body, in the JSON-schema wording that clients parse.
 *
 * @param body the rejected body, to distinguish missing from invalid properties
 */
export function presentValidation(
  { issues }: { issues: Issue[] },
  body: unknown,
): { msg: string; errors: Record<string, unknown>[] } {
  return { msg: 'Invalid request body', errors: issues.map((issue) => presentIssue(issue, body)) }
}

function presentIssue(issue: Issue, body: unknown): Record<string, unknown> {
  const { path } = issue
  if (path.length > 0 && valueAt(body, path) === undefined) {
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
  const { code, origin, minimum, maximum, expected, format, pattern, values, message } = issue
  const limit = Number(minimum ?? maximum)
  if (code === 'too_small' || code === 'too_big') {
    const isLow = code === 'too_small'
    const params = { limit }
    if (origin === 'string' || origin === 'array') {
      const [suffix, things] = origin === 'string' ? ['Length', 'characters'] : ['Items', 'items']
      const keyword = `${isLow ? 'min' : 'max'}${suffix}`
      return { keyword, params, message: `must NOT have ${isLow ? 'fewer' : 'more'} than ${limit} ${things}` }
    }
    const keyword = isLow ? 'minimum' : 'maximum'
    return { keyword, params, message: `must be ${isLow ? '>=' : '<='} ${limit}` }
  }
  if (code === 'invalid_type')
    return { keyword: 'type', params: { type: expected }, message: `must be ${expected}` }
  if (code === 'invalid_format' && format === 'regex') {
    // The rule's own message is clearer than its pattern.
    const isOwn = !message.startsWith('Invalid string')
    return {
      keyword: 'pattern',
      params: { pattern },
      message: isOwn ? message : `must match pattern "${pattern}"`,
    }
  }
  if (code === 'invalid_union') {
    const isOwn = message !== 'Invalid input'
    return { keyword: 'anyOf', params: {}, message: isOwn ? message : 'must match a schema in anyOf' }
  }
  if (code === 'invalid_format') {
    return { keyword: 'format', params: { format }, message: `must match format "${format}"` }
  }
  if (code === 'invalid_value') {
    const params = { allowedValues: values }
    return { keyword: 'enum', params, message: 'must be equal to one of the allowed values' }
  }
  // Custom rules may name their JSON schema keyword.
  const { keyword = code, ...limits } = issue.params ?? {}
  return { keyword: String(keyword), params: limits, message }
}

function valueAt(body: unknown, path: PropertyKey[]): unknown {
  let value = body
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return undefined
    value = (value as Record<PropertyKey, unknown>)[key]
  }
  return value
}

const pointer = (path: PropertyKey[]): string => path.map((part) => `/${String(part)}`).join('')
