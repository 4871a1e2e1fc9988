import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { SignJWT } from 'jose'
import { sha256 } from '../../modules/auth/credentials.ts'
import { defineAuthTables } from '../../modules/auth/tables.ts'
import { startServer } from '../../src/app.ts'
import { createTestApp, META_DATABASES, PASSWORD, type TestApp, type TestUser } from '../support/app.ts'

const ME = '/api/v1/auth/user/me'
const GUEST = { roles: { guest: true }, workspace_roles: null, base_roles: null }

describe.each(META_DATABASES)('the session on %s', (database) => {
  let app: TestApp
  let people = 0
  beforeAll(async () => {
    app = await createTestApp({ database })
    await app.signUp()
  })
  afterAll(() => app.stop())

  /** Someone new who has signed up in a browser of their own. */
  async function openBrowser() {
    const email = `browser${++people}@example.com`
    const browser = app.browser()
    const { token } = await browser.trpc().auth.signUp.mutate({ email, password: PASSWORD })
    return { ...browser, email, token, cookie: () => browser.jar.get('refresh_token') ?? '' }
  }

  const refresh = (value: string) =>
    app
      .rest()
      .send('POST', '/api/v1/auth/token/refresh', { headers: { cookie: `other=%; refresh_token=${value}` } })

  const isSignedIn = async (token: string) => (await app.rest(token).get(ME)).body.isAuthorized === true

  describe('refresh', () => {
    test('without a cookie, or with one that never was, is refused', async () => {
      expect((await app.rest().post('/api/v1/auth/token/refresh')).body).toEqual({
        msg: 'Missing refresh token',
      })
      const unknown = await refresh('0'.repeat(80))
      expect([unknown.status, unknown.body]).toEqual([400, { msg: 'Invalid refresh token' }])
    })

    test('gives a new token and cookie, and the old cookie fails from then on', async () => {
      const { cookie, trpc, email } = await openBrowser()
      const first = cookie()
      const { token } = await trpc().auth.refresh.mutate()
      if (token === null) throw new Error('The cookie was not seen')
      expect(await isSignedIn(token)).toBe(true)
      expect(JSON.parse(atob(token.split('.')[1] ?? ''))).toMatchObject({ email, roles: 'org-level-viewer' })
      expect(cookie()).not.toBe(first)
      expect((await refresh(first)).body).toEqual({ msg: 'Invalid refresh token' })
      expect((await refresh(cookie())).status).toBe(200)
    })

    test('gives one successor to all who come with one cookie at the same instant', async () => {
      const { cookie } = await openBrowser()
      const answers = await Promise.all(Array.from({ length: 5 }, () => refresh(cookie())))
      const successors = answers
        .filter(({ status }) => status === 200)
        .map(({ headers }) => headers.get('set-cookie'))
      expect(new Set(successors).size).toBe(1)
    })

    test('keeps no refresh token in the database, only its hash', async () => {
      const { cookie } = await openBrowser()
      const { sessions } = app.kernel.meta.tables(defineAuthTables)
      const ids = (await app.kernel.meta.db.select().from(sessions)).map(({ id }) => id)
      expect(ids).toContain(sha256(cookie()))
      expect(ids).not.toContain(cookie())
    })

    test('of an expired session is refused', async () => {
      const { cookie } = await openBrowser()
      const { sessions } = app.kernel.meta.tables(defineAuthTables)
      await app.kernel.meta.db.update(sessions).set({ expiresAt: Date.now() - 1 })
      expect((await refresh(cookie())).status).toBe(400)
    })
  })

  describe('the access token', () => {
    test.each([
      ['text', 'not a token'],
      ['two dots', '..'],
      ['another algorithm', `${btoa('{"alg":"none"}')}.${btoa('{"id":"us1"}')}.`],
      ['a megabyte', `a.${'b'.repeat(12_000)}.c`],
    ])('that is %s makes a guest', async (_, token) => {
      expect((await app.rest().send('GET', ME, { headers: { 'xc-auth': token } })).body).toEqual(GUEST)
    })

    test('that is expired, of another key, or sent as a bearer makes a guest', async () => {
      const { token } = await openBrowser()
      const claims = JSON.parse(atob(token.split('.')[1] ?? ''))
      const sign = (key: Uint8Array, exp: number) =>
        new SignJWT({ ...claims, exp }).setProtectedHeader({ alg: 'HS256' }).sign(key)
      const inAnHour = claims.iat + 3600
      const { jwt } = app.kernel.secrets
      expect(await isSignedIn(await sign(jwt, inAnHour))).toBe(true)
      expect(await isSignedIn(await sign(jwt, claims.iat - 1))).toBe(false)
      expect(await isSignedIn(await sign(new Uint8Array(48), inAnHour))).toBe(false)
      const bearer = await app.rest().send('GET', ME, { headers: { authorization: `Bearer ${token}` } })
      expect(bearer.body).toEqual(GUEST)
    })
  })

  describe('sign-out', () => {
    test('without a token is refused', async () => {
      const { status, body } = await app.rest().post('/api/v1/auth/user/signout')
      expect([status, body]).toEqual([403, { error: 'FORBIDDEN', message: 'Forbidden - Not allowed' }])
    })

    test('ends every session of the person at once, clears the cookie, and may be repeated', async () => {
      const { email, token, cookie } = await openBrowser()
      const elsewhere = await app.rest().post('/auth/user/signin', { email, password: PASSWORD })
      const signOut = () => app.rest(token).post('/api/v1/auth/user/signout')
      const { status, body, headers } = await signOut()
      expect([status, body]).toEqual([200, { msg: 'Signed out successfully' }])
      expect(headers.get('set-cookie')).toMatch(/^refresh_token=;.*Max-Age=0/)
      expect(await isSignedIn(token)).toBe(false)
      expect(await isSignedIn(elsewhere.body.token)).toBe(false)
      expect((await refresh(cookie())).status).toBe(400)
      expect((await signOut()).status).toBe(200)
    })
  })

  describe('changing the password', () => {
    test('wants the current one', async () => {
      const { token } = await openBrowser()
      const change = (body: object) => app.rest(token).post('/api/v1/auth/password/change', body)
      const wrong = await change({ currentPassword: 'something else', newPassword: 'a new password' })
      expect([wrong.status, wrong.body]).toEqual([400, { msg: 'Current password is wrong' }])
      expect((await change({ currentPassword: PASSWORD, newPassword: 'short' })).body.errors).toHaveLength(1)
      const anonymous = await app.rest().post('/api/v1/auth/password/change', {})
      expect(anonymous.status).toBe(401)
    })

    test('voids every other token and cookie at once, and goes on with new ones', async () => {
      const { email, token, cookie, trpc } = await openBrowser()
      const elsewhere = await app.rest().post('/auth/user/signin', { email, password: PASSWORD })
      const before = cookie()
      const input = { currentPassword: PASSWORD, newPassword: 'another good password' }
      const changed = await trpc(token).auth.changePassword.mutate(input)
      expect(await isSignedIn(token)).toBe(false)
      expect(await isSignedIn(elsewhere.body.token)).toBe(false)
      expect((await refresh(before)).status).toBe(400)
      expect(await isSignedIn(changed.token)).toBe(true)
      expect((await refresh(cookie())).status).toBe(200)
      const old = await app.rest().post('/auth/user/signin', { email, password: PASSWORD })
      expect(old.body).toEqual({ msg: 'Invalid credentials' })
    })
  })

  describe('the profile', () => {
    test('takes a name and nothing else', async () => {
      const { token, email } = await openBrowser()
      const body = { display_name: 'Ann', email: 'super@example.com', roles: 'super' }
      const answer = await app.rest(token).patch('/api/v1/user/profile', body)
      expect(answer.status).toBe(200)
      expect(answer.body).toMatchObject({ display_name: 'Ann', email, roles: { 'org-level-viewer': true } })
      expect(JSON.stringify(answer.body)).not.toMatch(/hash|salt|argon2|reset/)
      expect(await app.trpc(token).auth.me.query()).toMatchObject({ user: { displayName: 'Ann', email } })
      expect((await app.rest().patch('/api/v1/user/profile', body)).status).toBe(401)
      expect((await app.rest(token).patch('/api/v1/user/profile', { display_name: 'a\u0000' })).status).toBe(
        400,
      )
      expect(
        (await app.rest(token).patch('/api/v2/meta/user/profile', { meta: { icon: 'cat' } })).body.meta,
      ).toEqual({ icon: 'cat' })
      for (const [given, kept] of [
        [' Ann Lee ', 'Ann Lee'],
        ['  ', null],
      ]) {
        const named = await app.rest(token).patch('/api/v1/user/profile', { display_name: given })
        expect(named.body.display_name).toBe(kept)
      }
    })
  })
})

describe('two processes on one PostgreSQL', () => {
  let app: TestApp
  let second: Awaited<ReturnType<typeof startServer>>
  let owner: TestUser
  beforeAll(async () => {
    app = await createTestApp({ database: 'postgres', config: { jwtSecret: 'a secret that both have' } })
    second = await startServer(app.config)
    owner = await app.signUp()
  })
  afterAll(async () => {
    await second.stop()
    await app.stop()
  })

  test('what one revokes, the other refuses on the next call', async () => {
    const there = (token: string) =>
      fetch(`${second.url}${ME}`, { headers: { 'xc-auth': token } }).then((r) => r.json())
    const thereByToken = (token: string) =>
      fetch(`${second.url}/api/v2/meta/bases`, { headers: { 'xc-token': token } })
    for (let i = 0; i < 5; i++) {
      const user = await app.signUp()
      const { body } = await app.rest(user.token).post('/api/v1/tokens')
      expect(await there(user.token)).toMatchObject({ isAuthorized: true })
      expect((await thereByToken(body.token)).status).toBe(200)
      await app.rest(user.token).delete(`/api/v1/tokens/${body.id}`)
      expect((await thereByToken(body.token)).status).toBe(401)
      await app.rest(user.token).post('/api/v1/auth/user/signout')
      expect(await there(user.token)).toEqual(GUEST)
    }
  })

  test('one cookie that comes to both at the same instant gets one successor', async () => {
    const { headers } = await app.rest().post('/auth/user/signin', { email: owner.email, password: PASSWORD })
    const cookie = (headers.get('set-cookie') ?? '').split(';')[0] ?? ''
    const refresh = (url: string) =>
      fetch(`${url}/auth/token/refresh`, { method: 'POST', headers: { cookie } })
    const answers = await Promise.all([refresh(app.url), refresh(second.url)])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400])
  })
})
