import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createTestApp, META_DATABASES, type TestApp, type TestUser } from '../support/app.ts'
import { createBase } from '../support/factories.ts'

const INFO = '/api/v1/db/meta/nocodb/info'

// Every key of the wire §3.
const INFO_KEYS = `authType baseHasAdmin firstUser type googleAuthEnabled githubAuthEnabled oidcAuthEnabled
  oidcProviderName samlAuthEnabled samlProviderName oneClick connectToExternalDB version defaultLimit
  defaultGroupByLimit ncMin teleEnabled errorReportingEnabled auditEnabled ncSiteUrl ee ncAttachmentFieldSize
  ncMaxAttachmentsAllowed isCloud automationLogLevel disableEmailAuth feedEnabled mainSubDomain dashboardPath
  inviteOnlySignup prodReady allowLocalUrl isOnPrem disableSupportChat disableOnboardingFlow`.split(/\s+/)

describe.each(META_DATABASES)('the server itself on %s', (database) => {
  let app: TestApp
  let admin: TestUser
  beforeAll(async () => {
    app = await createTestApp({ database })
  })
  afterAll(() => app.stop())

  test('tells its first visitor that they are the first', async () => {
    const before = (await app.rest().get(INFO)).body
    expect(before).toMatchObject({ firstUser: true, baseHasAdmin: false })
    expect(before).not.toHaveProperty('inviteOnlySignup')
    admin = await app.signUp()
    const after = (await app.rest().get(INFO)).body
    expect(after).toMatchObject({ firstUser: false, baseHasAdmin: true, inviteOnlySignup: false })
    expect(INFO_KEYS.filter((key) => !(key in after))).toEqual([])
    for (const twin of ['/api/v1/meta/nocodb/info', '/api/v2/meta/nocodb/info']) {
      expect((await app.rest().get(twin)).body).toEqual(after)
    }
  })

  test('says what it can do and what it cannot', async () => {
    const { body } = await app.rest().get(INFO)
    expect(body).toMatchObject({ connectToExternalDB: true, auditEnabled: true, googleAuthEnabled: false })
    for (const provider of ['google', 'github', 'oidc']) {
      const { status, body } = await app.rest().post(`/api/v1/auth/${provider}/genTokenByCode?code=x`)
      expect([status, typeof body.msg]).toEqual([400, 'string'])
    }
  })

  test('shows a super admin how much is held in memory, and forgets it', async () => {
    const before = (await app.rest(admin.token).get('/api/v1/db/meta/cache')).body
    if (database === 'sqlite') expect(before.accounts).toBeGreaterThan(0)
    expect((await app.rest(admin.token).delete('/api/v1/db/meta/cache')).body).toBe(true)
    expect((await app.rest(admin.token).get('/api/v1/db/meta/cache')).body.bases).toBe(0)
  })

  test('refuses a write under a condition that it cannot check', async () => {
    const base = await createBase(app, admin)
    const path = `/api/v1/db/meta/projects/${base.id}`
    const patch = (condition: string) =>
      app.rest({ 'xc-auth': admin.token, 'if-match': condition }).patch(path, { title: 'Other' })
    const refused = await patch('"abc"')
    expect([refused.status, refused.body.msg]).toEqual([400, expect.stringContaining('If-Match')])
    expect((await patch('*')).status).toBe(200)
  })

  test('tells its version and health to everyone', async () => {
    const { currentVersion, releaseVersion } = (await app.rest().get('/api/v1/version')).body
    expect([currentVersion, releaseVersion]).toEqual([expect.stringMatching(/^\d+\.\d+\.\d+/), null])
    const health = (await app.rest().get('/api/v1/health')).body
    expect(health).toEqual({ message: 'OK', timestamp: expect.any(Number), uptime: expect.any(Number) })
  })

  test('keeps settings for super admins, and obeys them at once', async () => {
    const user = await app.signUp()
    expect((await app.rest(user.token).get('/api/v1/app-settings')).status).toBe(403)
    expect((await app.rest().post('/api/v1/app-settings', {})).status).toBe(401)
    const save = (body: unknown) => app.rest(admin.token).post('/api/v1/app-settings', body)
    expect((await app.rest(admin.token).get('/api/v1/app-settings')).body).toEqual({})
    expect((await save({ invite_only_signup: true })).body).toEqual({
      msg: 'The app settings have been saved',
    })
    expect((await app.rest(admin.token).get('/api/v1/app-settings')).body).toEqual({
      invite_only_signup: true,
    })
    expect((await app.trpc().app.info.query()).inviteOnlySignup).toBe(true)
    const refused = [{ text: 'a\u0000b' }, [1], { invite_only_signup: 'yes' }, { invite_only_sign_up: true }]
    for (const body of refused) expect((await save(body)).status).toBe(400)
    expect((await app.rest().get(INFO)).body.inviteOnlySignup).toBe(true)
    await save({})
  })

  test('counts what it holds, for super admins only', async () => {
    const base = await createBase(app, admin)
    const user = await app.signUp()
    expect((await app.rest().get('/api/v1/aggregated-meta-info')).status).toBe(401)
    expect((await app.rest(user.token).get('/api/v1/aggregated-meta-info')).status).toBe(403)
    const { status, body } = await app.rest(admin.token).get('/api/v1/aggregated-meta-info')
    expect(status).toBe(200)
    const all = await app.trpc(admin.token).bases.list.query()
    expect(all.map(({ id }) => id)).toContain(base.id)
    expect(body).toMatchObject({ baseCount: all.length, userCount: 3, sharedBaseCount: 0 })
    expect(body.bases).toContainEqual(
      expect.objectContaining({ tableCount: { table: 0, view: 0 }, userCount: 1, rowCount: [] }),
    )
  })

  test.each([
    ['{"a"', { msg: expect.stringContaining('JSON') }],
    ['3', { error: 'BAD_JSON', message: 'Invalid JSON in request body' }],
  ])('answers 400 to the body %s', async (body, expected) => {
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(`${app.url}/api/v1/auth/user/signup`, { method: 'POST', headers, body })
    expect(answer.status).toBe(400)
    expect(await answer.json()).toEqual(expected)
  })
})
