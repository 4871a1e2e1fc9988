import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createTarget, type Sent, type Target } from './hostile.ts'
import { type Bench, dump, type TestTable } from './support.ts'

let target: Target
let bench: Bench
let table: TestTable

beforeAll(async () => {
  target = await createTarget()
  ;({ bench, table } = target)
})
afterAll(() => bench.stop())

const send = (sent: Sent) => target.send(sent)
const unchanged = () => target.unchanged()

describe('a tRPC call with', () => {
  const call = (procedure: string, body: string) => send({ method: 'POST', path: `/trpc/${procedure}`, body })

  test('malformed input', async () => {
    const procedures = [
      'records.list',
      'records.count',
      'records.get',
      'records.summaries',
      'records.position',
      'records.positions',
      'records.write',
      'records.deleteMatching',
      'records.updateMatching',
      'records.undo',
      'records.redo',
      'records.history',
      'records.people',
    ]
    const bodies = [
      '',
      '{',
      '[]',
      'null',
      '1',
      '"x"',
      '{}',
      '{"query":null}',
      '{"query":{}}',
      '{"selection":[]}',
      '{"change":{"baseId":1}}',
      '{"baseId":{"$ne":null}}',
      '{"baseId":""}',
      `{"baseId":"${'p'.repeat(1000)}"}`,
      `{"baseId":"../../x"}`,
      '{"__proto__":{"baseId":"x"}}',
    ]
    for (const procedure of procedures) {
      for (const body of bodies) expect(await call(procedure, body)).toBeGreaterThanOrEqual(400)
      expect(await send({ path: `/trpc/${procedure}?input=%7B` })).toBeGreaterThanOrEqual(400)
    }
    for (const path of [
      '/trpc',
      '/trpc/',
      '/trpc/nope',
      '/trpc/records.__proto__',
      '/trpc/records.constructor',
      '/trpc/records.list,records.list?batch=1',
    ]) {
      await send({ path })
      await send({ method: 'POST', path, body: '{}' })
    }
    await unchanged()
  })

  test('rows that are none are refused, with the place of the first of them', async () => {
    const title = table.field('Title').id
    const ok = { values: { [title]: 'fine' } }
    const refusalOfRows = async (kind: 'insert' | 'update', rows: unknown[]) => {
      const change = { baseId: bench.baseId, operations: [{ kind, tableId: table.id, rows }] }
      const error = await bench.trpc.records.write
        .mutate({ change } as never)
        .then(() => null)
        .catch((refusal: Error) => refusal)
      return error?.message ?? 'no refusal'
    }
    const at = 'change.operations.0.rows.1'
    for (const row of [null, 1, 'x', [], {}, { values: null }, { values: [] }, { values: {}, more: 1 }])
      expect(await refusalOfRows('insert', [ok, row])).toStartWith(`${at}`)
    expect(await refusalOfRows('insert', [ok, { values: { [title]: {} } }])).toStartWith(
      `${at}.values.${title}: `,
    )
    expect(await refusalOfRows('insert', [ok, { values: { ['k'.repeat(65)]: 1 } }])).toStartWith(
      `${at}.values`,
    )
    for (const id of [null, 1.5, '', 'x'.repeat(256), {}, 2 ** 53])
      expect(
        await refusalOfRows('update', [
          { id: 1, ...ok },
          { id, ...ok },
        ]),
      ).toStartWith(`${at}.id: `)
    const many = await refusalOfRows(
      'insert',
      Array.from({ length: 1_000 }, () => ({ values: { [title]: [] } })),
    )
    expect(many.split('; ').length).toBeLessThan(30)
    await unchanged()
  })

  test('hostile values in every place of a change and of a query', async () => {
    const { id: tableId } = table
    const title = table.field('Title').id
    const num = table.field('Num').id
    const hostile = [
      '"\\ud800"',
      '"\\u0000"',
      '1e999',
      '-1e999',
      '1.5',
      '-1',
      '{}',
      '[]',
      '[[]]',
      'true',
      '"__proto__"',
      `"${'x'.repeat(100)}"`,
      '9007199254740993',
      '"1 or 1=1"',
    ]
    for (const value of hostile) {
      for (const body of [
        `{"query":{"tableId":"${tableId}","limit":${value},"offset":0}}`,
        `{"query":{"tableId":"${tableId}","limit":10,"offset":${value}}}`,
        `{"query":{"tableId":${value},"limit":10,"offset":0}}`,
        `{"query":{"tableId":"${tableId}","limit":10,"offset":0,"fieldIds":[${value}]}}`,
        `{"query":{"tableId":"${tableId}","limit":10,"offset":0,"viewId":${value}}}`,
        `{"query":{"tableId":"${tableId}","limit":10,"offset":0,"search":{"text":${value},"fieldId":null}}}`,
        `{"query":{"tableId":"${tableId}","limit":10,"offset":0,"sorts":[{"fieldId":${value},"direction":"asc"}]}}`,
        `{"query":{"tableId":"${tableId}","limit":10,"offset":0,"filter":{"fieldId":"${num}","operator":"eq","value":${value}}}}`,
        `{"query":{"tableId":"${tableId}","limit":10,"offset":0,"filter":{"fieldId":"${title}","operator":${value},"value":1}}}`,
      ]) {
        await call('records.list', body)
      }
      const operations = [
        `{"kind":"insert","tableId":"${tableId}","rows":[{"values":{"${num}":${value},"cnope":1}}]}`,
        `{"kind":"insert","tableId":"${tableId}","rows":[{"values":{"__proto__":1,"cnope":1}}],"before":${value === '1.5' ? '"x"' : value}}`,
        `{"kind":"update","tableId":"${tableId}","rows":[{"id":${value},"values":{"${title}":"x"}}]}`,
        `{"kind":"delete","tableId":"${tableId}","ids":[${value}]}`,
        `{"kind":"move","tableId":"${tableId}","ids":[${value}],"before":null}`,
        `{"kind":${value},"tableId":"${tableId}","ids":[1]}`,
      ]
      for (const operation of operations) {
        expect([
          operation,
          await call('records.write', `{"change":{"baseId":"${bench.baseId}","operations":[${operation}]}}`),
        ]).not.toEqual([operation, 200])
      }
      await call('records.history', `{"tableId":"${tableId}","recordId":${value}}`)
      await call('records.get', `{"tableId":"${tableId}","recordId":${value}}`)
      await call(
        'records.position',
        `{"query":{"tableId":"${tableId}","limit":10,"offset":0},"recordId":${value}}`,
      )
      await call(
        'records.positions',
        `{"query":{"tableId":"${tableId}","limit":10,"offset":0},"recordIds":[${value}]}`,
      )
      await call(
        'records.summaries',
        `{"selection":{"tableId":"${tableId}"},"summaries":[{"fieldId":"${num}","summary":${value}}]}`,
      )
      await call(
        'records.summaries',
        `{"selection":{"tableId":"${tableId}","recordIds":[${value}]},"summaries":[{"fieldId":"${num}","summary":"sum"}]}`,
      )
      await call(
        'records.updateMatching',
        `{"selection":{"tableId":"${tableId}"},"values":{"${num}":${value.startsWith('"') || value === 'true' ? '"abc"' : value === '-1' ? '1.5' : value}}}`,
      )
    }
    await unchanged()
  })

  test('a filter nested a thousand deep, a list of a hundred thousand ids', async () => {
    const nested = `${'{"join":"and","children":['.repeat(1_000)}${']}'.repeat(1_000)}`
    expect(
      await call(
        'records.list',
        `{"query":{"tableId":"${table.id}","limit":1,"offset":0,"filter":${nested}}}`,
      ),
    ).toBe(400)
    const ids = JSON.stringify(Array.from({ length: 100_000 }, (_, index) => index))
    expect(
      await call('records.deleteMatching', `{"selection":{"tableId":"${table.id}","recordIds":${ids}}}`),
    ).toBe(400)
    const operations = JSON.stringify(
      Array.from({ length: 101 }, () => ({ kind: 'delete', tableId: table.id, ids: [1] })),
    )
    expect(
      await call('records.write', `{"change":{"baseId":"${bench.baseId}","operations":${operations}}}`),
    ).toBe(400)
    await unchanged()
  })

  test('a body past the limit, or one that does not say how long it is', async () => {
    const path = `${bench.app.url}/trpc/records.write`
    const headers = { 'xc-auth': bench.owner.token, 'content-type': 'application/json' }
    const large = new Uint8Array(bench.app.config.bodyMaxBytes + 1)
    const told = await fetch(path, { method: 'POST', headers, body: large })
    expect([told.status, await told.json()]).toMatchObject([
      413,
      {
        error: {
          message: expect.stringContaining('bytes'),
          data: { httpStatus: 413, appCode: 'PAYLOAD_TOO_LARGE' },
        },
      },
    ])
    const stream = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('{}'))
        controller.close()
      },
    })
    const untold = await fetch(path, { method: 'POST', headers, body: stream })
    expect([untold.status, await untold.json()]).toMatchObject([
      411,
      { error: { data: { httpStatus: 411 } } },
    ])
    await unchanged()
  })

  test('a set write that breaks a rule of the table says which, and writes nothing', async () => {
    const unique = await bench.table({ Title: { type: 'SingleLineText', unique: true, required: true } }, [
      { Title: 'a' },
      { Title: 'b' },
    ])
    const state = await dump(bench)
    const title = unique.field('Title').id
    const ask = (values: string) =>
      call('records.updateMatching', `{"selection":{"tableId":"${unique.id}"},"values":${values}}`)
    expect(await ask(`{"${title}":"same"}`)).toBe(400)
    expect(await ask(`{"${title}":""}`)).toBe(422)
    expect(await ask(`{"cnope":""}`)).toBe(404)
    expect(await dump(bench)).toEqual(state)
    await target.remember()
  })
})
