import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { eq } from 'drizzle-orm'
import { MAX_FAILURES_PER_NETWORK } from '../../modules/auth/audits.ts'
import { defineAuthTables } from '../../modules/auth/tables.ts'
import type { AuditEntry } from '../../src/core/audits.ts'
import { refusalOf } from '../records/support.ts'
import { createTestApp, META_DATABASES, PASSWORD, type TestApp, type TestUser } from '../support/app.ts'
import { createBase } from '../support/factories.ts'

const USERS = '/api/v1/users'
const SIGN_IN = '/api/v1/auth/user/signin'
const LOGS = ['/api/v1/db/meta/audits', '/api/v2/meta/audits']
const AGENT = 'audit-test/1.0'

describe.each(META_DATABASES)('the audit log on %s', (database) => {
  let app: TestApp
  let admin: TestUser
  let ann: TestUser
  beforeAll(async () => {
    app = await createTestApp({ database, config: { trustProxy: true } })
    admin = await app.signUp('admin@example.com')
    ann = await app.signUp('ann@example.com')
  })
  afterAll(() => app.stop())

  let networks = 0
  /** A REST client with an address of its own, since failures are counted by address. */
  const rest = (user?: TestUser, address = `203.0.113.${++networks}`) =>
    app.rest({
      ...(user && { 'xc-auth': user.token }),
      'user-agent': AGENT,
      'x-forwarded-for': address,
    })
  const asAdmin = () => app.trpc(admin.token)
  const log = (filter: Parameters<ReturnType<typeof asAdmin>['activity']['log']['query']>[0] = {}) =>
    asAdmin().activity.log.query(filter)

  /** What was recorded meanwhile, oldest first. */
  async function recorded(act: () => Promise<unknown>): Promise<AuditEntry[]> {
    const [last] = (await log({ limit: 1 })).items
    await act()
    const { items } = await log({ limit: 100 })
    return items.filter(({ id }) => id > (last?.id ?? 0)).reverse()
  }
  const kindsOf = (entries: readonly AuditEntry[]) => entries.map(({ kind }) => kind)

  describe('activity.log and GET /api/v2/meta/audits', () => {
    test('are for super admins only', async () => {
      const creator = await app.signUp()
      await rest(admin).patch(`${USERS}/${creator.id}`, { roles: 'org-level-creator' })
      expect((await refusalOf(app.trpc(creator.token).activity.log.query({}))).code).toBe('PERMISSION_DENIED')
      expect((await refusalOf(app.trpc().activity.log.query({}))).code).toBe('AUTHENTICATION_REQUIRED')
      for (const path of LOGS) {
        expect((await rest(creator).get(path)).status).toBe(403)
        expect((await rest().get(path)).status).toBe(401)
      }
    })

    test('reject malformed filters', async () => {
      const queries = [
        'group=x',
        'cursor=0',
        'cursor=x',
        'cursor=99999999999',
        'limit=0',
        'limit=101',
        'from=yesterday',
        'person=%00',
        `person=${'x'.repeat(255)}`,
      ]
      for (const query of queries)
        expect([query, (await rest(admin).get(`${LOGS[1]}?${query}`)).status]).toEqual([query, 400])
    })

    test('page by key, each entry once', async () => {
      for (const name of ['a', 'b', 'c']) await rest(ann).post('/api/v1/tokens', { description: name })
      const all = (await log({ limit: 100 })).items.map(({ id }) => id)
      const found: number[] = []
      let cursor: number | null = null
      do {
        const page: Awaited<ReturnType<typeof log>> = await log({ limit: 2, cursor })
        found.push(...page.items.map(({ id }) => id))
        cursor = page.next
      } while (cursor !== null)
      expect(found).toEqual(all)
      expect(found.length).toBeGreaterThan(4)
    })

    test('filter by kind, person and time', async () => {
      const bob = await app.signUp('bob.filter@example.com')
      await rest(admin).patch(`${USERS}/${bob.id}`, { roles: 'org-level-creator' })
      await Bun.sleep(5)
      const from = new Date().toISOString()
      await Bun.sleep(5)
      await rest(bob).post('/api/v1/tokens', { description: 'x' })
      const kinds = async (filter: NonNullable<Parameters<typeof log>[0]>['filter']) =>
        kindsOf((await log({ filter })).items)
      const ofBob: AuditEntry['kind'][] = ['token.create', 'user.roles', 'user.sign-up']
      expect(await kinds({ person: bob.id })).toEqual(ofBob)
      expect(await kinds({ person: 'BOB.filter' })).toEqual(ofBob)
      expect(await kinds({ person: 'bob_filter' })).toEqual([])
      expect(await kinds({ person: bob.id, group: 'roles' })).toEqual(['user.roles'])
      expect(await kinds({ person: bob.id, from })).toEqual(['token.create'])
      expect(await kinds({ person: bob.id, to: from })).toEqual(ofBob.slice(1))
      expect(await kinds({ group: 'passwords', from })).toEqual([])
    })

    test('answer in the form of the specification', async () => {
      await rest(admin).post(USERS, { email: 'form@example.com' })
      for (const path of LOGS) {
        const { status, body } = await rest(admin).get(`${path}?limit=1&group=accounts`)
        expect(status).toBe(200)
        expect(body.list).toMatchObject([
          {
            kind: 'user.invite',
            op_type: 'ORG_USER',
            op_sub_type: 'INVITE',
            user: admin.email,
            affected_user: 'form@example.com',
            base_id: null,
            ip: expect.stringMatching(/^203\.0\.113\./),
            user_agent: AGENT,
            details: { name: 'form@example.com', role: 'org-level-viewer' },
          },
        ])
        expect(body.pageInfo).toEqual({ pageSize: 1, isFirstPage: true, isLastPage: false })
        expect(String(body.cursor)).toBe(body.list[0].id)
      }
    })
  })

  describe('an entry', () => {
    /** Each once, with who acted, from where and whom it concerns. */
    async function expectOne(
      act: () => Promise<unknown>,
      expected: Pick<AuditEntry, 'kind'> & Partial<AuditEntry>,
    ) {
      const entries = await recorded(act)
      expect(entries).toMatchObject([
        { userAgent: AGENT, address: expect.stringMatching(/^203\.0\.113\.\d+$/), ...expected },
      ])
    }
    const by = (user: TestUser) => ({ actorId: user.id, userId: user.id, detail: { name: user.email } })

    test('is written for a sign-in, and not for a new access token', async () => {
      const address = '203.0.113.250'
      const credentials = { email: ann.email, password: PASSWORD }
      const signIn = () => rest(undefined, address).post(SIGN_IN, credentials)
      await expectOne(signIn, { kind: 'user.sign-in', ...by(ann), address })
      const browser = app.browser()
      await browser.trpc().auth.signIn.mutate(credentials)
      expect(await recorded(() => browser.trpc().auth.refresh.mutate())).toEqual([])
    })

    test('is written for signing out everywhere', async () => {
      const user = await app.signUp()
      await expectOne(() => rest(user).post('/api/v1/auth/user/signout'), {
        kind: 'user.sign-out',
        ...by(user),
      })
      expect(await recorded(() => rest(user).post('/api/v1/auth/user/signout'))).toEqual([])
    })

    test('is written for a changed password, without the passwords', async () => {
      const user = await app.signUp()
      const change = { currentPassword: PASSWORD, newPassword: 'another secret' }
      const path = '/api/v1/auth/password/change'
      expect(
        await recorded(() => rest(user).post(path, { ...change, currentPassword: 'wrong secret' })),
      ).toEqual([])
      await expectOne(() => rest(user).post(path, change), { kind: 'user.password-change', ...by(user) })
    })

    test('is written for a reset link and its use, without its token', async () => {
      const user = await app.signUp()
      const concerned = { userId: user.id, detail: { name: user.email } }
      let token = ''
      await expectOne(
        async () => {
          token = (await rest(admin).post(`${USERS}/${user.id}/generate-reset-url`)).body.reset_password_token
        },
        { kind: 'user.reset-link', actorId: admin.id, ...concerned },
      )
      const reset = () => rest().post(`/api/v1/auth/password/reset/${token}`, { password: 'another secret' })
      await expectOne(reset, { kind: 'user.password-reset', actorId: null, ...concerned })
      expect(await recorded(reset)).toEqual([])
      expect(JSON.stringify((await log({ limit: 100 })).items)).not.toContain(token)
    })

    test('is written for a new account, an invitation and its acceptance, once each', async () => {
      const email = 'self@example.com'
      const signUp = (body: object) =>
        rest().post('/api/v1/auth/user/signup', { password: PASSWORD, ...body })
      const [own] = await recorded(() => Promise.all([signUp({ email }), signUp({ email })]))
      expect(own).toMatchObject({ kind: 'user.sign-up', actorId: own?.userId, detail: { name: email } })
      const invited = 'invited@example.com'
      const invite = () => rest(admin).post(USERS, { email: invited, roles: 'org-level-creator' })
      const entries = await recorded(() => Promise.all([invite(), invite()]))
      expect(entries).toMatchObject([
        { kind: 'user.invite', actorId: admin.id, detail: { name: invited, role: 'org-level-creator' } },
      ])
      const { list } = (await rest(admin).get(`${USERS}?query=${invited}`)).body
      const token: string = list[0].invite_token
      const accept = () => signUp({ email: invited, token })
      const accepted = await recorded(() => Promise.all([accept(), accept()]))
      expect(accepted).toMatchObject([
        { kind: 'user.accept-invite', actorId: list[0].id, userId: list[0].id, detail: { name: invited } },
      ])
      expect(JSON.stringify((await log({ limit: 100 })).items)).not.toContain(token)
    })

    test('is written for roles in the organisation and in all bases, and for a deleted account', async () => {
      const user = await app.signUp()
      const path = `${USERS}/${user.id}`
      const change = { actorId: admin.id, userId: user.id }
      const as = (role?: string) => ({ name: user.email, ...(role !== undefined && { role }) })
      await expectOne(() => rest(admin).patch(path, { roles: 'org-level-creator' }), {
        kind: 'user.roles',
        ...change,
        detail: as('org-level-creator'),
      })
      for (const role of ['workspace-level-editor', undefined])
        await expectOne(() => rest(admin).patch(path, { workspace_roles: role ?? null }), {
          kind: 'user.workspace-role',
          ...change,
          detail: as(role),
        })
      expect(await recorded(() => rest(ann).patch(path, { roles: 'org-level-creator' }))).toEqual([])
      await expectOne(() => rest(admin).delete(path), { kind: 'user.delete', ...change, detail: as() })
      expect((await log({ limit: 1 })).people).toContainEqual(expect.objectContaining({ email: user.email }))
    })

    test('is written for API tokens, with their description only', async () => {
      const user = await app.signUp()
      const concerned = { actorId: user.id, userId: user.id, detail: { name: 'Nightly' } }
      let created = { id: 0, token: '' }
      await expectOne(
        async () => {
          created = (await rest(user).post('/api/v1/tokens', { description: 'Nightly' })).body
        },
        { kind: 'token.create', ...concerned },
      )
      await expectOne(() => rest(user).delete(`/api/v1/tokens/${created.id}`), {
        kind: 'token.delete',
        ...concerned,
      })
      expect(await recorded(() => rest(user).delete(`/api/v1/tokens/${created.id}`))).toEqual([])
      await rest(user).post('/api/v1/tokens', { description: 'Nightly' })
      const change = { currentPassword: PASSWORD, newPassword: 'another secret', revoke_tokens: true }
      const entries = await recorded(() => rest(user).post('/api/v1/auth/password/change', change))
      expect(kindsOf(entries)).toEqual(['user.password-change', 'token.delete'])
      expect(JSON.stringify((await log({ limit: 100 })).items)).not.toContain(created.token)
    })

    test('is written for settings of the server and plugins, without their secrets', async () => {
      const change = { actorId: admin.id, userId: null, baseId: null }
      await expectOne(() => rest(admin).post('/api/v1/app-settings', { invite_only_signup: false }), {
        kind: 'settings.update',
        ...change,
        detail: { target: 'app', name: 'invite_only_signup: false' },
      })
      await expectOne(() => rest(admin).post('/api/v1/license', { key: 'hush-license' }), {
        kind: 'settings.update',
        ...change,
        detail: { target: 'license' },
      })
      const detail = { name: 'Slack', target: 'slack' }
      const config = [{ channel: 'a', webhook_url: 'https://example.com/hush-hook' }]
      const entries = await recorded(async () => {
        await asAdmin().plugins.save.mutate({ id: 'slack', config })
        await asAdmin().plugins.deactivate.mutate({ id: 'slack', keepConfig: false })
      })
      expect(entries).toMatchObject([
        { kind: 'plugin.update', ...change, detail },
        { kind: 'plugin.deactivate', ...change, detail },
      ])
      expect(JSON.stringify((await log({ limit: 100 })).items)).not.toContain('hush')
    })

    test('is written for members of bases, and for a base that is deleted forever', async () => {
      const user = await app.signUp()
      const base = await createBase(app, admin, 'Ledger')
      const path = `/api/v2/meta/bases/${base.id}/users`
      const change = { actorId: admin.id, userId: user.id, baseId: base.id }
      await expectOne(() => rest(admin).post(path, { email: user.email, roles: 'viewer' }), {
        kind: 'member.invite',
        ...change,
        detail: { name: user.email, role: 'viewer' },
      })
      expect((await log({ limit: 1 })).bases).toEqual([{ id: base.id, title: 'Ledger' }])
      await expectOne(() => rest(admin).patch(`${path}/${user.id}`, { email: user.email, roles: 'editor' }), {
        kind: 'member.update',
        ...change,
        detail: { name: user.email, role: 'editor' },
      })
      await expectOne(() => rest(admin).delete(`${path}/${user.id}`), {
        kind: 'member.remove',
        ...change,
        detail: { name: user.email },
      })
      await asAdmin().bases.delete.mutate({ baseId: base.id })
      const entries = await recorded(() => asAdmin().trash.purgeBase.mutate({ baseId: base.id }))
      expect(entries).toMatchObject([
        { kind: 'base.purge', actorId: admin.id, baseId: null, detail: { name: 'Ledger', target: base.id } },
      ])
    })

    test.if(database === 'sqlite')('and its cause are stored together or not at all', async () => {
      const user = await app.signUp()
      using file = new Database(join(app.config.dataDir, 'sheaf.db'))
      file.run("create trigger refuse before insert on audits begin select raise(abort, 'refused'); end")
      const change = { currentPassword: PASSWORD, newPassword: 'another secret' }
      const calls = [
        () => rest(user).post('/api/v1/tokens', { description: 'x' }),
        () => rest(user).post('/api/v1/auth/password/change', change),
        () => rest(admin).patch(`${USERS}/${user.id}`, { roles: 'org-level-creator' }),
        () => rest(admin).patch(`${USERS}/${user.id}`, { workspace_roles: 'workspace-level-editor' }),
        () => rest(admin).post(USERS, { email: 'never@example.com' }),
        () => rest(admin).post('/api/v1/license', { key: 'never' }),
        () => rest(admin).delete(`${USERS}/${user.id}`),
        () => rest().post(SIGN_IN, { email: user.email, password: PASSWORD }),
      ]
      try {
        for (const call of calls) expect((await call()).status).toBe(500)
      } finally {
        file.run('drop trigger refuse')
      }
      expect((await rest(user).get('/api/v1/tokens')).body.list).toEqual([])
      expect((await rest(admin).get(`${USERS}?query=never@`)).body.list).toEqual([])
      expect((await rest(admin).get('/api/v1/license')).body).not.toMatchObject({ key: 'never' })
      expect((await rest(admin).get(`${USERS}?query=${user.email}`)).body.list).toMatchObject([
        { roles: 'org-level-viewer', workspace_roles: null },
      ])
      const signIn = { email: user.email, password: PASSWORD }
      expect((await rest().post(SIGN_IN, signIn)).status).toBe(200)
    })

    test('has an address and a client of bounded lengths', async () => {
      const headers = { 'user-agent': 'x'.repeat(5000), 'x-forwarded-for': 'y'.repeat(1000) }
      const [entry] = await recorded(() =>
        app.rest(headers).post(SIGN_IN, { email: ann.email, password: PASSWORD }),
      )
      expect([entry?.userAgent, entry?.address]).toEqual(['x'.repeat(256), 'y'.repeat(64)])
    })
  })

  describe('a failed sign-in', () => {
    const fail = (email: string, address?: string) =>
      rest(undefined, address).post(SIGN_IN, { email, password: 'hush-password' })

    test('is recorded for known and unknown addresses, which get the same answer', async () => {
      const answers: unknown[] = []
      const entries = await recorded(async () => {
        for (const email of [ann.email, 'unknown@example.com']) {
          const { status, body } = await fail(email)
          answers.push([status, body])
        }
      })
      expect(answers[0]).toEqual([400, { msg: 'Invalid credentials' }])
      expect(answers[1]).toEqual(answers[0])
      const failed = { kind: 'user.sign-in-failed', actorId: null, userAgent: AGENT }
      expect(entries).toMatchObject([
        { ...failed, userId: ann.id, detail: { name: ann.email } },
        { ...failed, userId: null, detail: { name: 'unknown@example.com' } },
      ])
    })

    test('stores neither the password nor what is no address', async () => {
      const entries = await recorded(() => fail('hush-typed-into-the-wrong-box'))
      expect(entries).toMatchObject([{ kind: 'user.sign-in-failed', detail: {} }])
      expect(JSON.stringify(entries)).not.toContain('hush')
    })

    test('is recorded a few times a minute per network, and still for other networks', async () => {
      const many = MAX_FAILURES_PER_NETWORK + 5
      const entries = await recorded(async () => {
        for (let n = 0; n < many; n++) await fail(`many${n}@example.com`, `2001:db8:1:2::${n}`)
      })
      // The minute may end in between.
      const perMinute = [...Map.groupBy(entries, ({ at }) => at.slice(0, 16)).values()]
      expect(Math.max(...perMinute.map(({ length }) => length))).toBeLessThanOrEqual(MAX_FAILURES_PER_NETWORK)
      expect(entries.length).toBeGreaterThanOrEqual(MAX_FAILURES_PER_NETWORK)
      expect(await recorded(() => fail('many@example.com', '2001:db8:1:3::1'))).toHaveLength(1)
    })
  })

  describe('entries older than AUDIT_DAYS', () => {
    test('are removed; those of a base stay in its history, without addresses', async () => {
      const { meta, config } = app.kernel
      const { audits } = meta.tables(defineAuthTables)
      const base = await createBase(app, admin)
      const invited = await recorded(() =>
        rest(admin).post(`/api/v2/meta/bases/${base.id}/users`, { email: ann.email, roles: 'viewer' }),
      )
      const signedIn = await recorded(() => rest().post(SIGN_IN, { email: ann.email, password: PASSWORD }))
      const kept = await recorded(() => rest().post(SIGN_IN, { email: ann.email, password: PASSWORD }))
      const at = new Date(Date.now() - 366 * 86_400_000).toISOString()
      for (const { id } of [...invited, ...signedIn])
        await meta.db.update(audits).set({ at }).where(eq(audits.id, id))
      const found = async () => {
        const ids = [...invited, ...signedIn, ...kept].map(({ id }) => id)
        const { items } = await log({ limit: 20 })
        return items.filter(({ id }) => ids.includes(id)).map(({ kind, address }) => [kind, address !== null])
      }
      config.auditDays = 0
      await app.services.storage.purgeDue()
      expect(await found()).toHaveLength(3)
      config.auditDays = 365
      await app.services.storage.purgeDue()
      expect(await found()).toEqual([
        ['user.sign-in', true],
        ['member.invite', false],
      ])
      const { items } = await asAdmin().activity.list.query({
        baseId: base.id,
        filter: { kinds: ['access'] },
      })
      expect(items.map((item) => item.kind === 'audit' && item.auditKind)).toContain('member.invite')
    })
  })
})
