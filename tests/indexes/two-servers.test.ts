import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createIndexStore } from '../../modules/indexes/store.ts'
import { type RunningServer, startServer } from '../../src/app.ts'
import { type Bench, benchOf, type TestTable } from '../records/support.ts'
import { createTestApp } from '../support/app.ts'
import { createRestClient, createTrpcClient } from '../support/client.ts'
import { createBase } from '../support/factories.ts'
import { until } from '../support/until.ts'
import { fillTable, indexNames, performanceOf } from './support.ts'

// Two servers over one PostgreSQL and one data folder.
let bench: Bench
let other: RunningServer
let table: TestTable
beforeAll(async () => {
  const app = await createTestApp({ database: 'postgres', config: { indexSlowMs: 0.001 } })
  const owner = await app.signUp()
  bench = benchOf(app, owner, (await createBase(app, owner)).id)
  other = await startServer({ ...app.config, port: 0 })
  table = await bench.table({ Name: 'SingleLineText', Num: 'Number' })
  await fillTable(app.kernel, table)
})
afterAll(async () => {
  await other.stop()
  await bench.stop()
})

const always = () => true
const where = '?where=(Name,eq,name%207)&sort=Num&limit=25'

test('two servers that decide at the same time build one index, and both use it', async () => {
  const viewId = table.schema.views[0]!.id
  const fieldId = table.field('Num').id
  await bench.trpc.views.update.mutate({
    viewId,
    patch: {
      sorts: [{ fieldId, direction: 'asc' }],
      filter: { fieldId: table.field('Name').id, operator: 'eq', value: 'name 7' },
    },
  })
  const rests = [bench.rest, createRestClient(other.url, bench.owner.token)]
  for (const rest of rests) {
    for (let at = 0; at < 6; at++) {
      expect((await rest.get(`${table.path}${where}&offset=${at}`)).status).toBe(200)
    }
  }
  const both = [bench.app.services.indexes, other.services.indexes]
  // What each observed is stored first, so that both find reasons to build.
  await Promise.all(both.map((indexes) => indexes.maintain(() => false)))
  await Promise.all(both.map((indexes) => indexes.maintain(always)))
  await Promise.all(both.map((indexes) => indexes.maintain(always)))
  const names = await indexNames(bench.app.kernel, table)
  expect(names).toHaveLength(1)
  const clients = [bench.trpc, createTrpcClient(other.url, bench.owner.token)]
  for (const client of clients) {
    const performance = () => client.indexes.performance.query({ tableId: table.id })
    // The other server hears of it a moment later.
    await until(async () => (await performance()).views[0]?.usesIndex === true, 'The use of the index')
    const { indexes, views } = await performance()
    expect(indexes).toMatchObject([{ id: names[0], state: 'ready' }])
    expect(views).toMatchObject([{ sorts: false, usesIndex: true }])
  }
})

test('an index that one server builds or drops counts on the other at once', async () => {
  const viewId = table.schema.views[0]!.id
  const terms = [{ fieldId: table.field('Name').id, as: 'value' as const, direction: 'desc' as const }]
  await bench.trpc.views.update.mutate({
    viewId,
    patch: {
      sorts: [{ fieldId: table.field('Name').id, direction: 'desc' }],
      filter: { fieldId: table.field('Num').id, operator: 'gt', value: 3_000 },
    },
  })
  const api = createTrpcClient(other.url, bench.owner.token)
  const explain = async () => (await performanceOf(api, table.id)).views[0]!
  const before = await explain()
  expect(before).toMatchObject({ usesIndex: false })
  expect(before.suggestion![0]).toEqual(terms[0]!)
  const { id } = await bench.trpc.indexes.create.mutate({ tableId: table.id, terms: before.suggestion! })
  const untilUsed = (isUsed: boolean) =>
    until(async () => (await explain()).usesIndex === isUsed, `usesIndex: ${isUsed}`)
  await untilUsed(true)
  await bench.trpc.indexes.drop.mutate({ tableId: table.id, indexId: id })
  await untilUsed(false)
})

test('an index that another server is building is left to it, until that server is killed', async () => {
  const both = [bench.app.services.indexes, other.services.indexes]
  // Rounds compare the indexes of a table with the database once, unless there is a reason.
  for (const indexes of both) await indexes.maintain(always)
  const id = 'sheaf_auto_left00000000000'
  await using third = new Bun.SQL(bench.app.config.databaseUrl ?? '', { max: 1 })
  await third`select pg_advisory_lock(hashtextextended(${`sheaf claim index ${id}`}, 0))`
  const now = new Date().toISOString()
  await createIndexStore(bench.app.kernel).insert({
    id,
    baseId: bench.baseId,
    tableId: table.id,
    terms: [{ fieldId: table.field('Num').id, as: 'value', direction: 'desc' }],
    columns: [table.field('Num').columnName],
    isAutomatic: false,
    state: 'building',
    error: null,
    createdAt: now,
    usedAt: now,
  })
  const state = async () =>
    (await bench.trpc.indexes.list.query({ tableId: table.id })).find((index) => index.id === id)?.state
  for (const indexes of both) await indexes.maintain(always)
  expect(await indexNames(bench.app.kernel, table)).not.toContain(id)
  expect(await state()).toBe('building')

  await third`select pg_advisory_unlock_all()`
  await until(async () => {
    for (const indexes of both) await indexes.maintain(always)
    return (await state()) === 'ready'
  }, 'The resumed build')
  expect(await indexNames(bench.app.kernel, table)).toContain(id)
})
