import { Database } from 'bun:sqlite'
import { afterEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createIndexStore } from '../../modules/indexes/store.ts'
import { type RunningServer, startServer } from '../../src/app.ts'
import { type Config, readConfig } from '../../src/config.ts'
import { startServerProcess } from '../imports/server-process.ts'
import { createBench, testTable } from '../records/support.ts'
import { META_DATABASES, PASSWORD } from '../support/app.ts'
import { createRestClient, createTrpcClient } from '../support/client.ts'
import { createDatabase } from '../support/servers.ts'
import { until } from '../support/until.ts'
import { fillTable, indexNames } from './support.ts'

const MANY = 20_000

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
})

/** Keeps others from writing to a file until the returned function is called. */
async function holdFile(path: string): Promise<() => Promise<void>> {
  const file = new Database(path)
  file.run('pragma busy_timeout = 10000')
  file.run('begin immediate')
  return async () => file.close()
}

/** Writes to a table, so that an index of it is not built before the returned function is called. */
async function holdTable(url: string, schema: string, table: string): Promise<() => Promise<void>> {
  const sql = new Bun.SQL(url, { max: 1 })
  await sql.unsafe(`begin; lock table "${schema}"."${table}" in row exclusive mode`)
  return () => sql.close()
}

describe.each(META_DATABASES)('a server that is killed while it builds an index in %s', (engine) => {
  test('resumes the build in its next round', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'sheaf-indexes-'))
    cleanups.push(() => rmSync(dataDir, { recursive: true, force: true }))
    const database = engine === 'postgres' ? await createDatabase('postgres') : null
    if (database) cleanups.push(() => database.drop())
    const environment = {
      PORT: '0',
      HOST: '127.0.0.1',
      DATA_DIR: dataDir,
      LOG_LEVEL: 'silent',
      DATABASE_URL: database?.url,
    }
    const config: Config = readConfig(environment)
    const running: RunningServer[] = []
    const start = async () => {
      const server = await startServer(config)
      running.push(server)
      return server
    }
    cleanups.push(() => Promise.all(running.splice(0).map((server) => server.stop())))

    const first = await start()
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
      ],
    })
    const tableId = schema.table.id
    const table = testTable(createRestClient(first.url, token), schema)
    await fillTable(first.kernel, table, MANY)
    running.length = 0
    await first.stop()

    const killed = await startServerProcess(dataDir, { DATABASE_URL: database?.url ?? '' })
    cleanups.push(() => killed.end('SIGKILL'))
    const terms = ['Name', 'Num'].map((title) => ({
      fieldId: table.field(title).id,
      as: 'value' as const,
      direction: 'asc' as const,
    }))
    const { tableName } = schema.table
    const release = await (database
      ? holdTable(database.url, `nc_${baseId}`, tableName)
      : holdFile(join(dataDir, 'bases', `${baseId}.db`)))
    await createTrpcClient(killed.url, token).indexes.create.mutate({ tableId, terms })
    await killed.end('SIGKILL')
    await release()

    const next = await start()
    const list = () => createTrpcClient(next.url, token).indexes.list.query({ tableId })
    const [interrupted] = await list()
    expect(interrupted).toMatchObject({ state: 'building' })
    // The claims of the killed server may outlive it by a moment.
    await until(async () => {
      await next.services.indexes.maintain(() => true)
      return (await list())[0]?.state !== 'building'
    }, 'The resumed build')
    expect(await list()).toMatchObject([{ id: interrupted!.id, state: 'ready', error: null }])
    expect(await indexNames(next.kernel, table)).toEqual([interrupted!.id])
    const path = `${table.path}?where=(Name,eq,name%207)&sort=Num&limit=2`
    const { body } = await createRestClient(next.url, token).get(path)
    expect(body.pageInfo.totalRows).toBe(MANY / 40)
    if (!database) return
    await using sql = new Bun.SQL(database.url, { max: 1 })
    expect([...(await sql`select 1 from pg_index where not indisvalid`)]).toEqual([])
  }, 300_000)
})

test('a server without automatic indexes resumes the build of one that somebody asked for', async () => {
  const bench = await createBench({ config: { indexSlowMs: 0 } })
  cleanups.push(() => bench.stop())
  const { kernel } = bench.app
  const table = await bench.table({ Name: 'SingleLineText', Num: 'Number' })
  await fillTable(kernel, table)
  const termOf = (title: string) => ({
    fieldId: table.field(title).id,
    as: 'value' as const,
    direction: 'asc' as const,
  })
  const tableId = table.id
  const { id } = await bench.trpc.indexes.create.mutate({ tableId, terms: [termOf('Num')] })
  const states = async () =>
    (await bench.trpc.indexes.list.query({ tableId })).map((index) => [index.id, index.state])
  while ((await states())[0]?.[1] !== 'ready') await Bun.sleep(25)
  // As a killed server leaves it.
  const engine = await kernel.sources.engine(bench.baseId)
  await engine.dropIndex(table.schema.table.tableName, id)
  const store = createIndexStore(kernel)
  await store.update(id, { state: 'building' })
  // An automatic one that did not come along when the installation was moved.
  const row = await store.find(id)
  await store.insert({
    ...row!,
    id: `${id}x`,
    terms: [termOf('Name')],
    columns: [table.field('Name').columnName],
    isAutomatic: true,
    state: 'ready',
  })
  const isDone = async () => Bun.deepEquals(await states(), [[id, 'ready']])
  // The round of a server begins every 20 seconds.
  await until(isDone, 'The resumed build')
  expect(await states()).toEqual([[id, 'ready']])
  expect(await indexNames(kernel, table)).toEqual([id])
})
