import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createMember } from '../support/factories.ts'
import { type Bench, changesNothing, createBench, readLog } from './support.ts'

let bench: Bench
beforeAll(async () => {
  bench = await createBench()
})
afterAll(() => bench.stop())

const v1Bulk = (table: { id: string }, rest = '') =>
  `/api/v1/db/data/bulk/noco/${bench.baseId}/${table.id}${rest}`

describe('POST /api/v2/tables/{tableId}/records', () => {
  test('says that the table is unknown before it asks who you are', async () => {
    const { status, body } = await bench.app.rest().post('/api/v2/tables/mnope/records', {})
    expect([status, body]).toEqual([404, { error: 'TABLE_NOT_FOUND', message: "Table 'mnope' not found" }])
  })

  test('refuses the anonymous, strangers and viewers; an editor may', async () => {
    const table = await bench.table()
    const stranger = await bench.app.signUp()
    const viewer = await createMember(bench.app, bench.baseId, 'viewer')
    const commenter = await createMember(bench.app, bench.baseId, 'commenter')
    const editor = await createMember(bench.app, bench.baseId, 'editor')
    const ask = async (token?: string) => {
      const { status, body } = await bench.app.rest(token).post(table.path, { Title: 'x' })
      return [status, body.error]
    }
    await changesNothing(bench, async () => {
      expect(await ask()).toEqual([401, 'AUTHENTICATION_REQUIRED'])
      expect(await ask(stranger.token)).toEqual([403, 'FORBIDDEN'])
      expect(await ask(viewer.token)).toEqual([403, 'PERMISSION_DENIED'])
      expect(await ask(commenter.token)).toEqual([403, 'PERMISSION_DENIED'])
      const rest = bench.app.rest(viewer.token)
      for (const answer of [
        await rest.patch(table.path, { Id: 1, Title: 'x' }),
        await rest.delete(table.path, { Id: 1 }),
        await rest.post(`${table.path}/1/move`),
        await rest.delete(v1Bulk(table, '/all')),
        await rest.patch(v1Bulk(table, '/all'), { Title: 'x' }),
        await rest.post(v1Bulk(table, '/upsert'), [{ Title: 'x' }]),
      ]) {
        expect([answer.status, answer.body.error]).toEqual([403, 'PERMISSION_DENIED'])
      }
    })
    expect((await bench.app.rest(viewer.token).get(table.path)).status).toBe(200)
    expect(await ask(editor.token)).toEqual([200, undefined])
  })

  test('gives the new id, of a list the ids in its order, and an empty list for none', async () => {
    const table = await bench.table()
    expect((await bench.rest.post(table.path, { Title: 'a' })).body).toEqual({ Id: 1 })
    expect((await bench.rest.post(table.path, [{ Title: 'b' }, {}])).body).toEqual([{ Id: 2 }, { Id: 3 }])
    expect((await bench.rest.post(table.path, [])).body).toEqual([])
    expect((await bench.rest.send('POST', table.path)).body).toEqual({ Id: 4 })
    expect(await table.titles()).toEqual(['a', 'b', null, null])
  })

  test('writes no line into the log where nothing was written', async () => {
    const table = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'a' }])
    const before = (await readLog(bench, table)).length
    await bench.rest.post(table.path, [])
    await bench.rest.patch(table.path, { Id: 1, Title: 'a' })
    await bench.rest.patch(table.path, { Id: 1 })
    expect(await readLog(bench, table)).toHaveLength(before)
    expect((await table.list())[0]?.UpdatedAt).toBeNull()
  })

  test('writes 10,000 records in one call, in their order', async () => {
    const table = await bench.table({ Title: 'SingleLineText', Num: 'Number' })
    const rows = Array.from({ length: 10_000 }, (_, index) => ({ Title: `row ${index}`, Num: index }))
    const { status, body } = await bench.rest.post(table.path, rows)
    expect(status).toBe(200)
    expect(body.map((row: { Id: number }) => row.Id)).toEqual(rows.map((_, index) => index + 1))
    expect(await table.total()).toBe(10_000)
    expect((await table.list('?limit=2&offset=9998')).map((row) => row.Num)).toEqual([9998, 9999])
    const [line] = (await readLog(bench, table))
      .filter(({ kind }) => kind.startsWith('records.'))
      .map(({ kind, records, detail, changes }) => ({ kind, records, detail, changes: changes.length }))
    expect(line).toEqual({
      kind: 'records.insert',
      records: 10_000,
      detail: '{"from":1,"to":10000}',
      changes: 0,
    })
    const updated = await bench.rest.patch(
      table.path,
      rows.map((_, index) => ({ Id: index + 1, Num: index + 1 })),
    )
    expect(updated.body).toHaveLength(10_000)
    const deleted = await bench.rest.delete(
      table.path,
      rows.slice(0, 9_000).map((_, index) => ({ Id: index + 1 })),
    )
    expect(deleted.body).toHaveLength(9_000)
    expect(await table.total()).toBe(1_000)
    expect((await table.list('?limit=1'))[0]).toMatchObject({ Id: 9001, Num: 9001 })
  })

  test('refuses more records than one change may write', async () => {
    const table = await bench.table()
    await changesNothing(bench, async () => {
      const { status, body } = await bench.rest.post(
        table.path,
        Array.from({ length: 50_001 }, () => ({})),
      )
      expect([status, body]).toEqual([400, { msg: 'A request can write up to 50000 records, got 50001' }])
    })
  })

  test('refuses a list of what are no records, and files', async () => {
    const table = await bench.table()
    await changesNothing(bench, async () => {
      for (const body of [[1], ['a'], [null], [[]], [{ Title: 'x' }, 5]]) {
        expect((await bench.rest.post(table.path, body)).status).toBe(400)
      }
      const form = new FormData()
      form.set('Title', new File(['x'], 'x.txt'))
      const answer = await fetch(`${bench.app.url}${table.path}`, {
        method: 'POST',
        body: form,
        headers: { 'xc-auth': bench.owner.token },
      })
      expect(answer.status).toBe(422)
    })
  })

  test('takes a form as the values of one record', async () => {
    const table = await bench.table()
    const answer = await bench.app
      .rest(bench.owner.token)
      .send('POST', table.path, { headers: { 'content-type': 'application/x-www-form-urlencoded' } })
    expect(answer.status).toBe(200)
    const sent = await fetch(`${bench.app.url}${table.path}`, {
      method: 'POST',
      body: new URLSearchParams({ Title: 'from a form' }),
      headers: { 'xc-auth': bench.owner.token },
    })
    expect(await sent.json()).toEqual({ Id: 2 })
    expect(await table.titles()).toEqual([null, 'from a form'])
  })

  test('never gives an id twice, not even that of a deleted record', async () => {
    const table = await bench.table({ Title: 'SingleLineText' }, [{}, {}])
    await bench.rest.delete(table.path, { Id: 2 })
    expect((await bench.rest.post(table.path, {})).body).toEqual({ Id: 3 })
  })
})
