/**
 * A JSON answer with a weak ETag, or 304 where the client has it already (wire reference, headers).
 */
export function json(request: Request, value: unknown, status = 200): Response {
  const text = JSON.stringify(value)
  const etag = `W/"${text.length.toString(16)}-${Bun.hash(text).toString(36)}"`
  if (request.method === 'GET' && request.headers.get('if-none-match') === etag) {
    return new Response(null, { status: 304, headers: { etag } })
  }
  return new Response(text, { status, headers: { 'content-type': 'application/json; charset=utf-8', etag } })
}

/** The raw query string of a request, without its question mark. */
export function queryOf(request: Request): string {
  const start = request.url.indexOf('?')
  return start === -1 ? '' : request.url.slice(start + 1)
}
