/** The raw query string of a request, without its question mark. */
export function queryOf(request: Request): string {
  const start = request.url.indexOf('?')
  return start === -1 ? '' : request.url.slice(start + 1)
}
