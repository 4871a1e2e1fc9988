import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createTestApp, META_DATABASES, PASSWORD, type TestApp, type TestUser } from '../support/app.ts'
import { createBase, createMember } from '../support/factories.ts'
import { until } from '../support/until.ts'

const USERS = '/api/v1/users'

describe.each(META_DATABASES)('/api/v1/users on %s', (database) => {
  let app: TestApp
  let admin: TestUser
  beforeAll(async () => {
    app = await createTestApp({ database })
    admin = await app.signUp()
  })
  afterAll(() => app.stop())

  const asAdmin = () => app.rest(admin.token)

  test('is not for viewers of the organisation', async () => {
    const viewer = await app.signUp()
    for (const { status, body } of [
      await app.rest(viewer.token).get(USERS),
      await app.rest(viewer.token).post(USERS),
    ]) {
      expect([status, body.error]).toEqual([403, 'PERMISSION_DENIED'])
      expect(body.message).toEndWith('with the roles: .')
      expect(body.details.roles).toEqual({ 'org-level-viewer': true })
    }
  })

  test('lists pages, and finds by what the address holds, with no hash or secret', async () => {
    await app.signUp('100%_sure@example.com')
    const { list, pageInfo } = (await asAdmin().get(`${USERS}?limit=1&offset=1`)).body
    expect(list).toHaveLength(1)
    expect(pageInfo).toMatchObject({ page: 2, pageSize: 1, isFirstPage: false })
    const ofLimit = async (limit: string) =>
      (await asAdmin().get(`${USERS}?limit=${limit}`)).body.pageInfo.pageSize
    expect(await ofLimit(String(Number.MAX_SAFE_INTEGER))).toBe(1000)
    expect(await ofLimit('50.0')).toBe(50)
    expect(await ofLimit('0')).toBe(25)
    const names = async (query: string) =>
      (await asAdmin().get(`${USERS}?query=${encodeURIComponent(query)}`)).body.list.map(
        (u: TestUser) => u.email,
      )
    expect(await names('%_SURE')).toEqual(['100%_sure@example.com'])
    expect(await names('%%')).toEqual([])
    expect(await names('\u0000')).toBeArray()
    expect((await asAdmin().get(`${USERS}?limit=x&offset=-5&page=1e9`)).status).toBe(200)
    expect(JSON.stringify((await asAdmin().get(USERS)).body)).not.toMatch(/argon2|hash|token_version|salt/)
  })

  test('returns one user as the list shows them', async () => {
    const user = await app.signUp()
    const { list } = (await asAdmin().get(`${USERS}?query=${encodeURIComponent(user.email)}`)).body
    expect((await asAdmin().get(`${USERS}/${user.id}`)).body).toEqual(list[0])
    const unknown = await asAdmin().get(`${USERS}/us00000000000000`)
    expect([unknown.status, unknown.body.error]).toEqual([404, 'USER_NOT_FOUND'])
    expect((await app.rest(user.token).get(`${USERS}/${user.id}`)).status).toBe(403)
  })

  test('invites by a token, as no mail can be sent', async () => {
    const invited = await asAdmin().post(USERS, { email: 'New@example.com', roles: 'org-level-creator' })
    expect(invited.body).toEqual({
      invite_token: expect.stringMatching(/^[0-9a-f-]{36}$/),
      email: 'New@example.com',
    })
    expect((await asAdmin().post(USERS, { email: 'new@EXAMPLE.com' })).body).toEqual({
      msg: 'User already exist',
    })
    expect((await asAdmin().post(USERS, { email: 'nope' })).body).toEqual({
      msg: 'Invalid email address : nope',
    })
    expect((await asAdmin().post(USERS, { email: 'x@y.co', roles: 'super' })).status).toBe(400)
    const without = { email: 'new@example.com', password: PASSWORD }
    expect((await app.rest().post('/auth/user/signup', without)).body).toEqual({ msg: 'User already exist' })
    const joined = await app
      .rest()
      .post('/auth/user/signup', { ...without, token: invited.body.invite_token })
    expect((await app.trpc(joined.body.token).auth.me.query()).orgRoles).toEqual(['org-level-creator'])
  })

  test('shows an invite to who made it and to super admins, not to other creators', async () => {
    const creator = await app.signUp()
    await asAdmin().patch(`${USERS}/${creator.id}`, { roles: 'org-level-creator' })
    await asAdmin().post(USERS, { email: 'waiting@example.com' })
    const tokenSeenBy = async (user: TestUser) =>
      (await app.rest(user.token).get(`${USERS}?query=waiting`)).body.list[0].invite_token
    expect(await tokenSeenBy(admin)).toBeString()
    expect(await tokenSeenBy(creator)).toBeNull()
  })

  test('changes roles with effect on the next call, but not those of the super admin', async () => {
    const user = await app.signUp()
    const create = () => app.rest(user.token).post('/api/v2/meta/bases', { title: 'Mine' })
    expect((await create()).status).toBe(403)
    const patched = await asAdmin().patch(`${USERS}/${user.id}`, { roles: 'org-level-creator' })
    expect(patched.body).toMatchObject({ id: user.id, roles: 'org-level-creator' })
    expect((await create()).status).toBe(200)
    await asAdmin().patch(`${USERS}/${user.id}`, { roles: 'org-level-viewer' })
    expect((await create()).status).toBe(403)
    const own = await asAdmin().patch(`${USERS}/${admin.id}`, { roles: 'org-level-viewer' })
    expect([own.status, own.body]).toEqual([400, { msg: 'Cannot update super admin roles' }])
    expect((await asAdmin().patch(`${USERS}/${user.id}`, { roles: 'super' })).status).toBe(400)
    for (const id of ['us00000000000000', 'x', '%00']) {
      expect((await asAdmin().patch(`${USERS}/${id}`, { roles: 'org-level-viewer' })).status).toBe(400)
    }
  })

  test('takes a user that a creator of the organisation sends back whole', async () => {
    const [creator, user] = [await app.signUp(), await app.signUp()]
    await asAdmin().patch(`${USERS}/${creator.id}`, { roles: 'org-level-creator' })
    const rest = app.rest(creator.token)
    const [listed] = (await rest.get(`${USERS}?query=${encodeURIComponent(user.email)}`)).body.list
    expect(listed).toMatchObject({ roles: 'org-level-viewer', workspace_roles: null })
    const patch = (change: object) => rest.patch(`${USERS}/${user.id}`, { ...listed, ...change })
    const { status, body } = await patch({ roles: 'org-level-creator' })
    expect([status, body.roles]).toEqual([200, 'org-level-creator'])
    const more = { roles: 'org-level-viewer', workspace_roles: 'workspace-level-owner' }
    expect((await patch(more)).status).toBe(403)
    expect((await rest.patch(`${USERS}/%00`, listed)).status).toBe(400)
  })

  test('gives a role in every base, with effect on the next call; only super admins may', async () => {
    const base = await createBase(app, admin)
    const user = await app.signUp()
    const creator = await app.signUp()
    await asAdmin().patch(`${USERS}/${creator.id}`, { roles: 'org-level-creator' })
    const path = `${USERS}/${user.id}`
    const refused = await app.rest(creator.token).patch(path, { workspace_roles: 'workspace-level-owner' })
    expect([refused.status, refused.body.error]).toEqual([403, 'PERMISSION_DENIED'])
    for (const workspace_roles of ['owner', 'super', 7])
      expect((await asAdmin().patch(path, { workspace_roles })).status).toBe(400)
    expect((await asAdmin().patch(path, {})).status).toBe(400)
    const rename = async () =>
      (await app.rest(user.token).patch(`/api/v2/meta/bases/${base.id}`, { title: `New ${Math.random()}` }))
        .status
    expect(await rename()).toBe(403)
    const given = await asAdmin().patch(path, { workspace_roles: 'workspace-level-creator' })
    expect(given.body).toMatchObject({ id: user.id, workspace_roles: 'workspace-level-creator' })
    expect(await rename()).toBe(200)
    const me = async () => (await app.rest(user.token).get('/api/v1/auth/user/me')).body.workspace_roles
    expect(await me()).toEqual({ 'workspace-level-creator': true })
    expect((await app.trpc(user.token).bases.list.query()).map(({ id }) => id)).toContain(base.id)
    const listed = async () =>
      (await app.trpc(admin.token).bases.members.query({ baseId: base.id })).find(({ id }) => id === user.id)
    expect(await listed()).toMatchObject({ role: 'creator', isInAllBases: true })
    await app
      .rest(admin.token)
      .post(`/api/v2/meta/bases/${base.id}/users`, { email: user.email, roles: 'editor' })
    expect(await listed()).toMatchObject({ role: 'editor', isInAllBases: false })
    await app.trpc(admin.token).bases.removeMember.mutate({ baseId: base.id, userId: user.id })
    expect(await listed()).toMatchObject({ role: 'creator', isInAllBases: true })
    await asAdmin().patch(path, { workspace_roles: 'workspace-level-no-access' })
    expect(await listed()).toBeUndefined()
    await asAdmin().patch(path, { workspace_roles: 'workspace-level-viewer', roles: 'org-level-creator' })
    expect(await rename()).toBe(403)
    await asAdmin().patch(path, { workspace_roles: null })
    expect(await app.trpc(user.token).bases.list.query()).toEqual([])
    expect(await me()).toBeNull()
    const own = await asAdmin().patch(`${USERS}/${admin.id}`, { workspace_roles: 'workspace-level-viewer' })
    expect([own.status, own.body]).toEqual([400, { msg: 'Cannot update super admin roles' }])
  })

  test('deletes an account at once with all it could do; history keeps the name, the address is free', async () => {
    const base = await createBase(app, admin)
    const user = await createMember(app, base.id, 'editor')
    const { token } = (await app.rest(user.token).post('/api/v1/tokens')).body
    const { status, body } = await asAdmin().delete(`${USERS}/${user.id}`)
    expect([status, body]).toEqual([200, { msg: 'The user has been deleted successfully' }])
    for (const dead of [user.token, token])
      expect((await app.rest(dead).get('/api/v2/meta/bases')).status).toBe(401)
    const gone = { email: user.email, password: PASSWORD }
    expect((await app.rest().post('/auth/user/signin', gone)).body).toEqual({ msg: 'Invalid credentials' })
    expect(await app.services.auth.people([user.id])).toMatchObject([{ email: user.email }])
    expect((await app.trpc(admin.token).bases.members.query({ baseId: base.id })).map((m) => m.id)).toEqual([
      admin.id,
    ])
    const again = await app.signUp(user.email)
    expect(await app.trpc(again.token).bases.list.query()).toEqual([])
    expect((await asAdmin().delete(`${USERS}/${admin.id}`)).body).toEqual({
      msg: 'Cannot delete super admin',
    })
  })

  test('cancels the jobs of an account that is deleted, and not those of others', async () => {
    const { jobs } = app.kernel
    const base = await createBase(app, admin)
    const user = await createMember(app, base.id, 'creator')
    const kind = 'works until it is cancelled'
    jobs.register(kind, {
      run: (_, { signal }) =>
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
      recover: async () => null,
    })
    const start = (userId: string, baseId: string | null) =>
      jobs.start(kind, { userId, baseId, input: {} }).then(({ id }) => id)
    const active = await start(user.id, base.id)
    await until(async () => (await jobs.find(active))?.status === 'active', 'The first job runs')
    // Behind the first in its base.
    const waiting = await start(user.id, base.id)
    const other = await start(admin.id, null)
    expect((await asAdmin().delete(`${USERS}/${user.id}`)).status).toBe(200)
    for (const id of [active, waiting])
      await until(
        async () => (await jobs.find(id))?.status === 'cancelled',
        'A job of the deleted account ends',
      )
    await until(async () => (await jobs.find(other))?.status === 'active', 'The job of another account runs')
    await jobs.cancel(other)
  })

  test('cancels all jobs of an account that is deleted, however many they are', async () => {
    const { jobs } = app.kernel
    const base = await createBase(app, admin)
    const user = await createMember(app, base.id, 'creator')
    const kind = 'lasts until it is cancelled'
    jobs.register(kind, {
      run: (_, { signal }) =>
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
      recover: async () => null,
    })
    const ids: string[] = []
    for (let n = 0; n < 105; n++)
      ids.push((await jobs.start(kind, { userId: user.id, baseId: base.id, input: {} })).id)
    expect((await asAdmin().delete(`${USERS}/${user.id}`)).status).toBe(200)
    const statuses = async () =>
      new Set(await Promise.all(ids.map(async (id) => (await jobs.find(id))?.status)))
    await until(async () => [...(await statuses())].join() === 'cancelled', 'The end of all jobs')
  })

  test('keeps an owner of a base whose two owners are deleted at once', async () => {
    for (let round = 0; round < 5; round++) {
      const founder = await app.signUp()
      await asAdmin().patch(`${USERS}/${founder.id}`, { roles: 'org-level-creator' })
      const { id: baseId } = await createBase(app, founder)
      const second = await createMember(app, baseId, 'owner')
      const both = [founder, second]
      const deletions = both.map(({ id }) => asAdmin().delete(`${USERS}/${id}`))
      const statuses = (await Promise.all(deletions)).map(({ status }) => status)
      expect(statuses.toSorted()).toEqual([200, 400])
      const kept = both[statuses.indexOf(400)]
      const { body } = await app.rest(kept?.token).get(`/api/v2/meta/bases/${baseId}`)
      expect(body.id).toBe(baseId)
    }
  })

  test('says that no mail can be sent', async () => {
    const user = await app.signUp()
    const { status, body } = await asAdmin().post(`${USERS}/${user.id}/resend-invite`)
    expect([status, body.msg]).toEqual([400, expect.stringContaining('No Email Plugin is found')])
    const unknown = await asAdmin().post(`${USERS}/us00000000000000/resend-invite`)
    expect([unknown.status, unknown.body.error]).toEqual([404, 'USER_NOT_FOUND'])
  })
})

describe.each(META_DATABASES)('forgotten passwords on %s', (database) => {
  let app: TestApp
  let admin: TestUser
  beforeAll(async () => {
    app = await createTestApp({ database, config: { publicUrl: 'https://db.example.com' } })
    admin = await app.signUp()
  })
  afterAll(() => app.stop())

  const generate = (by: TestUser, userId: string) =>
    app.rest(by.token).post(`${USERS}/${userId}/generate-reset-url`)
  const reset = (token: string, password: string) =>
    app.rest().post(`/api/v1/auth/password/reset/${token}`, { password })

  test('asking says the same for known and unknown addresses, and signs nobody out', async () => {
    for (const email of [admin.email, 'nobody@example.com']) {
      const { status, body } = await app.rest().post('/api/v1/auth/password/forgot', { email })
      expect([status, body]).toEqual([200, { msg: 'Please check your email to reset the password' }])
    }
    expect((await app.rest(admin.token).get('/api/v2/meta/bases')).status).toBe(200)
  })

  test('only a super admin with a session makes a link', async () => {
    const creator = await app.signUp()
    await app.rest(admin.token).patch(`${USERS}/${creator.id}`, { roles: 'org-level-creator' })
    expect((await generate(creator, admin.id)).status).toBe(403)
    const { token } = (await app.rest(admin.token).post('/api/v1/tokens')).body
    expect((await generate({ ...admin, token }, creator.id)).body.error).toBe('API_TOKEN_NOT_ALLOWED')
    expect((await generate(admin, 'us00000000000000')).status).toBe(404)
  })

  test('a link works once, replaces earlier ones, and ends every session', async () => {
    const browser = app.browser()
    const email = 'lost@example.com'
    const { token: session } = await browser.trpc().auth.signUp.mutate({ email, password: PASSWORD })
    const { user } = await app.trpc(session).auth.me.query()
    const first = (await generate(admin, user?.id ?? '')).body.reset_password_token
    const { reset_password_token: token, reset_password_url: url } = (await generate(admin, user?.id ?? ''))
      .body
    expect(url).toBe(`https://db.example.com/dashboard/#/reset/${token}`)

    const invalid = { msg: 'Invalid reset url' }
    const validate = (value: string) => app.rest().post(`/api/v1/auth/token/validate/${value}`)
    for (const wrong of [first, crypto.randomUUID(), 'x', '%00'])
      expect((await validate(wrong)).body).toEqual(invalid)
    expect((await validate(token)).body).toEqual({ msg: 'Token has been validated successfully' })
    expect((await reset(token, 'short')).body.errors).toHaveLength(1)

    const answers = await Promise.all([reset(token, 'new password 1'), reset(token, 'new password 1')])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400])
    expect((await reset(token, 'new password 2')).body).toEqual(invalid)
    expect((await app.trpc(session).auth.me.query()).user).toBeNull()
    expect(browser.trpc().auth.refresh.mutate()).rejects.toThrow('Invalid refresh token')
    const signIn = (password: string) => app.rest().post('/auth/user/signin', { email, password })
    expect((await signIn(PASSWORD)).status).toBe(400)
    expect((await signIn('new password 1')).status).toBe(200)
  })

  test('a link ends with a password that is changed meanwhile', async () => {
    const user = await app.signUp()
    const { reset_password_token: token } = (await generate(admin, user.id)).body
    const change = { currentPassword: PASSWORD, newPassword: 'another password' }
    await app
      .trpc(user.token)
      .auth.changePassword.mutate({ ...change, currentPassword: 'wrong' })
      .catch(() => {})
    expect((await app.rest().post(`/api/v1/auth/token/validate/${token}`)).status).toBe(200)
    await app.trpc(user.token).auth.changePassword.mutate(change)
    expect((await reset(token, 'a third password')).body).toEqual({ msg: 'Invalid reset url' })
    const credentials = { email: user.email, password: 'another password' }
    expect((await app.rest().post('/auth/user/signin', credentials)).status).toBe(200)
  })

  test('a verification link is never right, as none was sent', async () => {
    const { status, body } = await app.rest().post(`/api/v1/auth/email/validate/${crypto.randomUUID()}`)
    expect([status, body]).toEqual([400, { msg: 'Invalid verification url' }])
  })
})
