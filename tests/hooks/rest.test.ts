import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { createMember } from '../support/factories.ts'
import { createHookBench, type HookBench, type TestTable } from './support.ts'

let bench: HookBench
let table: TestTable
let hooks: string
beforeAll(async () => {
  bench = await createHookBench({ automationLogLevel: 'ALL' })
})
afterAll(() => bench.stop())
beforeEach(async () => {
  await bench.clear()
  table = await bench.table({ Title: 'SingleLineText', Count: 'Number' }, [{ Title: 'a', Count: 1 }])
  hooks = `/api/v2/meta/tables/${table.id}/hooks`
})

const body = (more: object = {}) => ({
  title: 'H1',
  version: 'v3',
  event: 'after',
  operation: ['insert', 'update'],
  notification: {
    type: 'URL',
    payload: { method: 'POST', path: `${bench.receiver.url}/hook`, body: '{{ json event }}' },
  },
  ...more,
})
const stored = '/api/v2/meta/hooks'

describe('POST /api/v2/meta/tables/{tableId}/hooks', () => {
  test.each([
    ['another version', { version: 'v2' }, 'hook version is deprecated / not supported anymore'],
    ['no version', { version: undefined }, 'hook version is deprecated / not supported anymore'],
    ['an unknown event', { event: 'sometimes' }, 'Invalid request body'],
    ['an unknown operation', { operation: ['bulkInsert'] }, 'Invalid request body'],
    ['a channel that is no JSON', { notification: 'URL' }, 'is not a channel'],
  ])('refuses %s', async (_, more, message) => {
    const answer = await bench.rest.post(hooks, body(more))
    expect([answer.status, answer.body.msg]).toEqual([400, expect.stringContaining(message)])
    expect((await bench.rest.get(hooks)).body).toEqual({ list: [] })
  })

  test('answers as the reference does', async () => {
    const { status, body: hook } = await bench.rest.post(hooks, body({ active: 1, condition: false }))
    expect(status).toBe(200)
    expect(hook).toEqual({
      id: expect.stringMatching(/^hk[a-z0-9]{14}$/),
      source_id: table.schema.table.sourceId,
      base_id: bench.baseId,
      fk_model_id: table.id,
      title: 'H1',
      description: null,
      env: 'all',
      type: null,
      event: 'after',
      operation: ['insert', 'update'],
      async: false,
      payload: true,
      url: null,
      headers: null,
      condition: false,
      notification: expect.stringContaining('{"type":"URL","payload":{"method":"POST"'),
      retries: 0,
      retry_interval: 60_000,
      timeout: 60_000,
      active: true,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\+00:00$/),
      updated_at: expect.any(String),
      version: 'v3',
      trigger_field: false,
      trigger_fields: [],
    })
    expect((await bench.rest.get(hooks)).body).toEqual({ list: [hook] })
    const renamed = await bench.rest.patch(
      `${stored}/${hook.id}`,
      body({ title: 'H2', notification: hook.notification }),
    )
    expect(renamed.body).toMatchObject({ title: 'H2', notification: hook.notification, active: true })
    const partial = await bench.rest.patch(`${stored}/${hook.id}`, { title: 'H3', version: 'v3' })
    expect([partial.status, partial.body.msg]).toEqual([400, 'Invalid request body'])
    expect((await bench.rest.delete(`${stored}/${hook.id}`)).body).toBe(true)
    expect((await bench.rest.patch(`${stored}/${hook.id}`, body())).body.error).toBe('HOOK_NOT_FOUND')
  })
})

describe('a webhook of an event that only clients of the reference choose', () => {
  test.each([
    ['view', ['insert', 'update', 'delete']],
    ['field', ['insert']],
    ['after', []],
    ['after', ['trigger']],
    ['before', []],
  ])('is stored and never called: %s with %j', async (event, operation) => {
    const { status, body: hook } = await bench.rest.post(hooks, body({ event, operation }))
    const kept = operation.filter((one) => one !== 'trigger')
    expect([status, hook.event, hook.operation, hook.active]).toEqual([200, event, kept, true])
    await bench.rest.post(table.path, { Title: 'b' })
    await bench.rest.patch(table.path, { Id: 1, Title: 'c' })
    const { body: view } = await bench.rest.post(`/api/v2/meta/tables/${table.id}/grids`, { title: 'V' })
    expect(view.title).toBe('V')
    await bench.settled()
    expect(bench.received()).toEqual([])
    const changed = await bench.rest.patch(`/api/v2/meta/hooks/${hook.id}`, body())
    expect(changed.body.event).toBe('after')
  })

  test('before is called for each change under that name', async () => {
    await bench.rest.post(hooks, body({ event: 'before', operation: ['insert', 'update', 'delete'] }))
    await bench.rest.post(table.path, { Title: 'b', Count: 2 })
    await bench.rest.patch(table.path, { Id: 2, Title: 'c' })
    await bench.rest.delete(table.path, { Id: 2 })
    await bench.settled()
    expect(bench.received().map(({ type, data }) => [type, Object.keys(data), data.rows[0]?.Title])).toEqual([
      ['records.before.insert', ['table_id', 'table_name', 'rows'], 'b'],
      ['records.before.update', ['table_id', 'table_name', 'rows'], 'c'],
      ['records.before.delete', ['table_id', 'table_name', 'rows'], 'c'],
    ])
  })

  test('is tried and previewed', async () => {
    const tried = await bench.rest.post(`${hooks}/test`, {
      hook: body({ event: 'before', operation: ['update'] }),
      payload: { data: { rows: [{ Title: 'x' }] } },
    })
    expect(tried.status).toBe(200)
    expect(bench.received().map(({ type }) => type)).toEqual(['records.before.update'])
    const sample = await bench.rest.get(`${hooks}/samplePayload/before/insert/v3`)
    expect(sample.body.type).toBe('records.before.insert')
  })
})

describe('the conditions of a webhook', () => {
  test('are added like those of views, and decide about calls', async () => {
    const { id } = (await bench.rest.post(hooks, body({ condition: true }))).body
    const { body: filter } = await bench.rest.post(`${stored}/${id}/filters`, {
      fk_column_id: table.field('Count').id,
      comparison_op: 'gt',
      value: 5,
    })
    expect(filter).toMatchObject({ fk_hook_id: id, fk_view_id: null, comparison_op: 'gt', value: '5' })
    expect((await bench.rest.get(`${stored}/${id}/filters`)).body).toEqual({ list: [filter] })
    await bench.rest.post(table.path, [
      { Title: 'b', Count: 5 },
      { Title: 'c', Count: 6 },
    ])
    await bench.settled()
    expect(bench.received().map(({ data }) => data.rows.map((row) => row.Title))).toEqual([['c']])
  })
})

describe('/api/v2/meta/filters/{filterId} of a webhook', () => {
  const filters = '/api/v2/meta/filters'
  const withFilter = async () => {
    const { id } = (await bench.rest.post(hooks, body({ condition: true }))).body
    const condition = { fk_column_id: table.field('Count').id, comparison_op: 'gt', value: 5 }
    const { body: filter } = await bench.rest.post(`${stored}/${id}/filters`, condition)
    return { hookId: id as string, filter }
  }

  test('refuses people who may not change webhooks, and conditions that do not fit', async () => {
    const { filter } = await withFilter()
    const editor = bench.app.rest((await createMember(bench.app, bench.baseId, 'editor')).token)
    for (const call of [
      editor.get(`${filters}/${filter.id}`),
      editor.patch(`${filters}/${filter.id}`, { value: 7 }),
      editor.delete(`${filters}/${filter.id}`),
    ]) {
      expect((await call).status).toBe(403)
    }
    const unknown = await bench.rest.patch(`${filters}/${filter.id}`, { fk_column_id: 'c0000000000000' })
    expect([unknown.status, unknown.body.error]).toEqual([404, 'FIELD_NOT_FOUND'])
    expect((await bench.rest.get(`${filters}/${filter.id}`)).body).toEqual(filter)
  })

  test('refuses a condition below another, which is no group', async () => {
    const { hookId, filter } = await withFilter()
    const below = { fk_column_id: table.field('Count').id, comparison_op: 'lt', value: 9 }
    const refused = await bench.rest.post(`${stored}/${hookId}/filters`, {
      ...below,
      fk_parent_id: filter.id,
    })
    expect([refused.status, refused.body.error, refused.body.message]).toEqual([
      404,
      'GENERIC_NOT_FOUND',
      `Filter '${filter.id}' not found`,
    ])
    expect((await bench.rest.get(`${stored}/${hookId}/filters`)).body).toEqual({ list: [filter] })
  })

  test('reads, changes and deletes a condition, which decides about the next call', async () => {
    const { hookId, filter } = await withFilter()
    expect((await bench.rest.get(`${filters}/${filter.id}`)).body).toEqual(filter)
    const changed = await bench.rest.patch(`${filters}/${filter.id}`, { value: 7 })
    expect([changed.status, changed.body]).toEqual([200, 1])
    await bench.rest.post(table.path, [
      { Title: 'b', Count: 6 },
      { Title: 'c', Count: 8 },
    ])
    await bench.settled()
    expect(bench.received().map(({ data }) => data.rows.map((row) => row.Title))).toEqual([['c']])
    const deleted = await bench.rest.delete(`${filters}/${filter.id}`)
    expect([deleted.status, deleted.body]).toEqual([200, true])
    expect((await bench.rest.get(`${stored}/${hookId}/filters`)).body).toEqual({ list: [] })
    const again = await bench.rest.delete(`${filters}/${filter.id}`)
    expect([again.status, again.body.error]).toEqual([404, 'GENERIC_NOT_FOUND'])
  })

  test('lists no condition on a field in the trash, which is not found either', async () => {
    const { hookId, filter } = await withFilter()
    await bench.trpc.schema.deleteField.mutate({ fieldId: table.field('Count').id })
    expect((await bench.rest.get(`${stored}/${hookId}/filters`)).body).toEqual({ list: [] })
    expect((await bench.rest.get(`${filters}/${filter.id}`)).status).toBe(404)
  })

  test('lists the children of a group', async () => {
    const { hookId } = await withFilter()
    const add = async (more: object) => (await bench.rest.post(`${stored}/${hookId}/filters`, more)).body
    const group = await add({ is_group: true, logical_op: 'or' })
    const child = await add({
      fk_parent_id: group.id,
      fk_column_id: table.field('Title').id,
      comparison_op: 'eq',
      value: 'q',
    })
    expect((await bench.rest.get(`${filters}/${group.id}/children`)).body).toEqual({ list: [child] })
    const nested = (await bench.rest.get(`${stored}/${hookId}/filters?includeAllFilters=true`)).body.list
    expect(nested.map(({ id }: { id: string }) => id).slice(1)).toEqual([group.id, child.id])
    expect((await bench.rest.delete(`${filters}/${group.id}`)).body).toBe(true)
    expect((await bench.rest.get(`${filters}/${child.id}`)).status).toBe(404)
  })
})

describe('GET /api/v2/meta/hooks/{hookId}/logs', () => {
  test('lists calls with request and response, newest first', async () => {
    const { id } = (await bench.rest.post(hooks, body())).body
    bench.receiver.answer('/hook', { status: 410, body: 'x' })
    await bench.rest.post(table.path, { Title: 'b' })
    await bench.settled()
    const { list, pageInfo } = (await bench.rest.get(`${stored}/${id}/logs?limit=1`)).body
    expect(pageInfo).toMatchObject({ totalRows: 1, pageSize: 1 })
    expect(list).toMatchObject([
      {
        id: expect.stringMatching(/^hkl/),
        fk_hook_id: id,
        type: 'URL',
        event: 'after',
        operation: 'insert',
        test_call: false,
        error_code: 'ERR_BAD_REQUEST',
        error_message: 'Request failed with status code 410',
        triggered_by: bench.owner.email,
      },
    ])
    expect(JSON.parse(list[0].payload)).toMatchObject({ method: 'POST', url: `${bench.receiver.url}/hook` })
    expect(JSON.parse(list[0].response)).toMatchObject({ status: 410, data: 'x' })
  })
})

describe('POST …/hooks/test', () => {
  test('sends the given rows, and answers what the receiver does', async () => {
    const call = (hook: object, payload?: object) => bench.rest.post(`${hooks}/test`, { hook, payload })
    const sent = await call(body(), { data: { rows: [{ x: 1 }] } })
    expect([sent.status, sent.body]).toEqual([200, { msg: 'The hook has been tested successfully' }])
    expect(bench.received()).toMatchObject([{ type: 'records.after.insert', data: { rows: [{ x: 1 }] } }])
    bench.receiver.answer('/hook', { status: 500 })
    const failed = await call(body())
    expect([failed.status, failed.body]).toMatchObject([
      400,
      { error: 'DATABASE_ERROR', code: 'ERR_BAD_RESPONSE' },
    ])
    const refused = await call(
      body({ notification: { type: 'URL', payload: { path: 'http://127.0.0.1:1/' } } }),
    )
    expect(refused.body.code).toBe('ECONNREFUSED')
  })
})

describe('GET …/hooks/samplePayload', () => {
  test('gives the event in the form of each version', async () => {
    const get = async (path: string) => (await bench.rest.get(`${hooks}/samplePayload/${path}`)).body
    const row = { Id: 1, Title: 'Sample text', Count: 123 }
    const data = { table_id: table.id, table_name: table.title }
    expect(await get('after/insert/v3')).toMatchObject({
      type: 'records.after.insert',
      version: 'v3',
      data: { ...data, rows: [row] },
    })
    expect(await get('after/update/v3')).toMatchObject({ data: { previous_rows: [row], rows: [row] } })
    expect(await get('after/bulkInsert/v2')).toEqual({
      type: 'records.after.bulkInsert',
      id: expect.any(String),
      data: { ...data, row_inserted: 10 },
    })
    expect(await get('after/insert/v1')).toMatchObject(row)
    expect(await get('after/delete/v1')).toEqual({ Id: 1 })
    expect(await get('after/bulkUpdate/v2')).toMatchObject({
      type: 'records.after.bulkUpdate',
      data: { ...data, previous_rows: [row], rows: [row] },
    })
    expect(await get('after/bulkDelete/v2')).toMatchObject({ data: { rows: [row] } })
    expect(await get('after/bulkDelete/v3')).toMatchObject({ type: 'records.after.delete' })
    expect(await get('insert/v2')).not.toHaveProperty('version')
    expect((await bench.rest.get(`${hooks}/samplePayload/after/nope/v3`)).status).toBe(400)
  })
})

describe('POST /api/v2/meta/hooks/{hookId}/trigger/{rowId}', () => {
  test('calls a manual webhook with the record', async () => {
    const { id } = (await bench.rest.post(hooks, body({ event: 'manual', operation: ['trigger'] }))).body
    const { status, body: answer } = await bench.rest.post(`${stored}/${id}/trigger/1`)
    expect([status, answer]).toEqual([201, true])
    expect(bench.received()).toMatchObject([
      { type: 'records.manual.trigger', data: { rows: [{ Title: 'a' }] } },
    ])
    const missing = await bench.rest.post(`${stored}/${id}/trigger/99`)
    expect([missing.status, missing.body.error]).toEqual([404, 'RECORD_NOT_FOUND'])
  })
})
