import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ServerProcess, startServerProcess } from '../imports/server-process.ts'
import { PASSWORD } from '../support/app.ts'
import { createRestClient, createTrpcClient } from '../support/client.ts'
import { createDatabase, type TestDatabase } from '../support/servers.ts'

// Servers in processes of their own, over one PostgreSQL and one data folder.
let database: TestDatabase
let dataDir: string
const running: ServerProcess[] = []

beforeEach(async () => {
  database = await createDatabase('postgres')
  dataDir = mkdtempSync(join(tmpdir(), 'sheaf-pg-home-'))
})
afterEach(async () => {
  for (const server of running.splice(0)) await server.end('SIGKILL')
  await database.drop()
  rmSync(dataDir, { recursive: true, force: true })
})

async function start(): Promise<ServerProcess> {
  const server = await startServerProcess(dataDir, { DATABASE_URL: database.url, LOG_LEVEL: 'info' })
  running.push(server)
  return server
}

async function setUp(url: string) {
  const { token } = await createTrpcClient(url).auth.signUp.mutate({
    email: 'ann@example.com',
    password: PASSWORD,
  })
  const trpc = createTrpcClient(url, token)
  const { id: baseId } = await trpc.bases.create.mutate({ title: 'Shared' })
  const fields = [
    { title: 'Title', type: 'SingleLineText' as const },
    { title: 'N', type: 'Number' as const },
  ]
  const { table } = await trpc.schema.createTable.mutate({ baseId, title: 'Tasks', fields })
  return { token, baseId, tableId: table.id, path: `/api/v2/tables/${table.id}/records` }
}

/** The ids that the log and the table itself know. */
async function idsIn(baseId: string): Promise<{ rows: number[]; logged: number[] }> {
  await using sql = new Bun.SQL(database.url, { max: 1 })
  const schema = `nc_${baseId}`
  // What the killed server has sent may still be committed: both are read as of one moment.
  await sql.unsafe('begin isolation level repeatable read')
  const rows: { id: string }[] = await sql.unsafe(`select id from "${schema}"."Tasks" order by id`)
  const logged: { id: string }[] = await sql.unsafe(
    `select record_id as id from "${schema}".sheaf_change_records where before is null order by record_id::bigint`,
  )
  await sql.unsafe('commit')
  const number = ({ id }: { id: string }) => Number(id)
  return { rows: rows.map(number), logged: logged.map(number) }
}

describe('a base whose home is PostgreSQL', () => {
  test('has every record that was acknowledged, with its line in the log, after its server was killed', async () => {
    const server = await start()
    const { token, baseId, path } = await setUp(server.url)
    const rest = createRestClient(server.url, token)
    const acknowledged: number[] = []
    let isOver = false
    const write = async () => {
      while (!isOver) {
        const answer = await rest.post(path, { Title: 'kept' }).catch(() => null)
        if (answer?.status === 200) acknowledged.push(answer.body.Id)
      }
    }
    const writers = [write(), write(), write()]
    while (acknowledged.length <= 10) await Bun.sleep(10)
    await server.end('SIGKILL')
    isOver = true
    await Promise.all(writers)
    expect(acknowledged.length).toBeGreaterThan(10)
    const { rows, logged } = await idsIn(baseId)
    expect(acknowledged.filter((id) => !rows.includes(id))).toEqual([])
    // Both or neither, also of what was not acknowledged any more.
    expect(logged).toEqual(rows)
    const again = createRestClient((await start()).url, token)
    expect((await again.post(path, { Title: 'after' })).status).toBe(200)
  })

  test('takes writes of two servers at once, and loses none of either', async () => {
    const [one, two] = [await start(), await start()]
    const { token, baseId, tableId, path } = await setUp(one.url)
    const clients = [one, two].map(({ url }) => ({
      rest: createRestClient(url, token),
      trpc: createTrpcClient(url, token),
    }))
    const counter = (await clients[0]!.rest.post(path, { Title: 'counter', N: 0 })).body.Id
    const each = 30
    const answers = await Promise.all(
      clients.flatMap(({ rest }, server) =>
        Array.from({ length: each }, (_, at) =>
          at % 3 === 0
            ? rest.patch(path, { Id: counter, N: server * each + at + 1 })
            : rest.post(path, { Title: `${server}-${at}` }),
        ),
      ),
    )
    expect(answers.map(({ status }) => status)).toEqual(new Array(2 * each).fill(200))
    // A change of the schema on one side, while the other writes.
    await Promise.all([
      clients[0]!.trpc.schema.createField.mutate({ tableId, field: { type: 'Number', title: 'Late' } }),
      ...Array.from({ length: 10 }, (_, at) => clients[1]!.rest.post(path, { Title: `late ${at}` })),
    ])
    expect((await clients[1]!.rest.post(path, { Title: 'x', Late: 5 })).status).toBe(200)
    const { rows, logged } = await idsIn(baseId)
    expect(rows).toHaveLength(1 + 40 + 10 + 1)
    expect(logged).toEqual(rows)
    const counts = clients.map(({ trpc }) => trpc.records.count.query({ selection: { tableId } }))
    expect(await Promise.all(counts)).toEqual([{ count: 52 }, { count: 52 }])
  })
})
