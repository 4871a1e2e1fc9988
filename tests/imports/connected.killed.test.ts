import { Database } from 'bun:sqlite'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { proxyCommits } from '../sources/support.ts'
import { PASSWORD } from '../support/app.ts'
import { createTrpcClient } from '../support/client.ts'
import {
  type ConnectedDatabase,
  type ConnectedTable,
  createConnected,
  ENGINES,
  type EngineKind,
  startLoad,
  tablesOf,
} from './connected-support.ts'
import { type ServerProcess, startServerProcess } from './server-process.ts'
import { type Door, ended, reportOf, resultOf } from './support.ts'

const TABLES: Record<EngineKind, string[]> = {
  postgres: [
    'create table part (id serial primary key, name varchar(50) not null, parent_id int not null, foreign key (parent_id) references part (id))',
    'create table author (id serial primary key, name text not null, age int)',
    'create table person (code text primary key, name text)',
  ],
  mariadb: [
    'create table part (id int auto_increment primary key, name varchar(50) not null, parent_id int not null, foreign key (parent_id) references part (id))',
    'create table author (id int auto_increment primary key, name varchar(50) not null, age int)',
    'create table person (code varchar(50) primary key, name varchar(50))',
  ],
  sqlite: [
    'create table part (id integer primary key, name varchar(50) not null, parent_id int not null, foreign key (parent_id) references part (id))',
    'create table author (id integer primary key, name text not null, age int)',
    'create table person (code text primary key not null, name text)',
  ],
}

const COUNT = 20_000
/** Memory that an import of 100,000 rows may take beyond that of one of 1,000, in bytes. */
const MAX_GROWTH = 150 * 1024 ** 2
/** The memory measured is that of the product: a run of all tests tells processes to keep theirs. */
const GIVES_MEMORY_BACK = { MIMALLOC_PURGE_DELAY: undefined }

describe.each(ENGINES)('an import into a table of a connected %s', (kind) => {
  let dataDir = ''
  let server: ServerProcess
  let foreign: ConnectedDatabase
  /** The server that runs. */
  let door: Door = { url: '', token: '' }

  beforeAll(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'sheaf-connected-'))
    foreign = await createConnected(kind, TABLES[kind], dataDir)
    await start()
    const account = { email: 'ann@example.com', password: PASSWORD }
    door.token = (await createTrpcClient(door.url).auth.signUp.mutate(account)).token
  })
  afterAll(async () => {
    await server?.end('SIGKILL')
    await foreign?.stop()
    rmSync(dataDir, { recursive: true, force: true })
  })
  afterEach(async () => {
    for (const table of ['part', 'author', 'person']) await foreign.ask(`drop table ${table}`)
    for (const statement of TABLES[kind]) await foreign.ask(statement)
  })

  /** A base of its own that connects the database, in the server that the test before has left. */
  async function begin(
    sent = foreign.sent,
  ): Promise<{ baseId: string; tables: Map<string, ConnectedTable> }> {
    const client = createTrpcClient(door.url, door.token)
    const { id: baseId } = await client.bases.create.mutate({ title: 'Killed' })
    const { id } = await client.sources.create.mutate({ baseId, ...sent })
    expect(await ended(door, id)).toMatchObject({ status: 'completed' })
    return { baseId, tables: await tablesOf(client, baseId) }
  }

  async function start(): Promise<void> {
    server = await startServerProcess(dataDir, GIVES_MEMORY_BACK)
    door = { url: server.url, token: door.token }
  }

  async function restart(signal: 'SIGKILL' | 'SIGTERM' = 'SIGKILL'): Promise<void> {
    await server.end(signal)
    await start()
  }

  const count = async (what: string, table: string) =>
    Number((await foreign.ask<{ n: number }>(`select count(${what}) as n from ${table}`))[0]?.n)

  test('whose server is killed again and again writes every row once', async () => {
    const { baseId, tables } = await begin()
    const lines = Array.from({ length: COUNT }, (_, at) => `name ${at},${at % 90}`)
    const table = tables.get('author')!
    const { jobId } = await startLoad(door, baseId, table, `name,age\n${lines.join('\n')}\n`)
    for (let round = 0; round < 2; round++) {
      const before = await count('*', 'author')
      while ((await count('*', 'author')) === before) await Bun.sleep(5)
      await Bun.sleep(37 * round)
      await restart()
    }
    const { rows, rowsRefused } = resultOf(await ended(door, jobId))
    expect([rows, rowsRefused]).toEqual([COUNT, 0])
    expect(await reportOf(door, jobId)).toEqual([])
    expect(await count('*', 'author')).toBe(COUNT)
    expect(await count('distinct name', 'author')).toBe(COUNT)
    expect(readdirSync(join(dataDir, 'uploads'))).toEqual([])
  })

  test('whose rows need others that come later writes every row once, however often it is killed', async () => {
    const { baseId, tables } = await begin()
    await foreign.ask(`insert into part (id, name, parent_id) values (9000000, 'root', 9000000)`)
    const table = tables.get('part')!
    const link = table.fields.find(({ options }) => options.holdsKey)?.title ?? ''
    const lines = Array.from(
      { length: 5000 },
      (_, at) => `part ${at},${at === 0 ? 'root' : `part ${Math.floor((at - 1) / 5)}`}`,
    )
    const file = `name,${link}\n${lines.toReversed().join('\n')}\nlost,nowhere\n`
    const { jobId } = await startLoad(door, baseId, table, file)
    for (let round = 0; round < 2; round++) {
      const before = await count('*', 'part')
      while ((await count('*', 'part')) === before) await Bun.sleep(5)
      await Bun.sleep(37 * round)
      await restart()
    }
    const { rows, rowsRefused } = resultOf(await ended(door, jobId))
    expect([rows, rowsRefused]).toEqual([5000, 1])
    expect(await reportOf(door, jobId)).toEqual([expect.stringContaining('“nowhere”')])
    expect(await count('distinct name', 'part')).toBe(5001)
    const [wrong] = await foreign.ask<{ n: number }>(
      `select count(*) as n from part t join part p on p.id = t.parent_id where t.id = p.id and t.name <> 'root'`,
    )
    expect(Number(wrong?.n)).toBe(0)
  })

  test('that updates records and is stopped goes on with it, and reports refused rows once', async () => {
    const { baseId, tables } = await begin()
    await foreign.ask(`insert into person values ('c 1', 'old')`)
    const lines = Array.from({ length: COUNT }, (_, at) => `c ${at},name ${at}`)
    const file = `code,name\n${lines.join('\n')}\nc 7,again\n,nameless\n`
    const { jobId } = await startLoad(door, baseId, tables.get('person')!, file, { keys: ['code'] })
    while ((await count('*', 'person')) < 2) await Bun.sleep(5)
    await restart('SIGTERM')
    const { update, rowsRefused } = resultOf(await ended(door, jobId))
    expect(update).toMatchObject({ added: COUNT - 1, changed: 1, repeated: 1, withoutKey: 1 })
    expect(rowsRefused).toBe(2)
    expect(await reportOf(door, jobId)).toHaveLength(2)
    expect(await count('*', 'person')).toBe(COUNT)
  })

  test('whose table is deleted while its server is away says so, and how many rows it has written', async () => {
    const { baseId, tables } = await begin()
    const lines = Array.from({ length: COUNT }, (_, at) => `name ${at},${at % 90}`)
    const table = tables.get('author')!
    const { jobId } = await startLoad(door, baseId, table, `name,age\n${lines.join('\n')}\n`)
    while ((await count('*', 'author')) < 2000) await Bun.sleep(5)
    await server.end('SIGKILL')
    using file = new Database(join(dataDir, 'sheaf.db'))
    file.run('update tables set deleted_at = ? where id = ?', [new Date().toISOString(), table.tableId])
    await start()
    const { status, error } = await ended(door, jobId)
    expect(status).toBe('failed')
    expect(error).toContain('its table was deleted')
    const written = Number(/Rows written before: (\d+)\./.exec(error ?? '')?.[1])
    expect(written).toBeGreaterThanOrEqual(1000)
    // Rows that were being written are in the database, but not in the log.
    expect(await count('*', 'author')).toBeWithin(written, written + 1001)
    expect(readdirSync(join(dataDir, 'reports'))).not.toContain(`${jobId}.csv`)
  })

  test('takes little memory for 100,000 rows, and writes at least 500 of them a second', async () => {
    const { baseId, tables } = await begin()
    const rows = (n: number) =>
      `name,age\n${Array.from({ length: n }, (_, at) => `name ${at},${at % 90}`).join('\n')}\n`
    const into = async (n: number) => {
      const started = performance.now()
      const { jobId } = await startLoad(door, baseId, tables.get('author')!, rows(n))
      expect(resultOf(await ended(door, jobId, 200_000)).rows).toBe(n)
      return Math.round((n / (performance.now() - started)) * 1000)
    }
    await into(5_000)
    const before = server.rss()
    const perSecond = await into(100_000)
    const growth = server.rss() - before
    console.log(`${kind}: ${perSecond} rows/s, memory ${Math.round(growth / 1e6)} MB`)
    expect(await count('*', 'author')).toBe(105_000)
    expect(growth).toBeLessThan(MAX_GROWTH)
    expect(perSecond).toBeGreaterThan(500)
  }, 300_000)

  // A connected file and the log commit one right after the other, so that a kill in between cannot be timed.
  if (kind === 'sqlite') return

  test.each([
    ['numbers its records', 'author', 'name,age', (at: number) => `name ${at},${at % 90}`],
    ['takes their keys from the file', 'person', 'code,name', (at: number) => `c ${at},name ${at}`],
  ])(
    'whose server is killed just before and just after a commit of a database that %s writes every row once',
    async (_, name, header, line) => {
      await using proxy = await proxyCommits(foreign.sent)
      const { baseId, tables } = await begin(proxy.sent)
      const lines = Array.from({ length: 1500 }, (_, at) => line(at))
      let commit = proxy.holdAt('before')
      const { jobId } = await startLoad(door, baseId, tables.get(name)!, `${header}\n${lines.join('\n')}\n`)
      await commit
      await server.end('SIGKILL')
      expect(await count('*', name)).toBe(0)
      commit = proxy.holdAt('after')
      await start()
      await commit
      // The log does not have them yet.
      expect(await count('*', name)).toBe(1000)
      await restart()
      const { rows, rowsRefused } = resultOf(await ended(door, jobId))
      expect([rows, rowsRefused]).toEqual([1500, 0])
      expect(await reportOf(door, jobId)).toEqual([])
      expect(await count('*', name)).toBe(1500)
      expect(await count('distinct name', name)).toBe(1500)
    },
  )
})
