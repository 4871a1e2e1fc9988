import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createTRPCClient, httpBatchLink, httpLink } from '@trpc/client'
import type { AppRouter } from '../../src/router.ts'
import { isAway, messageOf } from '../../web/errors.ts'
import { fetchAnswer } from '../../web/fetch-answer.ts'

/** Answers as proxies do, with the status in the path. */
let proxy: Bun.Server<undefined>

beforeAll(() => {
  proxy = Bun.serve({
    port: 0,
    fetch(request) {
      const [, kind, status] = new URL(request.url).pathname.split('/')
      if (kind === 'json') return Response.json({ msg: 'no' }, { status: Number(status) })
      return new Response('<html>no</html>', {
        status: Number(status),
        headers: { 'content-type': 'text/html' },
      })
    },
  })
})
afterAll(() => proxy.stop(true))

async function errorOf(kind: string, status: number, link: typeof httpLink | typeof httpBatchLink) {
  const url = `${proxy.url}${kind}/${status}`
  const client = createTRPCClient<AppRouter>({ links: [link({ url, fetch: fetchAnswer })] })
  return client.bases.list.query().then(
    () => null,
    (error: unknown) => error,
  )
}

describe('an answer that is not in the form of our errors', () => {
  test.each(['html', 'json'])('refuses the call by its status: %s', async (kind) => {
    for (const link of [httpLink, httpBatchLink]) {
      for (const status of [400, 413, 422]) {
        const error = await errorOf(kind, status, link)
        expect([status, isAway(error)]).toEqual([status, false])
        expect(messageOf(error)).toMatch(status === 413 ? /more than one request/ : `HTTP ${status}`)
      }
    }
  })

  test.each(['html', 'json'])('leaves the call to be sent again otherwise: %s', async (kind) => {
    for (const link of [httpLink, httpBatchLink]) {
      for (const status of [401, 403, 404, 408, 425, 429, 500, 502, 503, 504]) {
        expect([status, isAway(await errorOf(kind, status, link))]).toEqual([status, true])
      }
    }
  })
})
