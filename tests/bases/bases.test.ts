import { afterAll, beforeAll, describe, expect, spyOn, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { defineAuthTables } from '../../modules/auth/tables.ts'
import { BEING_REMOVED } from '../../modules/bases/store.ts'
import { defineBasesTables } from '../../modules/bases/tables.ts'
import { createId } from '../../src/core/ids.ts'
import { refusalOf } from '../records/support.ts'
import { createTestApp, META_DATABASES, type TestApp, type TestUser } from '../support/app.ts'
import { createBase, createMember } from '../support/factories.ts'

const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)])

describe.each(META_DATABASES)('bases on %s', (database) => {
  let app: TestApp
  let admin: TestUser
  beforeAll(async () => {
    app = await createTestApp({ database })
    admin = await app.signUp()
  })
  afterAll(() => app.stop())

  /** Someone who may create bases and has none. */
  async function createCreator(): Promise<TestUser> {
    const user = await app.signUp()
    await app.rest(admin.token).patch(`/api/v1/users/${user.id}`, { roles: 'org-level-creator' })
    return user
  }
  const titles = async (user: TestUser, trash = false) =>
    (await app.trpc(user.token).bases.list.query({ trash })).map(({ title }) => title)

  describe('POST /api/v1/db/meta/projects/', () => {
    const post = (user: TestUser, body: unknown) =>
      app.rest(user.token).post('/api/v1/db/meta/projects/', body)

    test('is not for viewers of the organisation', async () => {
      const { status, body } = await post(await app.signUp(), { title: 'Mine' })
      expect([status, body.error, body.details.permissionName]).toEqual([
        403,
        'PERMISSION_DENIED',
        'baseCreate',
      ])
    })

    test.each([
      ['no title', {}],
      ['an empty title', { title: '' }],
      ['a blank title', { title: '   ' }],
      ['a null character', { title: 'a\u0000' }],
      ['a title of 256 characters', { title: 'x'.repeat(256) }],
      ['meta that is a list', { title: 'x', meta: [1] }],
      ['meta that is no JSON', { title: 'x', meta: '{' }],
      ['meta with a null character', { title: 'x', meta: { icon: '\u0000' } }],
      ['meta of a megabyte', { title: 'x', meta: { icon: 'x'.repeat(1_000_000) } }],
      ['half a character', { title: 'x', color: '\ud800' }],
      ['meta that is nested 150 deep', { title: 'x', meta: { a: nested(150) } }],
      ['a list', [{ title: 'x' }]],
    ])('refuses %s', async (_, body) => {
      const answer = await post(admin, body)
      expect([answer.status, answer.body.msg]).toEqual([400, 'Invalid request body'])
    })

    test('makes a base with its own source, owned by who made it; the same title twice is fine', async () => {
      const user = await createCreator()
      const body = { title: ' CRM ', color: '#123456', meta: { iconColor: '#36BFFF' }, unknown: 1 }
      const made = await post(user, body)
      expect(made.status).toBe(200)
      expect(made.body).toMatchObject({
        title: 'CRM',
        meta: { iconColor: '#36BFFF' },
        color: '#123456',
        deleted: false,
      })
      expect(made.body.id).toMatch(/^p[a-z0-9]{14}$/)
      expect(made.body.created_at).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\+00:00$/)
      expect(made.body.sources).toHaveLength(1)
      expect(made.body.sources[0]).toMatchObject({
        base_id: made.body.id,
        type: app.kernel.sources.newHome,
        is_meta: true,
      })
      expect((await post(user, body)).status).toBe(200)
      const members = await app.trpc(user.token).bases.members.query({ baseId: made.body.id })
      const since = expect.stringMatching(/^\d{4}-\d\d-\d\dT/)
      const joined = { since, isInAllBases: false, isInvited: false, inviteToken: null }
      expect(members).toEqual([
        { id: user.id, email: user.email, displayName: null, role: 'owner', ...joined },
      ])
      const me = await app.rest(user.token).get(`/api/v1/auth/user/me?base_id=${made.body.id}`)
      expect(me.body.base_roles).toEqual({ owner: true })
    })
  })

  test('an unknown base is not found, before anyone is asked who they are', async () => {
    for (const id of ['p00000000000000', 'x', '%00', '%F0%9F%98%80', "'--", '..%2F..', 'p'.repeat(5000)]) {
      for (const path of [`/api/v1/db/meta/projects/${id}`, `/api/v2/meta/bases/${id}/users`]) {
        const { status, body } = await app.rest().get(path)
        expect([status, body.error]).toEqual([404, 'BASE_NOT_FOUND'])
      }
    }
  })

  test('lists only what one is a member of; super admins see all', async () => {
    const user = await createCreator()
    const own = await createBase(app, user, 'Only mine')
    const shared = await createBase(app, admin, 'Shared')
    const closed = await createBase(app, admin, 'Closed')
    await app.services.auth.access.setMembership(shared.id, user.id, 'viewer')
    await app.services.auth.access.setMembership(closed.id, user.id, 'no-access')
    const { list, pageInfo } = (await app.rest(user.token).get('/api/v2/meta/bases')).body
    expect(list.map((base: { id: string }) => base.id)).toEqual([own.id, shared.id])
    expect(list.map((base: { project_role: string }) => base.project_role)).toEqual(['owner', 'viewer'])
    expect(pageInfo).toMatchObject({ totalRows: 2, page: 1, pageSize: 2, isLastPage: true })
    expect(await titles(admin)).toEqual(expect.arrayContaining(['Only mine', 'Shared', 'Closed']))
  })

  test('PATCH renames, and refuses a title that another base has', async () => {
    const base = await createBase(app, admin, 'Before')
    await createBase(app, admin, 'Taken')
    const patch = (body: unknown) => app.rest(admin.token).patch(`/api/v1/db/meta/projects/${base.id}`, body)
    expect((await patch({ title: 'Taken' })).body).toEqual({ msg: 'Base title already in use' })
    const { status, body, headers } = await patch({ title: 'After', nonsense: true })
    expect([status, body, headers.get('content-type')]).toEqual([200, 1, 'text/html; charset=utf-8'])
    expect((await patch({})).body).toBe(1)
    await createBase(app, admin, 'After')
    expect((await patch({ title: 'After' })).body).toBe(1)
    expect((await patch({ color: '#fff', meta: { icon: 'cat' } })).body).toBe(1)
    const read = async () => (await app.rest(admin.token).get(`/api/v2/meta/bases/${base.id}`)).body
    expect(await read()).toMatchObject({ title: 'After', color: '#fff', meta: { icon: 'cat' } })
    expect((await patch({ meta: { icon: 'dog' } })).body).toBe(1)
    expect(await read()).toMatchObject({ color: '#fff', meta: { icon: 'dog' } })
    expect((await patch({ color: null })).body).toBe(1)
    expect(await read()).toMatchObject({ color: null, meta: { icon: 'dog' } })
  })

  test('everyone orders their own list', async () => {
    const user = await createCreator()
    const other = await createMember(app, (await createBase(app, user, 'A')).id, 'viewer')
    const [b, c] = [await createBase(app, user, 'B'), await createBase(app, user, 'C')]
    await app.services.auth.access.setMembership(b.id, other.id, 'viewer')
    const trpc = app.trpc(user.token)
    await trpc.bases.reorder.mutate({ baseId: c.id, before: b.id })
    expect(await titles(user)).toEqual(['A', 'C', 'B'])
    await trpc.bases.reorder.mutate({ baseId: c.id, before: null })
    expect(await titles(user)).toEqual(['A', 'B', 'C'])
    await createBase(app, user, 'D')
    expect(await titles(user)).toEqual(['A', 'B', 'C', 'D'])
    await app
      .trpc(other.token)
      .bases.reorder.mutate({ baseId: b.id, before: (await trpc.bases.list.query())[0]?.id ?? '' })
    expect(await titles(other)).toEqual(['B', 'A'])
    expect(await titles(user)).toEqual(['A', 'B', 'C', 'D'])
    const prefer = await app
      .rest(user.token)
      .patch(`/api/v1/db/meta/projects/${b.id}/user`, { starred: true })
    expect([prefer.status, prefer.body]).toEqual([200, true])
    const { list } = (await app.rest(user.token).get('/api/v1/db/meta/projects')).body
    expect(list.find(({ id }: { id: string }) => id === b.id)).toMatchObject({ starred: true, order: 2 })
  })

  test('a base that its owner sends back whole moves for nobody', async () => {
    const user = await createCreator()
    const base = await createBase(app, user, 'Mine')
    const path = '/api/v1/db/meta/projects'
    const rest = app.rest(user.token)
    const { order } = (await rest.get(`${path}/${base.id}`)).body
    await rest.patch(`${path}/${base.id}/user`, { order: order + 100 })
    const [listed] = (await rest.get(path)).body.list
    expect(listed.order).toBe(order + 100)
    const renamed = await rest.patch(`${path}/${base.id}`, { ...listed, title: 'Ours' })
    expect([renamed.status, renamed.body]).toEqual([200, 1])
    expect((await rest.get(`${path}/${base.id}`)).body).toMatchObject({ title: 'Ours', order })
    await rest.patch(`${path}/${base.id}`, { order: 7 })
    expect((await rest.get(`${path}/${base.id}`)).body.order).toBe(7)
  })

  test('goes to the trash and comes back with all members; only owners see it there', async () => {
    const user = await createCreator()
    const base = await createBase(app, user, 'Gone')
    const creator = await createMember(app, base.id, 'creator')
    const path = `/api/v1/db/meta/projects/${base.id}`
    expect((await app.rest(creator.token).delete(path)).status).toBe(403)
    const deleted = await app.rest(user.token).delete(path)
    expect([deleted.status, deleted.body]).toEqual([200, true])
    for (const token of [user.token, creator.token, undefined])
      expect((await app.rest(token).get(path)).status).toBe(404)
    expect((await app.rest(user.token).delete(path)).status).toBe(404)
    expect(await titles(user)).toEqual([])
    expect(await titles(user, true)).toEqual(['Gone'])
    expect(await titles(creator, true)).toEqual([])
    const restore = (token: string) => app.trpc(token).bases.restore.mutate({ baseId: base.id })
    expect(restore(creator.token)).rejects.toMatchObject({ data: { appCode: 'PERMISSION_DENIED' } })
    expect(await restore(user.token)).toMatchObject({ title: 'Gone', deletedAt: null, role: 'owner' })
    expect(await titles(creator)).toEqual(['Gone'])
    expect(restore(user.token)).rejects.toMatchObject({ data: { appCode: 'BASE_NOT_FOUND' } })
  })

  test('stays away if it is being deleted forever when its restore is carried out', async () => {
    const user = await createCreator()
    const base = await createBase(app, user, 'Going')
    const trpc = app.trpc(user.token)
    await trpc.bases.delete.mutate({ baseId: base.id })
    const { access } = app.services.auth
    const { authorize } = access
    const { sources, meta } = app.kernel
    const { remove } = sources
    const reached = Promise.withResolvers<void>()
    const release = Promise.withResolvers<void>()
    const removals = spyOn(sources, 'remove').mockImplementation(async (baseId) => {
      reached.resolve()
      await release.promise
      return remove(baseId)
    })
    let purged: Promise<unknown> = Promise.resolve()
    // The restore has found the base in the trash by then.
    const checks = spyOn(access, 'authorize').mockImplementation(async (...asked) => {
      if (asked[1] === 'base.restore') {
        purged = trpc.trash.purgeBase.mutate({ baseId: base.id })
        await reached.promise
      }
      return authorize(...asked)
    })
    try {
      const restored = trpc.bases.restore.mutate({ baseId: base.id })
      expect(await refusalOf(restored)).toMatchObject({ code: 'BASE_NOT_FOUND' })
      const { bases } = meta.tables(defineBasesTables)
      const rows = await meta.db.select().from(bases).where(eq(bases.id, base.id))
      expect(rows.map(({ deletedAt }) => deletedAt)).toEqual([BEING_REMOVED])
      const { audits } = meta.tables(defineAuthTables)
      const told = await meta.db.select().from(audits).where(eq(audits.baseId, base.id))
      expect(told.map(({ kind }) => kind)).toEqual(['base.create', 'base.delete'])
    } finally {
      release.resolve()
      await purged
      for (const each of [checks, removals]) each.mockRestore()
    }
    expect(await titles(user, true)).toEqual([])
  })

  test('while it is being copied is nowhere in the trash, and cannot be restored or deleted forever', async () => {
    const owner = app.trpc(admin.token)
    const actor = await app.services.auth.authenticate(new Headers({ 'xc-auth': admin.token }))
    if (actor.kind !== 'user') throw new Error('Not signed in')
    const baseId = createId('base')
    const { copies } = app.services.bases
    await copies.beginEmpty(actor, { baseId, title: 'Half', description: null, meta: {} })
    expect(await titles(admin, true)).not.toContain('Half')
    const { bases, trash } = owner
    for (const attempt of [() => bases.restore.mutate({ baseId }), () => trash.purgeBase.mutate({ baseId })])
      expect(await refusalOf(attempt())).toMatchObject({ code: 'BASE_NOT_FOUND' })
    await copies.finish(actor, baseId, [])
    expect(await titles(admin)).toContain('Half')
  })

  test('resolve finds by id or title, and of two with one title that of the caller', async () => {
    const [ann, bob] = [await createCreator(), await createCreator()]
    const [first, second] = [await createBase(app, ann, 'Twins'), await createBase(app, bob, 'Twins')]
    const { resolve } = app.services.bases
    const actorOf = async (user: TestUser) =>
      app.services.auth.authenticate(new Headers({ 'xc-auth': user.token }))
    expect((await resolve(first.id)).id).toBe(first.id)
    expect((await resolve('Twins', await actorOf(ann))).id).toBe(first.id)
    expect((await resolve('Twins', await actorOf(bob))).id).toBe(second.id)
    expect(resolve('No such')).rejects.toMatchObject({ code: 'BASE_NOT_FOUND' })
  })

  test('answers what REST clients ask besides', async () => {
    const base = await createBase(app, admin)
    const get = (path: string) => app.rest(admin.token).get(`/api/v1/db/meta/projects/${base.id}/${path}`)
    const info = (await get('info')).body
    expect(Object.keys(info)).toEqual(['Node', 'Arch', 'Platform', 'Docker', 'RootDB', 'PackageVersion'])
    const { body, headers } = await get('has-empty-or-null-filters')
    expect([body, headers.get('content-type')]).toEqual([false, 'text/html; charset=utf-8'])
  })
})
