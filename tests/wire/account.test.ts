import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createTestApp, PASSWORD, type TestApp } from '../support/app.ts'
import { JSON_TYPE, M, outcome, raw, scalarOf, TEXT_TYPE } from './support.ts'

// Wire §2 to §4: sign-up, the session, the instance and the organisation.
let app: TestApp
let token: string
beforeAll(async () => {
  app = await createTestApp()
  token = (await app.signUp('ann@example.com')).token
})
afterAll(() => app.stop())

const AUTH = '/api/v1/auth'
const rest = () => app.rest(token)
const claimsOf = (jwt: string) => JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString())

describe('sign-up', () => {
  test('gives the very first user a base with its sources and tables, as clients know them', async () => {
    const first = await createTestApp()
    const { body } = await first
      .rest()
      .post(`${AUTH}/user/signup`, { email: 'first@example.com', password: PASSWORD })
    expect(Object.keys(body)).toEqual(['token', 'createdProject'])
    const { sources, tables } = body.createdProject
    expect(sources[0]).toMatchObject({ base_id: body.createdProject.id, type: 'sqlite3' })
    expect(tables[0]).toMatchObject({ base_id: body.createdProject.id, source_id: sources[0].id, mm: false })
    expect(tables[0].columns[0]).toMatchObject({ column_name: 'id', uidt: 'ID', pk: true })
    const second = await first
      .rest()
      .post(`${AUTH}/user/signup`, { email: 'second@example.com', password: PASSWORD })
    expect(Object.keys(second.body)).toEqual(['token'])
    await first.stop()
  })

  test('sets a cookie for thirty days, and its roles are a list', async () => {
    const { headers, body } = await app
      .rest()
      .post(`${AUTH}/user/signup`, { email: 'cookie@example.com', password: PASSWORD })
    const [cookie = ''] = headers.getSetCookie()
    expect(cookie).toMatch(/^refresh_token=[0-9a-f]{80}; /)
    expect(cookie).toContain('; Path=/')
    expect(cookie).toContain('; HttpOnly')
    const days = (Date.parse(/Expires=([^;]+)/.exec(cookie)?.[1] ?? '') - Date.now()) / 86_400_000
    expect(Math.round(days)).toBe(30)
    expect(claimsOf(body.token)).toMatchObject({ email: 'cookie@example.com', roles: 'org-level-viewer' })
  })
})

describe('the session', () => {
  test('signing in takes a form and any case; its roles are an object', async () => {
    const { status, text } = await raw(app, 'POST', '/auth/user/signin', {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ email: 'ANN@Example.com', password: PASSWORD }).toString(),
    })
    expect(status).toBe(200)
    const claims = claimsOf(JSON.parse(text).token)
    expect(claims.roles).toEqual({ 'org-level-creator': true, super: true })
    expect(claims.exp - claims.iat).toBe(36_000)
  })

  test('signing out clears the cookie with a date long gone', async () => {
    const user = await app.signUp()
    const { body, headers } = await app.rest(user.token).post(`${AUTH}/user/signout`)
    expect(body).toEqual({ msg: 'Signed out successfully' })
    expect(headers.getSetCookie()[0]).toContain('Expires=Thu, 01 Jan 1970 00:00:00 GMT')
    expect(outcome(await app.rest().post(`${AUTH}/user/signout`))).toEqual([
      403,
      { error: 'FORBIDDEN', message: 'Forbidden - Not allowed' },
    ])
  })

  test('signing in by Google is refused while it is not configured', async () => {
    const { status, body } = await app.rest().post(`${AUTH}/google/genTokenByCode?code=x&state=y`)
    expect([status, body.msg]).toEqual([
      400,
      expect.stringContaining('Google client id or secret not found.'),
    ])
  })

  test('the address in a mail leads to the screen for a new password', async () => {
    const { status, headers } = await raw(app, 'GET', '/auth/password/reset/a%20b')
    expect([status, headers.get('location')]).toEqual([302, '/dashboard#/reset/a%20b'])
  })

  test('me has every key for a session, and a guest is somebody too', async () => {
    const { body } = await rest().get(`${AUTH}/user/me`)
    expect(Object.keys(body).toSorted()).toEqual(
      [
        'id',
        'email',
        'email_verified',
        'roles',
        'token_version',
        'display_name',
        'user_name',
        'blocked',
        'blocked_reason',
        'deleted_at',
        'is_deleted',
        'meta',
        'is_new_user',
        'base_roles',
        'isAuthorized',
        'workspace_roles',
      ].toSorted(),
    )
    expect(outcome(await app.rest().get(`${AUTH}/user/me`))).toEqual([
      200,
      { roles: { guest: true }, workspace_roles: null, base_roles: null },
    ])
  })
})

describe('the instance', () => {
  test('leads from its root to the dashboard', async () => {
    const { status, headers } = await raw(app, 'GET', '/')
    const { body } = await app.rest().get(`${M}/nocodb/info`)
    expect([status, headers.get('location')]).toEqual([302, body.dashboardPath])
  })

  test.each([
    [
      'pg://host:5432?u=u&p=p&d=d',
      'pg',
      { user: 'u', password: 'p', database: 'd', host: 'host', port: '5432' },
    ],
    ['postgres://u:p%40@h/d', 'pg', { user: 'u', password: 'p@', database: 'd', host: 'h' }],
    ['mysql://h', 'mysql2', { host: 'h' }],
    ['bad', 'sqlite3', { filename: 'bad' }],
  ])('reads the address of a database: %s', async (url, client, connection) => {
    const { status, body } = await app.rest().post('/api/v1/url_to_config', { url })
    expect([status, body]).toEqual([200, { client, connection }])
  })

  test('tests a connection: an unknown database is refused, one that fails is an answer', async () => {
    const ask = (client: string) => rest().post(`${M}/connection/test`, { client, connection: {} })
    expect(outcome(await ask('dbase'))).toEqual([400, { msg: 'Database not supported' }])
    expect(outcome(await ask('pg'))).toMatchObject([200, { code: -1, data: {} }])
    expect((await app.rest().post(`${M}/connection/test`, { client: 'pg' })).status).toBe(401)
  })

  test('fetches data files of the public internet only, and for those who are signed in', async () => {
    const path = `${M}/axiosRequestMake`
    const ask = (url: string) => rest().post(path, { apiMeta: { url, method: 'get' } })
    expect(outcome(await ask('https://example.com/page.html'))).toEqual([200, {}])
    expect(outcome(await ask(`${app.url}/data.csv`))).toMatchObject([400, { msg: expect.any(String) }])
    expect((await app.rest().post(path, { apiMeta: { url: 'x.csv' } })).status).toBe(401)
  })

  test('takes reports of errors, and clears its cache for super admins', async () => {
    const { status, type, text } = await raw(app, 'POST', '/api/v1/error-reporting')
    expect([status, type, text]).toEqual([201, null, ''])
    expect(scalarOf(await rest().delete(`${M}/cache`))).toEqual([200, TEXT_TYPE, true])
    const { token: viewer } = await app.signUp()
    expect((await app.rest(viewer).get(`${M}/cache`)).status).toBe(403)
  })
})

describe('the organisation', () => {
  test('keeps a licence key', async () => {
    expect(outcome(await rest().get('/api/v1/license'))).toEqual([200, {}])
    expect(outcome(await rest().post('/api/v1/license', { key: 'abc' }))).toEqual([
      200,
      { msg: 'The license key has been saved' },
    ])
    expect((await rest().get('/api/v1/license')).body).toEqual({ key: 'abc' })
    expect((await rest().get('/api/v1/app-settings')).body).toEqual({})
  })

  test('lists its users with a page', async () => {
    const { body } = await rest().get('/api/v1/users?limit=1')
    expect(Object.keys(body.list[0])).toEqual([
      'id',
      'email',
      'email_verified',
      'invite_token',
      'created_at',
      'updated_at',
      'roles',
      'display_name',
      'is_new_user',
      'meta',
      'projectsCount',
      'workspace_roles',
    ])
    expect(body.pageInfo).toMatchObject({ page: 1, pageSize: 1, isFirstPage: true, isLastPage: false })
  })

  test('deletes a token without a word', async () => {
    const made = (await rest().post('/api/v1/tokens', { description: 'x' })).body
    expect(Object.keys(made)).toEqual([
      'id',
      'base_id',
      'db_alias',
      'description',
      'permissions',
      'token',
      'expiry',
      'enabled',
      'created_at',
      'updated_at',
      'fk_user_id',
      'fk_sso_client_id',
    ])
    expect(made.token).toMatch(/^[A-Za-z0-9_-]{40}$/)
    const headers = { 'xc-auth': token }
    const { status, type, text } = await raw(app, 'DELETE', `/api/v1/tokens/${made.id}`, { headers })
    expect([status, type, text]).toEqual([200, null, ''])
    const again = await raw(app, 'DELETE', `/api/v1/tokens/${made.id}`, { headers })
    expect([again.status, again.type]).toEqual([400, JSON_TYPE])
  })
})
