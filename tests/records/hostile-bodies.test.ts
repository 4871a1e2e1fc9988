import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createTarget, type Sent, type Target } from './hostile.ts'
import type { Bench, TestTable } from './support.ts'

let target: Target
let bench: Bench
let table: TestTable

beforeAll(async () => {
  target = await createTarget()
  ;({ bench, table } = target)
})
afterAll(() => bench.stop())

const send = (sent: Sent) => target.send(sent)
const refused = (sent: Sent) => target.refused(sent)
const unchanged = () => target.unchanged()
const writes = () => target.writes()

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
    await unchanged()
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
    await unchanged()
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
    await unchanged()
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
    await unchanged()
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
    await unchanged()
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
    await unchanged()
  })

  test('more than the limit in a form, which the framework would read whole', async () => {
    const path = `${bench.app.url}/api/v1/auth/user/signin`
    const headers = { 'content-type': 'multipart/form-data; boundary=x' }
    const told = await fetch(path, {
      method: 'POST',
      headers,
      body: new Uint8Array(bench.app.config.bodyMaxBytes + 10),
    })
    expect([told.status, await told.json()]).toEqual([400, { msg: 'request entity too large' }])
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('--x--\r\n'))
        controller.close()
      },
    })
    const untold = await fetch(path, { method: 'POST', headers, body })
    expect([untold.status, await untold.json()]).toEqual([400, { msg: 'Length Required' }])
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
    await unchanged()
  })
})
