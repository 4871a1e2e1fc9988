import { parseJsonOrNull } from '../src/core/json-text.ts'
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

interface ErrorBody {
  msg?: unknown
  message?: unknown
  errors?: unknown
}

/** The problems of a refused body, else `msg` or `message` (spec §8); a proxy's page of HTML has none of them. */
function readMessage(text: string): string {
  const body = parseJsonOrNull(text) as ErrorBody | null
  const problems = Array.isArray(body?.errors) ? body.errors.map(problemText).filter((one) => one !== '') : []
  if (problems.length > 0) return problems.join(', ')
  const found = [body?.msg, body?.message].find((one) => typeof one === 'string' && one !== '')
  return typeof found === 'string' ? found : m.app_some_internal_error_occurred()
}

const problemText = (problem: { instancePath?: unknown; message?: unknown } | null): string =>
  [problem?.instancePath, problem?.message]
    .filter((part) => typeof part === 'string' && part !== '')
    .join(' - ')
