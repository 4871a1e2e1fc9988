import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { io } from 'socket.io-client'
import { createTestApp, type TestApp } from '../support/app.ts'
import { createSecrets, type Secrets } from './world.ts'

describe.each([
  [true, 'each address that the proxy tells has attempts of its own'],
  [false, 'what anybody may write into the header is not looked at'],
])('with TRUST_PROXY %p', (trustProxy, meaning) => {
  let app: TestApp
  let world: Secrets
  beforeAll(async () => {
    app = await createTestApp({ config: { trustProxy } })
    world = await createSecrets(app, await app.signUp('owner@example.com'))
  })
  afterAll(() => app.stop())

  test(meaning, async () => {
    const { id } = await world.share()
    await world.trpc.shares.save.mutate({
      kind: 'view',
      targetId: world.viewId,
      patch: { password: 'hard to guess' },
    })
    const knock = async (password: string, from: string) => {
      const headers = { 'xc-password': password, 'x-forwarded-for': `9.9.9.9, ${from}` }
      return (await fetch(`${app.url}/api/v1/db/public/shared-view/${id}/meta`, { headers })).status
    }
    for (let tries = 0; tries < 10; tries++) expect(await knock(`guess ${tries}`, '203.0.113.1')).toBe(403)
    expect(await knock('hard to guess', '203.0.113.1')).toBe(429)
    expect(await knock('hard to guess', '203.0.113.2')).toBe(trustProxy ? 200 : 429)
  })

  test.each(['websocket', 'polling'] as const)(
    'the same holds for live connections by %s',
    async (transport) => {
      const password = `for ${transport}`
      const share = { kind: 'base', targetId: world.baseId, patch: { password } } as const
      const { id } = await world.trpc.shares.save.mutate(share)
      const knock = async (given: string, from: string): Promise<string> => {
        const socket = io(app.url, {
          auth: { sharedBaseId: id, password: given },
          extraHeaders: { 'x-forwarded-for': `9.9.9.9, ${from}` },
          transports: [transport],
          reconnection: false,
          forceNew: true,
        })
        try {
          return await new Promise((resolve) => {
            socket.once('connect', () => resolve('let in'))
            socket.once('connect_error', ({ message }) => resolve(message))
          })
        } finally {
          socket.close()
        }
      }
      const places =
        transport === 'websocket' ? ['203.0.113.3', '203.0.113.4'] : ['203.0.113.5', '203.0.113.6']
      const [first = '', second = ''] = places
      // All attempts of this test count for one address then, and the others have used them up.
      if (!trustProxy && transport === 'polling') return
      for (let tries = 0; tries < 10; tries++)
        expect(await knock(`guess ${tries}`, first)).toMatch(/password/i)
      expect(await knock(password, first)).toMatch(/too many/i)
      expect(await knock(password, second)).toMatch(trustProxy ? /let in/ : /too many/i)
    },
  )
})
