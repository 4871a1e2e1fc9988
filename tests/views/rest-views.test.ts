import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createTable, databases, fieldOf, openWorkshop, type Workshop } from '../schema/support.ts'

const M = '/api/v1/db/meta'

describe.each([...databases])('views over REST, metadata in %s', (database) => {
  let shop: Workshop
  beforeAll(async () => {
    shop = await openWorkshop(database)
  })
  afterAll(() => shop.app.stop())

  async function table() {
    const schema = await createTable(shop, [
      { type: 'SingleLineText', title: 'Title' },
      { type: 'Number', title: 'N' },
    ])
    return {
      schema,
      tableId: schema.table.id,
      viewId: schema.views[0]!.id,
      n: fieldOf(schema, 'N').id,
      title: fieldOf(schema, 'Title').id,
    }
  }

  test('GET views lists them with their table; both versions answer alike', async () => {
    const { tableId, viewId, schema } = await table()
    const { body } = await shop.rest.get(`${M}/tables/${tableId}/views`)
    expect(Object.keys(body)).toEqual(['list'])
    expect(Object.keys(body.list[0]).sort()).toEqual(
      [
        'ptn',
        '_ptn',
        'ptype',
        'tn',
        '_tn',
        'table_meta',
        'id',
        'source_id',
        'base_id',
        'fk_model_id',
        'title',
        'type',
        'is_default',
        'show_system_fields',
        'lock_type',
        'uuid',
        'password',
        'show',
        'order',
        'created_at',
        'updated_at',
        'meta',
        'description',
        'created_by',
        'owned_by',
        'row_coloring_mode',
        'view',
        'disabled',
      ].sort(),
    )
    expect(body.list[0]).toMatchObject({
      id: viewId,
      type: 3,
      is_default: true,
      ptn: schema.table.tableName,
      view: { fk_view_id: viewId, row_height: 0 },
    })
    expect((await shop.rest.get(`/api/v2/meta/tables/${tableId}/views`)).body).toEqual(body)
  })

  test('POST grids, PATCH and DELETE a view', async () => {
    const { tableId, viewId } = await table()
    const made = await shop.rest.post(`${M}/tables/${tableId}/grids`, {
      title: 'G1',
      copy_from_id: viewId,
      order: 99,
    })
    expect(made.status).toBe(200)
    expect(made.body).toMatchObject({
      title: 'G1',
      type: 3,
      is_default: false,
      order: 2,
      lock_type: 'collaborative',
      created_by: shop.owner.id,
    })
    expect(made.body).not.toHaveProperty('ptn')
    const path = `${M}/views/${made.body.id}`
    const patched = await shop.rest.patch(path, {
      title: 'G2',
      lock_type: 'locked',
      show_system_fields: true,
      meta: { a: 1 },
      description: 'why',
      order: 7,
      show: false,
    })
    expect(patched.body).toMatchObject({
      title: 'G2',
      lock_type: 'locked',
      show_system_fields: true,
      meta: { a: 1 },
      description: 'why',
      order: 7,
      show: true,
    })
    expect((await shop.rest.patch(path, { lock_type: 'nope' })).status).toBe(400)
    const locked = await shop.rest.patch(`${M}/grids/${made.body.id}`, { row_height: 2 })
    expect(locked).toMatchObject({ status: 403, body: { error: 'PERMISSION_DENIED' } })
    await shop.rest.patch(path, { lock_type: 'collaborative' })
    const grid = await shop.rest.patch(`${M}/grids/${made.body.id}`, { row_height: 2 })
    expect(grid.body).toMatchObject({ id: made.body.id, view: { row_height: 2 } })
    expect((await shop.rest.delete(path)).body).toBe(true)
    expect(await shop.rest.patch(path, { title: 'X' })).toMatchObject({
      status: 404,
      body: { error: 'VIEW_NOT_FOUND', message: `View '${made.body.id}' not found` },
    })
    expect((await shop.rest.delete(`${M}/views/${viewId}`)).status).toBe(400)
  })

  test('grid columns have ids that stay, and are changed by them', async () => {
    const { viewId, n, title, schema } = await table()
    const added = await shop.api.schema.createField.mutate({
      tableId: schema.table.id,
      field: { type: 'URL', title: 'Later' },
    })
    const list = async () => (await shop.rest.get(`${M}/grids/${viewId}/grid-columns`)).body
    const [first, again] = await Promise.all([list(), list()])
    expect(again).toEqual(first)
    expect(first).toHaveLength(schema.fields.length + 1)
    expect(first[0]).toMatchObject({
      fk_column_id: title,
      fk_view_id: viewId,
      width: '200px',
      show: true,
      aggregation: 'none',
      group_by: null,
    })
    expect(first[0].id).toMatch(/^nc[a-z0-9]{14}$/)
    expect((await shop.rest.get(`${M}/views/${viewId}/columns`)).body).toEqual({ list: first })
    const of = async (fieldId: string) =>
      (await list()).find((line: { fk_column_id: string }) => line.fk_column_id === fieldId)
    const line = await of(added.id)
    expect(
      (
        await shop.rest.patch(`${M}/grid-columns/${line.id}`, {
          width: '321px',
          show: false,
          aggregation: 'count_filled',
        })
      ).body,
    ).toBe(1)
    expect(await of(added.id)).toMatchObject({
      id: line.id,
      width: '321px',
      show: false,
      aggregation: 'count_filled',
    })
    const other = await of(n)
    expect((await shop.rest.patch(`${M}/views/${viewId}/columns/${other.id}`, { order: 50 })).body).toBe(1)
    expect((await of(n)).order).toBe(50)
    expect(
      (await shop.rest.post(`${M}/views/${viewId}/columns`, { fk_column_id: n, show: false })).body,
    ).toMatchObject({ id: other.id, show: false })
    expect(await shop.rest.patch(`${M}/grid-columns/ncxxxxxxxxxxxxxx`, { width: '100px' })).toMatchObject({
      status: 404,
      body: { error: 'FIELD_NOT_FOUND' },
    })
    expect((await shop.rest.patch(`${M}/grid-columns/${line.id}`, { aggregation: 'nope' })).status).toBe(400)
  })

  test('records through a view have system fields if it shows them', async () => {
    const { table } = await createTable(shop, [{ type: 'SingleLineText', title: 'Title' }])
    const records = `/api/v2/tables/${table.id}/records`
    await shop.rest.post(records, { Title: 'a' })
    const { body: view } = await shop.rest.post(`${M}/tables/${table.id}/grids`, { title: 'Times' })
    const keys = async () =>
      Object.keys((await shop.rest.get(`${records}?viewId=${view.id}`)).body.list[0]).toSorted()
    expect(await keys()).toEqual(['Id', 'Title'])
    const show = (show_system_fields: boolean) =>
      shop.rest.patch(`${M}/views/${view.id}`, { show_system_fields })
    await show(true)
    expect(await keys()).toEqual(['CreatedAt', 'Id', 'Title', 'UpdatedAt'])
    await show(false)
    expect(await keys()).toEqual(['Id', 'Title'])
  })

  test('show-all and hide-all leave out the display field and what is ignored', async () => {
    const { viewId, n, title, schema } = await table()
    const { id: later } = await shop.api.schema.createField.mutate({
      tableId: schema.table.id,
      field: { type: 'URL' },
    })
    const shown = async () => {
      const lines = (await shop.rest.get(`${M}/grids/${viewId}/grid-columns`)).body as {
        fk_column_id: string
        show: boolean
      }[]
      return lines.filter(({ show }) => show).map((line) => line.fk_column_id)
    }
    for (const name of ['ignoreIds[]', 'ignoreIds[0]', 'ignoreIds']) {
      expect((await shop.rest.post(`${M}/views/${viewId}/hide-all?${name}=${n}`)).body).toBe(true)
      expect([name, await shown()]).toEqual([name, [title, n]])
    }
    expect((await shop.rest.post(`${M}/views/${viewId}/show-all`)).body).toBe(true)
    expect((await shown()).toSorted()).toEqual([fieldOf(schema, 'Id').id, title, n, later].toSorted())
  })
})
