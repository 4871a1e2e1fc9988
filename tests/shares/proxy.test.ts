import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
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
      ...{ kind: 'view', targetId: world.viewId },
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
})
