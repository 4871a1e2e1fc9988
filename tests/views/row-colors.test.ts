import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createTable, databases, fieldOf, openWorkshop, type Workshop } from '../schema/support.ts'

describe.each([...databases])('colours of rows over REST, metadata in %s', (database) => {
  let shop: Workshop
  beforeAll(async () => {
    shop = await openWorkshop(database)
  })
  afterAll(() => shop.app.stop())

  async function table() {
    const schema = await createTable(shop, [
      { type: 'SingleLineText', title: 'Title' },
      { type: 'Number', title: 'N' },
      { type: 'SingleSelect', title: 'Mood', options: { choices: [{ title: 'good', color: '#cfdffe' }] } },
    ])
    const viewId = schema.views[0]!.id
    return {
      tableId: schema.table.id,
      viewId,
      path: `/api/v1/db/meta/views/${viewId}`,
      n: fieldOf(schema, 'N').id,
      mood: fieldOf(schema, 'Mood').id,
      stored: async () =>
        (await shop.api.schema.table.query({ tableId: schema.table.id })).views[0]?.coloring,
    }
  }
  const over = (fk_column_id: string, value: string) => ({ fk_column_id, comparison_op: 'gt', value })

  test('a view has none at first, and loses them', async () => {
    const { path, tableId, viewId, mood } = await table()
    const none = { fk_model_id: tableId, fk_view_id: viewId, mode: null, conditions: [] }
    const read = async () => (await shop.rest.get(`${path}/row-color`)).body
    expect(await read()).toEqual(none)
    await shop.rest.post(`${path}/row-color-select`, { fk_column_id: mood })
    expect((await read()).mode).toBe('select')
    expect((await shop.rest.delete(`${path}/row-color`)).body).toBe(true)
    expect(await read()).toEqual(none)
    const { status, body } = await shop.rest.get('/api/v1/db/meta/views/vwnone/row-color')
    expect([status, body.error]).toEqual([404, 'VIEW_NOT_FOUND'])
  })

  test('colours by a select', async () => {
    const { path, tableId, viewId, n, mood, stored } = await table()
    const select = { fk_column_id: mood, is_set_as_background: true }
    const shown = {
      fk_model_id: tableId,
      fk_view_id: viewId,
      mode: 'select',
      ...select,
      options: [{ title: 'good', color: '#cfdffe' }],
    }
    expect((await shop.rest.post(`${path}/row-color-select`, select)).body).toEqual(shown)
    expect((await shop.rest.get(`${path}/row-color`)).body).toEqual(shown)
    expect(await stored()).toEqual({ mode: 'select', fieldId: mood, isBackground: true })
    expect(
      (await shop.rest.get(path.replace(`views/${viewId}`, `tables/${tableId}/views`))).body.list,
    ).toMatchObject([{ row_coloring_mode: 'select' }])
    for (const [body, status] of [
      [{}, 400],
      [{ fk_column_id: n }, 400],
      [{ fk_column_id: 'cnone' }, 404],
    ] as const) {
      expect((await shop.rest.post(`${path}/row-color-select`, body)).status).toBe(status)
    }
    expect((await stored())?.mode).toBe('select')
  })

  test('colours by conditions in an order', async () => {
    const { path, n, stored } = await table()
    const rules = `${path}/row-color-conditions`
    const read = async () => (await shop.rest.get(`${path}/row-color`)).body
    const red = { color: '#FF0000', is_set_as_background: true, nc_order: 1, filter: over(n, '1') }
    const first = (await shop.rest.post(rules, red)).body
    expect(first).toEqual({
      id: expect.stringMatching(/^fi[a-z0-9]{14}$/),
      color: '#FF0000',
      is_set_as_background: true,
      nc_order: 1,
      conditions: [expect.objectContaining({ ...over(n, '1'), fk_row_color_condition_id: first.id })],
      nestedConditions: first.conditions,
    })
    const group = { is_group: true, logical_op: 'or', children: [over(n, '2'), over(n, '3')] }
    const second = (await shop.rest.post(rules, { color: '#00FF00', nc_order: 1, filter: group })).body
    expect(second.nestedConditions).toMatchObject([
      { is_group: true, children: [over(n, '2'), over(n, '3')] },
    ])
    expect((await read()).conditions.map(({ id }: { id: string }) => id)).toEqual([second.id, first.id])

    const changed = await shop.rest.patch(`${rules}/${first.id}`, { color: '#0000FF', nc_order: 1 })
    expect(changed.body).toMatchObject({
      id: first.id,
      color: '#0000FF',
      is_set_as_background: true,
      nc_order: 1,
    })
    expect(await stored()).toMatchObject({
      mode: 'filter',
      rules: [
        { color: '#0000FF', isBackground: true },
        { color: '#00FF00', isBackground: false },
      ],
    })
    const narrowed = await shop.rest.patch(`${rules}/${first.id}`, { filter: over(n, '5') })
    expect(narrowed.body).toMatchObject({ id: first.id, color: '#0000FF', conditions: [over(n, '5')] })
    const unfit = await shop.rest.patch(`${rules}/${first.id}`, { filter: over('cnone', '5') })
    expect(unfit.status).toBe(404)
    expect((await read()).conditions[0]).toMatchObject({ id: first.id, conditions: [over(n, '5')] })
    expect((await shop.rest.delete(`${rules}/${first.id}`)).body).toBe(true)
    expect((await read()).conditions.map(({ id }: { id: string }) => id)).toEqual([second.id])
    for (const method of ['PATCH', 'DELETE'])
      expect((await shop.rest.send(method, `${rules}/${first.id}`, { body: {} })).body.error).toBe(
        'GENERIC_NOT_FOUND',
      )
  })

  test('changes rules of the web app', async () => {
    const { path, viewId, n, stored } = await table()
    const rule = { color: '#FF0000', isBackground: false, filter: { fieldId: n, operator: 'gt', value: 1 } }
    await shop.api.views.update.mutate({ viewId, patch: { coloring: { mode: 'filter', rules: [rule] } } })
    const [shown] = (await shop.rest.get(`${path}/row-color`)).body.conditions
    expect(shown.conditions).toMatchObject([over(n, '1')])
    const rules = `${path}/row-color-conditions`
    expect((await shop.rest.patch(`${rules}/${shown.id}`, { color: '#00FF00' })).body).toMatchObject({
      id: shown.id,
      color: '#00FF00',
      conditions: [over(n, '1')],
    })
    expect(await stored()).toMatchObject({ rules: [{ filter: { children: [rule.filter] } }] })
  })

  test('shows groups of the web app, and tells equal rules apart', async () => {
    const { path, viewId, n, stored } = await table()
    const above = (value: number) => ({ fieldId: n, operator: 'gt', value })
    const inner = { join: 'or', children: [above(1), above(2)] }
    const outer = { join: 'or', children: [inner, above(3)] }
    const red = { color: '#FF0000', filter: { join: 'and', children: [outer, above(4)] } }
    const green = { ...red, color: '#00FF00' }
    const coloring = { mode: 'filter' as const, rules: [red, green] }
    await shop.api.views.update.mutate({ viewId, patch: { coloring } })
    const [first, second] = (await shop.rest.get(`${path}/row-color`)).body.conditions
    expect(first.nestedConditions).toMatchObject([
      {
        is_group: true,
        children: [{ is_group: true, children: [over(n, '1'), over(n, '2')] }, over(n, '3')],
      },
      over(n, '4'),
    ])
    expect(new Set(first.conditions.map(({ id }: { id: string }) => id)).size).toBe(6)
    expect(second.id).not.toBe(first.id)
    await shop.rest.delete(`${path}/row-color-conditions/${second.id}`)
    expect(await stored()).toMatchObject({ rules: [{ color: '#FF0000' }] })
  })

  test('keeps rules on fields in the trash', async () => {
    const { path, viewId, n, mood, stored } = await table()
    const kept = { color: '#FF0000', filter: { fieldId: mood, operator: 'eq', value: 'good' } }
    const shown = { color: '#00FF00', filter: { fieldId: n, operator: 'gt', value: 1 } }
    const coloring = { mode: 'filter' as const, rules: [kept, shown] }
    await shop.api.views.update.mutate({ viewId, patch: { coloring } })
    await shop.api.schema.deleteField.mutate({ fieldId: mood })
    const rules = `${path}/row-color-conditions`
    const added = (await shop.rest.post(rules, { color: '#0000FF', filter: over(n, '2') })).body
    const { conditions } = (await shop.rest.get(`${path}/row-color`)).body
    expect(conditions.map(({ color }: { color: string }) => color)).toEqual(['#00FF00', '#0000FF'])
    expect((await shop.rest.patch(`${rules}/${added.id}`, { color: '#FFFFFF' })).status).toBe(200)
    expect((await shop.rest.delete(`${rules}/${conditions[0].id}`)).status).toBe(200)
    await shop.api.schema.restoreField.mutate({ fieldId: mood })
    expect(await stored()).toMatchObject({ rules: [{ color: '#FF0000' }, { color: '#FFFFFF' }] })
  })

  test('refuses what is no rule, and more than a view may have', async () => {
    const { path, n, stored } = await table()
    const rules = `${path}/row-color-conditions`
    for (const [body, status] of [
      [{ filter: over(n, '1') }, 400],
      [{ color: 'red', filter: over(n, '1') }, 400],
      [{ color: '#FF0000', filter: over('cnone', '1') }, 404],
      [{ color: '#FF0000', filter: over(n, 'abc') }, 422],
    ] as const) {
      expect((await shop.rest.post(rules, body)).status).toBe(status)
    }
    expect(await stored()).toBeNull()
    const color = { color: '#FF0000', filter: over(n, '1') }
    for (let count = 0; count < 20; count++) expect((await shop.rest.post(rules, color)).status).toBe(200)
    expect(await shop.rest.post(rules, color)).toMatchObject({
      status: 400,
      body: { msg: 'A view can have up to 20 colour rules' },
    })
  })
})
