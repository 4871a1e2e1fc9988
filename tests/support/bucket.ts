/**
 * An S3 server with as much of the protocol as the store uses: objects that are written, read (also in part) and deleted.
 * `refusal` makes it refuse everything with that error code.
 */
export function startBucket() {
  const objects = new Map<string, Uint8Array>()
  const state = { refusal: '' }
  const keys: string[] = []
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url)
      const authorization = request.headers.get('authorization') ?? ''
      keys.push(/^AWS4-HMAC-SHA256 Credential=([^/]*)\//.exec(authorization)?.[1] ?? '')
      if (state.refusal !== '') {
        const error = `<Error><Code>${state.refusal}</Code><Message>Refused by the test</Message></Error>`
        return new Response(request.method === 'HEAD' ? null : error, { status: 403 })
      }
      if (request.method === 'PUT') {
        objects.set(pathname, await request.bytes())
        return new Response(null, { headers: { etag: '"1"' } })
      }
      const found = objects.get(pathname)
      if (request.method === 'DELETE') objects.delete(pathname)
      if (request.method === 'DELETE') return new Response(null, { status: 204 })
      if (!found) {
        const error = '<Error><Code>NoSuchKey</Code><Message>none</Message></Error>'
        return new Response(request.method === 'HEAD' ? null : error, { status: 404 })
      }
      const [, from, to] = /bytes=(\d+)-(\d*)/.exec(request.headers.get('range') ?? '') ?? []
      const bytes = from === undefined ? found : found.slice(Number(from), to ? Number(to) + 1 : undefined)
      return new Response(bytes as BodyInit, {
        status: from === undefined ? 200 : 206,
        headers: {
          etag: '"1"',
          'content-length': String(bytes.length),
          'last-modified': new Date().toUTCString(),
        },
      })
    },
  })
  return {
    url: server.url.origin,
    objects,
    /** The access keys of all requests; empty texts for unsigned ones. */
    keys,
    refuse(code: string) {
      state.refusal = code
    },
    stop: () => server.stop(true),
  }
}
