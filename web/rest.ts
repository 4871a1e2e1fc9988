import { m } from './messages.gen.ts'
import { fetchSignedIn } from './session/index.ts'

/** An error response of a REST route; `message` is shown to the user. */
export class RestError extends Error {
  override readonly name = 'RestError'

  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message)
  }
}

/**
 * Calls a REST route of our server with the session, for the few operations only REST has. Returns the parsed body,
 * null if it is empty; callers check its shape.
 *
 * @throws RestError when the server refuses; TypeError when it cannot be reached
 */
export async function callRest(
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  path: string,
  body?: unknown,
): Promise<unknown> {
  const answer = await fetchSignedIn(path, {
    method,
    ...(body === undefined
      ? {}
      : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  })
  const text = await answer.text()
  if (answer.ok) return text === '' ? null : JSON.parse(text)
  throw new RestError(answer.status, readMessage(text))
}

/** `msg`, else `message` (spec §8); a proxy's page of HTML has neither. */
function readMessage(text: string): string {
  const fallback = m.app_some_internal_error_occurred()
  if (!text.startsWith('{')) return fallback
  const body: { msg?: unknown; message?: unknown } = JSON.parse(text)
  const found = [body.msg, body.message].find((one) => typeof one === 'string' && one !== '')
  return typeof found === 'string' ? found : fallback
}
