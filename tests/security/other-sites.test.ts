import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createForm } from '../shares/form-world.ts'
import { createSecrets, type Secrets } from '../shares/world.ts'
import { createTestApp, PASSWORD, type TestApp } from '../support/app.ts'

let app: TestApp
let world: Secrets
beforeAll(async () => {
  app = await createTestApp({ config: { publicUrl: 'https://sheaf.example.com' } })
  world = await createSecrets(app, await app.signUp('owner@example.com'))
})
afterAll(() => app.stop())

const account = { email: 'owner@example.com', password: PASSWORD }
const form = (path: string, headers: Record<string, string>, values: Record<string, string> = account) =>
  fetch(`${app.url}${path}`, { method: 'POST', body: new URLSearchParams(values), headers })

const OTHER_SITES: [what: string, headers: Record<string, string>][] = [
  ['another site', { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }],
  ['a neighbour of the site', { 'sec-fetch-site': 'same-site', origin: 'https://evil.example.com' }],
  ['another origin, by an older browser', { origin: 'https://evil.example' }],
  ['a document without an origin', { origin: 'null' }],
]

describe('a form of another site', () => {
  test.each(OTHER_SITES)('signs nobody in: %s', async (_what, headers) => {
    for (const prefix of ['/api/v1/auth', '/api/v1/db/auth', '/auth', '/api/v2/auth']) {
      const answer = await form(`${prefix}/user/signin`, headers)
      expect([answer.status, answer.headers.get('set-cookie')]).toEqual([403, null])
    }
    const up = await form('/api/v1/auth/user/signup', headers, { ...account, email: 'new@example.com' })
    expect([up.status, up.headers.get('set-cookie')]).toEqual([403, null])
  })

  test('neither renews nor ends a session by the cookie, whatever its body is', async () => {
    const signedIn = await form('/api/v1/auth/user/signin', {})
    const cookie = signedIn.headers.get('set-cookie')?.split(';', 1)[0] ?? ''
    expect(cookie).toStartWith('refresh_token=')
    const [[, other] = ['', {}]] = OTHER_SITES
    for (const path of ['/api/v1/auth/token/refresh', '/trpc/auth.refresh', '/api/v1/auth/user/signout']) {
      for (const body of [undefined, '{}', new FormData(), new URLSearchParams('a=b')]) {
        const answer = await fetch(`${app.url}${path}`, {
          method: 'POST',
          body,
          headers: { ...other, cookie },
        })
        expect([path, answer.status, answer.headers.get('set-cookie')]).toEqual([path, 403, null])
      }
    }
    const own = await fetch(`${app.url}/api/v1/auth/token/refresh`, { method: 'POST', headers: { cookie } })
    expect(own.status).toBe(200)
  })
})

describe('what is no form of another site is accepted', () => {
  test.each([
    ['a program', {}],
    ['our own page', { 'sec-fetch-site': 'same-origin' }],
    ['an address that somebody typed', { 'sec-fetch-site': 'none' }],
    ['our own page in an older browser, behind a proxy', { origin: 'https://sheaf.example.com' }],
  ])('%s', async (_what, headers) => {
    expect((await form('/api/v1/auth/user/signin', headers)).status).toBe(200)
  })

  test('our own page by the address that the server is asked at', async () => {
    expect((await form('/api/v1/auth/user/signin', { origin: app.url })).status).toBe(200)
  })

  test('an answer to a public form', async () => {
    const shared = await createForm(world, { name: {} })
    const body = new FormData()
    body.append('data', '{"Name":"From elsewhere"}')
    const headers = { 'sec-fetch-site': 'cross-site', origin: 'https://other.example' }
    const rows = `${app.url}/api/v1/db/public/shared-view/${shared.id}/rows`
    expect((await fetch(rows, { method: 'POST', body, headers })).status).toBe(200)
  })
})
