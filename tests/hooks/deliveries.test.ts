import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { eq } from 'drizzle-orm'
import { defineHooksTables } from '../../modules/hooks/tables.ts'
import type { OutboundRecorder } from '../support/outbound-recorder.ts'
import { until } from '../support/until.ts'
import { createHookBench, type HookBench, type TestTable } from './support.ts'

type NewField = Parameters<HookBench['trpc']['schema']['createField']['mutate']>[0]['field']

let bench: HookBench
let table: TestTable
let double: string
beforeAll(async () => {
  bench = await createHookBench()
})
afterAll(() => bench.stop())
beforeEach(async () => {
  await bench.clear()
  table = await bench.table({
    Title: 'SingleLineText',
    Status: 'SingleLineText',
    Count: 'Number',
  })
  double = await fieldOf(table, { title: 'Double', type: 'Formula', options: { formula: '{Count} * 2' } })
})

/** Adds a field and returns its id. */
async function fieldOf({ id: tableId }: TestTable, field: NewField): Promise<string> {
  return (await bench.trpc.schema.createField.mutate({ tableId, field })).id
}

const insert = async (rows: object | object[]) => (await bench.rest.post(table.path, rows)).body
const types = (path?: string) => bench.received(path).map(({ type }) => type)

describe('a webhook after changes', () => {
  test('is called with the records as the API shows them, before and after', async () => {
    await bench.hook(table)
    await insert({ Title: 'a', Count: 2 })
    await bench.settled()
    const [created] = await table.list()
    await bench.rest.patch(table.path, { Id: 1, Title: 'b', Count: 3 })
    await bench.settled()
    const [updated] = await table.list()
    await bench.rest.delete(table.path, { Id: 1 })
    await bench.settled()
    expect(bench.received()).toEqual([
      {
        type: 'records.after.insert',
        id: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
        base_id: bench.baseId,
        version: 'v3',
        data: { table_id: table.id, table_name: table.title, rows: [created] },
      },
      {
        type: 'records.after.update',
        id: expect.any(String),
        base_id: bench.baseId,
        version: 'v3',
        data: { table_id: table.id, table_name: table.title, previous_rows: [created], rows: [updated] },
      },
      {
        type: 'records.after.delete',
        id: expect.any(String),
        base_id: bench.baseId,
        version: 'v3',
        data: { table_id: table.id, table_name: table.title, rows: [updated] },
      },
    ] as never)
    expect(updated).toMatchObject({ Title: 'b', Double: 6 })
  })

  test('is called once for several records, or once for each', async () => {
    await bench.hook(table)
    await bench.hook(table, { deliverPer: 'record' }, { path: `${bench.receiver.url}/each` })
    await insert([{ Title: 'a' }, { Title: 'b' }, { Title: 'c' }])
    await bench.settled()
    expect(bench.received().map(({ data }) => data.rows.map((row) => row.Title))).toEqual([['a', 'b', 'c']])
    expect(
      bench
        .received('/each')
        .map(({ data }) => data.rows.map((row) => row.Title))
        .toSorted(),
    ).toEqual([['a'], ['b'], ['c']])
  })

  test('tells what undo, redo and restoring do', async () => {
    await bench.hook(table)
    const change = (operation: object) =>
      bench.trpc.records.write.mutate({ change: { baseId: bench.baseId, operations: [operation] } } as never)
    await change({ kind: 'insert', tableId: table.id, rows: [{ values: table.values({ Title: 'a' }) }] })
    await change({
      kind: 'update',
      tableId: table.id,
      rows: [{ id: 1, values: table.values({ Title: 'b' }) }],
    })
    await bench.trpc.records.undo.mutate({ baseId: bench.baseId })
    await bench.trpc.records.redo.mutate({ baseId: bench.baseId })
    await change({ kind: 'delete', tableId: table.id, ids: [1] })
    await bench.trpc.records.undo.mutate({ baseId: bench.baseId })
    await bench.settled()
    expect(bench.received().map(({ type, data }) => [type, data.rows[0]?.Title])).toEqual([
      ['records.after.insert', 'a'],
      ['records.after.update', 'b'],
      ['records.after.update', 'a'],
      ['records.after.update', 'b'],
      ['records.after.delete', 'b'],
      ['records.after.insert', 'b'],
    ])
  })

  test('is not called for changes of the order, before it was turned on, or while it is off', async () => {
    await insert([{ Title: 'a' }, { Title: 'b' }])
    const hookId = await bench.hook(table)
    await bench.rest.post(`${table.path}/2/move?before=1`, {})
    await bench.trpc.hooks.setActive.mutate({ hookId, isActive: false })
    await insert({ Title: 'c' })
    await bench.trpc.hooks.setActive.mutate({ hookId, isActive: true })
    await insert({ Title: 'd' })
    await bench.settled()
    expect(bench.received().map(({ data }) => data.rows[0]?.Title)).toEqual(['d'])
  })

  test('is called for links, at both ends', async () => {
    const other = await bench.table({ Name: 'SingleLineText' }, [{ Name: 'x' }])
    const options = { relatedTableId: other.id, kind: 'mm' }
    const fieldId = await fieldOf(table, { title: 'Others', type: 'Links', options })
    await insert({ Title: 'a' })
    await bench.hook(table, { triggerFieldIds: [fieldId] })
    await bench.hook(other, {}, { path: `${bench.receiver.url}/other` })
    await bench.rest.post(`/api/v2/tables/${table.id}/links/${fieldId}/records/1`, [{ Id: 1 }])
    await bench.rest.patch(table.path, { Id: 1, Title: 'not watched' })
    await bench.settled()
    expect(bench.received()).toMatchObject([
      { type: 'records.after.update', data: { rows: [{ Others: 1 }] } },
    ])
    expect(types('/other')).toEqual(['records.after.update'])
  })

  test('signs each call', async () => {
    const hookId = await bench.hook(table)
    await insert({ Title: 'a' })
    await bench.settled()
    const secret = await bench.trpc.hooks.secret.query({ hookId })
    const [{ headers, body }] = bench.receiver.requests as [OutboundRecorder['requests'][number]]
    const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
    expect(headers['webhook-signature']).toBe(
      `v1,${createHmac('sha256', key).update(signed).digest('base64')}`,
    )
    expect(headers['webhook-id']).toBe(JSON.parse(body).id)
  })
})

describe('a webhook after a deletion', () => {
  let other: TestTable
  let many: string
  let children: string
  beforeEach(async () => {
    other = await bench.table({ Name: 'SingleLineText' }, [{ Name: 'x' }, { Name: 'y' }, { Name: 'z' }])
    const linkTo = (title: string, type: string, kind: 'mm' | 'hm') =>
      fieldOf(table, { title, type, options: { relatedTableId: other.id, kind } } as NewField)
    many = await linkTo('Many', 'Links', 'mm')
    children = await linkTo('Children', 'LinkToAnotherRecord', 'hm')
    await fieldOf(table, {
      title: 'Names',
      type: 'Lookup',
      options: { relationFieldId: many, targetFieldId: other.field('Name').id },
    })
  })
  const link = (fieldId: string, record: number, ids: number[]) =>
    bench.rest.post(
      `/api/v2/tables/${table.id}/links/${fieldId}/records/${record}`,
      ids.map((Id) => ({ Id })),
    )
  /** The deleted records that a path has received. */
  const deleted = (path?: string) =>
    bench
      .received(path)
      .filter(({ type }) => type === 'records.after.delete')
      .flatMap(({ data }) => data.rows)

  test('sends the links that the record had, and what is read through them', async () => {
    await insert([{ Title: 'a' }, { Title: 'b' }, { Title: 'c' }])
    await link(many, 1, [1, 2])
    await link(many, 2, [3])
    await link(children, 1, [2, 3])
    const before = await table.list()
    await bench.hook(table)
    await bench.hook(other, {}, { path: `${bench.receiver.url}/other` })
    await bench.rest.delete(table.path, [{ Id: 1 }, { Id: 3 }])
    await bench.settled()
    expect(deleted()).toEqual([before[0], before[2]] as never)
    expect(deleted()[0]).toMatchObject({ Many: 2, Names: ['x', 'y'] })
    expect(deleted()[0]?.Children).toHaveLength(2)
    // The others have lost their links.
    const [told] = bench.received('/other')
    expect(told?.type).toBe('records.after.update')

    await bench.rest.delete(other.path, { Id: 3 })
    await bench.settled()
    expect(deleted('/other')).toMatchObject([{ Id: 3, [table.title]: 1 }])
  })

  test('sends the links to records that were deleted with it', async () => {
    const peers = await fieldOf(table, {
      title: 'Peers',
      type: 'LinkToAnotherRecord',
      options: { relatedTableId: table.id, kind: 'mm' },
    } as NewField)
    const parts = await fieldOf(table, {
      title: 'Parts',
      type: 'LinkToAnotherRecord',
      options: { relatedTableId: table.id, kind: 'hm' },
    } as NewField)
    await insert([{ Title: 'a' }, { Title: 'b' }, { Title: 'c' }])
    await link(peers, 1, [2, 3])
    await link(parts, 1, [2, 3])
    await bench.hook(table, { operations: ['delete'] })
    await bench.rest.delete(table.path, [{ Id: 1 }, { Id: 2 }])
    await bench.settled()
    const titles = (list: unknown) => (list as { Title: string }[]).map(({ Title }) => Title)
    const [first] = deleted()
    expect([titles(first?.Peers), titles(first?.Parts)]).toEqual([
      ['b', 'c'],
      ['b', 'c'],
    ])
  })

  test('asks its condition about the links that the record had', async () => {
    await insert([{ Title: 'a' }, { Title: 'b' }])
    await link(many, 2, [1])
    await bench.hook(table, {
      operations: ['delete'],
      isConditional: true,
      filter: { fieldId: many, operator: 'gt', value: 0 },
    })
    await bench.rest.delete(table.path, [{ Id: 1 }, { Id: 2 }])
    await bench.settled()
    expect(deleted().map(({ Title }) => Title)).toEqual(['b'])
  })

  test('sends the links of that deletion, also after an undo, another link and a second deletion', async () => {
    await insert({ Title: 'a' })
    await link(many, 1, [1])
    await bench.hook(table, { operations: ['delete'] })
    await bench.trpc.records.write.mutate({
      change: { baseId: bench.baseId, operations: [{ kind: 'delete', tableId: table.id, ids: [1] }] },
    })
    await bench.trpc.records.undo.mutate({ baseId: bench.baseId })
    await link(many, 1, [2, 3])
    await bench.rest.delete(table.path, { Id: 1 })
    await bench.settled()
    expect(deleted().map(({ Names }) => Names)).toEqual([['x'], ['x', 'y', 'z']])
  })

  test('of thousands of records sends the links of each', async () => {
    const count = 3_000
    await insert(Array.from({ length: count }, (_, at) => ({ Title: `t${at}` })))
    await link(many, 7, [1, 2])
    await link(children, count, [3])
    await bench.hook(table, { operations: ['delete'], deliverPer: 'record' })
    await bench.trpc.records.deleteMatching.mutate({ selection: { tableId: table.id } })
    await bench.settled()
    const rows = deleted()
    expect(rows).toHaveLength(count)
    const linked = rows.filter(({ Many, Children }) => Many !== 0 || (Children as unknown[]).length > 0)
    const byId = linked.toSorted((a, b) => Number(a.Id) - Number(b.Id))
    expect(byId.map(({ Id, Names }) => [Id, Names])).toEqual([
      [7, ['x', 'y']],
      [count, []],
    ])
  })
})

describe('the condition of a webhook', () => {
  const isDone = () => ({ fieldId: table.field('Status').id, operator: 'eq', value: 'Done' })

  test('follows an option that is renamed, and its undo', async () => {
    const choices = [{ id: 'sdone', title: 'Done', color: '#eeeeee' }]
    const state = await fieldOf(table, { title: 'State', type: 'SingleSelect', options: { choices } })
    const filter = { fieldId: state, operator: 'anyof', value: ['Done'] }
    const hookId = await bench.hook(table, { isConditional: true, filter })
    const patch = { options: { choices: [{ ...choices[0]!, title: 'Finished' }] } }
    await bench.trpc.schema.updateField.mutate({ fieldId: state, patch })
    await bench.trpc.records.undo.mutate({ baseId: bench.baseId })
    expect((await bench.trpc.hooks.get.query({ hookId })).filter).toMatchObject({ value: ['Done'] })
    await bench.trpc.records.redo.mutate({ baseId: bench.baseId })
    await insert({ Title: 'a', State: 'Finished' })
    await bench.settled()
    expect(bench.received().map(({ data }) => data.rows[0]?.Title)).toEqual(['a'])
  })

  test('is asked after each change, also when several follow at once', async () => {
    await insert([{ Title: 'a', Status: 'Open' }])
    await bench.hook(table, {
      isConditional: true,
      filter: isDone(),
      triggerFieldIds: [table.field('Status').id],
    })
    const { kernel } = bench.app
    // The feed gets all of them together.
    await bench.app.services.records.feed.settled(bench.baseId)
    await Promise.all(
      ['Done', 'Open', 'Done', 'Open'].map((Status) => bench.rest.patch(table.path, { Id: 1, Status })),
    )
    await bench.rest.patch(table.path, { Id: 1, Status: 'Done' })
    await bench.rest.patch(table.path, { Id: 1, Title: 'renamed' })
    await bench.settled()
    expect(kernel.meta.client).toBeString()
    const seen = bench.received().map(({ data }) => data.rows[0]?.Status)
    expect(seen.length).toBeGreaterThanOrEqual(2)
    expect(new Set(seen)).toEqual(new Set(['Done']))
  })

  test('on a formula, and on deleted records as they were', async () => {
    await bench.hook(table, { isConditional: true, filter: { fieldId: double, operator: 'gt', value: 10 } })
    await insert([
      { Title: 'a', Count: 5 },
      { Title: 'b', Count: 6 },
    ])
    await bench.rest.delete(table.path, [{ Id: 1 }, { Id: 2 }])
    await bench.settled()
    expect(bench.received().map(({ type, data }) => [type, data.rows.map((row) => row.Title)])).toEqual([
      ['records.after.insert', ['b']],
      ['records.after.delete', ['b']],
    ])
  })

  test('on a deleted field pauses it, and what has changed is delivered once the field is back', async () => {
    const hookId = await bench.hook(table, { isConditional: true, filter: isDone() })
    await bench.trpc.schema.deleteField.mutate({ fieldId: table.field('Status').id })
    await insert({ Title: 'a' })
    await bench.app.services.records.feed.settled(bench.baseId)
    const paused = await bench.trpc.hooks.get.query({ hookId })
    expect(paused.pause).toMatchObject({ reason: 'condition' })
    expect(bench.received()).toBeEmpty()
    await bench.trpc.hooks.update.mutate({ hookId, patch: { isConditional: false } })
    await insert({ Title: 'b' })
    await bench.settled()
    expect(bench.received().map(({ data }) => data.rows[0]?.Title)).toEqual(['a', 'b'])
    expect((await bench.trpc.hooks.get.query({ hookId })).pause).toBeNull()
  })
})

test('a delivery that was stored while its webhook was deleted is removed', async () => {
  const hookId = await bench.hook(table)
  bench.receiver.answer('/hook', { status: 503, headers: { 'retry-after': '3600' } })
  await insert({ Title: 'a' })
  await insert({ Title: 'b' })
  await bench.receiver.waitFor(2)
  const { meta } = bench.app.kernel
  const { hookDeliveries } = meta.tables(defineHooksTables)
  const deliveriesOf = async () => (await bench.trpc.hooks.deliveries.query({ hookId })).deliveries
  while ((await deliveriesOf()).some(({ attempts }) => attempts === 0)) await Bun.sleep(20)
  const [first] = await deliveriesOf()
  const left = await meta.db
    .update(hookDeliveries)
    .set({ hookId: 'hkdeleted', status: 'waiting', dueAt: 0 })
    .where(eq(hookDeliveries.id, first?.id ?? ''))
    .returning()
  expect(left).toHaveLength(1)
  const idsOf = async () => (await meta.db.select().from(hookDeliveries)).map(({ hookId }) => hookId)
  await until(async () => !(await idsOf()).includes('hkdeleted'), 'The removal of the delivery')
  expect(await idsOf()).toEqual([hookId])
})

describe('a delivery that fails', () => {
  test('is sent again with the same id and body, in front of later ones of the record', async () => {
    await bench.hook(table, { deliverPer: 'record' })
    let calls = 0
    bench.receiver.answer('/hook', () => (++calls <= 2 ? { status: 500 } : {}))
    await insert({ Title: 'a' })
    await bench.rest.patch(table.path, { Id: 1, Title: 'b' })
    await bench.settled()
    const events = bench.received()
    expect(events.map(({ type }) => type)).toEqual([
      'records.after.insert',
      'records.after.insert',
      'records.after.insert',
      'records.after.update',
    ])
    expect(events[1]).toEqual(events[0] as never)
    expect(events[2]).toEqual(events[0] as never)
  })

  test('waits as long as the receiver asks', async () => {
    await bench.hook(table)
    let calls = 0
    const times: number[] = []
    bench.receiver.answer('/hook', () => {
      times.push(Date.now())
      return ++calls === 1 ? { status: 503, headers: { 'retry-after': '1' } } : {}
    })
    await insert({ Title: 'a' })
    await bench.settled()
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(990)
  })

  test('for good is given up, and can be sent again', async () => {
    const hookId = await bench.hook(table)
    bench.receiver.answer('/hook', { status: 410, body: 'gone' })
    await insert({ Title: 'a' })
    await bench.settled()
    const { deliveries } = await bench.trpc.hooks.deliveries.query({ hookId })
    expect(deliveries).toMatchObject([
      { status: 'dead', attempts: 1, statusCode: 410, error: { code: 'ERR_BAD_REQUEST' } },
    ])
    const deliveryId = deliveries[0]?.id ?? ''
    expect(await bench.trpc.hooks.delivery.query({ hookId, deliveryId })).toMatchObject({
      request: { method: 'POST', url: `${bench.receiver.url}/hook` },
      response: { status: 410, body: 'gone' },
    })
    bench.receiver.answer('/hook', {})
    expect(await bench.trpc.hooks.retry.mutate({ hookId, deliveries: 'dead' })).toBe(1)
    await bench.settled()
    const [first, second, ...others] = bench.received()
    expect([second?.id, others]).toEqual([first?.id, []])
    expect((await bench.trpc.hooks.list.query({ tableId: table.id }))[0]).toMatchObject({
      dead: 0,
      waiting: 0,
      last: { status: 'delivered' },
    })
  })
})

describe('hooks.trigger', () => {
  test('refuses webhooks that are off or not triggered by hand, and records that are not there', async () => {
    const manual = { event: 'manual' as const, operations: [] }
    const codeOf = (hookId: string, recordIds: number[]) =>
      bench.trpc.hooks.trigger.mutate({ hookId, recordIds }).then(
        () => null,
        (error) => error.data?.appCode,
      )
    await insert({ Title: 'a' })
    expect(await codeOf(await bench.hook(table), [1])).toBe('BAD_REQUEST')
    expect(await codeOf(await bench.hook(table, { ...manual, isActive: false }), [1])).toBe('BAD_REQUEST')
    expect(await codeOf(await bench.hook(table, manual), [99])).toBe('RECORD_NOT_FOUND')
    expect(bench.receiver.requests).toBeEmpty()
  })

  test('calls it with the records, and returns what has become of it', async () => {
    const hookId = await bench.hook(table, { event: 'manual', operations: [] })
    await insert([{ Title: 'a' }, { Title: 'b' }])
    expect(await bench.trpc.hooks.trigger.mutate({ hookId, recordIds: [2, 1] })).toMatchObject([
      { status: 'delivered', error: null },
    ])
    const [event] = bench.received()
    expect(event?.type).toBe('records.manual.trigger')
    expect(event?.data.rows.map((row) => row.Title)).toEqual(['b', 'a'])
  })

  test('answers at once while an earlier call for the same record waits to be repeated', async () => {
    const hookId = await bench.hook(table, { event: 'manual', operations: [] })
    await insert([{ Title: 'a' }, { Title: 'b' }])
    // Not until half a minute from now.
    bench.receiver.answer('/hook', { status: 503, headers: { 'retry-after': '30' } })
    const trigger = (recordId: number) => bench.trpc.hooks.trigger.mutate({ hookId, recordIds: [recordId] })
    expect(await trigger(1)).toMatchObject([{ status: 'waiting', error: { code: 'ERR_BAD_RESPONSE' } }])
    const startedAt = performance.now()
    expect(await trigger(1)).toMatchObject([{ status: 'waiting', error: null }])
    // Ten seconds is how long a call waits for its delivery.
    expect(performance.now() - startedAt).toBeLessThan(10_000)
    bench.receiver.answer('/hook', {})
    expect(await trigger(2)).toMatchObject([{ status: 'delivered' }])
    expect(bench.received()).toHaveLength(2)
  })
})
