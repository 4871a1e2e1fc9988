import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { defineAuthTables } from '../../modules/auth/tables.ts'
import { clearCaches } from '../../src/db/read-cache.ts'
import { createTestApp, META_DATABASES, type TestApp, type TestUser } from '../support/app.ts'
import { createBase, createMember } from '../support/factories.ts'

const TOKENS = '/api/v1/tokens'

describe.each(META_DATABASES)('/api/v1/tokens on %s', (database) => {
  let app: TestApp
  let admin: TestUser
  let user: TestUser
  beforeAll(async () => {
    app = await createTestApp({ database })
    admin = await app.signUp()
    user = await app.signUp()
  })
  afterAll(() => app.stop())

  const create = async (owner: TestUser, description?: string): Promise<{ id: number; token: string }> =>
    (await app.rest(owner.token).post(TOKENS, { description })).body

  test('refuses those who are not signed in, and API tokens themselves', async () => {
    const { token } = await create(user)
    for (const path of [TOKENS, '/api/v1/auth/password/change']) {
      expect((await app.rest().post(path)).status).toBe(401)
      const { status, body } = await app.rest(token).post(path)
      expect([status, body.error]).toEqual([401, 'API_TOKEN_NOT_ALLOWED'])
    }
  })

  test('shows a token once: the list masks it, and the database has its hash', async () => {
    const { status, body } = await app.rest(user.token).post(TOKENS, { description: 'CI' })
    expect(status).toBe(200)
    expect(body).toMatchObject({ description: 'CI', fk_user_id: user.id, base_id: null, enabled: true })
    expect(body.token).toMatch(/^[\w-]{40}$/)
    const { list, pageInfo } = (await app.rest(user.token).get(TOKENS)).body
    expect(list[0]).toMatchObject({ id: body.id, description: 'CI', created_by: user.email })
    expect(list[0].token).toBe(`${'*'.repeat(36)}${body.token.slice(-4)}`)
    expect(pageInfo.totalRows).toBe(list.length)
    const { apiTokens } = app.kernel.meta.tables(defineAuthTables)
    expect(JSON.stringify(await app.kernel.meta.db.select().from(apiTokens))).not.toContain(body.token)
  })

  test('opens the same doors in both headers, with the rights of its owner', async () => {
    const { token } = await create(admin)
    const ways: Record<string, string>[] = [{ 'xc-token': token }, { authorization: `Bearer ${token}` }]
    for (const headers of ways) {
      const me = await app.rest().send('GET', '/api/v1/auth/user/me', { headers })
      expect(me.body).toMatchObject({ email: admin.email, is_api_token: true })
      expect(me.body).not.toHaveProperty('token_version')
      expect((await app.rest().send('GET', '/api/v1/users', { headers })).status).toBe(200)
    }
    expect((await app.rest().get(`/api/v1/users?xc-token=${token}`)).status).toBe(401)
    expect((await app.rest((await create(user)).token).get('/api/v1/users')).status).toBe(403)
  })

  test('expires when it was asked to, and refuses what it cannot promise', async () => {
    const make = (body: object) => app.rest(user.token).post(TOKENS, { description: 'short', ...body })
    const expiry = new Date(Date.now() + 3_600_000).toISOString()
    const { status, body } = await make({ expiry })
    expect([status, body.expiry]).toEqual([200, expiry])
    const bases = () => app.rest(body.token).get('/api/v1/db/meta/projects')
    expect((await bases()).status).toBe(200)
    expect((await app.rest(user.token).get(TOKENS)).body.list[0].expiry).toBe(expiry)
    const clock = Date.now
    Date.now = () => clock() + 3_600_001
    expect((await bases()).status).toBe(401)
    Date.now = clock
    expect((await bases()).status).toBe(200)
    const { apiTokens } = app.kernel.meta.tables(defineAuthTables)
    await app.kernel.meta.db
      .update(apiTokens)
      .set({ expiresAt: '2020-01-01T00:00:00.000Z' })
      .where(eq(apiTokens.id, body.id))
    clearCaches(app.kernel.meta)
    expect((await bases()).status).toBe(401)
    for (const refused of [
      { expiry: '2020-01-01T00:00:00Z' },
      { expiry: 'soon' },
      { permissions: ['read'] },
      { scope: 'records:read' },
      { scopes: ['records:read'] },
    ])
      expect((await make(refused)).status).toBe(400)
  })

  test('is refused from the call after its deletion on', async () => {
    const { id, token } = await create(user)
    const bases = () => app.rest(token).get('/api/v1/db/meta/projects')
    expect((await bases()).status).toBe(200)
    const { status, body } = await app.rest(user.token).delete(`${TOKENS}/${id}`)
    expect([status, body]).toEqual([200, null])
    expect((await bases()).status).toBe(401)
    expect((await app.rest(user.token).delete(`${TOKENS}/${id}`)).status).toBe(400)
  })

  test.each(['0', '-1', 'x', '99999999999999999999', '%00', '1.5'])('has no token of id %s', async (id) => {
    expect((await app.rest(user.token).delete(`${TOKENS}/${id}`)).status).toBe(400)
  })

  test("cannot delete somebody else's", async () => {
    const { id, token } = await create(admin)
    expect((await app.rest(user.token).delete(`${TOKENS}/${id}`)).status).toBe(400)
    expect((await app.rest(token).get('/api/v1/users')).status).toBe(200)
  })

  test('the routes of a base are for its creators, and show the same tokens', async () => {
    const base = await createBase(app, admin)
    const editor = await createMember(app, base.id, 'editor')
    const creator = await createMember(app, base.id, 'creator')
    const path = `/api/v1/db/meta/projects/${base.id}/api-tokens`
    expect((await app.rest(editor.token).post(path)).status).toBe(403)
    const made = (await app.rest(creator.token).post(path, { description: 'from the base' })).body
    const [listed] = (await app.rest(creator.token).get(path)).body.list
    expect(listed).toMatchObject({ id: made.id, description: 'from the base' })
    expect((await app.rest(creator.token).get(TOKENS)).body.list).toHaveLength(1)
    const { status, body } = await app.rest(creator.token).delete(`${path}/${made.id}`)
    expect([status, body]).toEqual([200, 1])
  })
})
