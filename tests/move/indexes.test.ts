import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { type RunningServer, startServer } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import { isOfSearchIndex } from '../../src/dialects/sqlite-search.ts'
import { fillTable, indexNames } from '../indexes/support.ts'
import { type TestTable, testTable } from '../records/support.ts'
import { PASSWORD } from '../support/app.ts'
import { createRestClient, createTrpcClient } from '../support/client.ts'
import { until } from '../support/until.ts'
import { type Engine, openPlace, type Place } from './support.ts'

/** From 20,000 records on, a search builds an index. */
const RECORDS = 20_000
const always = () => true

let place: Place
let server: RunningServer | null = null
beforeAll(async () => {
  place = await openPlace()
})
afterAll(async () => {
  await server?.stop()
  await place.remove()
})

async function start(on: Engine): Promise<RunningServer> {
  const environment = {
    PORT: '0',
    HOST: '127.0.0.1',
    DATA_DIR: place.dataDir,
    LOG_LEVEL: 'silent',
    DATABASE_URL: on === 'postgres' ? place.database.url : undefined,
  }
  server = await startServer({ ...readConfig(environment), indexSlowMs: 0.001 })
  return server
}

async function move(...args: string[]): Promise<void> {
  await server?.stop()
  server = null
  const { exitCode, output } = await place.move(args)
  expect([exitCode, output]).toEqual([0, expect.stringContaining('every cell compared')])
}

function searchTables(baseId: string): string[] {
  const file = new Database(join(place.dataDir, 'bases', `${baseId}.db`), { readonly: true })
  const rows = file.query<{ name: string }, []>(`select name from sqlite_schema where type = 'table'`).all()
  file.close()
  return rows.map(({ name }) => name).filter(isOfSearchIndex)
}

test('sheaf move of a base with indexes and a search index builds the indexes in its next home', async () => {
  const first = await start('sqlite')
  const account = { email: 'owner@example.com', password: PASSWORD }
  const { token } = await createTrpcClient(first.url).auth.signUp.mutate(account)
  const api = createTrpcClient(first.url, token)
  const { id: baseId } = await api.bases.create.mutate({ title: 'Large' })
  const schema = await api.schema.createTable.mutate({
    baseId,
    title: 'Records',
    fields: [
      { title: 'Name', type: 'SingleLineText' },
      { title: 'Num', type: 'Number' },
      { title: 'Note', type: 'LongText' },
    ],
  })
  const tableOn = ({ url }: RunningServer): TestTable => testTable(createRestClient(url, token), schema)
  await fillTable(first.kernel, tableOn(first), RECORDS)
  // Automatic indexes take at most half of a base.
  const notes = Array.from({ length: 20 }, () => ({ Num: 2 * RECORDS, Note: 'x'.repeat(90_000) }))
  expect((await createRestClient(first.url, token).post(tableOn(first).path, notes)).status).toBe(200)

  const where = '?where=(Name,eq,name%207)&sort=Num&limit=25'
  for (let at = 0; at < 20; at++) await tableOn(first).list(`${where}&offset=${at}`)
  await first.services.indexes.maintain(always)
  const tableId = schema.table.id
  const terms = [
    { fieldId: tableOn(first).field('Num').id, as: 'value' as const, direction: 'desc' as const },
  ]
  await api.indexes.create.mutate({ tableId, terms })
  await first.services.indexes.maintain(always)
  const listOn = async ({ url }: RunningServer) =>
    (await createTrpcClient(url, token).indexes.list.query({ tableId }))
      .map(({ id, terms, isAutomatic, state }) => ({ id, terms, isAutomatic, state }))
      .toSorted((a, b) => (a.id < b.id ? -1 : 1))
  const search = async ({ url }: RunningServer) => {
    const found = await createTrpcClient(url, token).records.list.query({
      query: { tableId, search: { text: 'name 39', fieldId: null }, limit: 25, offset: 0 },
    })
    return { ids: found.ids, rows: found.rows }
  }
  const found = await search(first)
  expect(found.ids).toHaveLength(25)
  await until(async () => {
    await search(first)
    return searchTables(baseId).length > 0
  }, 'The search index')
  const listed = await listOn(first)
  expect(listed.map(({ isAutomatic }) => isAutomatic).toSorted()).toEqual([false, true])
  expect(listed.map(({ state }) => state)).toEqual(['ready', 'ready'])
  const page = await tableOn(first).list(where)

  const moves: [args: string[], metadata: Engine][] = [
    [['--to', 'postgres'], 'postgres'],
    [['--to', 'sqlite', '--base', baseId], 'postgres'],
    [['--to', 'postgres', '--base', baseId], 'postgres'],
    [['--to', 'sqlite'], 'sqlite'],
  ]
  for (const [args, metadata] of moves) {
    await move(...args)
    const next = await start(metadata)
    const table = tableOn(next)
    expect(await indexNames(next.kernel, table)).toEqual([])
    expect(await table.list(where)).toEqual(page)
    expect(await search(next)).toEqual(found)
    await next.services.indexes.maintain(always)
    expect(await listOn(next)).toEqual(listed)
    expect((await indexNames(next.kernel, table)).toSorted()).toEqual(listed.map(({ id }) => id))
    expect(await table.list(where)).toEqual(page)
    expect(await search(next)).toEqual(found)
    await next.stop()
    server = null
    expect((await place.move([...args, '--remove-source'])).exitCode).toBe(0)
  }
})
