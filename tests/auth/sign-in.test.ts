import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { MAX_FAILURES_PER_ACCOUNT } from '../../modules/auth/throttle.ts'
import { createTestApp, META_DATABASES, PASSWORD, type TestApp } from '../support/app.ts'

const SIGN_IN = '/api/v1/auth/user/signin'

describe.each(META_DATABASES)('POST /api/v1/auth/user/signin on %s', (database) => {
  let app: TestApp
  beforeAll(async () => {
    app = await createTestApp({ database })
    await app.signUp('Ann@example.com')
  })
  afterAll(() => app.stop())

  test('answers 401 where a field is missing', async () => {
    const { status, body } = await app.rest().post(SIGN_IN, { email: 'ann@example.com' })
    expect([status, body]).toEqual([401, { msg: 'Unauthorized' }])
  })

  test('says the same for a wrong password, an unknown address and what is none', async () => {
    for (const email of ['ann@example.com', 'nobody@example.com', 'no address', '\u0000', "' or 1=1 --"]) {
      const { status, body, headers } = await app
        .rest()
        .post(SIGN_IN, { email, password: 'not the password' })
      expect([status, body]).toEqual([400, { msg: 'Invalid credentials' }])
      expect(headers.get('set-cookie')).toBeNull()
    }
  })

  test('takes as long for an unknown address as for a known one', async () => {
    const timeMs = async (email: string) => {
      const start = performance.now()
      await app.rest().post(SIGN_IN, { email, password: 'not the password' })
      return performance.now() - start
    }
    const known: number[] = []
    const unknown: number[] = []
    for (let i = 0; i < 5; i++) {
      known.push(await timeMs('ann@example.com'))
      unknown.push(await timeMs(`nobody${i}@example.com`))
    }
    const fastest = (times: number[]) => Math.min(...times)
    // Without the stand-in hash the ratio is above 10.
    expect(fastest(known) / fastest(unknown)).toBeWithin(0.3, 3)
  })

  test('signs in whatever the case of the address, with the roles as an object', async () => {
    const { status, body } = await app.rest().post(SIGN_IN, { email: 'aNN@EXAMPLE.com', password: PASSWORD })
    expect(status).toBe(200)
    const claims = JSON.parse(atob(body.token.split('.')[1]))
    expect(claims.roles).toEqual({ 'org-level-creator': true, super: true })
    const me = await app.rest(body.token).get('/api/v1/auth/user/me')
    expect(me.body).toMatchObject({ email: 'Ann@example.com', isAuthorized: true, base_roles: null })
    expect(JSON.stringify(me.body)).not.toContain('argon2')
  })

  test('after too many failures answers 429 with Retry-After, also for the right password', async () => {
    await app.signUp('tried@example.com')
    const attempt = (password: string) => app.rest().post(SIGN_IN, { email: 'tried@example.com', password })
    const answers = await Promise.all(
      Array.from({ length: MAX_FAILURES_PER_ACCOUNT + 5 }, (_, i) => attempt(`guess number ${i}`)),
    )
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(MAX_FAILURES_PER_ACCOUNT)
    const refused = await attempt(PASSWORD)
    expect(refused.status).toBe(429)
    expect(refused.body.error).toBe('TOO_MANY_REQUESTS')
    expect(Number(refused.headers.get('retry-after'))).toBeWithin(1, 15 * 60 + 1)
    // Others from the same place can still sign in.
    expect((await app.rest().post(SIGN_IN, { email: 'ann@example.com', password: PASSWORD })).status).toBe(
      200,
    )
  })

  test('the tRPC door is throttled alike', async () => {
    const answer = await fetch(`${app.url}/trpc/auth.signIn`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: 'tried@example.com', password: PASSWORD }),
    })
    expect(answer.status).toBe(429)
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
  })
})

describe('cookies', () => {
  test('are secure where the public address is https', async () => {
    const app = await createTestApp({ config: { publicUrl: 'https://db.example.com' } })
    const body = { email: 'ann@example.com', password: PASSWORD }
    const { headers } = await app.rest().post('/api/v1/auth/user/signup', body)
    expect(headers.get('set-cookie')).toContain('Secure')
    await app.stop()
  })
})
