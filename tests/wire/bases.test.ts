import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createTable, join, M, openShop, outcome, type Shop, scalarOf, TEXT_TYPE } from './support.ts'

// Wire §5 and §6: bases, their members and their sources.
let shop: Shop
beforeAll(async () => {
  shop = await openShop()
})
afterAll(() => shop.app.stop())

const BASE_KEYS = [
  'is_meta',
  'id',
  'title',
  'prefix',
  'status',
  'description',
  'meta',
  'color',
  'uuid',
  'password',
  'roles',
  'deleted',
  'order',
  'created_at',
  'updated_at',
  'default_role',
  'sources',
]
const SOURCE_KEYS = [
  'id',
  'base_id',
  'alias',
  'meta',
  'is_meta',
  'type',
  'inflection_column',
  'inflection_table',
  'created_at',
  'updated_at',
  'enabled',
  'order',
  'description',
  'erd_uuid',
  'deleted',
  'is_schema_readonly',
  'is_data_readonly',
  'fk_integration_id',
  'is_local',
  'is_encrypted',
  'integration_title',
  'upgraderQueries',
]
const onePage = { totalRows: 1, page: 1, pageSize: 1, isFirstPage: true, isLastPage: true }

describe('a base', () => {
  test('has every key, and so has its source; made just now that names its connection too', async () => {
    const made = (await shop.rest.post(`${M}/projects/`, { title: 'Keys' })).body
    expect(Object.keys(made)).toEqual(BASE_KEYS)
    expect(Object.keys(made.sources[0])).toEqual([...SOURCE_KEYS, 'config', 'integration_config'])
    const { body } = await shop.rest.get(`${M}/projects/${made.id}`)
    expect(Object.keys(body)).toEqual(BASE_KEYS)
    expect(Object.keys(body.sources[0])).toEqual(SOURCE_KEYS)
    expect(body.id).toMatch(/^p[a-z0-9]{14}$/)
    expect(body.created_at).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\+00:00$/)
  })

  test('answers writes with scalars', async () => {
    const { id } = (await shop.rest.post(`${M}/projects/`, { title: 'Scalars' })).body
    const path = `${M}/projects/${id}`
    expect(scalarOf(await shop.rest.patch(path, { unknown: 1 }))).toEqual([200, TEXT_TYPE, 1])
    expect(scalarOf(await shop.rest.patch(`${path}/user`, { starred: 1, hidden: false }))).toEqual([
      200,
      TEXT_TYPE,
      true,
    ])
    expect(outcome(await shop.rest.patch(path, { title: 'Wire' }))).toEqual([
      400,
      { msg: 'Base title already in use' },
    ])
    expect(scalarOf(await shop.rest.delete(path))).toEqual([200, TEXT_TYPE, true])
    expect(outcome(await shop.rest.get(path))).toEqual([
      404,
      { error: 'BASE_NOT_FOUND', message: `Base '${id}' not found` },
    ])
  })

  test('lists every user of the instance as a member or not', async () => {
    const stranger = await shop.app.signUp()
    const { users } = (await shop.rest.get(`${M}/projects/${shop.baseId}/users?limit=1&offset=5`)).body
    expect(users.pageInfo.pageSize).toBe(users.list.length)
    expect(Object.keys(users.list[0])).toEqual([
      'id',
      'email',
      'display_name',
      'invite_token',
      'main_roles',
      'created_at',
      'meta',
      'base_id',
      'roles',
    ])
    expect(users.list.find(({ id }: { id: string }) => id === stranger.id)).toMatchObject({ roles: null })
  })
})

describe('a source', () => {
  const path = () => `${M}/projects/${shop.baseId}/bases`

  test('is found in the list and by its id', async () => {
    const { body } = await shop.rest.get(path())
    expect(body.pageInfo).toEqual(onePage)
    expect(Object.keys(body.list[0])).toEqual(SOURCE_KEYS)
    expect((await shop.rest.get(`${path()}/${shop.sourceId}`)).body).toEqual(body.list[0])
    expect(outcome(await shop.rest.get(`${path()}/b0`))).toEqual([
      404,
      { error: 'SOURCE_NOT_FOUND', message: "Source 'b0' not found" },
    ])
  })

  test('of another base is not found in this one', async () => {
    const other = (await shop.rest.post(`${M}/projects/`, { title: 'Other' })).body
    expect((await shop.rest.get(`${path()}/${other.sources[0].id}`)).status).toBe(404)
  })

  test("that is the base's own can be named, but not locked or deleted; another needs a connection", async () => {
    expect((await shop.rest.patch(`${path()}/${shop.sourceId}`, { alias: 'Own' })).body.alias).toBe('Own')
    expect((await shop.rest.patch(`${path()}/${shop.sourceId}`, {})).body.alias).toBe('Own')
    expect((await shop.rest.patch(`${path()}/${shop.sourceId}`, { alias: null })).body.alias).toBeNull()
    for (const answer of [
      await shop.rest.post(path(), { alias: 'x', type: 'pg', config: { client: 'pg', connection: {} } }),
      await shop.rest.patch(`${path()}/${shop.sourceId}`, { is_data_readonly: true }),
    ]) {
      expect([answer.status, Object.keys(answer.body)]).toEqual([400, ['msg']])
    }
    expect(outcome(await shop.rest.delete(`${path()}/${shop.sourceId}`))).toEqual([
      400,
      { msg: 'Error: Cannot delete first base' },
    ])
  })

  test('is a matter for creators', async () => {
    const { token } = await join(shop, 'editor')
    const { status, body } = await shop.app.rest(token).get(path())
    expect([status, body.details?.permissionName]).toEqual([403, 'sourceList'])
  })

  test('limits the tables to its own', async () => {
    const { id } = await createTable(shop, 'Limited')
    const tablesOf = (sourceId: string) => `${M}/projects/${shop.baseId}/${sourceId}/tables`
    const { list } = (await shop.rest.get(tablesOf(shop.sourceId))).body
    expect(list.map((table: { id: string }) => table.id)).toContain(id)
    expect(outcome(await shop.rest.get(tablesOf('b0')))).toEqual([200, { list: [] }])
    expect(outcome(await shop.rest.post(tablesOf('b0'), { title: 'X', columns: [] }))).toEqual([
      404,
      { msg: 'Source not found or source id not extracted' },
    ])
    const made = await shop.rest.post(tablesOf(shop.sourceId), { title: 'Placed', columns: [] })
    expect(made.body.source_id).toBe(shop.sourceId)
  })
})
