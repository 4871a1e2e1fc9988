import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Bench, createBench, refusalOf } from '../records/support.ts'
import { connect, createForeign, type ForeignDatabase } from './support.ts'

let bench: Bench
let foreign: ForeignDatabase
let sourceId: string
let tableId: string
let columnId: string
beforeAll(async () => {
  bench = await createBench()
  foreign = await createForeign('postgres', [
    'create table city (id serial primary key, name text)',
    'create table street (id serial primary key, name text, city_id int references city (id))',
    `insert into city (name) values ('Oslo')`,
    `insert into street (name, city_id) values ('Main', 1)`,
  ])
  sourceId = await connect(bench, foreign.sent)
  const tables = await bench.trpc.schema.tables.query({ baseId: bench.baseId })
  tableId = tables.find(({ tableName }) => tableName === 'street')?.id ?? ''
  const { fields } = await bench.trpc.schema.table.query({ tableId })
  columnId = fields.find(({ columnName }) => columnName === 'name')?.id ?? ''
})
afterAll(async () => {
  await bench.stop()
  await foreign.stop()
})

const enable = async (enabled: boolean) => {
  const path = `/api/v1/db/meta/projects/${bench.baseId}/bases/${sourceId}`
  expect((await bench.rest.patch(path, { enabled })).status).toBe(200)
}

describe('a source that is switched off', () => {
  test('hides its records and tables from every call, and shows them again', async () => {
    const share = await bench.trpc.shares.save.mutate({
      kind: 'view',
      targetId: (await bench.trpc.schema.table.query({ tableId })).views[0]?.id ?? '',
      patch: {},
    })
    const records = `/api/v2/tables/${tableId}/records`
    const title = (await bench.trpc.schema.table.query({ tableId })).table.title
    const v1 = `/api/v1/db/data/noco/${bench.baseId}`
    const query = { tableId, fieldIds: [columnId], limit: 5, offset: 0 }
    const change = {
      baseId: bench.baseId,
      operations: [{ kind: 'update' as const, tableId, rows: [{ id: 1, values: { [columnId]: 'Other' } }] }],
    }
    const calls = async () => [
      (await bench.rest.get(records)).status,
      (await bench.rest.get(`${records}/1`)).status,
      (await bench.rest.get(`${v1}/${tableId}`)).status,
      (await bench.rest.get(`${v1}/${encodeURIComponent(title)}`)).status,
      (await bench.rest.get(`/api/v1/db/meta/tables/${tableId}`)).status,
      (await bench.rest.get(`/api/v1/db/meta/columns/${columnId}`)).status,
      (await bench.rest.get(`/api/v1/db/public/shared-view/${share.id}/rows`)).status,
    ]
    expect(await calls()).toEqual([200, 200, 200, 200, 200, 200, 200])
    await enable(false)
    expect(await calls()).toEqual([404, 404, 404, 404, 404, 404, 404])
    expect((await bench.rest.post(records, { name: 'New' })).status).toBe(404)
    expect((await bench.rest.patch(records, { id: 1, name: 'New' })).status).toBe(404)
    expect((await bench.rest.delete(records, { id: 1 })).status).toBe(404)
    const { trpc } = bench
    const refused = [
      trpc.records.list.query({ query }),
      trpc.records.get.query({ tableId, recordId: 1 }),
      trpc.records.count.query({ selection: { tableId } }),
      trpc.records.write.mutate({ change }),
      trpc.records.deleteMatching.mutate({ selection: { tableId } }),
      trpc.records.export.mutate({ tableId, format: 'csv' } as never),
      trpc.schema.table.query({ tableId }),
      trpc.schema.updateField.mutate({ fieldId: columnId, patch: { title: 'X' } }),
    ]
    for (const call of refused) expect([400, 404]).toContain((await refusalOf(call)).status)
    expect(await foreign.ask('select name from street')).toEqual([{ name: 'Main' }])
    await enable(true)
    expect(await calls()).toEqual([200, 200, 200, 200, 200, 200, 200])
  })
})
