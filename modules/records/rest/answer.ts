import { json as jsonAnswer } from '../../../src/rest.ts'

/** An answer of JSON; whether the client has it already is asked after every handler. */
export const json = (_request: Request, value: unknown): Response => jsonAnswer(value)

/** The raw query string of a request, without its question mark. */
export function queryOf(request: Request): string {
  const start = request.url.indexOf('?')
  return start === -1 ? '' : request.url.slice(start + 1)
}
