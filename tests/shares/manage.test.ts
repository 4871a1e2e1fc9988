import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { CUSTOM_ADDRESS } from '../../src/core/shares.ts'
import { createTestApp, type TestApp, type TestUser } from '../support/app.ts'
import { createMemberOfEachRole } from '../support/factories.ts'
import { byLink, createSecrets, refusalOf, type Secrets } from './world.ts'

let app: TestApp
let owner: TestUser
let world: Secrets

beforeAll(async () => {
  app = await createTestApp()
  owner = await app.signUp('owner@example.com')
  world = await createSecrets(app, owner)
})
afterAll(() => app.stop())

const target = () => ({ kind: 'view' as const, targetId: world.viewId })
const save = (patch: Parameters<typeof world.trpc.shares.save.mutate>[0]['patch'] = {}) =>
  world.trpc.shares.save.mutate({ ...target(), patch })
const GONE = '404 VIEW_NOT_FOUND'
const WRONG = '403 INVALID_SHARED_VIEW_PASSWORD'

/** How a visitor is answered, over tRPC and over REST. */
async function knock(id: string, password?: string): Promise<string | null> {
  const headers = byLink('view', id, password)
  const said = await refusalOf(
    app.trpc(headers).records.count.query({ selection: { tableId: world.tableId } }),
  )
  const rest = await app.rest(headers).get(`/api/v2/tables/${world.tableId}/records/count`)
  expect(rest.status === 200 ? null : `${rest.status} ${rest.body.error}`).toBe(said)
  const opened = await refusalOf(app.trpc(headers).shares.open.query({ kind: 'view', id }))
  expect(opened).toBe(said)
  return said
}

describe('a public link', () => {
  test('is made, changed and closed by creators and owners alone', async () => {
    const members = await createMemberOfEachRole(app, world.baseId)
    const { targetId } = target()
    for (const [role, { token }] of Object.entries(members)) {
      const trpc = app.trpc(token)
      const may = role === 'creator' || role === 'owner'
      const calls = [
        () => trpc.shares.save.mutate({ kind: 'view', targetId, patch: {} }),
        () => trpc.shares.get.query({ kind: 'view', targetId }),
        () => trpc.shares.regenerate.mutate({ kind: 'view', targetId }),
        () => trpc.shares.list.query({ baseId: world.baseId }),
        () => trpc.shares.close.mutate({ kind: 'view', targetId }),
        () => trpc.shares.save.mutate({ kind: 'base', targetId: world.baseId, patch: {} }),
        () => trpc.shares.close.mutate({ kind: 'base', targetId: world.baseId }),
      ]
      for (const call of calls) {
        const refusal = role === 'no-access' ? '401 AUTHENTICATION_REQUIRED' : '403 PERMISSION_DENIED'
        expect([role, await refusalOf(call())]).toEqual([role, may ? null : refusal])
      }
    }
    const stranger = await app.signUp()
    expect(await refusalOf(app.trpc(stranger.token).shares.get.query(target()))).toBe('403 FORBIDDEN')
  })

  test('keeps each of the settings that are changed at the same time', async () => {
    await save()
    const results = await Promise.allSettled([
      save({ password: 'open sesame' }),
      save({ settings: { allowDownload: false } }),
      save({ settings: { rtl: true } }),
    ])
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled'])
    expect(await world.trpc.shares.get.query(target())).toMatchObject({
      hasPassword: true,
      settings: { allowDownload: false, rtl: true },
    })
    await world.trpc.shares.close.mutate(target())
  })

  test('has an address that nobody can guess, and shows in the table that it is open', async () => {
    const isShared = async () =>
      (await world.trpc.schema.table.query({ tableId: world.tableId })).views.find(
        ({ id }) => id === world.viewId,
      )?.isShared
    expect(await isShared()).toBe(false)
    const told: string[] = []
    const stop = app.kernel.events.on('schema.changed', ({ tableId }) => told.push(tableId ?? ''))
    const share = await save()
    expect(share).toMatchObject({
      hasPassword: false,
      role: 'viewer',
      expiresAt: null,
      answers: 0,
      isBlocked: false,
      lastVisitAt: null,
    })
    expect(share.id).toMatch(CUSTOM_ADDRESS)
    expect(share.id.length).toBeGreaterThanOrEqual(26)
    expect([await isShared(), told]).toEqual([true, [world.tableId]])
    expect((await save({ settings: { survey: true } })).settings).toMatchObject({
      survey: true,
      allowDownload: true,
    })
    expect((await save({ settings: { allowDownload: false } })).settings).toMatchObject({
      survey: true,
      allowDownload: false,
    })
    expect((await world.trpc.shares.get.query(target()))?.id).toBe(share.id)
    await world.trpc.shares.close.mutate(target())
    expect([await isShared(), await world.trpc.shares.get.query(target())]).toEqual([false, null])
    stop()
    // A line in the log could be undone, and would open the link again.
    await world.trpc.records.undo.mutate({ baseId: world.baseId })
    expect(await isShared()).toBe(false)
  })

  test('is the same for two who make it at once', async () => {
    const [one, two] = await Promise.all([save(), save({ settings: { rtl: true } })])
    expect(one.id).toBe(two.id)
    expect((await world.trpc.shares.get.query(target()))?.settings.rtl).toBe(true)
    await save({ settings: { rtl: false } })
  })

  test('takes only languages that its page can be shown in', async () => {
    const share = await save({ settings: { language: 'en' } })
    expect(share.settings.language).toBe('en')
    expect(await refusalOf(save({ settings: { language: 'ar' } }))).toBe('400 INVALID_REQUEST_BODY')
    const path = `/api/v2/meta/views/${world.viewId}/share`
    for (const language of ['ar', 'tlh']) {
      expect((await app.rest(owner.token).patch(path, { meta: { language } })).status).toBe(400)
    }
    expect((await world.trpc.shares.get.query(target()))?.settings.language).toBe('en')
    expect((await app.rest(owner.token).patch(path, { meta: { language: null } })).status).toBe(200)
    expect((await world.trpc.shares.get.query(target()))?.settings.language).toBeNull()
  })

  test('tells its page what it opens', async () => {
    const { id } = await save()
    expect(await app.trpc().shares.open.query({ kind: 'view', id })).toEqual({
      kind: 'view',
      baseId: world.baseId,
      tableId: world.tableId,
      viewId: world.viewId,
      viewKind: 'grid',
      title: 'For everyone',
      role: 'viewer',
      form: null,
      definition: null,
      theme: null,
      settings: { allowDownload: true, survey: false, language: null, rtl: false, themeColor: null },
    })
    expect(await refusalOf(app.trpc().shares.open.query({ kind: 'base', id }))).toBe('404 BASE_NOT_FOUND')
    for (const odd of ['', 'x', '../../etc', '\u0000', 'a'.repeat(100), "' or 1=1 --"]) {
      expect([odd, await refusalOf(app.trpc().shares.open.query({ kind: 'view', id: odd }))]).toEqual([
        odd,
        GONE,
      ])
    }
  })

  test('lets in who is signed in as well, and then as a visitor', async () => {
    const { id } = await save()
    const both = app.trpc({ ...byLink('view', id), 'xc-auth': owner.token })
    expect(await both.records.count.query({ selection: { tableId: world.tableId } })).toEqual({ count: 2 })
    expect(await refusalOf(both.schema.tables.query({ baseId: world.baseId }))).toBe('403 FORBIDDEN')
  })

  test('notes visits', async () => {
    const { id } = await save()
    await knock(id)
    const seen = await world.trpc.shares.get.query(target())
    expect(Math.abs(Date.parse(seen?.lastVisitAt ?? '') - Date.now())).toBeLessThan(60_000)
  })

  test('is over at once when it is closed, expires or gets another address', async () => {
    const { id } = await save()
    expect(await knock(id)).toBeNull()
    const { id: next } = await world.trpc.shares.regenerate.mutate(target())
    expect([await knock(id), await knock(next)]).toEqual([GONE, null])
    const { id: named } = await save({ id: 'team-2026' })
    expect([named, await knock(next), await knock(named)]).toEqual(['team-2026', GONE, null])
    await save({ expiresAt: new Date(Date.now() + 4000).toISOString() })
    expect(await knock(named)).toBeNull()
    // One call at a time: a knock is several, between which the end may fall.
    const opened = () => refusalOf(app.trpc().shares.open.query({ kind: 'view', id: named }))
    while ((await opened()) === null) await Bun.sleep(50)
    expect(await knock(named)).toBe(GONE)
    await save({ expiresAt: null })
    expect(await knock(named)).toBeNull()
    await world.trpc.shares.close.mutate(target())
    expect(await knock(named)).toBe(GONE)
  })

  test('leads nowhere while its view, table or base is gone', async () => {
    const own = await createSecrets(app, owner, 'Short-lived')
    const { id } = await own.share()
    const there = () => refusalOf(app.trpc().shares.open.query({ kind: 'view', id }))
    await own.trpc.schema.deleteTable.mutate({ tableId: own.tableId })
    expect(await there()).toBe(GONE)
    expect(await own.trpc.shares.list.query({ baseId: own.baseId })).toEqual([])
    await own.trpc.schema.restoreTable.mutate({ tableId: own.tableId })
    expect([await there(), (await own.trpc.shares.list.query({ baseId: own.baseId })).length]).toEqual([
      null,
      1,
    ])
    await own.trpc.bases.delete.mutate({ baseId: own.baseId })
    expect(await there()).toBe(GONE)
    await own.trpc.bases.restore.mutate({ baseId: own.baseId })
    await own.trpc.views.delete.mutate({ viewId: own.viewId })
    expect(await there()).toBe(GONE)
  })
})

describe('the password of a link', () => {
  test('is asked for by every call, in any script, and is never given back', async () => {
    const { id } = await save({ password: 'пароль ü 日本' })
    expect(await knock(id)).toBe(WRONG)
    expect(await knock(id, '')).toBe(WRONG)
    expect(await knock(id, 'wrong')).toBe(WRONG)
    expect(await knock(id, 'пароль ü 日本')).toBeNull()
    const share = await world.trpc.shares.get.query(target())
    expect(JSON.stringify(share)).not.toMatch(/argon|пароль/)
    expect(share?.hasPassword).toBe(true)
    await save({ password: 'another one' })
    expect(await knock(id, 'пароль ü 日本')).toBe(WRONG)
    expect(await knock(id, 'another one')).toBeNull()
    await save({ password: null })
    expect(await knock(id)).toBeNull()
  })

  test('is checked once, and not by every call', async () => {
    const { id } = await save({ password: 'slow to guess' })
    const visitor = app.trpc(byLink('view', id, 'slow to guess'))
    const selection = { tableId: world.tableId }
    await visitor.records.count.query({ selection })
    const real = Bun.password.verify
    let checks = 0
    Bun.password.verify = ((...args: Parameters<typeof real>) => {
      checks++
      return real(...args)
    }) as typeof real
    try {
      for (let call = 0; call < 5; call++) await visitor.records.count.query({ selection })
    } finally {
      Bun.password.verify = real
    }
    expect(checks).toBe(0)
    await save({ password: null })
  })

  test('cannot be guessed: after some tries nobody from there is let in for a while', async () => {
    const own = await createSecrets(app, owner, 'Guarded')
    const { id } = await own.trpc.shares.save.mutate({
      kind: 'view',
      targetId: own.viewId,
      patch: { password: 'hard to guess' },
    })
    const attempt = (password: string) =>
      refusalOf(
        app.trpc(byLink('view', id, password)).records.count.query({ selection: { tableId: own.tableId } }),
      )
    for (let tries = 0; tries < 10; tries++) expect(await attempt(`guess ${tries}`)).toBe(WRONG)
    expect(await attempt('hard to guess')).toBe('429 TOO_MANY_REQUESTS')
    const rest = await app.rest(byLink('view', id, 'guess')).get(`/api/v2/tables/${own.tableId}/records`)
    expect([rest.status, Number(rest.headers.get('retry-after')) > 0]).toEqual([429, true])
    // Other links are as they were.
    expect(await knock((await save()).id)).toBeNull()
  })

  test('is refused where a header could not carry it, or it says nothing', async () => {
    for (const password of ['abc', ' leading', 'trailing ', 'two\nlines', 'a'.repeat(257), 'nul\u0000l']) {
      expect([password, await refusalOf(save({ password }))]).toEqual([password, '400 INVALID_REQUEST_BODY'])
    }
  })
})

describe('a custom address', () => {
  test('is plain, and nobody else has it', async () => {
    const { id } = await save({ id: 'Our_Price-List' })
    expect(id).toBe('Our_Price-List')
    const odd = [
      'ab',
      'a'.repeat(65),
      'with space',
      'ünï',
      '../up',
      'a/b',
      'a?b',
      '%2e%2e',
      'a\u0000b',
      '<b>bold',
      '',
    ]
    for (const address of odd) {
      expect([address, await refusalOf(save({ id: address }))]).toEqual([address, '400 INVALID_REQUEST_BODY'])
    }
    const base = { kind: 'base' as const, targetId: world.baseId }
    expect(await refusalOf(world.trpc.shares.save.mutate({ ...base, patch: { id } }))).toBe('409 CONFLICT')
    // What was refused was not made either.
    expect(await world.trpc.shares.get.query(base)).toBeNull()
    expect((await save({ id })).id).toBe(id)
    const elsewhere = await createSecrets(app, owner, 'Next door')
    const others = { kind: 'view' as const, targetId: elsewhere.viewId }
    const made = await elsewhere.trpc.shares.save.mutate({ ...others, patch: {} })
    expect(await refusalOf(elsewhere.trpc.shares.save.mutate({ ...others, patch: { id } }))).toBe(
      '409 CONFLICT',
    )
    expect((await elsewhere.trpc.shares.get.query(others))?.id).toBe(made.id)
  })

  test('of two who want it at once, one gets it', async () => {
    const [left, right] = await Promise.all(
      ['Left', 'Right'].map((title) => createSecrets(app, owner, title)),
    )
    const want = ({ trpc, viewId }: Secrets) =>
      refusalOf(trpc.shares.save.mutate({ kind: 'view', targetId: viewId, patch: { id: 'wanted' } }))
    const said = await Promise.all([want(left!), want(right!)])
    expect(said.toSorted()).toEqual(['409 CONFLICT', null].toSorted())
  })
})

test('what makes no sense of a link is refused', async () => {
  const odd = [
    { expiresAt: '2020-01-01T00:00:00Z' },
    { expiresAt: 'tomorrow' },
    { role: 'editor' as const },
    { role: 'owner' as never },
    { settings: { themeColor: 'red' } },
    { settings: { unknown: 1 } as never },
    { passwordHash: 'x' } as never,
  ]
  for (const patch of odd) {
    expect([patch, (await refusalOf(save(patch)))?.slice(0, 3)]).toEqual([patch, '400'])
  }
  expect(
    await refusalOf(world.trpc.shares.save.mutate({ kind: 'view', targetId: 'vw00000000000000', patch: {} })),
  ).toBe(GONE)
  expect(
    await refusalOf(world.trpc.shares.save.mutate({ kind: 'erd', targetId: 'b00000000000000', patch: {} })),
  ).toBe('404 SOURCE_NOT_FOUND')
})
