import { m } from './messages.gen.ts'

/**
 * Statuses with which a proxy refuses this very request, so that sending it again cannot help. Not 404, with which some
 * answer while our server restarts, nor those of an expired login (401, and 403 with a sign-in page, as of oauth2-proxy),
 * timeouts and limits of rates.
 */
const REFUSALS: ReadonlySet<number> = new Set([400, 411, 413, 414, 415, 422, 431])

/**
 * `fetch` for calls of our server. A refusal that is not in the form of its errors, such as the page of a proxy, is
 * answered in this form, so that it does not count as a lost connection.
 */
export async function fetchAnswer(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const response = await fetch(input, init)
  const { status } = response
  if (!REFUSALS.has(status) || (await hasErrorForm(response.clone()))) return response
  const message = status === 413 ? m.app_request_too_large() : m.app_request_refused({ status })
  const data = { code: 'BAD_REQUEST', httpStatus: status, appCode: 'BAD_REQUEST' }
  return Response.json({ error: { message, code: -32_600, data } }, { status })
}

/** True for an error of our server, or a list of answers. */
async function hasErrorForm(response: Response): Promise<boolean> {
  const body: unknown = await response.json().catch(() => null)
  if (typeof body !== 'object' || body === null) return false
  return Array.isArray(body) || 'error' in body
}
