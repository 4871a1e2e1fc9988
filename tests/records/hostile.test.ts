import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { EVERY_TYPE } from './every-type.ts'
import { type Bench, createBench, dump, type TestTable } from './support.ts'

/*
 * What a program can send that nobody should: none of it may be answered with a 5xx, and none of it may
 * change what is stored, unless it is a write that says what it means.
 */

let bench: Bench
let table: TestTable
let before: ReturnType<typeof dump>

beforeAll(async () => {
  bench = await createBench()
  table = await bench.table(EVERY_TYPE, [
    { Title: 'first', Num: 1 },
    { Title: 'second', Num: 2 },
  ])
  before = dump(bench)
})
afterAll(() => bench.stop())

interface Sent {
  method?: string
  path: string
  body?: string | Uint8Array<ArrayBuffer>
  headers?: Record<string, string>
}

/** Sends as it stands, and gives the status; fails where the server failed. */
async function send({ method = 'GET', path, body, headers = {} }: Sent): Promise<number> {
  const answer = await fetch(`${bench.app.url}${path}`, {
    method,
    body,
    headers: {
      'xc-auth': bench.owner.token,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
  })
  const text = await answer.text()
  if (answer.status >= 500)
    throw new Error(`${method} ${path.slice(0, 200)} ${String(body).slice(0, 200)}: ${answer.status} ${text}`)
  // What the server says of it must not be of its own making: SQL, stack traces, paths.
  expect(text).not.toMatch(/SQLITE|syntax error|node_modules|\.ts:\d|at <anonymous>/)
  return answer.status
}

const refused = async (sent: Sent): Promise<void> => {
  const status = await send(sent)
  expect([sent.path.slice(0, 100), String(sent.body).slice(0, 100), status >= 400]).toEqual([
    sent.path.slice(0, 100),
    String(sent.body).slice(0, 100),
    true,
  ])
}

const unchanged = () => expect(dump(bench)).toEqual(before)
const writes = (): [string, string][] => {
  const v1 = `${bench.baseId}/${table.id}`
  return [
    ['POST', table.path],
    ['PATCH', table.path],
    ['PUT', table.path],
    ['DELETE', table.path],
    ['POST', `/api/v1/db/data/noco/${v1}`],
    ['PATCH', `/api/v1/db/data/noco/${v1}/1`],
    ['POST', `/api/v1/db/data/bulk/noco/${v1}`],
    ['PATCH', `/api/v1/db/data/bulk/noco/${v1}`],
    ['DELETE', `/api/v1/db/data/bulk/noco/${v1}`],
    ['POST', `/api/v1/db/data/bulk/noco/${v1}/upsert`],
    ['PATCH', `/api/v1/db/data/bulk/noco/${v1}/all`],
  ]
}

const SQL_TEXTS = [
  `'`,
  `"`,
  `";drop table sheaf_changes;--`,
  `'; delete from sheaf_changes; --`,
  `1) or (1=1`,
  `" or 1=1 --`,
  '`',
  '\\',
  '%',
  '$1',
  '?',
  ':a',
  '@a',
  '[x]',
  'null',
  '\u0000',
  '\u0001key',
  '\u202e',
  '\ud800',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'x'.repeat(5_000),
]

describe('a query string of', () => {
  test.each([
    'fields',
    'fields[]',
    'sort',
    'where',
    'viewId',
    'limit',
    'offset',
    'page',
    'filterArrJson',
    'sortArrJson',
    'shuffle',
    'nested[x][fields]',
    'column_name',
  ])('hostile values for %s', async (name) => {
    const values = [
      ...SQL_TEXTS,
      '',
      '0',
      '-1',
      '-0',
      '1e999',
      'NaN',
      'Infinity',
      '1.5',
      '9'.repeat(400),
      '0x10',
      '{',
      '[]',
      '[null]',
      '[1]',
      '{"a":1}',
      '[{"fk_column_id":{}}]',
      ','.repeat(1000),
      '(',
      ')',
      '((((',
      '~and',
      '(Title,eq,',
      '@(',
      '@("',
      `(${'('.repeat(500)}`,
      '(Title,eq,1)~or'.repeat(300),
    ]
    for (const value of values) {
      const query = `?${encodeURIComponent(name)}=${encodeURIComponent(value.toWellFormed())}`
      await send({ path: `${table.path}${query}` })
      await send({ path: `${table.path}/count${query}` })
      await send({ path: `/api/v1/db/data/noco/${bench.baseId}/${table.id}/groupby${query}` })
      await send({ path: `/api/v1/db/data/noco/${bench.baseId}/${table.id}/find-one${query}` })
    }
    unchanged()
  })

  test('raw bytes that are no text', async () => {
    for (const raw of ['%', '%zz', '%ff%fe', '%C3%28', 'fields=%ED%A0%80', '&&&', '=', 'where', '%00=%00']) {
      await send({ path: `${table.path}?${raw}` })
      await send({ path: `${table.path}/count?${raw}` })
    }
  })

  test('hostile where clauses, on every operator and field', async () => {
    const operators = [
      'eq',
      'neq',
      'like',
      'nlike',
      'gt',
      'lte',
      'in',
      'anyof',
      'nallof',
      'is',
      'isnot',
      'btw',
      'checked',
      'isWithin',
      'blank',
      'constructor',
      '__proto__',
    ]
    for (const title of ['Title', 'Num', 'D', 'Ms', 'Cb', 'CreatedAt', '__proto__', 'nc_order']) {
      for (const operator of operators) {
        for (const value of [
          "'",
          '"',
          '--',
          '%',
          '1e999',
          'exactDate,2024-99-99',
          'daysAgo,1e9',
          'daysAgo,-1',
          'pastNumberOfDays,x',
          ',,,',
          '\u0000',
        ]) {
          await send({ path: `${table.path}?where=${encodeURIComponent(`(${title},${operator},${value})`)}` })
        }
      }
    }
    const long = `(Title,like,${'x'.repeat(60_000)})`
    const answer = await bench.rest.get(`${table.path}?where=${encodeURIComponent(long)}`)
    expect(answer.status).toBeLessThan(500)
    unchanged()
  })
})

describe('a path with', () => {
  test('hostile ids', async () => {
    const ids = [
      ...SQL_TEXTS,
      '-1',
      '0',
      '1.5',
      '1e3',
      '99999999999999999999',
      'NaN',
      '..',
      '%2e%2e',
      'a/b',
    ].map((id) => encodeURIComponent(id.toWellFormed()))
    for (const id of ids) {
      await send({ path: `/api/v2/tables/${id}/records` })
      await send({ path: `${table.path}/${id}` })
      await send({ path: `/api/v1/db/data/noco/${id}/${table.id}` })
      await send({ path: `/api/v1/db/data/noco/${bench.baseId}/${id}` })
      await send({ path: `/api/v1/db/data/noco/${bench.baseId}/${table.id}/${id}/exist` })
      await send({ path: `/api/v1/db/data/noco/${bench.baseId}/${table.id}/views/${id}` })
      await send({ path: `/api/v1/db/data/noco/${bench.baseId}/${table.id}/group/${id}` })
      await refused({ method: 'POST', path: `${table.path}/${id === '0' ? 'x' : id}/move` })
      await refused({ method: 'DELETE', path: `/api/v1/db/data/noco/${bench.baseId}/${table.id}/${id}` })
    }
    for (const path of ['//', '/api//v2', `${table.path}//`, '/%00']) {
      await send({ path })
    }
    unchanged()
  })

  test('percent signs that stand for no text', async () => {
    for (const path of [
      '/api/v2/tables/%/records',
      '/api/v2/tables/%ff%fe/records',
      `${table.path}/%C3%28`,
      '/trpc/%',
    ]) {
      expect([path, await send({ path }).catch(String)]).toEqual([path, 400])
    }
  })

  test('methods that it does not have', async () => {
    for (const method of ['TRACE', 'OPTIONS', 'HEAD', 'PROPFIND', 'PUT', 'PATCH', 'DELETE', 'POST']) {
      // `fetch` itself refuses to send TRACE.
      if (method !== 'TRACE') await send({ method, path: `${table.path}/count` })
      if (method !== 'TRACE') await send({ method, path: '/api/v2/tables' })
    }
    unchanged()
  })
})

describe('a body of', () => {
  test('malformed JSON', async () => {
    const texts = [
      '{',
      '[',
      '{"a":}',
      '{"a":1,}',
      "{'a':1}",
      'nope',
      '"text"',
      '5',
      'null',
      'true',
      '[1,2',
      '{"a":NaN}',
      '{"a":1}{"b":2}',
      '\ufeff{',
      '\u0000',
      '{"Title":"\u0001"}',
      ' '.repeat(1000),
    ]
    for (const [method, path] of writes()) {
      for (const body of texts) {
        // Nothing but spaces is no body at all; POST takes that for an empty record.
        if (body.trim() === '') continue
        await refused({ method, path, body })
      }
      await refused({ method, path, body: new Uint8Array([0xff, 0xfe, 0x7b, 0x7d]) })
    }
    unchanged()
  })

  test('things that are no records', async () => {
    const nothing = ['[[]]', '[[[]]]', '[null]', '[1,"a",true]']
    const badValues = [
      '{"Id":1,"Num":{"$gt":0}}',
      '{"Id":1,"Title":["a"]}',
      '{"Id":1,"Num":1e999}',
      '{"Id":1,"Title":{"toString":1}}',
      '{"Id":1,"Dt":1e400}',
    ]
    const badIds = [
      '{"Id":[1],"Title":"x"}',
      '{"Id":true,"Title":"x"}',
      '{"Id":"1 or 1=1","Title":"x"}',
      '{"Id":-1,"Title":"x"}',
      '{"Id":1e999}',
    ]
    for (const [method, path] of writes()) {
      for (const body of nothing) await refused({ method, path, body })
      const isBulk = path.includes('/bulk/') && !path.endsWith('/all')
      const as = (body: string) => (isBulk ? `[${body}]` : body)
      if (method !== 'DELETE') for (const body of badValues) await refused({ method, path, body: as(body) })
      const readsIds = path === table.path && method !== 'POST'
      if (readsIds)
        for (const body of badIds)
          for (const text of [body, `[${body}]`]) await refused({ method, path, body: text })
    }
    unchanged()
  })

  test('keys that are no fields: nothing but what is known is written', async () => {
    const keys = [
      '__proto__',
      'constructor',
      'prototype',
      'toString',
      'nc_order',
      'nc_created_by',
      'created_by',
      'id"; drop table x; --',
      '',
      '\u0000',
      'CreatedAt',
      table.field('Title').id,
    ]
    const body = `{"Id":1,${keys.map((key) => `${JSON.stringify(key)}:"x"`).join(',')}}`
    expect(await send({ method: 'PATCH', path: table.path, body })).toBe(200)
    const nested =
      '{"Id":1,"__proto__":{"Title":"polluted"},"constructor":{"prototype":{"Title":"polluted"}}}'
    expect(await send({ method: 'PATCH', path: table.path, body: nested })).toBe(200)
    expect(({} as Record<string, unknown>).Title).toBeUndefined()
    unchanged()
  })

  test('deep nesting', async () => {
    const arrays = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
    const objects = `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`
    for (const [method, path] of writes()) {
      await refused({ method, path, body: arrays })
      if (method !== 'DELETE') await refused({ method, path, body: `[{"Id":1,"Title":${objects}}]` })
    }
    const filters = `[${'{"is_group":true,"children":['.repeat(2_000)}${']}'.repeat(2_000)}]`
    await send({ path: `${table.path}?filterArrJson=${encodeURIComponent(filters.slice(0, 60_000))}` })
    unchanged()
  })

  test('ten megabytes', async () => {
    const big = 'x'.repeat(10 * 1024 * 1024)
    await refused({ method: 'PATCH', path: table.path, body: JSON.stringify({ Id: 1, Title: big }) })
    await refused({ method: 'PATCH', path: table.path, body: JSON.stringify({ Id: 1, Notes: big }) })
    await refused({ method: 'POST', path: table.path, body: big })
    await refused({
      method: 'DELETE',
      path: table.path,
      body: JSON.stringify(Array.from({ length: 60_000 }, (_, index) => ({ Id: index }))),
    })
    await refused({ method: 'PATCH', path: table.path, body: `[${'{},'.repeat(400_000)}{}]` })
    unchanged()
  })

  test('more than the limit, told or not told beforehand', async () => {
    const path = `${bench.app.url}${table.path}`
    const headers = { 'xc-auth': bench.owner.token, 'content-type': 'application/json' }
    const size = bench.app.config.bodyMaxBytes + 10
    const told = await fetch(path, { method: 'POST', headers, body: new Uint8Array(size) })
    expect([told.status, await told.json()]).toEqual([400, { msg: 'request entity too large' }])
    const chunk = new Uint8Array(1024 * 1024)
    let sent = 0
    const stream = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (sent >= size) return controller.close()
        sent += chunk.byteLength
        controller.enqueue(chunk)
      },
    })
    const untold = await fetch(path, { method: 'POST', headers, body: stream })
    expect([untold.status, await untold.json()]).toEqual([400, { msg: 'request entity too large' }])
    unchanged()
  })

  test('another content type than it says, or none', async () => {
    for (const type of [
      'application/xml',
      'application/octet-stream',
      'image/png',
      'multipart/form-data',
      'multipart/form-data; boundary=x',
      'application/json; charset=utf-16',
      'nonsense',
      ',',
      'application/x-www-form-urlencoded',
    ]) {
      for (const [method, path] of writes().filter(([name]) => name !== 'POST')) {
        const status = await send({
          method,
          path: path.replace(/\/1$/, '/9'),
          body: '<xml/>',
          headers: { 'content-type': type },
        })
        // To give all that match no values is allowed, and does nothing.
        if (!path.endsWith('/all'))
          expect([method, path, type, status >= 400]).toEqual([method, path, type, true])
      }
    }
    unchanged()
  })
})

describe('a tRPC call with', () => {
  const call = (procedure: string, body: string) => send({ method: 'POST', path: `/trpc/${procedure}`, body })

  test('malformed input', async () => {
    const procedures = [
      'records.list',
      'records.count',
      'records.get',
      'records.summaries',
      'records.position',
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
    unchanged()
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
    unchanged()
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
    unchanged()
  })

  test('a set write that breaks a rule of the table says which, and writes nothing', async () => {
    const unique = await bench.table({ Title: { type: 'SingleLineText', unique: true, required: true } }, [
      { Title: 'a' },
      { Title: 'b' },
    ])
    const state = dump(bench)
    const title = unique.field('Title').id
    const ask = (values: string) =>
      call('records.updateMatching', `{"selection":{"tableId":"${unique.id}"},"values":${values}}`)
    expect(await ask(`{"${title}":"same"}`)).toBe(400)
    expect(await ask(`{"${title}":""}`)).toBe(422)
    expect(await ask(`{"cnope":""}`)).toBe(404)
    expect(dump(bench)).toEqual(state)
    before = state
  })
})

describe('a connection that', () => {
  test('sends what is not HTTP is closed, and others go on', async () => {
    const { hostname, port } = new URL(bench.app.url)
    for (const bytes of [
      '\u0000\u0001\u0002\r\n\r\n',
      'GET\r\n\r\n',
      `GET / HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n`,
      `GET /${'x'.repeat(100_000)} HTTP/1.1\r\n\r\n`,
    ]) {
      await new Promise<void>((resolve) => {
        const socket = connect(Number(port), hostname, () => socket.write(bytes))
        socket.setTimeout(500, () => socket.destroy())
        socket.on('data', (answer) => {
          expect(answer.toString().slice(0, 12)).not.toContain(' 5')
          socket.destroy()
        })
        socket.on('error', () => socket.destroy())
        socket.on('close', () => resolve())
      })
    }
    expect((await bench.rest.get(table.path)).status).toBe(200)
  })
})
