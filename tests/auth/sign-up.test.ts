import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createTestApp, META_DATABASES, PASSWORD, type TestApp } from '../support/app.ts'
import { createBase } from '../support/factories.ts'

const SIGN_UP = '/api/v1/auth/user/signup'

describe.each(META_DATABASES)('POST /api/v1/auth/user/signup on %s', (database) => {
  let app: TestApp
  beforeAll(async () => {
    app = await createTestApp({ database })
  })
  afterAll(() => app.stop())

  test('of many first sign-ups at once, makes exactly one super admin', async () => {
    const people = await Promise.all(
      Array.from({ length: 12 }, (_, i) => app.signUp(`first${i}@example.com`)),
    )
    const accounts = await Promise.all(people.map(({ token }) => app.trpc(token).auth.me.query()))
    expect(accounts.filter(({ orgRoles }) => orgRoles.includes('super'))).toHaveLength(1)
    expect(accounts.filter(({ orgRoles }) => orgRoles.join() === 'org-level-viewer')).toHaveLength(11)
  })

  test('of many sign-ups with one address at once, makes one account', async () => {
    const body = { email: 'twin@example.com', password: PASSWORD }
    const answers = await Promise.all(Array.from({ length: 6 }, () => app.rest().post(SIGN_UP, body)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    const refused = answers.filter(({ status }) => status !== 200)
    for (const { status, body } of refused) {
      expect(status).toBe(400)
      expect(body).toEqual({ msg: 'User already exist' })
    }
  })

  test('takes an address that differs in case only for the same', async () => {
    await app.signUp('Case@Example.com')
    const { status, body } = await app
      .rest()
      .post(SIGN_UP, { email: ' cASE@example.COM', password: PASSWORD })
    expect(status).toBe(400)
    expect(body.msg).toBe('User already exist')
  })

  test.each([
    ['no address', {}, '', 'required'],
    ['an address without a domain', { email: 'ann@' }, '/email', 'format'],
    ['an address that is an object', { email: { $ne: '' } }, '/email', 'type'],
    ['an address with a null character', { email: 'a\u0000@example.com' }, '/email', 'format'],
    ['an address of 300 characters', { email: `${'a'.repeat(290)}@example.com` }, '/email', 'maxLength'],
    ['a password of 7 characters', { email: 'a@b.co', password: '1234567' }, '/password', 'minLength'],
    [
      'a password of 257 characters',
      { email: 'a@b.co', password: 'x'.repeat(257) },
      '/password',
      'maxLength',
    ],
  ])('refuses %s and names the property', async (_, body, instancePath, keyword) => {
    const answer = await app.rest().post(SIGN_UP, body)
    expect(answer.status).toBe(400)
    expect(answer.body.msg).toBe('Invalid request body')
    expect(answer.body.errors).toContainEqual(expect.objectContaining({ instancePath, keyword }))
  })

  test('answers a token and a refresh cookie that scripts cannot read', async () => {
    const { status, body, headers } = await app
      .rest()
      .post(SIGN_UP, { email: 'cookie@example.com', password: PASSWORD, firstname: 'ignored' })
    expect(status).toBe(200)
    const [header, claims] = body.token
      .split('.')
      .slice(0, 2)
      .map((part: string) => JSON.parse(atob(part)))
    expect(header).toEqual({ alg: 'HS256', typ: 'JWT' })
    expect(claims).toMatchObject({ email: 'cookie@example.com', roles: 'org-level-viewer' })
    expect(claims.id).toMatch(/^us[a-z0-9]{14}$/)
    expect(claims.token_version).toMatch(/^[0-9a-f]{80}$/)
    expect(claims.exp - claims.iat).toBe(10 * 3600)
    const cookie = headers.get('set-cookie') ?? ''
    expect(cookie).toMatch(/^refresh_token=[0-9a-f]{80};/)
    for (const part of ['HttpOnly', 'Path=/', 'SameSite=Lax', `Max-Age=${30 * 86_400}`])
      expect(cookie).toContain(part)
    expect(cookie).not.toContain('Secure')
  })

  test('is the same under its four addresses', async () => {
    const paths = ['/api/v1/auth', '/api/v1/db/auth', '/auth', '/api/v2/auth']
    const answers = await Promise.all(
      paths.map((path, i) =>
        app.rest().post(`${path}/user/signup`, { email: `alias${i}@example.com`, password: PASSWORD }),
      ),
    )
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
  })
})

describe.each(META_DATABASES)('invitations on %s', (database) => {
  let app: TestApp
  beforeAll(async () => {
    app = await createTestApp({ database, config: { inviteOnlySignup: true } })
  })
  afterAll(() => app.stop())

  test('the first user needs none, later ones do, and are not told whether they have an account', async () => {
    expect(await app.trpc().app.info.query()).toMatchObject({ firstUser: true, signupAllowed: true })
    await app.signUp('admin@example.com')
    expect(await app.trpc().app.info.query()).toMatchObject({ firstUser: false, signupAllowed: false })
    for (const email of ['admin@example.com', 'stranger@example.com']) {
      const { status, body } = await app.rest().post(SIGN_UP, { email, password: PASSWORD })
      expect([status, body]).toEqual([400, { msg: 'Not allowed to signup, contact super admin.' }])
    }
  })

  test('an invite opens the invited address only, once, with the role it was for', async () => {
    const { token } = (
      await app.rest().post('/auth/user/signin', { email: 'admin@example.com', password: PASSWORD })
    ).body
    const admin = { id: '', email: 'admin@example.com', token }
    const base = await createBase(app, admin)
    const path = `/api/v1/db/meta/projects/${base.id}/users`
    const invited = await app.rest(token).post(path, { email: 'Guest@example.com', roles: 'editor' })
    expect(invited.body.msg).toBe('The user has been invited successfully')
    const invite: string = invited.body.invite_token
    expect(invite).toMatch(/^[0-9a-f-]{36}$/)

    const invitedBy = (link: string) => app.trpc().auth.invitation.query({ token: link })
    expect(await invitedBy(invite)).toEqual({ email: 'Guest@example.com' })
    expect(await invitedBy(crypto.randomUUID())).toEqual({ email: null })
    expect(await invitedBy('a\u0000b')).toEqual({ email: null })

    const signUp = (body: object) => app.rest().post(SIGN_UP, { password: PASSWORD, ...body })
    const invalid = { msg: 'Invalid invite url' }
    expect((await signUp({ email: 'other@example.com', token: invite })).body).toEqual(invalid)
    expect((await signUp({ email: 'guest@example.com', token: crypto.randomUUID() })).body).toEqual(invalid)
    expect((await signUp({ email: 'guest@example.com', token: 'a\u0000b' })).body).toEqual(invalid)
    const joined = await signUp({ email: 'guest@example.com', token: invite })
    expect(joined.status).toBe(200)
    expect(await invitedBy(invite)).toEqual({ email: null })
    expect((await signUp({ email: 'guest@example.com', token: invite })).body).toEqual(invalid)
    expect(await app.trpc(joined.body.token).bases.list.query()).toMatchObject([
      { id: base.id, role: 'editor' },
    ])
  })
})
