import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { CUSTOM_ADDRESS, SHARE_PASSWORD_MASK } from '../../src/core/shares.ts'
import { createSecrets, type Secrets } from '../shares/world.ts'
import { createTestApp, type TestApp, type TestUser } from '../support/app.ts'
import type { RestClient } from '../support/client.ts'

let app: TestApp
let owner: TestUser
let world: Secrets
let rest: RestClient
let nobody: RestClient
/** Where the shared grid is, in both generations. */
let doors: string[]
let uuid: string

beforeAll(async () => {
  app = await createTestApp()
  owner = await app.signUp('owner@example.com')
  world = await createSecrets(app, owner)
  rest = app.rest(owner.token)
  nobody = app.rest()
  uuid = (await rest.post(`/api/v1/db/meta/views/${world.viewId}/share`)).body.uuid
  doors = ['/api/v1/db/public', '/api/v2/public'].map((prefix) => `${prefix}/shared-view/${uuid}`)
})
afterAll(() => app.stop())

const at = async (path: string) => {
  const { status, body } = await nobody.get(path)
  return { status, body }
}

describe('sharing over REST', () => {
  test('a view keeps its link, takes a password that nobody reads, and is closed', async () => {
    const path = `/api/v1/db/meta/views/${world.viewId}/share`
    const made = await rest.post(path)
    expect([made.status, made.body.uuid, made.body.id, made.body.meta]).toEqual([
      200,
      uuid,
      world.viewId,
      { allowCSVDownload: true },
    ])
    expect(made.body).not.toHaveProperty('view')
    expect(uuid).toMatch(CUSTOM_ADDRESS)
    const locked = await rest.patch(path, { password: 'open sesame', meta: { allowCSVDownload: false } })
    expect([locked.body.password, locked.body.meta]).toEqual([
      SHARE_PASSWORD_MASK,
      { allowCSVDownload: false },
    ])
    const { status, body } = await nobody.get(`${doors[0]}/meta`)
    expect([status, body]).toEqual([
      403,
      { error: 'INVALID_SHARED_VIEW_PASSWORD', message: 'Invalid shared view password' },
    ])
    const withPassword = app.rest({ 'xc-password': 'open sesame' })
    expect((await withPassword.get(`${doors[0]}/meta`)).body.password).toBeNull()
    expect((await nobody.get(`${doors[0]}/rows?password=open%20sesame`)).status).toBe(403)
    // What was read may be sent back: the password stays.
    await rest.patch(path, {
      password: SHARE_PASSWORD_MASK,
      meta: JSON.stringify({ allowCSVDownload: true }),
    })
    expect((await withPassword.get(`${doors[0]}/count`)).status).toBe(200)
    expect((await nobody.get(`${doors[0]}/count`)).status).toBe(403)
    expect((await rest.patch(path, { password: null })).body.password).toBeNull()
    expect((await nobody.get(`${doors[0]}/count`)).status).toBe(200)
    expect((await rest.patch(path, { password: 'abc' })).status).toBe(400)
    const wrong = await rest.patch(path, { uuid: 'a b', meta: 5 })
    expect([wrong.status, wrong.body.msg]).toEqual([400, 'Invalid request body'])
    expect(wrong.body.errors).toMatchObject([
      { instancePath: '/meta', keyword: 'anyOf', message: 'must match a schema in anyOf' },
      {
        instancePath: '/uuid',
        keyword: 'pattern',
        message: 'A custom URL must have 3 to 64 characters: letters, digits, - and _',
      },
    ])
    const { body: shared } = await rest.get(`/api/v1/db/meta/tables/${world.tableId}/share`)
    expect(shared.list.map(({ uuid }: { uuid: string }) => uuid)).toEqual([uuid])
    const other = await createSecrets(app, owner, 'Closing')
    const own = `/api/v2/meta/views/${other.viewId}/share`
    expect((await rest.patch(own, { password: 'not shared yet' })).status).toBe(400)
    const first = (await rest.post(own)).body.uuid
    expect((await rest.patch(own, { uuid })).status).toBe(409)
    expect((await rest.patch(own, { uuid: 'our-prices' })).body.uuid).toBe('our-prices')
    expect([(await rest.delete(own)).body, (await rest.delete(own)).body]).toEqual([true, true])
    const second = (await rest.post(own)).body.uuid
    expect(second).not.toBe(first)
    expect((await rest.post('/api/v1/db/meta/views/vw00000000000000/share')).body.error).toBe(
      'VIEW_NOT_FOUND',
    )
  })

  test('a view says which settings its page has, also after a client has sent its meta back', async () => {
    const path = `/api/v1/db/meta/views/${world.viewId}`
    const on = { surveyMode: true, rtl: true, language: 'en', theme: { primaryColor: '#123456' } }
    const { body: shown } = await rest.patch(`${path}/share`, { meta: on })
    expect(shown.meta).toEqual({ allowCSVDownload: true, ...on })
    expect((await rest.patch(path, { meta: { ...shown.meta, note: 'x' } })).status).toBe(200)
    const off = { surveyMode: false, rtl: false, language: null, theme: { primaryColor: null } }
    const { body } = await rest.patch(`${path}/share`, { meta: off })
    expect(body.meta).toEqual({ allowCSVDownload: true, note: 'x' })
    await rest.patch(path, { meta: {} })
  })

  test('a view keeps other keys of the meta of its link, unless it is locked', async () => {
    const path = `/api/v1/db/meta/views/${world.viewId}`
    const metaOf = async () =>
      (await rest.get(`/api/v1/db/meta/tables/${world.tableId}/share`)).body.list[0].meta
    await rest.patch(path, { meta: { icon: 'star' } })
    const { body } = await rest.patch(`${path}/share`, { meta: { allowCSVDownload: true, note: 'x' } })
    expect(body.meta).toEqual({ allowCSVDownload: true, icon: 'star', note: 'x' })
    await rest.patch(path, { lock_type: 'locked' })
    const refused = await rest.patch(`${path}/share`, { meta: { allowCSVDownload: false, note: 'y' } })
    expect([refused.status, refused.body.error]).toEqual([403, 'PERMISSION_DENIED'])
    expect(await metaOf()).toEqual(body.meta)
    const whole = { meta: { ...body.meta, allowCSVDownload: false } }
    expect((await rest.patch(`${path}/share`, whole)).body.meta).toEqual(whole.meta)
    await rest.patch(`${path}/share`, { meta: { allowCSVDownload: true } })
    await rest.patch(path, { lock_type: 'collaborative', meta: {} })
  })

  test('a base is shared with viewers first, and may be changed to editors', async () => {
    const path = `/api/v1/db/meta/projects/${world.baseId}/shared`
    expect((await rest.get(path)).body).toEqual({ uuid: null, roles: null })
    expect((await rest.post(path, { roles: 'editor' })).body).toEqual({
      msg: 'Only viewer role is supported',
    })
    const { uuid, roles, url } = (await rest.post(path, {})).body
    expect([roles, url]).toEqual(['viewer', `${app.url}/#/base/base/${uuid}`])
    expect((await rest.patch(path, { roles: 'editor' })).body).toEqual({
      uuid,
      roles: 'editor',
      url,
      fk_custom_url_id: null,
    })
    expect((await rest.patch(path, { password: 'short' })).status).toBe(400)
    expect((await rest.patch(path, { roles: 'owner' })).status).toBe(400)
    expect((await nobody.get(`/api/v1/db/public/shared-base/${uuid}/meta`)).body).toEqual({
      base_id: world.baseId,
    })
    const visitor = app.rest({ 'xc-shared-base-id': uuid })
    expect((await visitor.get(`/api/v1/auth/user/me?base_id=${world.baseId}`)).body).toEqual({
      roles: { editor: true },
      base_roles: { editor: true },
      workspace_roles: null,
      isAuthorized: true,
      isPublicBase: true,
    })
    for (const query of ['', '?base_id=pnone']) {
      expect((await visitor.get(`/api/v1/auth/user/me${query}`)).body.roles).toEqual({ guest: true })
    }
    expect((await rest.delete(path)).body).toEqual({ uuid: null })
    expect(await at(`/api/v1/db/public/shared-base/${uuid}/meta`)).toEqual({
      status: 404,
      body: { error: 'BASE_NOT_FOUND', message: `Base '${uuid}' not found` },
    })
  })

  test('a diagram shows tables and fields of its source alone', async () => {
    const [source] = (await app.services.bases.sourcesOf([world.baseId])).get(world.baseId) ?? []
    const path = `/api/v1/db/meta/projects/${world.baseId}/bases/${source?.id}/share/erd`
    const { uuid } = (await rest.post(path)).body
    const { body } = await nobody.get(`/api/v1/db/public/shared-erd/${uuid}/meta`)
    expect(Object.keys(body).toSorted()).toEqual(['links', 'tables'])
    expect(body.tables.map(({ title }: { title: string }) => title).toSorted()).toEqual([
      'Secret teams',
      'Staff',
    ])
    expect(JSON.stringify(body)).not.toMatch(/Fine|owner@|\{\{|column_?name/i)
    const elsewhere = await createSecrets(app, owner, 'Elsewhere')
    const wrong = path.replace(world.baseId, elsewhere.baseId)
    expect((await rest.post(wrong)).body.error).toBe('SOURCE_NOT_FOUND')
    expect((await rest.delete(path)).body).toEqual({ uuid: null })
    expect((await nobody.get(`/api/v1/db/public/shared-erd/${uuid}/meta`)).status).toBe(404)
  })
})
