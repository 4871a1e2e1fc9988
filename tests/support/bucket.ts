/** Objects per page of a list. */
const PAGE = 100

/**
 * An S3 server with as much of the protocol as the stores use: objects that are written, read (also in part), listed (in
 * pages of 100) and deleted. `refuse` makes it refuse everything with that error code, `failEach` every n-th request with
 * an error of the server.
 */
export function startBucket() {
  const objects = new Map<string, Uint8Array>()
  const state = {
    refusal: '',
    failEach: 0,
    requests: 0,
    lostAt: null as string | null,
    isLost: false,
    cutRanges: 0,
  }
  const keys: string[] = []
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const { pathname, searchParams } = new URL(request.url)
      const authorization = request.headers.get('authorization') ?? ''
      keys.push(/^AWS4-HMAC-SHA256 Credential=([^/]*)\//.exec(authorization)?.[1] ?? '')
      if (state.refusal !== '') {
        const error = `<Error><Code>${state.refusal}</Code><Message>Refused by the test</Message></Error>`
        return new Response(request.method === 'HEAD' ? null : error, { status: 403 })
      }
      state.requests++
      if (state.lostAt !== null && decodeURIComponent(request.url).includes(state.lostAt)) state.isLost = true
      if (state.isLost || (state.failEach > 0 && state.requests % state.failEach === 0))
        return new Response(
          '<Error><Code>InternalError</Code><Message>Failed by the test</Message></Error>',
          { status: 500 },
        )
      if (request.method === 'GET' && searchParams.has('list-type'))
        return listed(pathname, searchParams.get('prefix') ?? '', searchParams.get('continuation-token'))
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
      const isCut = from !== undefined && state.cutRanges-- > 0
      const end = to ? Number(to) + (isCut ? 0 : 1) : undefined
      const bytes = from === undefined ? found : found.slice(Number(from), end)
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
  /** A page of the objects of a bucket, in the order of their keys. */
  function listed(bucket: string, prefix: string, after: string | null): Response {
    const root = `${bucket.replace(/\/$/, '')}/`
    const keys = [...objects.keys()]
      .filter((path) => path.startsWith(root + prefix))
      .map((path) => path.slice(root.length))
      .filter((key) => after === null || key > after)
      .toSorted()
    const page = keys.slice(0, PAGE)
    const contents = page.map(
      (key) => `<Contents><Key>${key}</Key><Size>${objects.get(root + key)?.length ?? 0}</Size></Contents>`,
    )
    const isCut = keys.length > PAGE
    const next = isCut ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : ''
    return new Response(
      `<?xml version="1.0" encoding="UTF-8"?><ListBucketResult><IsTruncated>${isCut}</IsTruncated>${next}${contents.join('')}</ListBucketResult>`,
      { headers: { 'content-type': 'application/xml' } },
    )
  }

  return {
    url: server.url.origin,
    objects,
    /** The access keys of all requests; empty texts for unsigned ones. */
    keys,
    failEach(count: number) {
      state.failEach = count
    },
    /** From the first request on whose address has the text, all fail. Null: none does. */
    loseAt(text: string | null) {
      state.lostAt = text
      state.isLost = false
    },
    /** So many of the next reads of a part lack its last byte. */
    cutRanges(count: number) {
      state.cutRanges = count
    },
    refuse(code: string) {
      state.refusal = code
    },
    stop: () => server.stop(true),
  }
}
