import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  addRecords,
  createTable,
  databases,
  fieldOf,
  openWorkshop,
  valuesOf,
  type Workshop,
} from './support.ts'

const NUL = '\u0000'
const HALF = '\ud800'
const DEEP = JSON.parse(`${'{"a":'.repeat(400)}1${'}'.repeat(400)}`)

/** Values where an id, a text, a number or an object was expected. */
const VALUES: unknown[] = [
  null,
  true,
  -1,
  9e99,
  0.5,
  '',
  ' ',
  NUL,
  HALF,
  '../../etc/passwd',
  "'; drop table x; --",
  '%',
  '🧨',
  'x'.repeat(70_000),
  [],
  [[]],
  {},
  { __proto__: 1, constructor: 1 },
  DEEP,
  { join: 'and', children: [{ join: 'or', children: [{}] }] },
]

describe.each([...databases])('hostile input, metadata in %s', (database) => {
  let shop: Workshop
  beforeAll(async () => {
    shop = await openWorkshop(database)
  })
  afterAll(() => shop.app.stop())

  /**
   * Makes a call and holds that it is answered in words: never with a 500, and without any change
   * where it is refused. Gives the status.
   */
  async function probe(told: string, call: () => Promise<{ status: number; text: string }>): Promise<number> {
    let changes = 0
    const stop = shop.app.kernel.events.on('schema.changed', () => changes++)
    const { status, text } = await call()
    stop()
    expect(`${told.slice(0, 160)} ${status}`).toMatch(/ (200|4\d\d|501)$/)
    expect(text).not.toContain('Something went wrong')
    if (status >= 400) expect(`${told.slice(0, 160)} ${changes}`).toEndWith(' 0')
    return status
  }

  test('every tRPC procedure refuses it in words and changes nothing', async () => {
    const schema = await createTable(shop, [
      { type: 'SingleLineText', title: 'Title' },
      { type: 'SingleSelect', title: 'S' },
    ])
    await addRecords(shop, schema, [{ Title: 'kept' }])
    const [tableId, viewId, fieldId] = [schema.table.id, schema.views[0]!.id, fieldOf(schema, 'S').id]
    const { baseId } = shop
    const calls: [name: string, input: (value: unknown) => unknown][] = [
      ['schema.createTable', (title) => ({ baseId, title })],
      ['schema.createTable', (fields) => ({ baseId, title: 'T', fields })],
      ['schema.createTable', (id) => ({ baseId: id, title: 'T' })],
      ['schema.updateTable', (title) => ({ tableId, title })],
      ['schema.updateTable', (id) => ({ tableId: id, title: 'T' })],
      ['schema.reorderTable', (before) => ({ tableId, before: before ?? 0 })],
      ['schema.deleteTable', (id) => ({ tableId: id })],
      ['schema.restoreTable', (id) => ({ tableId: id })],
      ['schema.createField', (field) => ({ tableId, field })],
      ['schema.createField', (title) => ({ tableId, field: { type: 'Number', title } })],
      ['schema.createField', (type) => ({ tableId, field: { type } })],
      [
        'schema.createField',
        (options) => ({ tableId, field: { type: 'SingleSelect', title: 'S', options } }),
      ],
      [
        'schema.createField',
        (viewId) => ({ tableId, field: { type: 'Number' }, viewId: viewId ?? 1, beforeFieldId: fieldId }),
      ],
      ['schema.updateField', (title) => ({ fieldId, patch: { title } })],
      ['schema.updateField', (choices) => ({ fieldId, patch: { options: { choices: choices ?? 1 } } })],
      ['schema.updateField', (choice) => ({ fieldId, patch: { options: { choices: [choice] } } })],
      ['schema.updateField', (id) => ({ fieldId: id, patch: { title: 'T' } })],
      ['schema.setDisplayField', (id) => ({ fieldId: id })],
      ['schema.deleteField', (id) => ({ fieldId: id })],
      ['schema.restoreField', (id) => ({ fieldId: id })],
      ['views.create', (title) => ({ tableId, kind: 'grid', title })],
      ['views.create', (kind) => ({ tableId, title: 'T', kind })],
      ['views.duplicate', (id) => ({ viewId: id })],
      ['views.delete', (id) => ({ viewId: id })],
      ['views.reorder', (before) => ({ viewId, before: before ?? 0 })],
      ['views.update', (title) => ({ viewId, patch: { title } })],
      ['views.update', (rowHeight) => ({ viewId, patch: { rowHeight } })],
      ['views.update', (frozen) => ({ viewId, patch: { frozen } })],
      ['views.update', (filter) => ({ viewId, patch: { filter: filter ?? 1 } })],
      ['views.update', (operator) => ({ viewId, patch: { filter: { fieldId, operator, value: 1 } } })],
      ['views.update', (id) => ({ viewId, patch: { filter: { fieldId: id, operator: 'eq', value: 1 } } })],
      ['views.update', (sort) => ({ viewId, patch: { sorts: [sort] } })],
      ['views.update', (id) => ({ viewId, patch: { sorts: [{ fieldId: id, direction: 'asc' }] } })],
      ['views.arrange', (fields) => ({ viewId, fields })],
      ['views.arrange', (id) => ({ viewId, fields: [{ fieldId: id, width: 100 }] })],
      ['views.arrange', (width) => ({ viewId, fields: [{ fieldId, width }] })],
      ['views.arrange', (summary) => ({ viewId, fields: [{ fieldId, summary: summary ?? 1 }] })],
      [
        'views.arrange',
        (order) => ({ viewId, fields: [{ fieldId, order: order === -1 || order === 0.5 ? 'x' : order }] }),
      ],
    ]
    let refused = 0
    for (const [name, input] of calls) {
      for (const value of VALUES) {
        const body = JSON.stringify(input(value))
        const status = await probe(`${name} ${body}`, async () => {
          const headers = { 'content-type': 'application/json', 'xc-auth': shop.owner.token }
          const answer = await fetch(`${shop.app.url}/trpc/${name}`, { method: 'POST', headers, body })
          return { status: answer.status, text: await answer.text() }
        })
        if (status >= 400) refused++
      }
    }
    // The rest was fine as a title, or as options that the type does not know.
    expect(refused).toBeGreaterThan(calls.length * VALUES.length * 0.85)
    expect(await valuesOf(shop, fieldOf(schema, 'Title'))).toEqual(['kept'])
  })

  test('every REST route refuses it in words and changes nothing', async () => {
    const schema = await createTable(shop)
    const [tableId, viewId, fieldId] = [schema.table.id, schema.views[0]!.id, fieldOf(schema, 'Title').id]
    const M = '/api/v1/db/meta'
    const sort = (
      await shop.rest.post(`${M}/views/${viewId}/sorts`, { fk_column_id: fieldId, direction: 'asc' })
    ).body
    const leaf = { fk_column_id: fieldId, comparison_op: 'eq', value: 'x' }
    const filter = (await shop.rest.post(`${M}/views/${viewId}/filters`, leaf)).body
    const [line] = (await shop.rest.get(`${M}/grids/${viewId}/grid-columns`)).body
    const routes: [method: string, path: string, body?: (value: unknown) => unknown][] = [
      ['POST', `${M}/projects/${shop.baseId}/tables`, (title) => ({ title, columns: 1 })],
      ['POST', `${M}/projects/${shop.baseId}/tables`, (columns) => ({ title: '.', columns })],
      ['PATCH', `${M}/tables/${tableId}`, (title) => ({ title })],
      [
        'POST',
        `${M}/tables/${tableId}/reorder`,
        (order) => ({ order: typeof order === 'number' ? 'x' : order }),
      ],
      ['POST', `${M}/tables/${tableId}/columns`, (uidt) => ({ title: 'x', uidt: uidt ?? 1 })],
      [
        'POST',
        `${M}/tables/${tableId}/columns`,
        (title) => ({ uidt: 'Number', title: typeof title === 'string' ? NUL : title }),
      ],
      ['POST', `${M}/tables/${tableId}/columns`, (cdf) => ({ uidt: 'Number', title: 'Title', cdf })],
      ['POST', `${M}/tables/${tableId}/columns/bulk`, (hash) => ({ hash, ops: [] })],
      ['PATCH', `${M}/columns/${fieldId}`, (uidt) => ({ uidt: uidt ?? 1 })],
      [
        'POST',
        `${M}/tables/${tableId}/grids`,
        (title) => ({ title: typeof title === 'string' ? NUL : title }),
      ],
      ['PATCH', `${M}/views/${viewId}`, (lock) => ({ lock_type: lock })],
      ['PATCH', `${M}/grids/${viewId}`, (height) => ({ row_height: height ?? 'x', meta: 5 })],
      ['POST', `${M}/views/${viewId}/sorts`, (id) => ({ fk_column_id: id, direction: 'asc' })],
      ['PATCH', `${M}/sorts/${sort.id}`, (direction) => ({ direction })],
      ['POST', `${M}/views/${viewId}/filters`, (id) => ({ fk_column_id: id ?? 1, comparison_op: 'eq' })],
      ['POST', `${M}/views/${viewId}/filters`, (op) => ({ ...leaf, comparison_op: op ?? 1 })],
      ['POST', `${M}/views/${viewId}/filters`, (parent) => ({ ...leaf, fk_parent_id: parent ?? 1 })],
      ['POST', `${M}/views/${viewId}/filters`, (child) => ({ is_group: true, children: [child ?? 1, 5] })],
      ['PATCH', `${M}/filters/${filter.id}`, (op) => ({ comparison_op: op ?? 1 })],
      ['POST', `${M}/views/${viewId}/columns`, (id) => ({ fk_column_id: id })],
      ['PATCH', `${M}/grid-columns/${line.id}`, (aggregation) => ({ aggregation: aggregation ?? 1 })],
    ]
    for (const [method, path, body] of routes) {
      for (const value of VALUES) {
        const sent = body?.(value)
        await probe(`${method} ${path} ${JSON.stringify(sent)}`, async () => {
          const answer = await shop.rest.send(method, path, { body: sent })
          return { status: answer.status, text: JSON.stringify(answer.body) }
        })
      }
    }
    const ids = [NUL, '..', "' or 1=1", '%25', 'x'.repeat(5000), '🧨'].map(encodeURIComponent)
    const places = [
      'tables/ID',
      'columns/ID',
      'views/ID/sorts',
      'sorts/ID',
      'filters/ID',
      'filters/ID/children',
    ]
    for (const id of ids) {
      for (const place of places) {
        const { status } = await shop.rest.get(`${M}/${place.replace('ID', id)}`)
        expect(`${place} ${id.slice(0, 40)} ${status}`).toMatch(/ 4\d\d$/)
      }
      for (const place of ['tables/ID', 'columns/ID', 'views/ID', 'sorts/ID', 'filters/ID']) {
        const { status } = await shop.rest.delete(`${M}/${place.replace('ID', id)}`)
        expect(`delete ${place} ${id.slice(0, 40)} ${status}`).toMatch(/ 4\d\d$/)
      }
    }
    expect((await shop.rest.get(`${M}/filters/${filter.id}`)).status).toBe(200)
  })
})
