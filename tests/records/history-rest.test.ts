import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createMember } from '../support/factories.ts'
import { type Bench, createBench, type TestTable } from './support.ts'

let bench: Bench
let table: TestTable
beforeAll(async () => {
  bench = await createBench()
  table = await bench.table({ Title: 'SingleLineText', Qty: 'Number' }, [{ Title: 'Item', Qty: 1 }])
})
afterAll(() => bench.stop())

const ofBase = () => `/api/v2/meta/bases/${bench.baseId}/history`
const ofTable = () => `/api/v2/tables/${table.id}/history`
const qty = async () => (await bench.rest.get(`${table.path}/1`)).body.Qty

describe('the history over REST', () => {
  test('is refused to the anonymous, strangers and viewers; wrong pages are named', async () => {
    const stranger = await bench.app.signUp()
    const viewer = await createMember(bench.app, bench.baseId, 'viewer')
    for (const path of [ofBase(), ofTable()]) {
      expect((await bench.app.rest().get(path)).status).toBe(401)
      expect((await bench.app.rest(stranger.token).get(path)).status).toBe(403)
      expect((await bench.app.rest(viewer.token).get(path)).status).toBe(403)
      for (const query of ['limit=0', 'limit=101', 'limit=x', 'cursor=-1', 'cursor=1.5'])
        expect([query, (await bench.rest.get(`${path}?${query}`)).status]).toEqual([query, 400])
    }
    for (const body of [{ entryId: 'x' }, { entryId: 0 }, { entry: 1 }])
      expect((await bench.rest.post(`${ofBase()}/undo`, body)).status).toBe(400)
    expect((await bench.rest.post(`${ofBase()}/undo`, { entryId: 999_999 })).status).toBe(404)
    expect((await bench.app.rest(viewer.token).post(`${ofBase()}/undo`)).status).toBe(403)
    expect((await bench.rest.get('/api/v2/tables/mnope/history')).status).toBe(404)
  })

  test('lists actions with label, table and person, page by page, and undoes and redoes one of them', async () => {
    await bench.rest.patch(table.path, { Id: 1, Qty: 42 })
    await bench.rest.patch(table.path, { Id: 1, Title: 'Thing' })
    const first = (await bench.rest.get(`${ofTable()}?limit=1`)).body
    expect(first.list).toHaveLength(1)
    const second = (await bench.rest.get(`${ofTable()}?limit=1&cursor=${first.cursor}`)).body
    const [entry] = second.list
    expect(entry).toMatchObject({
      kind: 'records.update',
      label: expect.stringContaining('42'),
      state: 'done',
      records: 1,
      table: { id: table.id, title: table.title },
      by: { id: bench.owner.id, email: bench.owner.email },
    })
    const body = { entryId: entry.id }
    const undone = await bench.rest.post(`${ofBase()}/undo`, body)
    expect([undone.status, undone.body]).toEqual([200, { kind: 'records.update', records: 1, skipped: 0 }])
    expect(await qty()).toBe(1)
    const again = await bench.rest.post(`${ofBase()}/undo`, body)
    expect([again.body.records, await qty()]).toEqual([0, 1])
    const listed = (await bench.rest.get(ofBase())).body.list.find(
      ({ id }: { id: number }) => id === entry.id,
    )
    expect(listed.state).toBe('undone')
    expect((await bench.rest.post(`${ofBase()}/redo`, body)).status).toBe(200)
    expect(await qty()).toBe(42)
    // Without an id: one's own latest action.
    expect((await bench.rest.post(`${ofBase()}/undo`)).body.kind).toBe('records.update')
  })

  test('lets editors undo what they did, and creators what others did', async () => {
    const editor = await createMember(bench.app, bench.baseId, 'editor')
    await bench.rest.patch(table.path, { Id: 1, Qty: 7 })
    const [{ id: entryId }] = (await bench.app.rest(editor.token).get(`${ofTable()}?limit=1`)).body.list
    const refused = await bench.app.rest(editor.token).post(`${ofBase()}/undo`, { entryId })
    expect([refused.status, await qty()]).toEqual([403, 7])
    const creator = await createMember(bench.app, bench.baseId, 'creator')
    expect((await bench.app.rest(creator.token).post(`${ofBase()}/undo`, { entryId })).status).toBe(200)
    expect(await qty()).not.toBe(7)
  })

  test('is described, with the entry as an optional part of undo', async () => {
    const { body } = await bench.app.rest().get('/api/docs/openapi.json')
    const undo = body.paths['/api/v2/meta/bases/{baseId}/history/undo'].post
    expect(undo.requestBody.required).toBe(false)
    expect(undo.requestBody.content['application/json'].schema.properties.entryId.description).toContain(
      'Optional',
    )
    expect(body.paths['/api/v2/tables/{tableId}/history'].get).toBeDefined()
  })
})
