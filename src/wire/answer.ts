/** JSON under a weak ETag, as REST clients know every answer (wire reference §1.2). */
export function json(value: unknown, status = 200): Response {
  return tagged(JSON.stringify(value), 'application/json; charset=utf-8', status)
}

/**
 * A bare scalar as REST clients know it: the text of it, as `text/html` (a 200 where clients expect
 * `true`, `1`, …; they parse it as JSON whatever its type says).
 */
export function scalar(value: string | number | boolean, status = 200): Response {
  return tagged(String(value), 'text/html; charset=utf-8', status)
}

/** The answer, or 304 where a read asks only for what has changed and this has not (RFC 9110 §13.1.2). */
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
