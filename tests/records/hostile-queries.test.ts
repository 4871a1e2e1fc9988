import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { createTarget, type Sent, SQL_TEXTS, type Target } from './hostile.ts'
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
    const [title, day] = [table.field('Title').id, table.field('Dt').id]
    const untold = { toString: 1 }
    const values = [
      ...SQL_TEXTS,
      JSON.stringify([{ fk_column_id: untold, comparison_op: 'eq', direction: untold }]),
      JSON.stringify([{ fk_column_id: title, comparison_op: untold, value: untold }]),
      JSON.stringify([{ fk_column_id: day, comparison_op: 'eq', comparison_sub_op: untold }]),
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
    await unchanged()
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
    await unchanged()
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
    await unchanged()
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
    await unchanged()
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
