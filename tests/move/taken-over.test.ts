import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PASSWORD } from '../support/app.ts'
import { createTrpcClient } from '../support/client.ts'
import { type CommitProxy, startCommitProxy } from '../support/database-proxy.ts'
import { type Engine, openPlace, type Place } from './support.ts'

const EMAIL = 'ann@example.com'
const TITLES = ['one', 'two', 'three']
/** A request for the home of a base, after the move has begun. */
const READS_HOME = /from "nc_p/
const FILLS_HOME = /copy "nc_p/

let place: Place
let proxy: CommitProxy
let elsewhere: string
let baseId: string
let table: { id: string; tableName: string }

beforeEach(async () => {
  place = await openPlace()
  proxy = await startCommitProxy(place.database.url)
  elsewhere = mkdtempSync(join(tmpdir(), 'sheaf-elsewhere-'))
})
afterEach(async () => {
  await proxy.stop()
  await place.remove()
  rmSync(elsewhere, { recursive: true, force: true })
})

/** A base with a table of three records. */
async function fill(on: Engine): Promise<void> {
  const server = await place.start(on)
  const { auth } = createTrpcClient(server.url)
  const { token } = await auth.signUp.mutate({ email: EMAIL, password: PASSWORD })
  const api = createTrpcClient(server.url, token)
  baseId = (await api.bases.create.mutate({ title: 'Kept' })).id
  const created = await api.schema.createTable.mutate({ baseId, title: 'T' })
  table = created.table
  const titleId = created.fields.find(({ title }) => title === 'Title')?.id ?? ''
  const rows = TITLES.map((title) => ({ values: { [titleId]: title } }))
  const operations = [{ kind: 'insert' as const, tableId: table.id, rows }]
  await api.records.write.mutate({ change: { baseId, operations } })
  await server.end('SIGTERM')
}

async function titlesAt(url: string): Promise<unknown[]> {
  const { token } = await createTrpcClient(url).auth.signIn.mutate({ email: EMAIL, password: PASSWORD })
  const api = createTrpcClient(url, token)
  const { fields } = await api.schema.table.query({ tableId: table.id })
  const fieldIds = fields.filter(({ title }) => title === 'Title').map(({ id }) => id)
  const { rows } = await api.records.list.query({
    query: { tableId: table.id, fieldIds, limit: 10, offset: 0 },
  })
  return rows.map(([title]) => title)
}

async function titlesOn(on: Engine): Promise<unknown[]> {
  const server = await place.start(on)
  const titles = await titlesAt(server.url)
  await server.end('SIGTERM')
  return titles
}

/** Ends the connection that keeps other moves away from the database. */
async function endLock(): Promise<void> {
  await using sql = new Bun.SQL(place.database.url, { max: 1 })
  const ended =
    await sql`select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and objid = 7433203
    and database = (select oid from pg_database where datname = current_database())`
  expect(ended).toHaveLength(1)
}

describe('a move that runs', () => {
  test('refuses another one and servers, here and on another machine, and goes on', async () => {
    await fill('sqlite')
    const holding = proxy.holdAt('before', { text: FILLS_HOME })
    const first = place.move(['--to', 'postgres'], undefined, { DATABASE_URL: proxy.url })
    const held = await holding
    for (const args of [
      ['--to', 'postgres'],
      ['--to', 'postgres', '--cancel'],
    ]) {
      const beside = await place.move(args)
      expect([beside.exitCode, beside.output]).toEqual([
        1,
        expect.stringContaining('already using the data folder'),
      ])
      const there = await place.move(args, undefined, { DATA_DIR: elsewhere })
      expect([there.exitCode, there.output]).toEqual([
        1,
        expect.stringContaining('Another “sheaf move” uses'),
      ])
    }
    for (const on of ['sqlite', 'postgres'] as const) expect((await place.refusalOf(on)).exitCode).toBe(1)
    held.pass()
    const { exitCode, output } = await first
    expect([exitCode, output]).toEqual([0, expect.stringContaining('every cell compared')])
    expect(await titlesOn('postgres')).toEqual(TITLES)
  }, 300_000)

  test('ends where another one has taken it over, in another folder', async () => {
    await fill('postgres')
    const holding = proxy.holdAt('before', { text: READS_HOME })
    const first = place.move(['--to', 'sqlite'], undefined, { DATABASE_URL: proxy.url })
    const held = await holding
    await endLock()
    const second = await place.move(['--to', 'sqlite'], undefined, { DATA_DIR: elsewhere })
    expect([second.exitCode, second.output]).toEqual([0, expect.stringContaining('every cell compared')])
    held.pass()
    const { exitCode, output } = await first
    expect([exitCode, output]).toEqual([1, expect.stringContaining('another “sheaf move”')])
    // The data is in one place.
    for (const on of ['sqlite', 'postgres'] as const) expect((await place.refusalOf(on)).exitCode).toBe(1)
    const again = await place.move(['--to', 'sqlite'])
    expect([again.exitCode, again.output]).toEqual([
      1,
      expect.stringContaining(`moved to the data folder ${elsewhere}`),
    ])
  }, 300_000)

  test('ends where another one has taken it over, into the same database', async () => {
    await fill('sqlite')
    const holding = proxy.holdAt('before', { text: FILLS_HOME })
    const first = place.move(['--to', 'postgres'], undefined, { DATABASE_URL: proxy.url })
    const held = await holding
    await endLock()
    held.pass()
    const { exitCode, output } = await first
    expect([exitCode, output]).toEqual([1, expect.stringContaining('another “sheaf move”')])
    const second = await place.move(['--to', 'postgres'])
    expect([second.exitCode, second.output]).toEqual([0, expect.stringContaining('every cell compared')])
    expect(await titlesOn('postgres')).toEqual(TITLES)
  }, 300_000)
})

describe('a move that is taken up again', () => {
  /** Copies all records, and is interrupted before the metadata are there. */
  async function interrupted(): Promise<void> {
    await fill('sqlite')
    const holding = proxy.holdAt('before', { text: /insert into sheaf_move|copy "public"/, skip: 1 })
    const first = place.move(['--to', 'postgres'], undefined, { DATABASE_URL: proxy.url })
    const held = await holding
    held.cut()
    expect((await first).exitCode).toBe(1)
  }

  test('names what somebody has changed in the source since, and goes on without it', async () => {
    await interrupted()
    const file = new Database(join(place.dataDir, 'bases', `${baseId}.db`))
    const rename = (title: string) =>
      file.run(`update "${table.tableName}" set "Title" = ? where id = 1`, [title])
    rename('forged')
    const { exitCode, output } = await place.move(['--to', 'postgres'])
    expect([exitCode, output]).toEqual([1, expect.stringMatching(/Title of row 1 is "forged" .* but "one"/)])
    for (const on of ['sqlite', 'postgres'] as const)
      expect((await place.refusalOf(on)).output).toContain('sheaf move --cancel')
    rename('one')
    file.close()
    expect((await place.move(['--to', 'postgres'])).exitCode).toBe(0)
    expect(await titlesOn('postgres')).toEqual(TITLES)
  }, 300_000)

  test('names a row that the copy has lost, and copies everything anew once it is cancelled', async () => {
    await interrupted()
    await using sql = new Bun.SQL(place.database.url, { max: 1 })
    await sql.unsafe(`delete from "nc_${baseId}"."${table.tableName}" where id = 2`)
    const { exitCode, output } = await place.move(['--to', 'postgres'])
    expect([exitCode, output]).toEqual([1, expect.stringMatching(/id of row 2 is "2" .* but "3"/)])
    expect((await place.move(['--to', 'postgres', '--cancel'])).exitCode).toBe(0)
    expect(await titlesOn('sqlite')).toEqual(TITLES)
    expect((await place.move(['--to', 'postgres'])).exitCode).toBe(0)
    expect(await titlesOn('postgres')).toEqual(TITLES)
  }, 300_000)
})
