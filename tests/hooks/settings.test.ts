import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Bench, createBench, type TestTable } from '../records/support.ts'
import { type OutboundRecorder, startOutboundRecorder } from '../support/outbound-recorder.ts'

let bench: Bench
let table: TestTable
let receiver: OutboundRecorder
beforeAll(async () => {
  receiver = startOutboundRecorder()
  bench = await createBench({ config: { allowLocalHttp: true } })
  table = await bench.table({ Title: 'SingleLineText', Count: 'Number' }, [{ Title: 'a', Count: 1 }])
})
afterAll(async () => {
  await bench.stop()
  await receiver.stop()
})

type Payload = Record<string, unknown>
const settings = (payload: Payload = {}, more: object = {}) => ({
  tableId: table.id,
  title: 'Tell',
  event: 'after' as const,
  operations: ['insert' as const],
  isActive: false,
  channel: { type: 'URL', payload: { path: `${receiver.url}/hook`, ...payload } },
  ...more,
})
const create = (payload?: Payload, more?: object) => bench.trpc.hooks.create.mutate(settings(payload, more))
const refusal = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'accepted',
    (error) => error.message,
  )

describe('hooks.create', () => {
  test.each([
    ['an unknown channel', {}, { channel: { type: 'Pigeon', payload: {} } }, '“Pigeon” is not a channel'],
    ['no address', { path: undefined }, {}, 'The setting “path” is not valid'],
    ['an unknown method', { method: 'CONNECT' }, {}, 'The setting “method” is not valid'],
    ['no change that calls it', {}, { operations: [] }, 'at least one change'],
    ['an empty title', {}, { title: ' ' }, 'needs a title'],
    ['a field that is not there', {}, { triggerFieldIds: ['c00000000000000'] }, 'does not exist'],
    [
      'a template that is not closed',
      { body: '{"a": "{{event"}' },
      {},
      '“body” has a mistake at character 8',
    ],
    [
      'an unknown helper',
      { headers: [{ name: 'X', value: '{{exec event}}', enabled: true }] },
      {},
      '“headers.0.value” has a mistake at character 1',
    ],
    ['a value in the host', { path: 'https://{{event.type}}.example.com/' }, {}, 'not its host'],
    ['a header of the connection', { headers: [{ name: 'Host', value: 'x' }] }, {}, 'The header “Host”'],
    ['a header with a line break', { headers: [{ name: 'X', value: 'a\r\nb' }] }, {}, 'line break'],
  ])('refuses %s', async (_, payload, more, message) => {
    expect(await refusal(create(payload, more))).toContain(message)
    expect(await bench.trpc.hooks.list.query({ tableId: table.id })).toBeEmpty()
  })

  test('stores settings that update, duplicate, reorder and delete change', async () => {
    const hook = await create({ headers: [{ name: 'Authorization', value: 'Bearer 1', enabled: true }] })
    expect(hook).toMatchObject({ title: 'Tell', order: 1, deliverPer: 'call', pause: null })
    const copy = await bench.trpc.hooks.duplicate.mutate({ hookId: hook.id })
    expect(copy).toMatchObject({ title: 'Tell_1', isActive: false, channel: hook.channel })
    expect(await bench.trpc.hooks.secret.query({ hookId: copy.id })).not.toBe(
      await bench.trpc.hooks.secret.query({ hookId: hook.id }),
    )
    await bench.trpc.hooks.reorder.mutate({ hookId: copy.id, before: hook.id })
    await bench.trpc.hooks.update.mutate({
      hookId: hook.id,
      patch: { title: 'Other', operations: ['delete'] },
    })
    const listed = await bench.trpc.hooks.list.query({ tableId: table.id })
    expect(listed.map(({ title, waiting, last }) => [title, waiting, last])).toEqual([
      ['Tell_1', 0, null],
      ['Other', 0, null],
    ])
    for (const { id } of listed) await bench.trpc.hooks.delete.mutate({ hookId: id })
    expect(await refusal(bench.trpc.hooks.get.query({ hookId: hook.id }))).toContain('not found')
  })

  test('seals the settings of the channel', async () => {
    const { id } = await create({ headers: [{ name: 'Authorization', value: 'Bearer 4711', enabled: true }] })
    const { createHookStore } = await import('../../modules/hooks/store.ts')
    const row = await createHookStore(bench.app.kernel).find(id)
    expect(JSON.stringify(row)).not.toContain('4711')
    await bench.trpc.hooks.delete.mutate({ hookId: id })
  })
})

describe('hooks.test', () => {
  test('sends a sample with the unsaved settings, and masks secrets in what it returns', async () => {
    receiver.clear()
    receiver.answer('/hook', { status: 202, body: 'your key was s3cret' })
    const { channel } = settings({
      headers: [{ name: 'X-Api-Key', value: 's3cret', enabled: true }],
      parameters: [{ name: 'type', value: '{{event.type}}', enabled: true }],
    })
    const result = await bench.trpc.hooks.test.mutate({ tableId: table.id, operation: 'insert', channel })
    const [sent] = receiver.requests
    expect(sent).toMatchObject({
      path: '/hook?type=records.after.insert',
      headers: { 'x-api-key': 's3cret' },
    })
    expect(JSON.parse(sent?.body ?? '')).toMatchObject({
      type: 'records.after.insert',
      data: { table_id: table.id, rows: [{ Title: 'Sample text', Count: 123 }] },
    })
    expect(result).toMatchObject({ isDelivered: true, response: { status: 202, body: 'your key was ••••' } })
    expect(JSON.stringify(result)).not.toContain('s3cret')
  })
})
