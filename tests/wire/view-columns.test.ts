import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { column, createTable, M, openShop, outcome, type Shop, scalarOf, TEXT_TYPE } from './support.ts'

// Wire §9.1: the columns of views of every kind, what groups a grid and colours its rows.
let shop: Shop
let table: Awaited<ReturnType<typeof createTable>>
let id: (title: string) => string
beforeAll(async () => {
  shop = await openShop()
  table = await createTable(shop, 'Things', [
    {
      title: 'State',
      column_name: 'state',
      uidt: 'SingleSelect',
      colOptions: { options: [{ title: 'a' }, { title: 'b' }] },
    },
    { title: 'Files', column_name: 'files', uidt: 'Attachment' },
    { title: 'Start', column_name: 'start', uidt: 'Date' },
    { title: 'End', column_name: 'end', uidt: 'Date' },
    { title: 'Place', column_name: 'place', uidt: 'GeoData' },
    { title: 'N', column_name: 'n', uidt: 'Number' },
  ])
  id = (title) => column(table, title).id
})
afterAll(() => shop.app.stop())

const create = (path: string, body: object = {}) =>
  shop.rest.post(`${M}/tables/${table.id}/${path}`, { title: path, ...body })
const made = async (path: string, body: object = {}) => (await create(path, body)).body
const titleOf = (columnId: string) =>
  table.columns.find((candidate: { id: string }) => candidate.id === columnId)?.title

describe('a form', () => {
  test('lists what it asks, with every key, and takes what is said of it', async () => {
    const { id: viewId } = await made('forms')
    const list = async () => (await shop.rest.get(`${M}/views/${viewId}/columns`)).body.list
    const of = async (title: string) =>
      (await list()).find((line: { fk_column_id: string }) => titleOf(line.fk_column_id) === title)
    const state = await of('State')
    expect(Object.keys(state).sort()).toEqual(
      [
        'id',
        'fk_view_id',
        'fk_column_id',
        'source_id',
        'base_id',
        'uuid',
        'label',
        'help',
        'description',
        'required',
        'show',
        'order',
        'meta',
        'enable_scanner',
        'created_at',
        'updated_at',
      ].sort(),
    )
    expect(state.id).toMatch(/^fvc[a-z0-9]{14}$/)
    expect(state).toMatchObject({ show: true, required: false, label: null, meta: {} })
    const hidden = (await list()).filter(({ show }: { show: boolean }) => !show)
    expect(hidden.map((line: { fk_column_id: string }) => titleOf(line.fk_column_id))).toContain('Id')

    const body = { label: 'Which?', description: 'Choose', required: true, order: 0.5, enable_scanner: true }
    const showIf = { fieldId: id('N'), operator: 'gt', value: 1 }
    const meta = { limitOptions: ['a'], showIf, mine: true }
    const path = `${M}/form-columns/${state.id}`
    expect(scalarOf(await shop.rest.patch(path, { ...body, meta }))).toEqual([200, TEXT_TYPE, 1])
    expect(await of('State')).toMatchObject({ ...body, help: 'Choose', meta })
    await shop.rest.patch(`${M}/views/${viewId}/columns/${state.id}`, {
      help: 'Or not',
      meta: { showIf: null },
    })
    expect(await of('State')).toMatchObject({ description: 'Or not', meta: { limitOptions: ['a'] } })
    for (const [change, expected] of [
      [{ description: null }, null],
      [{ help: 'Help' }, 'Help'],
      [{ description: 'Described' }, 'Described'],
      [{ description: '' }, null],
    ] as const) {
      await shop.rest.patch(path, { ...(await of('State')), ...change })
      expect(await of('State')).toMatchObject({ help: expected, description: expected })
    }
    await shop.rest.patch(path, { description: 'Choose' })
    await shop.rest.patch(path, { description: null })
    expect((await of('State')).description).toBeNull()
    for (const wrong of [
      { meta: { showIf: 3 } },
      { label: 'null \u0000' },
      { required: 'yes' },
      { meta: { rules: [{ rule: 'x' }] } },
    ]) {
      expect((await shop.rest.patch(path, wrong)).status).toBe(400)
    }
    const gone = `fvc${'x'.repeat(14)}`
    expect(outcome(await shop.rest.patch(`${M}/form-columns/${gone}`, {}))).toEqual([
      404,
      { error: 'FIELD_NOT_FOUND', message: `Field '${gone}' not found` },
    ])
    expect((await shop.rest.patch(`${M}/grid-columns/${state.id}`, { width: 9 })).status).toBe(404)

    const shown = async () => (await list()).filter(({ show }: { show: boolean }) => show).length
    expect((await shop.rest.post(`${M}/views/${viewId}/hide-all?ignoreIds[]=${id('N')}`)).body).toBe(true)
    expect(await shown()).toBe(1)
    await shop.rest.post(`${M}/views/${viewId}/show-all`)
    expect(await shown()).toBe(7)
  })
})

describe('views of cards', () => {
  test('have columns with ids of their own, that are shown, hidden and moved', async () => {
    for (const [path, prefix] of [
      ['galleries', 'gvc'],
      ['kanbans', 'kvc'],
      ['calendars', 'cvc'],
    ]) {
      const { id: viewId } = await made(path!)
      const columns = `${M}/views/${viewId}/columns`
      const line = (await shop.rest.post(columns, { fk_column_id: id('N'), show: true, order: 2 })).body
      expect(line).toMatchObject({ fk_view_id: viewId, fk_column_id: id('N'), show: true, order: 2 })
      expect(line.id).toMatch(new RegExp(`^${prefix}[a-z0-9]{14}$`))
      await shop.rest.patch(`${columns}/${line.id}`, { show: false })
      const { list } = (await shop.rest.get(columns)).body
      expect(list.find((one: { id: string }) => one.id === line.id).show).toBe(false)
      expect((await shop.rest.post(columns, { fk_column_id: 'cxxxxxxxxxxxxxx' })).status).toBe(404)
    }
  })
})

describe('the groups of a grid', () => {
  test('are what its columns say, in the order that they say', async () => {
    const { id: viewId } = await made('grids')
    const list = async () => (await shop.rest.get(`${M}/grids/${viewId}/grid-columns`)).body
    const lineOf = async (title: string) =>
      (await list()).find((one: { fk_column_id: string }) => one.fk_column_id === id(title))
    const set = async (title: string, body: object) =>
      shop.rest.patch(`${M}/grid-columns/${(await lineOf(title)).id}`, body)
    expect(scalarOf(await set('State', { group_by: true, width: '90px' }))).toEqual([200, TEXT_TYPE, 1])
    await set('N', { group_by: true, group_by_order: 1, group_by_sort: 'desc' })
    await set('Start', { group_by: 1 })
    expect(await lineOf('N')).toMatchObject({ group_by: true, group_by_order: 1, group_by_sort: 'desc' })
    expect(await lineOf('State')).toMatchObject({ group_by_order: 2, group_by_sort: 'asc', width: '90px' })
    expect(outcome(await set('End', { group_by: true }))).toEqual([
      400,
      { msg: 'A view can be grouped by up to 3 fields' },
    ])
    await set('N', { group_by: false })
    expect(await lineOf('State')).toMatchObject({ group_by_order: 1 })
    expect(await lineOf('N')).toMatchObject({ group_by: null, group_by_order: null, group_by_sort: null })
    expect((await set('Files', { group_by: true })).body.msg).toContain('support grouping')
    // Width and group were one call: they are one step back.
    const { id: fresh } = await made('grids')
    const line = (await shop.rest.get(`${M}/grids/${fresh}/grid-columns`)).body.at(-1)
    await shop.rest.patch(`${M}/grid-columns/${line.id}`, { group_by: true, width: 77 })
    await shop.app.trpc(shop.admin.token).records.undo.mutate({ baseId: shop.baseId })
    const after = (await shop.rest.get(`${M}/grids/${fresh}/grid-columns`)).body.at(-1)
    expect(after).toMatchObject({ group_by: null, width: line.width })
  })
})

test('row_coloring_mode says how a view colours its rows', async () => {
  const { id: viewId } = await made('grids')
  const trpc = shop.app.trpc(shop.admin.token)
  for (const coloring of [
    { mode: 'select' as const, fieldId: id('State'), isBackground: true },
    { mode: 'filter' as const, rules: [] },
    null,
  ]) {
    await trpc.views.update.mutate({ viewId, patch: { coloring } })
    const { list } = (await shop.rest.get(`${M}/tables/${table.id}/views`)).body
    const view = list.find((one: { id: string }) => one.id === viewId)
    expect(view.row_coloring_mode).toBe(coloring?.mode ?? null)
  }
})

test('views of every kind are filtered and sorted alike', async () => {
  const on = { fk_column_id: id('N'), comparison_op: 'gt', value: 1 }
  for (const path of ['grids', 'forms', 'galleries', 'kanbans', 'maps', 'calendars']) {
    const { id: viewId } = await made(path)
    const sort = (await shop.rest.post(`${M}/views/${viewId}/sorts`, { fk_column_id: id('N') })).body
    expect(sort).toMatchObject({ fk_view_id: viewId, direction: 'asc', order: 1 })
    const body = { is_group: true, logical_op: 'or', children: [on, { is_group: true, children: [on] }] }
    const group = (await shop.rest.post(`${M}/views/${viewId}/filters`, body)).body
    const all = (await shop.rest.get(`${M}/views/${viewId}/filters?includeAllFilters=true`)).body.list
    expect(all).toHaveLength(4)
    const children = (await shop.rest.get(`${M}/filters/${group.id}/children`)).body.list
    expect(children.map((one: { is_group: boolean | null }) => one.is_group)).toEqual([null, true])
    expect((await shop.rest.get(`${M}/views/${viewId}/filters`)).body.list).toHaveLength(1)
    expect((await shop.rest.delete(`${M}/filters/${group.id}`)).body).toBe(true)
    expect((await shop.rest.get(`${M}/views/${viewId}/filters`)).body).toEqual({ list: [] })
  }
})
