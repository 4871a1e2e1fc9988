import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createTestApp, type TestApp } from '../support/app.ts'
import type { RestClient, TrpcClient } from '../support/client.ts'
import { type CountingProxy, startCountingProxy } from '../support/database-proxy.ts'
import { createDatabase, type TestDatabase } from '../support/servers.ts'

/** Begin with the lock, ids and order (or the current values), the record with the log entry, its values with the commit. */
const MAX_ROUND_TRIPS = 4
/** Begin, the records at both ends and their pairs, new ids, the pairs with the log entry, its values with the commit. */
const MAX_LINK_ROUND_TRIPS = 5

let database: TestDatabase
let proxy: CountingProxy
let app: TestApp
let rest: RestClient
let api: TrpcClient
let baseId: string
let tableId: string
let titleId: string
let path: string
beforeAll(async () => {
  database = await createDatabase('postgres')
  proxy = await startCountingProxy(database.url)
  app = await createTestApp({ config: { databaseUrl: proxy.url } })
  const { token } = await app.signUp('owner@example.com')
  rest = app.rest(token)
  api = app.trpc(token)
  baseId = (await api.bases.create.mutate({ title: 'B' })).id
  const { table, fields } = await api.schema.createTable.mutate({ baseId, title: 'T' })
  tableId = table.id
  titleId = fields.find(({ title }) => title === 'Title')?.id ?? ''
  path = `/api/v2/tables/${tableId}/records`
})
afterAll(async () => {
  await app.stop()
  await proxy.stop()
  await database.drop()
})

/** Round trips of a call once statements are prepared and metadata is cached. */
async function trips(call: () => Promise<unknown>): Promise<number> {
  for (let count = 0; count < 4; count++) await call()
  const counts: number[] = []
  // What the server does on its own meanwhile is counted as well.
  for (let time = 0; time < 5; time++) counts.push(await proxy.roundTrips(call))
  return Math.min(...counts)
}

const write = (operations: Parameters<TrpcClient['records']['write']['mutate']>[0]['change']['operations']) =>
  api.records.write.mutate({ change: { baseId, clientId: crypto.randomUUID(), operations } })

describe('writing one record to PostgreSQL', () => {
  let value = 0

  test('over REST takes few round trips', async () => {
    const inserted = await trips(async () =>
      expect((await rest.post(path, { Title: `${value++}` })).status).toBe(200),
    )
    const updated = await trips(async () =>
      expect((await rest.patch(path, { Id: 1, Title: `${value++}` })).status).toBe(200),
    )
    console.info(`round trips over REST: insert ${inserted}, update ${updated}`)
    expect(inserted).toBeLessThanOrEqual(MAX_ROUND_TRIPS)
    expect(updated).toBeLessThanOrEqual(MAX_ROUND_TRIPS)
  })

  test('over tRPC takes few round trips', async () => {
    const inserted = await trips(() =>
      write([{ kind: 'insert', tableId, rows: [{ values: { [titleId]: `${value++}` } }] }]),
    )
    const updated = await trips(() =>
      write([{ kind: 'update', tableId, rows: [{ id: 1, values: { [titleId]: `${value++}` } }] }]),
    )
    console.info(`round trips over tRPC: insert ${inserted}, update ${updated}`)
    expect(inserted).toBeLessThanOrEqual(MAX_ROUND_TRIPS)
    expect(updated).toBeLessThanOrEqual(MAX_ROUND_TRIPS)
  })

  test('to link it with ten takes few round trips', async () => {
    const labels = (await api.schema.createTable.mutate({ baseId, title: 'Labels' })).table
    const { id: fieldId } = await api.schema.createField.mutate({
      tableId,
      field: { title: 'Labels', type: 'Links', options: { kind: 'mm', relatedTableId: labels.id } as never },
    })
    await rest.post(
      `/api/v2/tables/${labels.id}/records`,
      Array.from({ length: 10 }, (_, at) => ({ Title: `${at}` })),
    )
    await rest.post(
      path,
      Array.from({ length: 10 }, (_, at) => ({ Title: `${at}` })),
    )
    const targets = Array.from({ length: 10 }, (_, at) => ({ Id: at + 1 }))
    let record = 1
    const linked = await trips(async () =>
      expect(
        (await rest.post(`/api/v2/tables/${tableId}/links/${fieldId}/records/${record++}`, targets)).status,
      ).toBe(201),
    )
    console.info(`round trips to link ten records: ${linked}`)
    expect(linked).toBeLessThanOrEqual(MAX_LINK_ROUND_TRIPS)
  })

  test('rejects only the duplicates among records that share a transaction', async () => {
    const field = { type: 'SingleLineText', title: 'Code', unique: true } as const
    await api.schema.createField.mutate({ tableId, field })
    const codes = Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? 'same' : `code ${index}`))
    const answers = await Promise.all(codes.map((Code) => rest.post(path, { Code })))
    const accepted = codes.filter((_, index) => answers[index]?.status === 200)
    expect(accepted.toSorted()).toEqual([...new Set(codes)].toSorted())
    for (const { body } of answers.filter(({ status }) => status !== 200))
      expect(JSON.stringify(body)).toContain('Code')
    const { body } = await rest.get(`${path}?where=(Code,notblank)&limit=100`)
    expect(body.list.map(({ Code }: { Code: string }) => Code).toSorted()).toEqual(accepted.toSorted())
    // The log has one entry per accepted record.
    await using sql = new Bun.SQL(database.url, { max: 1 })
    const [row] = await sql.unsafe(
      `select count(*)::integer as logged from nc_${baseId}.sheaf_change_records where after like '%code %' or after like '%same%'`,
    )
    expect(row.logged).toBe(accepted.length)
  })
})
