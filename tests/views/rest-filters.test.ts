import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createTable, databases, fieldOf, openWorkshop, type Workshop } from '../schema/support.ts'
import { createMember } from '../support/factories.ts'

const M = '/api/v1/db/meta'

describe.each([...databases])('filters and sorts over REST, metadata in %s', (database) => {
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

  test('a filter that tells empty text from none is found in its base, also inside a group', async () => {
    const { viewId, title } = await table()
    const asked = () => shop.rest.get(`${M}/projects/${shop.baseId}/has-empty-or-null-filters`)
    const leaf = (comparison_op: string) => ({ fk_column_id: title, comparison_op, logical_op: 'and' })
    await shop.rest.post(`${M}/views/${viewId}/filters`, leaf('blank'))
    expect((await asked()).body).toBe(false)
    const group = { is_group: true, logical_op: 'and', children: [leaf('notempty')] }
    const { body } = await shop.rest.post(`${M}/views/${viewId}/filters`, group)
    expect((await asked()).body).toBe(true)
    await shop.rest.delete(`${M}/filters/${body.id}`)
    expect((await asked()).body).toBe(false)
  })

  test('a filter keeps its value while its operator needs none', async () => {
    const { viewId, n } = await table()
    const leaf = { fk_column_id: n, comparison_op: 'in', value: '1,2' }
    const { id } = (await shop.rest.post(`${M}/views/${viewId}/filters`, leaf)).body
    const change = (patch: object) => shop.rest.patch(`${M}/filters/${id}`, patch)
    const filter = async () => (await shop.rest.get(`${M}/filters/${id}`)).body
    expect((await change({ comparison_op: 'blank' })).body).toBe(1)
    expect(await filter()).toMatchObject({ comparison_op: 'blank', value: '1,2' })
    expect((await change({ logical_op: 'or' })).body).toBe(1)
    // As the client has it.
    expect((await change({ ...leaf, comparison_op: 'notblank' })).body).toBe(1)
    expect(await filter()).toMatchObject({ comparison_op: 'notblank', value: '1,2' })
    expect((await change({ comparison_op: 'in' })).body).toBe(1)
    expect(await filter()).toMatchObject({ comparison_op: 'in', value: '1,2' })
    expect((await change({ comparison_op: 'notblank', value: null })).body).toBe(1)
    expect((await change({ comparison_op: 'eq' })).body).toBe(1)
    expect(await filter()).toMatchObject({ comparison_op: 'eq', value: null })
  })

  test('a filter by days keeps them, and a filter of another field keeps nothing', async () => {
    const schema = await createTable(shop, [
      { type: 'SingleLineText', title: 'Title' },
      { type: 'Date', title: 'Due' },
    ])
    const [title, due] = ['Title', 'Due'].map((name) => fieldOf(schema, name).id)
    const ago = { comparison_op: 'lt', comparison_sub_op: 'daysAgo', value: '3' }
    const path = `${M}/views/${schema.views[0]!.id}/filters`
    const { id } = (await shop.rest.post(path, { fk_column_id: due, ...ago })).body
    const change = (patch: object) => shop.rest.patch(`${M}/filters/${id}`, patch)
    const filter = async () => (await shop.rest.get(`${M}/filters/${id}`)).body
    expect((await change({ comparison_op: 'blank' })).body).toBe(1)
    expect((await change({ comparison_op: 'gt' })).body).toBe(1)
    expect(await filter()).toMatchObject({ ...ago, comparison_op: 'gt' })
    expect((await change({ fk_column_id: title, comparison_op: 'blank' })).body).toBe(1)
    expect(await filter()).toMatchObject({ fk_column_id: title, comparison_op: 'blank', value: null })
  })

  test('sorts are made, listed, moved, changed and deleted', async () => {
    const { viewId, n, title, schema } = await table()
    const path = `${M}/views/${viewId}/sorts`
    const first = await shop.rest.post(path, { fk_column_id: n, direction: 'desc' })
    expect(first.body).toMatchObject({
      fk_view_id: viewId,
      fk_column_id: n,
      direction: 'desc',
      order: 1,
      base_id: shop.baseId,
    })
    expect(first.body.id).toMatch(/^so[a-z0-9]{14}$/)
    const second = await shop.rest.post(path, { fk_column_id: title, push_to_top: true })
    expect(second.body).toMatchObject({ direction: 'asc', order: 1 })
    const list = async () => (await shop.rest.get(path)).body.list.map((sort: { id: string }) => sort.id)
    expect(await list()).toEqual([second.body.id, first.body.id])
    expect((await shop.rest.patch(`${M}/sorts/${first.body.id}`, { direction: 'asc' })).body).toBe(1)
    expect((await shop.rest.get(`${M}/sorts/${first.body.id}`)).body).toMatchObject({
      direction: 'asc',
      order: 2,
    })
    expect((await shop.rest.patch(`${M}/sorts/${first.body.id}`, {})).status).toBe(400)
    expect((await shop.rest.post(path, {})).status).toBe(400)
    expect((await shop.rest.post(path, { fk_column_id: n, direction: 'sideways' })).status).toBe(400)
    expect((await shop.rest.post(path, { fk_column_id: 'cxxxxxxxxxxxxxx' })).status).toBe(404)
    const between = await shop.rest.post(path, { fk_column_id: n, order: 2 })
    expect(between.body.order).toBe(2)
    expect(await list()).toEqual([second.body.id, between.body.id, first.body.id])
    const top = await shop.rest.post(path, { fk_column_id: n, order: 3, push_to_top: true })
    expect(top.body.order).toBe(1)
    for (const { body } of [between, top]) await shop.rest.delete(`${M}/sorts/${body.id}`)
    // The web app sees the same sorts, and a sort that it sends back keeps its id.
    const { sorts } = (await shop.api.schema.table.query({ tableId: schema.table.id })).views[0]!
    await shop.api.views.update.mutate({
      viewId,
      patch: { sorts: sorts.map(({ fieldId, direction }) => ({ fieldId, direction })) },
    })
    expect(await list()).toEqual([second.body.id, first.body.id])
    expect((await shop.rest.delete(`${M}/sorts/${second.body.id}`)).body).toBe(true)
    expect(await list()).toEqual([first.body.id])
    expect(await shop.rest.get(`${M}/sorts/${second.body.id}`)).toMatchObject({
      status: 404,
      body: { error: 'GENERIC_NOT_FOUND', message: `Sort '${second.body.id}' not found` },
    })
  })

  test('sorts keep their order beside those of fields in the trash', async () => {
    const schema = await createTable(shop, [
      { type: 'SingleLineText', title: 'Title' },
      ...['Due', 'Old', 'N', 'Between', 'Last'].map((title) => ({ type: 'Number' as const, title })),
    ])
    const idOf = (title: string) => fieldOf(schema, title).id
    const path = `${M}/views/${schema.views[0]!.id}/sorts`
    const shown = async () =>
      (await shop.rest.get(path)).body.list.map((sort: { fk_column_id: string }) => sort.fk_column_id)
    for (const title of ['Due', 'Title', 'Old', 'N'])
      await shop.rest.post(path, { fk_column_id: idOf(title) })
    for (const title of ['Due', 'Old']) await shop.api.schema.deleteField.mutate({ fieldId: idOf(title) })
    for (const sort of (await shop.rest.get(path)).body.list.toReversed()) {
      const { status } = await shop.rest.patch(`${M}/sorts/${sort.id}`, { ...sort, direction: 'desc' })
      expect(status).toBe(200)
      expect(await shown()).toEqual([idOf('Title'), idOf('N')])
    }
    const added = await shop.rest.post(path, { fk_column_id: idOf('Last'), order: 3 })
    expect(added.body.order).toBe(3)
    const between = await shop.rest.post(path, { fk_column_id: idOf('Between'), order: 2 })
    expect(between.body.order).toBe(2)
    for (const title of ['Due', 'Old']) await shop.api.schema.restoreField.mutate({ fieldId: idOf(title) })
    expect(await shown()).toEqual(['Due', 'Title', 'Old', 'Between', 'N', 'Last'].map(idOf))
  })

  test('filters are made, nested, listed, changed and deleted', async () => {
    const { viewId, n, title, schema } = await table()
    const path = `${M}/views/${viewId}/filters`
    const post = async (body: object) => (await shop.rest.post(path, body)).body
    const a = await post({ fk_column_id: n, comparison_op: 'gt', value: 1 })
    expect(a).toMatchObject({
      fk_view_id: viewId,
      fk_hook_id: null,
      fk_column_id: n,
      fk_parent_id: null,
      logical_op: 'and',
      comparison_op: 'gt',
      value: '1',
      is_group: null,
      order: 1,
      comparison_sub_op: null,
      fk_link_col_id: null,
    })
    expect(a.id).toMatch(/^fi[a-z0-9]{14}$/)
    const b = await post({ fk_column_id: title, comparison_op: 'like', value: 'x', logical_op: 'or' })
    const c = await post({ fk_column_id: title, comparison_op: 'eq', value: 'y', logical_op: 'not' })
    const group = await post({
      is_group: true,
      logical_op: 'or',
      children: [{ fk_column_id: n, comparison_op: 'lt', value: '9' }],
    })
    expect(group).toMatchObject({ is_group: true, fk_column_id: null, logical_op: 'or', order: 4 })
    const nested = await post({
      fk_column_id: n,
      comparison_op: 'eq',
      value: '5',
      logical_op: 'or',
      fk_parent_id: group.id,
    })
    const top = (await shop.rest.get(path)).body.list
    expect(top.map(({ id, logical_op, order }: Record<string, unknown>) => [id, logical_op, order])).toEqual([
      [a.id, 'or', 1],
      [b.id, 'or', 2],
      [c.id, 'not', 3],
      [group.id, 'or', 4],
    ])
    expect((await shop.rest.get(`${path}?includeAllFilters=true`)).body.list).toHaveLength(6)
    const children = (await shop.rest.get(`${M}/filters/${group.id}/children`)).body.list
    expect(children.map(({ id, fk_parent_id }: Record<string, unknown>) => [id, fk_parent_id])).toEqual([
      [expect.any(String), group.id],
      [nested.id, group.id],
    ])
    // "And" binds tighter: a or (b and not c) or (group).
    const { filter } = (await shop.api.schema.table.query({ tableId: schema.table.id })).views[0]!
    expect(filter).toMatchObject({
      join: 'or',
      children: [
        { id: a.id },
        { join: 'and', children: [{ id: b.id }, { not: true, children: [{ id: c.id }] }] },
        { id: group.id, join: 'or', children: [{ value: '9' }, { id: nested.id }] },
      ],
    })
    expect((await shop.rest.patch(`${M}/filters/${a.id}`, { value: 3, comparison_op: 'lte' })).body).toBe(1)
    expect((await shop.rest.get(`${M}/filters/${a.id}`)).body).toMatchObject({
      value: '3',
      comparison_op: 'lte',
      fk_column_id: n,
      order: 1,
    })
    expect((await shop.rest.patch(`${M}/filters/${c.id}`, { logical_op: 'and' })).body).toBe(1)
    expect((await shop.rest.delete(`${M}/filters/${group.id}`)).body).toBe(true)
    expect(await shop.rest.get(`${M}/filters/${nested.id}`)).toMatchObject({
      status: 404,
      body: { error: 'GENERIC_NOT_FOUND', message: `Filter '${nested.id}' not found` },
    })
    for (const { id } of [a, b, c]) expect((await shop.rest.delete(`${M}/filters/${id}`)).body).toBe(true)
    expect((await shop.rest.get(path)).body.list).toEqual([])
  })

  test('a filter that someone has begun has no effect, and is finished later', async () => {
    const { viewId, n } = await table()
    const begun = (await shop.rest.post(`${M}/views/${viewId}/filters`, {})).body
    expect(begun).toMatchObject({ fk_column_id: null, comparison_op: null, value: null })
    expect(
      (await shop.rest.patch(`${M}/filters/${begun.id}`, { fk_column_id: n, comparison_op: 'eq', value: 4 }))
        .body,
    ).toBe(1)
    expect((await shop.rest.get(`${M}/filters/${begun.id}`)).body).toMatchObject({
      id: begun.id,
      fk_column_id: n,
      value: '4',
      is_group: null,
    })
  })

  test('refuses filters that mean nothing', async () => {
    const { viewId, n } = await table()
    const post = (body: object) => shop.rest.post(`${M}/views/${viewId}/filters`, body)
    const leaf = { fk_column_id: n, comparison_op: 'eq', value: 1 }
    expect((await post({ ...leaf, comparison_op: 'nope' })).status).toBe(400)
    expect((await post({ ...leaf, logical_op: 'xor' })).status).toBe(400)
    expect((await post({ ...leaf, comparison_sub_op: 'soon' })).status).toBe(400)
    expect(await post({ ...leaf, value: 'abc' })).toMatchObject({
      status: 422,
      body: { error: 'FILTER_VERIFICATION_FAILED' },
    })
    expect(await post({ ...leaf, fk_column_id: 'cxxxxxxxxxxxxxx' })).toMatchObject({
      status: 404,
      body: { error: 'FIELD_NOT_FOUND' },
    })
    expect(await post({ ...leaf, fk_parent_id: 'fixxxxxxxxxxxxxx' })).toMatchObject({
      status: 404,
      body: { error: 'GENERIC_NOT_FOUND' },
    })
    expect((await shop.rest.get(`${M}/views/${viewId}/filters`)).body.list).toEqual([])
    const { body: condition } = await post(leaf)
    expect(await post({ ...leaf, fk_parent_id: condition.id })).toMatchObject({
      status: 404,
      body: { error: 'GENERIC_NOT_FOUND', message: `Filter '${condition.id}' not found` },
    })
    expect((await shop.rest.get(`${M}/views/${viewId}/filters`)).body.list).toEqual([condition])
  })

  test('an “or not” that a client sends back whole stays one', async () => {
    const { viewId, n, title, schema } = await table()
    const filter = {
      join: 'or' as const,
      children: [
        { fieldId: n, operator: 'gt', value: 1 },
        {
          join: 'and' as const,
          not: true,
          children: [{ fieldId: title, operator: 'like', value: 'a' }],
        },
      ],
    }
    await shop.api.views.update.mutate({ viewId, patch: { filter } })
    const [, negated] = (await shop.rest.get(`${M}/views/${viewId}/filters`)).body.list
    expect(negated.logical_op).toBe('not')
    expect((await shop.rest.patch(`${M}/filters/${negated.id}`, negated)).body).toBe(1)
    const { views } = await shop.api.schema.table.query({ tableId: schema.table.id })
    expect(views[0]?.filter).toMatchObject({
      join: 'or',
      children: [{ value: 1 }, { not: true, children: [{ children: [{ value: 'a' }] }] }],
    })
  })

  test('a condition that a client sends back whole stays as it is', async () => {
    const { viewId, title, schema } = await table()
    const filter = {
      join: 'and' as const,
      children: [
        { fieldId: title, operator: 'startsWith', value: 'a' },
        { fieldId: title, operator: 'like', value: '100%' },
        { fieldId: title, operator: 'in', value: ['a,b', 'c'] },
      ],
    }
    await shop.api.views.update.mutate({ viewId, patch: { filter } })
    const list = async () => (await shop.rest.get(`${M}/views/${viewId}/filters`)).body.list
    const stored = async () =>
      (await shop.api.schema.table.query({ tableId: schema.table.id })).views[0]?.filter
    const before = await stored()
    const [first, ...others] = await list()
    for (const one of [first, ...others]) {
      const { status, body } = await shop.rest.patch(`${M}/filters/${one.id}`, one)
      expect([one.comparison_op, status, body]).toEqual([one.comparison_op, 200, 1])
    }
    expect(await stored()).toEqual(before)
    const change = { ...first, comparison_op: 'endsWith', value: 'z' }
    expect((await shop.rest.patch(`${M}/filters/${first.id}`, change)).body).toBe(1)
    expect((await list())[0]).toMatchObject({ id: first.id, comparison_op: 'endsWith', value: 'z' })
  })

  test('a condition whose operator alone changes keeps its value', async () => {
    const { viewId, n, title, schema } = await table()
    const filter = {
      join: 'and' as const,
      children: [
        { fieldId: title, operator: 'like', value: '100%' },
        { fieldId: title, operator: 'pattern', value: 'a%' },
        { fieldId: title, operator: 'anyof', value: ['a,b', 'c'] },
        { fieldId: title, operator: 'anyof', value: ['a', 'b'] },
        { fieldId: title, operator: 'eq', value: 'a,b' },
        { fieldId: n, operator: 'gt', value: 1 },
      ],
    }
    await shop.api.views.update.mutate({ viewId, patch: { filter } })
    const { list } = (await shop.rest.get(`${M}/views/${viewId}/filters`)).body
    const operators = ['nlike', 'nlike', 'nanyof', 'eq', 'anyof', 'lt']
    for (const [index, comparison_op] of operators.entries()) {
      const { id } = list[index]
      const { status, body } = await shop.rest.patch(`${M}/filters/${id}`, { comparison_op })
      expect([comparison_op, status, body]).toEqual([comparison_op, 200, 1])
    }
    expect((await shop.api.schema.table.query({ tableId: schema.table.id })).views[0]?.filter).toMatchObject({
      children: [
        { operator: 'nlike', value: '100%' },
        { operator: 'npattern', value: 'a%' },
        { operator: 'nanyof', value: ['a,b', 'c'] },
        { operator: 'eq', value: 'a,b' },
        { operator: 'anyof', value: ['a', 'b'] },
        { operator: 'lt', value: 1 },
      ],
    })
  })

  test('a filter of the web app is listed for REST, and both change the same', async () => {
    const { viewId, n, title, schema } = await table()
    const filter = {
      join: 'or' as const,
      children: [
        { fieldId: n, operator: 'gt', value: 1 },
        {
          join: 'and' as const,
          children: [
            { fieldId: title, operator: 'like', value: 'a' },
            { fieldId: title, operator: 'notblank', value: null },
          ],
        },
      ],
    }
    await shop.api.views.update.mutate({ viewId, patch: { filter } })
    const top = (await shop.rest.get(`${M}/views/${viewId}/filters`)).body.list
    expect(top).toMatchObject([
      { fk_column_id: n, comparison_op: 'gt', is_group: null },
      { is_group: true, logical_op: 'or' },
    ])
    await shop.rest.patch(`${M}/filters/${top[0].id}`, { value: 2 })
    const { views } = await shop.api.schema.table.query({ tableId: schema.table.id })
    expect(views[0]?.filter).toMatchObject({
      join: 'or',
      children: [
        { id: top[0].id, value: 2 },
        { id: top[1].id, join: 'and' },
      ],
    })
  })

  test('two who add filters at once both do', async () => {
    const { viewId, n } = await table()
    const post = (value: number) =>
      shop.rest.post(`${M}/views/${viewId}/filters`, { fk_column_id: n, comparison_op: 'neq', value })
    await Promise.all([1, 2, 3, 4, 5].map(post))
    expect((await shop.rest.get(`${M}/views/${viewId}/filters`)).body.list).toHaveLength(5)
  })

  test('viewers read, editors filter and sort, creators make views', async () => {
    const { viewId, tableId, n } = await table()
    const viewer = shop.app.rest((await createMember(shop.app, shop.baseId, 'viewer')).token)
    const editor = shop.app.rest((await createMember(shop.app, shop.baseId, 'editor')).token)
    const leaf = { fk_column_id: n, comparison_op: 'eq', value: 1 }
    for (const path of ['filters', 'sorts', 'columns']) {
      expect((await viewer.get(`${M}/views/${viewId}/${path}`)).status).toBe(200)
      expect((await viewer.post(`${M}/views/${viewId}/${path}`, leaf)).status).toBe(403)
      expect((await editor.post(`${M}/views/${viewId}/${path}`, leaf)).status).toBe(200)
    }
    expect((await editor.post(`${M}/views/${viewId}/hide-all`)).status).toBe(200)
    expect((await editor.patch(`${M}/views/${viewId}`, { title: 'X' })).status).toBe(403)
    expect((await editor.post(`${M}/tables/${tableId}/grids`, { title: 'X' })).status).toBe(403)
    expect((await shop.app.rest().get(`${M}/views/${viewId}/filters`)).status).toBe(401)
    expect((await shop.app.rest().get(`${M}/views/vwxxxxxxxxxxxxxx/filters`)).status).toBe(404)
  })
})
