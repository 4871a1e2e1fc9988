import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createMemberOfEachRole } from '../support/factories.ts'
import { TABLE_KEYS } from '../support/wire-keys.ts'
import { createTable, databases, freshTitle, openWorkshop, type Workshop } from './support.ts'

describe.each([...databases])('tables over REST, metadata in %s', (database) => {
  let shop: Workshop
  beforeAll(async () => {
    shop = await openWorkshop(database)
  })
  afterAll(() => shop.app.stop())

  const doors = () => [
    { list: `/api/v1/db/meta/projects/${shop.baseId}/tables`, meta: '/api/v1/db/meta' },
    { list: `/api/v2/meta/bases/${shop.baseId}/tables`, meta: '/api/v2/meta' },
  ]

  test('POST tables makes a table with the system columns; both versions answer alike', async () => {
    for (const { list, meta } of doors()) {
      const title = freshTitle('Länder')
      const columns = [
        { column_name: 'id', title: 'Id', uidt: 'ID' },
        { column_name: 'title', title: 'Title', uidt: 'SingleLineText', pv: true },
        { column_name: 'n', title: 'N', uidt: 'Number', cdf: '5' },
      ]
      const made = await shop.rest.post(list, { title, columns })
      expect(made.status).toBe(200)
      expect(made.body).toMatchObject({
        title,
        base_id: shop.baseId,
        type: 'table',
        mm: false,
        description: null,
      })
      expect(Object.keys(made.body).sort()).toEqual(
        [...TABLE_KEYS, 'columns', 'columnsById', 'columnsHash', 'views'].sort(),
      )
      expect(made.body.id).toMatch(/^m[a-z0-9]{14}$/)
      expect(
        made.body.columns.map((column: { column_name: string; uidt: string; system: boolean }) => [
          column.column_name,
          column.uidt,
          column.system,
        ]),
      ).toEqual([
        ['id', 'ID', false],
        ['created_at', 'CreatedTime', true],
        ['updated_at', 'LastModifiedTime', true],
        ['created_by', 'CreatedBy', true],
        ['updated_by', 'LastModifiedBy', true],
        ['nc_order', 'Order', true],
        ['title', 'SingleLineText', false],
        ['n', 'Number', false],
      ])
      expect(made.body.views).toMatchObject([{ title, type: 3, is_default: true, fk_model_id: made.body.id }])
      expect(made.body.views[0]).not.toHaveProperty('ptn')
      const read = await shop.rest.get(`${meta}/tables/${made.body.id}`)
      expect(read.body.views[0]).toMatchObject({
        ptn: made.body.table_name,
        _ptn: title,
        tn: title,
        _tn: title,
        disabled: { owner: false },
      })
      expect({ ...read.body, views: null }).toEqual({ ...made.body, views: null })
      const listed = await shop.rest.get(list)
      expect(Object.keys(listed.body.list.at(-1))).toEqual(TABLE_KEYS)
      expect(listed.body).not.toHaveProperty('pageInfo')
      expect(await shop.rest.get(`${meta}/tables/${made.body.id}/columns/hash`)).toMatchObject({
        body: { hash: made.body.columnsHash },
      })
      expect(made.body.columnsHash).toMatch(/^[0-9a-f]{40}$/)
    }
  })

  test('the source may stand in the path, and the base by its title', async () => {
    const { rest, baseId, api } = shop
    const { title } = await api.bases.get.query({ baseId })
    const { sourceId } = (await createTable(shop)).table
    const M = '/api/v1/db/meta/projects'
    const bySource = await rest.post(`${M}/${baseId}/${sourceId}/tables`, {
      title: freshTitle(),
      columns: [],
    })
    expect(bySource.body).toMatchObject({ source_id: sourceId, base_id: baseId })
    const byTitle = await rest.get(`${M}/${encodeURIComponent(title)}/tables`)
    expect(byTitle.body.list.map(({ id }: { id: string }) => id)).toContain(bySource.body.id)
  })

  test('POST tables refuses in the words that clients know', async () => {
    const [{ list }] = doors() as [{ list: string }, unknown]
    const { table } = await createTable(shop)
    const post = (body: object) => shop.rest.post(list, body)
    expect(await post({ title: table.title, columns: [] })).toMatchObject({
      status: 422,
      body: {
        error: 'DUPLICATE_ALIAS',
        message: `Duplicate table alias '${table.title}' at base '${shop.baseId}'`,
      },
    })
    expect(await post({ title: 'a.b', columns: [] })).toMatchObject({
      status: 400,
      body: { msg: 'Following characters are not allowed "."' },
    })
    expect((await post({ title: 'X' })).body).toMatchObject({
      msg: 'Invalid request body',
      errors: [{ keyword: 'required', params: { missingProperty: 'columns' } }],
    })
    const bad = await post({ title: freshTitle(), columns: [{ title: 'A', uidt: 'Password' }] })
    expect(bad).toMatchObject({ status: 400, body: { errors: [{ instancePath: '/uidt', keyword: 'enum' }] } })
    expect(bad.body.errors[0].params.allowedValues).toContain('SingleLineText')
    const formula = { title: 'A', uidt: 'Formula', formula_raw: '1' }
    expect(await post({ title: freshTitle(), columns: [formula] })).toMatchObject({
      status: 400,
      body: { msg: 'A “Formula” field can only be added to an existing table' },
    })
  })

  test('PATCH renames by table_name, and says what is missing', async () => {
    const { rest } = shop
    const { table } = await createTable(shop)
    const path = `/api/v1/db/meta/tables/${table.id}`
    const title = freshTitle('Renamed')
    expect(await rest.patch(path, { title })).toMatchObject({
      status: 400,
      body: { msg: 'Missing table name `table_name` property in request body' },
    })
    expect((await rest.patch(path, { table_name: title, title })).body).toEqual({
      msg: 'The table has been updated successfully',
    })
    expect((await rest.patch(path, { meta: { icon: 'mdi-table' } })).status).toBe(200)
    expect((await rest.get(path)).body).toMatchObject({
      title,
      meta: { icon: 'mdi-table' },
      table_name: table.tableName,
    })
    expect(await rest.patch(path, { table_name: title, title })).toMatchObject({
      status: 422,
      body: { error: 'DUPLICATE_ALIAS' },
    })
  })

  test('POST reorder answers 1 and DELETE answers true, as text', async () => {
    const { rest } = shop
    const { table } = await createTable(shop)
    const path = `/api/v2/meta/tables/${table.id}`
    const moved = await rest.post(`${path}/reorder`, { order: 0.5 })
    expect([moved.status, moved.body, moved.headers.get('content-type')]).toEqual([
      200,
      1,
      'text/html; charset=utf-8',
    ])
    expect((await rest.get(path)).body.order).toBe(0.5)
    expect((await rest.delete(path)).body).toBe(true)
    expect(await rest.get(path)).toMatchObject({
      status: 404,
      body: { error: 'TABLE_NOT_FOUND', message: `Table '${table.id}' not found` },
    })
  })

  test('refuses by role, an unknown id first', async () => {
    const { app, baseId } = shop
    const { table } = await createTable(shop)
    const members = await createMemberOfEachRole(app, baseId)
    const M = '/api/v1/db/meta'
    expect((await app.rest().get(`${M}/tables/mxxxxxxxxxxxxxx`)).status).toBe(404)
    expect(await app.rest().get(`${M}/tables/${table.id}`)).toMatchObject({
      status: 401,
      body: { error: 'AUTHENTICATION_REQUIRED' },
    })
    const editor = app.rest(members.editor.token)
    expect((await editor.get(`${M}/tables/${table.id}`)).status).toBe(200)
    for (const refused of [
      await editor.post(`${M}/projects/${baseId}/tables`, { nothing: 'right' }),
      await editor.patch(`${M}/tables/${table.id}`, { nothing: 'right' }),
      await editor.delete(`${M}/tables/${table.id}`),
      await editor.post(`${M}/tables/${table.id}/reorder`, {}),
      await editor.post(`${M}/tables/${table.id}/columns`, {}),
      await editor.post(`${M}/tables/${table.id}/grids`, {}),
    ]) {
      expect(refused).toMatchObject({ status: 403, body: { error: 'PERMISSION_DENIED' } })
    }
    expect((await editor.get(`${M}/tables/${table.id}`)).status).toBe(200)
  })
})
