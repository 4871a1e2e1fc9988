import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { column, createTable, M, openShop, outcome, type Shop, scalarOf, TEXT_TYPE } from './support.ts'

// Wire §9 and §10: grid views, their columns, sorts and filters.
let shop: Shop
let table: Awaited<ReturnType<typeof createTable>>
beforeAll(async () => {
  shop = await openShop()
  const texts = ['A', 'B', 'C'].map((title) => ({ title, column_name: title, uidt: 'SingleLineText' }))
  table = await createTable(shop, 'Things', texts)
})
afterAll(() => shop.app.stop())

const createGrid = async (title: string) =>
  (await shop.rest.post(`${M}/tables/${table.id}/grids`, { title })).body
const titleOf = (columnId: string) =>
  table.columns.find((candidate: { id: string }) => candidate.id === columnId)?.title

describe('a grid', () => {
  test('has every key', async () => {
    const view = await createGrid('Keys')
    expect(Object.keys(view)).toEqual([
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
    ])
    expect(Object.keys(view.view)).toEqual([
      'fk_view_id',
      'source_id',
      'base_id',
      'uuid',
      'created_at',
      'updated_at',
      'meta',
      'row_height',
    ])
    expect(view).toMatchObject({ type: 3, lock_type: 'collaborative', created_by: shop.admin.id })
  })

  test('lists its columns bare and in a list, with every key', async () => {
    const { id } = await createGrid('Columns')
    const columns = (await shop.rest.get(`${M}/grids/${id}/grid-columns`)).body
    expect((await shop.rest.get(`${M}/views/${id}/columns`)).body).toEqual({ list: columns })
    expect(Object.keys(columns[0])).toEqual([
      'id',
      'fk_view_id',
      'fk_column_id',
      'source_id',
      'base_id',
      'uuid',
      'label',
      'help',
      'width',
      'show',
      'order',
      'created_at',
      'updated_at',
      'group_by',
      'group_by_order',
      'group_by_sort',
      'aggregation',
    ])
    expect(titleOf(columns[0].fk_column_id)).toBe('Title')
    expect(columns.length).toBe(table.columns.length)
  })

  test('keeps its order where one column is sized, or all but one are hidden and shown', async () => {
    const shownOrder = async (viewId: string) => {
      const { list } = (await shop.rest.get(`${M}/views/${viewId}/columns`)).body
      return list.map((line: { fk_column_id: string }) => titleOf(line.fk_column_id))
    }
    const reference = await shownOrder((await createGrid('Untouched')).id)
    // A new view says nothing of its columns yet: what is first said of one must not move the others.
    const { id: sized } = await createGrid('Sized')
    await shop.app.trpc(shop.admin.token).views.arrange.mutate({
      viewId: sized,
      fields: [{ fieldId: column(table, 'C').id, width: 300 }],
    })
    expect(await shownOrder(sized)).toEqual(reference)
    const { id: hidden } = await createGrid('Hidden')
    await shop.rest.post(`${M}/views/${hidden}/hide-all?ignoreIds[]=${column(table, 'A').id}`)
    expect(scalarOf(await shop.rest.post(`${M}/views/${hidden}/show-all`))).toEqual([200, TEXT_TYPE, true])
    expect(await shownOrder(hidden)).toEqual(reference)
  })

  test('keeps the order of columns that came later where one of them is sized, and undone', async () => {
    const later = await createTable(shop, 'Later')
    const trpc = shop.app.trpc(shop.admin.token)
    const viewId = later.views[0].id
    const made = []
    for (const title of ['X', 'Y']) {
      made.push(await trpc.schema.createField.mutate({ tableId: later.id, field: { title, type: 'Number' } }))
    }
    const order = async () => {
      const { views } = await trpc.schema.table.query({ tableId: later.id })
      return views[0]?.fields.map(({ fieldId }) => fieldId)
    }
    const before = await order()
    await trpc.views.arrange.mutate({ viewId, fields: [{ fieldId: made[1]?.id ?? '', width: 300 }] })
    expect(await order()).toEqual(before)
    await trpc.records.undo.mutate({ baseId: shop.baseId })
    expect(await order()).toEqual(before)
  })

  test('answers writes as clients know them', async () => {
    const { id } = await createGrid('Written')
    const [{ id: lineId }] = (await shop.rest.get(`${M}/grids/${id}/grid-columns`)).body
    expect(scalarOf(await shop.rest.patch(`${M}/grid-columns/${lineId}`, { width: '300px' }))).toEqual([
      200,
      TEXT_TYPE,
      1,
    ])
    expect(scalarOf(await shop.rest.patch(`${M}/views/${id}/columns/${lineId}`, { order: 2 }))).toEqual([
      200,
      TEXT_TYPE,
      1,
    ])
    expect((await shop.rest.patch(`${M}/grids/${id}`, { row_height: 2 })).body.view.row_height).toBe(2)
    expect((await shop.rest.patch(`${M}/views/${id}`, { lock_type: 'x' })).status).toBe(400)
    expect(scalarOf(await shop.rest.delete(`${M}/views/${id}`))).toEqual([200, TEXT_TYPE, true])
  })
})

describe('sorts and filters', () => {
  test('a sort has every key, and needs something to change', async () => {
    const { id } = await createGrid('Sorts')
    const sort = (
      await shop.rest.post(`${M}/views/${id}/sorts`, {
        fk_column_id: column(table, 'A').id,
        direction: 'desc',
      })
    ).body
    expect(Object.keys(sort)).toEqual([
      'id',
      'source_id',
      'base_id',
      'fk_view_id',
      'fk_column_id',
      'direction',
      'order',
      'created_at',
      'updated_at',
    ])
    expect((await shop.rest.patch(`${M}/sorts/${sort.id}`, {})).body.errors).toEqual([
      {
        instancePath: '',
        schemaPath: '#/minProperties',
        keyword: 'minProperties',
        params: { limit: 1 },
        message: 'must NOT have fewer than 1 properties',
      },
    ])
    expect(scalarOf(await shop.rest.patch(`${M}/sorts/${sort.id}`, { direction: 'asc' }))).toEqual([
      200,
      TEXT_TYPE,
      1,
    ])
    expect(scalarOf(await shop.rest.delete(`${M}/sorts/${sort.id}`))).toEqual([200, TEXT_TYPE, true])
    expect(outcome(await shop.rest.get(`${M}/sorts/${sort.id}`))).toEqual([
      404,
      { error: 'GENERIC_NOT_FOUND', message: `Sort '${sort.id}' not found` },
    ])
  })

  test('a filter has every key and its value as text', async () => {
    const { id } = await createGrid('Filters')
    const body = { fk_column_id: column(table, 'A').id, comparison_op: 'eq', value: 1 }
    const filter = (await shop.rest.post(`${M}/views/${id}/filters`, body)).body
    expect(Object.keys(filter)).toEqual([
      'id',
      'source_id',
      'base_id',
      'fk_view_id',
      'fk_hook_id',
      'fk_column_id',
      'fk_parent_id',
      'logical_op',
      'comparison_op',
      'value',
      'is_group',
      'order',
      'created_at',
      'updated_at',
      'comparison_sub_op',
      'fk_link_col_id',
      'fk_value_col_id',
      'fk_parent_column_id',
      'fk_row_color_condition_id',
      'fk_widget_id',
    ])
    expect(filter.value).toBe('1')
    expect(scalarOf(await shop.rest.patch(`${M}/filters/${filter.id}`, { value: 'b' }))).toEqual([
      200,
      TEXT_TYPE,
      1,
    ])
    expect(scalarOf(await shop.rest.delete(`${M}/filters/${filter.id}`))).toEqual([200, TEXT_TYPE, true])
  })
})
