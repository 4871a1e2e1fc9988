import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { BaseRole } from '../../src/core/roles.ts'
import { createTestApp, META_DATABASES, type TestApp, type TestUser } from '../support/app.ts'
import { createBase, createMember } from '../support/factories.ts'

describe.each(META_DATABASES)('members of a base on %s', (database) => {
  let app: TestApp
  let admin: TestUser
  let baseId: string
  let owner: TestUser
  beforeAll(async () => {
    app = await createTestApp({ database })
    admin = await app.signUp()
    baseId = (await createBase(app, admin)).id
    owner = await createMember(app, baseId, 'owner')
  })
  afterAll(() => app.stop())

  const path = (userId = '') => `/api/v1/db/meta/projects/${baseId}/users${userId && `/${userId}`}`
  const roleOf = async (user: TestUser, id = baseId): Promise<BaseRole | undefined> => {
    const members = await app.trpc(admin.token).bases.members.query({ baseId: id })
    return members.find((member) => member.id === user.id)?.role
  }

  test('the list holds everyone of the server, and whose role is null is no member', async () => {
    const stranger = await app.signUp()
    const viewer = await createMember(app, baseId, 'viewer')
    const { users } = (await app.rest(viewer.token).get(path())).body
    const find = (user: TestUser) => users.list.find(({ id }: TestUser) => id === user.id)
    expect(find(stranger)).toMatchObject({ roles: null, main_roles: 'org-level-viewer' })
    expect(find(viewer)).toMatchObject({ roles: 'viewer', base_id: baseId, email: viewer.email })
    expect(users.pageInfo.totalRows).toBe(users.list.length)
    expect(JSON.stringify(users)).not.toMatch(/argon2|hash|token_version/)
    expect((await app.rest(stranger.token).get(path())).status).toBe(403)
  })

  test('only creators and owners invite, up to their own role', async () => {
    for (const role of ['viewer', 'commenter', 'editor'] as const) {
      const member = await createMember(app, baseId, role)
      const invitation = { email: `of-${role}@example.com`, roles: 'viewer' }
      const { status, body } = await app.rest(member.token).post(path(), invitation)
      expect([status, body.error]).toEqual([403, 'PERMISSION_DENIED'])
    }
    const { list } = (await app.rest(admin.token).get('/api/v1/users?query=of-viewer')).body
    expect(list).toEqual([])
    const creator = await createMember(app, baseId, 'creator')
    const invite = (roles: string) =>
      app.rest(creator.token).post(path(), { email: `${roles}-of-creator@example.com`, roles })
    const above = await invite('owner')
    expect([above.status, above.body]).toEqual([
      403,
      { error: 'FORBIDDEN', message: 'Forbidden - Insufficient privilege to invite with this role' },
    ])
    for (const roles of ['creator', 'viewer', 'no-access', 'guest'])
      expect((await invite(roles)).status).toBe(200)
    expect((await invite('super')).status).toBe(400)
  })

  test('gives a role once to somebody whom two invite at the same time', async () => {
    for (let round = 0; round < 5; round++) {
      const person = await app.signUp()
      const roles = ['viewer', 'creator', 'editor']
      const answers = await Promise.all(
        roles.map((role) => app.rest(owner.token).post(path(), { email: person.email, roles: role })),
      )
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 422, 422])
      expect(await roleOf(person)).toBe(roles[answers.findIndex(({ status }) => status === 200)] as BaseRole)
      const { body } = answers.find(({ status }) => status === 422) ?? {}
      expect(body.error).toBe('BASE_USER_ERROR')
      const { notifications } = await app.trpc(person.token).notifications.list.query({ unreadOnly: false })
      expect(notifications.filter(({ kind }) => kind === 'invite')).toHaveLength(1)
    }
  })

  test('refuses what is no address, no address at all, and members', async () => {
    const post = (body: unknown) => app.rest(owner.token).post(path(), body)
    const shape = ({
      status,
      body,
    }: {
      status: number
      body: { error?: string; message?: string; msg?: string }
    }) => [status, body.error ?? body.msg, body.message]
    expect(shape(await post({ roles: 'viewer' }))).toEqual([400, 'Email is required', undefined])
    expect(shape(await post({ email: 'nope', roles: 'viewer' }))).toEqual([
      422,
      'BASE_USER_ERROR',
      'Invalid email address : nope',
    ])
    expect(shape(await post({ email: owner.email, roles: 'viewer' }))).toEqual([
      422,
      'BASE_USER_ERROR',
      `${owner.email} with role owner already exists in this base`,
    ])
  })

  test('several addresses are invited at once, each with a token of its own', async () => {
    const known = await app.signUp()
    const email = `${known.email}, new1@example.com ,new2@example.com,bad`
    const { status, body } = await app.rest(owner.token).post(path(), { email, roles: 'viewer' })
    expect(status).toBe(200)
    expect(body.emails).toEqual([known.email, 'new1@example.com', 'new2@example.com', 'bad'])
    expect(body.error).toEqual([{ email: 'bad', error: 'Invalid email address : bad' }])
    expect(new Set(body.invites.map((i: { invite_token: string | null }) => i.invite_token)).size).toBe(3)
    expect(await roleOf(known)).toBe('viewer')
  })

  test('the screens invite several, change roles, remove, and hand links to the inviter alone', async () => {
    const asOwner = app.trpc(owner.token).bases
    const emails = ['new3@example.com', owner.email, 'bad']
    expect(await asOwner.invite.mutate({ baseId, emails, role: 'editor' })).toEqual([
      { email: 'new3@example.com', inviteToken: expect.any(String), problem: null },
      {
        email: owner.email,
        inviteToken: null,
        problem: `${owner.email} with role owner already exists in this base`,
      },
      { email: 'bad', inviteToken: null, problem: 'Invalid email address : bad' },
    ])
    const listed = async (by: TestUser) =>
      (await app.trpc(by.token).bases.members.query({ baseId })).find(({ email }) => email === emails[0])
    const guest = await listed(owner)
    expect(guest).toMatchObject({ role: 'editor', isInvited: true, inviteToken: expect.any(String) })
    const viewer = await createMember(app, baseId, 'viewer')
    expect(await listed(viewer)).toMatchObject({ isInvited: true, inviteToken: null })

    const userId = guest?.id ?? ''
    await asOwner.updateMember.mutate({ baseId, userId, role: 'commenter' })
    expect((await listed(owner))?.role).toBe('commenter')
    // No mail can be sent from here, which is said.
    const again = asOwner.resendInvite.mutate({ baseId, userId })
    await expect(again).rejects.toThrow('No Email Plugin is found')
    await asOwner.removeMember.mutate({ baseId, userId })
    expect(await listed(owner)).toBeUndefined()
  })

  test('a role counts from the next call on, up and down', async () => {
    const user = await createMember(app, baseId, 'viewer')
    const rename = () => app.rest(user.token).patch(`/api/v1/db/meta/projects/${baseId}`, { color: '#000' })
    expect((await rename()).status).toBe(403)
    const patched = await app.rest(owner.token).patch(path(user.id), { roles: 'creator' })
    expect(patched.body).toEqual({ msg: 'The user has been updated successfully' })
    expect((await rename()).status).toBe(200)
    await app.rest(owner.token).patch(path(user.id), { roles: 'no-access' })
    expect((await rename()).status).toBe(401)
    const removed = await app.rest(owner.token).delete(path(user.id))
    expect(removed.body).toEqual({ msg: 'The user has been deleted successfully' })
    expect((await rename()).status).toBe(403)
    expect((await app.rest(owner.token).delete(path(user.id))).status).toBe(200)
  })

  test('a creator reaches neither owners nor the role of one', async () => {
    const creator = await createMember(app, baseId, 'creator')
    const as = app.rest(creator.token)
    expect((await as.patch(path(owner.id), { roles: 'viewer' })).status).toBe(403)
    expect((await as.delete(path(owner.id))).status).toBe(403)
    expect((await as.patch(path(creator.id), { roles: 'owner' })).status).toBe(403)
    expect(await roleOf(owner)).toBe('owner')
  })

  test('only people who reach a role in all bases override it or give it back', async () => {
    const carla = await app.signUp()
    const giveEverywhere = (role: BaseRole) =>
      app.rest(admin.token).patch(`/api/v1/users/${carla.id}`, { workspace_roles: `workspace-level-${role}` })
    await giveEverywhere('owner')
    const viewer = await createMember(app, baseId, 'viewer')
    const creator = await createMember(app, baseId, 'creator')
    const invite = async (by: TestUser) => {
      const invitation = { email: carla.email, roles: 'no-access' }
      const { status, body } = await app.rest(by.token).post(path(), invitation)
      return [status, body.message]
    }
    const isPresent = (role: BaseRole) => [
      422,
      `${carla.email} with role ${role} already exists in this base`,
    ]
    expect((await invite(viewer))[0]).toBe(403)
    expect(await invite(creator)).toEqual(isPresent('owner'))
    expect((await app.rest(creator.token).patch(path(carla.id), { roles: 'viewer' })).status).toBe(403)
    expect(await roleOf(carla)).toBe('owner')
    expect((await app.rest(owner.token).patch(path(carla.id), { roles: 'viewer' })).status).toBe(200)
    expect(await roleOf(carla)).toBe('viewer')
    expect((await app.rest(creator.token).delete(path(carla.id))).status).toBe(403)
    expect((await app.rest(owner.token).delete(path(carla.id))).status).toBe(200)
    expect(await roleOf(carla)).toBe('owner')
    await giveEverywhere('viewer')
    expect((await invite(viewer))[0]).toBe(403)
    expect((await invite(creator))[0]).toBe(200)
    expect(await roleOf(carla)).toBe('no-access')
  })

  test('an invitation to a further base has the link of the first, for its inviter alone', async () => {
    const inviteAs = async (by: TestUser, id: string) => {
      const emails = ['twice@example.com']
      return (await app.trpc(by.token).bases.invite.mutate({ baseId: id, emails, role: 'viewer' }))[0]
    }
    const further = (await createBase(app, admin)).id
    const theirs = (await createBase(app, admin)).id
    await app.services.auth.access.setMembership(theirs, owner.id, 'owner')
    const first = await inviteAs(admin, baseId)
    expect(first?.inviteToken).toBeString()
    expect(await inviteAs(admin, further)).toEqual(first)
    expect(await inviteAs(owner, theirs)).toMatchObject({ inviteToken: null, problem: null })
  })

  test('unknown people, and oneself', async () => {
    for (const id of ['us00000000000000', '%00', 'x']) {
      expect((await app.rest(owner.token).patch(path(id), { roles: 'viewer' })).body.error).toBe(
        'BASE_USER_ERROR',
      )
      expect((await app.rest(owner.token).delete(path(id))).body.error).toBe('USER_NOT_FOUND')
    }
    const self = await app.rest(owner.token).delete(path(owner.id))
    expect([self.status, self.body.message]).toEqual([422, "Admin can't delete themselves!"])
  })

  test('a base keeps an owner, also when its two owners demote each other at once', async () => {
    for (let i = 0; i < 5; i++) {
      const creator = await app.signUp()
      await app.rest(admin.token).patch(`/api/v1/users/${creator.id}`, { roles: 'org-level-creator' })
      const { id } = await createBase(app, creator)
      const second = await createMember(app, id, 'owner')
      const demote = (by: TestUser, whom: TestUser) =>
        app.rest(by.token).patch(`/api/v2/meta/bases/${id}/users/${whom.id}`, { roles: 'viewer' })
      await Promise.all([demote(creator, second), demote(second, creator)])
      const roles = [await roleOf(creator, id), await roleOf(second, id)]
      expect(roles.filter((role) => role === 'owner')).toHaveLength(1)
      const last = roles[0] === 'owner' ? creator : second
      const refused = await demote(last, last)
      expect([refused.status, refused.body.message]).toEqual([422, 'At least one owner is required'])
      const removed = await app.rest(admin.token).delete(`/api/v2/meta/bases/${id}/users/${last.id}`)
      expect(removed.status).toBe(422)
    }
  })
})
