import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { createHookBench, type HookBench, type TestTable } from '../hooks/support.ts'

/** The outcome of a test call: its error code, or why the settings are refused. */
async function outcome(bench: HookBench, table: TestTable, payload: object): Promise<string> {
  const call = { tableId: table.id, operation: 'insert' as const, channel: { type: 'URL', payload } }
  return bench.trpc.hooks.test
    .mutate(call as Parameters<typeof bench.trpc.hooks.test.mutate>[0])
    .then(({ error }) => error?.code ?? 'delivered')
    .catch((error) => error.data?.appCode ?? String(error))
}

describe('a webhook of a server that keeps private addresses closed', () => {
  let bench: HookBench
  let table: TestTable
  let port: string
  beforeAll(async () => {
    bench = await createHookBench({ allowLocalHttp: false })
    table = await bench.table({ Title: 'SingleLineText' })
    port = new URL(bench.receiver.url).port
  })
  afterAll(() => bench.stop())

  test.each([
    'localhost',
    'LOCALHOST',
    '127.0.0.1',
    '127.0.0.1.',
    '127.1',
    '0177.0.0.1',
    '0x7f000001',
    '2130706433',
    '017700000001',
    '0',
    '0.0.0.0',
    '１２７.0.0.1',
    '127。0。0。1',
    '[::]',
    '[::1]',
    '[0:0:0:0:0:0:0:1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::127.0.0.1]',
    '[64:ff9b::127.0.0.1]',
    '[2002:7f00:1::]',
    '169.254.169.254',
    '[fd00:ec2::254]',
  ])('does not reach %s', async (host) => {
    expect(await outcome(bench, table, { path: `http://${host}:${port}/hook` })).toBe('ERR_PRIVATE_ADDRESS')
    expect(bench.receiver.requests).toBeEmpty()
  })

  test('does not reach a name that ends with a dot', async () => {
    const code = await outcome(bench, table, { path: `http://localhost.:${port}/hook` })
    // Not every resolver knows this form.
    expect(code).toBeOneOf(['ERR_PRIVATE_ADDRESS', 'ENOTFOUND'])
    expect(bench.receiver.requests).toBeEmpty()
  })

  test('does not reach one by the channel of a chat, and neither the answer nor the log tells of it', async () => {
    const channel = {
      type: 'Slack',
      payload: { channels: [{ webhook_url: `http://127.0.0.1:${port}/secret-path` }], body: 'x' },
    }
    const result = await bench.trpc.hooks.test.mutate({ tableId: table.id, operation: 'insert', channel })
    expect(result).toMatchObject({ isDelivered: false, error: { code: 'ERR_PRIVATE_ADDRESS' } })
    expect(JSON.stringify(result)).not.toContain('secret-path')
    expect(bench.receiver.requests).toBeEmpty()
  })
})

describe('a webhook whose templates take values of records', () => {
  let bench: HookBench
  let table: TestTable
  const EVIL = 'a\r\nX-Evil: 1\r\n\r\n{"x":1}", "admin": true, "y": "\u2028{{json event}}{{#each event}}'
  beforeAll(async () => {
    bench = await createHookBench()
  })
  afterAll(() => bench.stop())
  beforeEach(async () => {
    await bench.clear()
    table = await bench.table({ Title: 'SingleLineText', Notes: 'LongText' })
  })

  test.each([
    ['in the host', 'https://{{event.data.rows.[0].Title}}/x'],
    ['after the host', 'https://example.com{{event.data.rows.[0].Title}}/x'],
    ['as the port', 'https://example.com:{{event.data.rows.[0].Title}}/x'],
    ['before the host', 'https://{{event.data.rows.[0].Title}}@example.com/x'],
    ['as the scheme', '{{event.data.rows.[0].Title}}://example.com/x'],
    ['as the whole address', '{{event.data.rows.[0].Title}}'],
    ['after a backslash', 'https:\\\\{{event.data.rows.[0].Title}}/x'],
  ])('is refused with a value %s', async (_, path) => {
    expect(await outcome(bench, table, { path })).toBe('BAD_REQUEST')
  })

  test('keeps line breaks, quotes and templates of a cell inside of header, address and body', async () => {
    await bench.hook(
      table,
      {},
      {
        path: `${bench.receiver.url}/hook/{{event.data.rows.[0].Notes}}/end?q={{event.data.rows.[0].Notes}}`,
        headers: [{ name: 'X-Note', value: '{{event.data.rows.[0].Notes}}', enabled: true }],
        parameters: [{ name: 'p', value: '{{event.data.rows.[0].Notes}}', enabled: true }],
        body: '{"note": "{{event.data.rows.[0].Notes}}", "admin": false}',
      },
    )
    await bench.rest.post(table.path, { Notes: EVIL })
    await bench.settled()
    const [request, ...others] = bench.receiver.requests
    expect(others).toEqual([])
    expect(JSON.parse(request?.body ?? '')).toEqual({ note: EVIL, admin: false })
    expect(Object.keys(request?.headers ?? {})).not.toContain('x-evil')
    expect(request?.headers['x-note']).not.toContain('\n')
    const url = new URL(request?.path ?? '', bench.receiver.url)
    expect(url.pathname.split('/')).toHaveLength(4)
    expect([url.searchParams.get('q'), url.searchParams.get('p')]).toEqual([EVIL, EVIL])
  })

  test('ends in time, whatever the template multiplies', async () => {
    const each = '{{#each event.data.rows}}'.repeat(5) + 'x'.repeat(1_000) + '{{/each}}'.repeat(5)
    await bench.hook(table, {}, { body: each })
    const rows = Array.from({ length: 500 }, () => ({ Title: 'a' }))
    await bench.rest.post(table.path, rows)
    const startedAt = performance.now()
    await bench.settled()
    expect(performance.now() - startedAt).toBeLessThan(30_000)
    expect(bench.receiver.requests).toBeEmpty()
    const { id: hookId } = (await bench.trpc.hooks.list.query({ tableId: table.id }))[0]!
    const { deliveries } = await bench.trpc.hooks.deliveries.query({ hookId })
    expect(deliveries.map(({ status, error }) => [status, error?.code])).toEqual([['dead', 'ERR_TEMPLATE']])
  })

  test('shows neither its secret nor tokens in the log, wherever they are sent', async () => {
    const hookId = await bench.hook(
      table,
      {},
      {
        path: `${bench.receiver.url}/hook?access_token=tok-4711&page=1`,
        headers: [
          { name: 'X-Api-Key', value: 'key-4712', enabled: true },
          { name: 'Authorization', value: 'Bearer {{event.data.rows.[0].Title}}', enabled: true },
        ],
        parameters: [{ name: 'signature', value: 'sig-4713', enabled: true }],
      },
    )
    bench.receiver.answer('/hook', {
      body: 'got tok-4711, key-4712, Bearer cell-4714, sig-4713',
      headers: { 'x-echo': 'key-4712' },
    })
    await bench.rest.post(table.path, { Title: 'cell-4714' })
    await bench.settled()
    const { deliveries } = await bench.trpc.hooks.deliveries.query({ hookId })
    const logged = JSON.stringify(
      await bench.trpc.hooks.delivery.query({ hookId, deliveryId: deliveries[0]?.id ?? '' }),
    )
    for (const secret of ['tok-4711', 'key-4712', 'Bearer cell-4714', 'sig-4713'])
      expect(logged).not.toContain(secret)
    expect(logged).toContain('page=1')
    const whole = await bench.trpc.hooks.secret.query({ hookId })
    expect(logged).not.toContain(whole)
  })
})
