import { Database } from 'bun:sqlite'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ServerProcess } from '../imports/server-process.ts'
import { PASSWORD } from '../support/app.ts'
import { createTrpcClient, type TrpcClient } from '../support/client.ts'
import { fillFolder, type Kept } from '../support/kept-folder.ts'
import { openPlace, type Place, snapshot } from './support.ts'

describe('sheaf move --base', () => {
  let place: Place
  let kept: Kept
  /** The base that moves, and one that stays. */
  let baseId: string
  let otherId: string
  let tasksId: string
  const running: ServerProcess[] = []
  const start = async (): Promise<TrpcClient> => {
    const server = await place.start('postgres')
    running.push(server)
    const { token } = await createTrpcClient(server.url).auth.signIn.mutate({
      email: kept.email,
      password: PASSWORD,
    })
    return createTrpcClient(server.url, token)
  }
  const stop = async () => {
    await Promise.all(running.splice(0).map((server) => server.end('SIGTERM')))
  }
  const fileOf = (id: string) => join(place.dataDir, 'bases', `${id}.db`)
  async function schemas(): Promise<string[]> {
    await using sql = new Bun.SQL(place.database.url, { max: 1 })
    const rows = await sql`select nspname from pg_namespace where nspname like 'nc\\_%' order by nspname`
    return rows.map((row: { nspname: string }) => row.nspname)
  }
  async function expectMove(code: number, args: string[], text: string): Promise<void> {
    const { exitCode, output } = await place.move(args)
    expect([exitCode, output]).toEqual([code, expect.stringContaining(text)])
  }
  const toFile = () => ['--to', 'sqlite', '--base', baseId]
  const toSchema = () => ['--to', 'postgres', '--base', baseId]

  beforeAll(async () => {
    place = await openPlace()
    const server = await place.start('postgres')
    running.push(server)
    kept = await fillFolder(server.url)
    await stop()
    const api = await start()
    const bases = await api.bases.list.query()
    baseId = bases.find(({ title }) => title === kept.baseTitle)?.id ?? ''
    otherId = (await api.bases.create.mutate({ title: 'Stays' })).id
    const { table } = await api.schema.createTable.mutate({ baseId: otherId, title: 'T' })
    await api.records.write.mutate({
      change: {
        baseId: otherId,
        operations: [{ kind: 'insert', tableId: table.id, rows: [{ values: {} }] }],
      },
    })
    const tables = await api.schema.tables.query({ baseId })
    tasksId = tables.find(({ title }) => title === 'Tasks')?.id ?? ''
    await stop()
  })
  afterEach(stop)
  afterAll(() => place.remove())

  test('refuses what is no base, a running server and an installation in files, and changes nothing', async () => {
    await expectMove(2, ['--to', 'sqlite', '--base', '../etc'], 'is not the id of a base')
    await expectMove(2, ['--to', 'sqlite', '--base'], '--base')
    await expectMove(1, ['--to', 'sqlite', '--base', 'p00000000000000'], 'There is no base p00000000000000')
    await expectMove(1, [...toFile(), '--cancel'], 'no unfinished move of base')
    await expectMove(1, [...toFile(), '--remove-source'], 'no former data of base')
    await expectMove(0, toSchema(), 'has its records in PostgreSQL already')
    const api = await start()
    await expectMove(1, toFile(), 'stop all servers first (1 running)')
    expect((await api.records.count.query({ selection: { tableId: tasksId } })).count).toBeGreaterThan(0)
    await stop()
    await start()
    await stop()
    expect(existsSync(fileOf(baseId))).toBe(false)

    const files = await openPlace()
    try {
      const server = await files.start('sqlite')
      const account = { email: 'ann@example.com', password: PASSWORD }
      const { token } = await createTrpcClient(server.url).auth.signUp.mutate(account)
      const { id } = await createTrpcClient(server.url, token).bases.create.mutate({ title: 'B' })
      await server.end('SIGTERM')
      const refused = await files.move(['--to', 'postgres', '--base', id])
      expect([refused.exitCode, refused.output]).toEqual([
        1,
        expect.stringContaining('this one has everything in the data folder'),
      ])
    } finally {
      await files.remove()
    }
  })

  test('refuses to write over a file that is there, and over the former data of the whole installation', async () => {
    writeFileSync(fileOf(baseId), 'somebody’s file')
    await expectMove(1, toFile(), 'exists already')
    expect(await Bun.file(fileOf(baseId)).text()).toBe('somebody’s file')
    await Bun.file(fileOf(baseId)).delete()
    const path = join(place.dataDir, 'sheaf.db')
    const metadata = new Database(path)
    metadata.run('create table sheaf_move (id text, role text, state text, peer text, at text)')
    metadata.run(`insert into sheaf_move values ('j', 'source', 'moved', 'PostgreSQL', '2026-01-01')`)
    metadata.close()
    await expectMove(1, toFile(), 'still has the data that was moved to PostgreSQL')
    for (const suffix of ['', '-wal', '-shm'])
      await Bun.file(path + suffix)
        .delete()
        .catch(() => {})
    await (await start()).bases.list.query()
  })

  /** Moves the base and checks that all is the same, that its log continues, and that its former home stays as it was. */
  async function moveAndCompare(args: string[], formerHome: () => Promise<unknown>): Promise<void> {
    const before = await start()
    const { fields } = await before.schema.table.query({ tableId: tasksId })
    const titleId = fields.find(({ title }) => title === 'Title')?.id ?? ''
    const { records } = await before.records.write.mutate({
      change: {
        baseId,
        operations: [{ kind: 'insert', tableId: tasksId, rows: [{ values: { [titleId]: 'Gone' } }] }],
      },
    })
    const goneId = records[0]?.recordId ?? 0
    await before.records.write.mutate({
      change: { baseId, operations: [{ kind: 'delete', tableId: tasksId, ids: [goneId] }] } as never,
    })
    const expected = await snapshot(before)
    await stop()
    const former = await formerHome()
    await expectMove(0, args, 'every cell compared')
    expect(await formerHome()).toEqual(former)

    const api = await start()
    expect(await snapshot(api)).toEqual(expected)
    const titles = async () =>
      (
        await api.records.list.query({
          query: { tableId: tasksId, fieldIds: [titleId], limit: 100, offset: 0 },
        })
      ).rows.map(([title]) => title)
    expect(await titles()).not.toContain('Gone')
    await api.records.undo.mutate({ baseId })
    expect(await titles()).toContain('Gone')
    await api.records.redo.mutate({ baseId })
    const added = await api.records.write.mutate({
      change: { baseId, operations: [{ kind: 'insert', tableId: tasksId, rows: [{ values: {} }] }] },
    })
    expect(Number(added.records[0]?.recordId)).toBeGreaterThan(Number(goneId))
    await stop()
    // Writes went to the new home only.
    expect(await formerHome()).toEqual(former)
  }

  const readFile = async () => {
    const file = new Database(fileOf(baseId), { readonly: true })
    const tables = file
      .query<{ name: string }, []>(`select name from sqlite_schema where type = 'table'`)
      .all()
    const rows = tables.map(({ name }) => [name, file.query(`select * from "${name}"`).values()])
    file.close()
    return rows
  }
  const readSchema = async () => {
    await using sql = new Bun.SQL(place.database.url, { max: 1 })
    const tables =
      await sql`select tablename as name from pg_tables where schemaname = ${`nc_${baseId}`} order by 1`
    const rows: unknown[] = []
    for (const { name } of tables)
      rows.push([name, await sql.unsafe(`select t::text from "nc_${baseId}"."${name}" t order by 1`)])
    return rows
  }

  test('moves a base to a file with its log, keeps the schema as it was, and removes it when told', async () => {
    const others = (await schemas()).filter((name) => name !== `nc_${baseId}`)
    expect(others).toContain(`nc_${otherId}`)
    await moveAndCompare(toFile(), readSchema)
    expect(existsSync(fileOf(baseId))).toBe(true)
    expect(existsSync(fileOf(otherId))).toBe(false)
    await expectMove(0, toFile(), 'has its records in SQLite files already')
    await expectMove(1, toSchema(), '--remove-source')
    await expectMove(1, ['--to', 'sqlite'], 'The former data of base')
    // The former home is in nobody's way: servers run on while it is removed.
    const api = await start()
    await expectMove(0, [...toFile(), '--remove-source'], 'Removed the former data')
    expect(await schemas()).toEqual(others)
    expect((await api.records.count.query({ selection: { tableId: tasksId } })).count).toBeGreaterThan(0)
    await stop()
    await expectMove(1, ['--to', 'sqlite'], `--to postgres --base ${baseId}`)
  })

  test('names a cell that cannot be moved, keeps servers away, and is cancelled', async () => {
    const file = new Database(fileOf(baseId))
    const qty = (value: string) => file.run(`update "Tasks" set "Qty" = ${value} where id = 1`)
    qty(`'no number'`)
    await expectMove(1, toSchema(), 'Qty is "no number", which is no integer')
    expect((await place.refusalOf('postgres')).output).toContain(`sheaf move --to postgres --base ${baseId}`)
    await expectMove(1, ['--to', 'postgres', '--base', otherId], `--to postgres --base ${baseId}`)
    await expectMove(1, ['--to', 'sqlite'], 'is being moved')
    await expectMove(1, [...toFile(), '--cancel'], 'no unfinished move')
    await expectMove(0, [...toSchema(), '--cancel'], 'Cancelled')
    expect(await schemas()).not.toContain(`nc_${baseId}`)
    qty('2')
    file.close()
    const api = await start()
    expect((await api.records.count.query({ selection: { tableId: tasksId } })).count).toBeGreaterThan(0)
  })

  test('moves it back, together with one that is there already', async () => {
    await moveAndCompare([...toSchema(), '--base', otherId], readFile)
    await expectMove(1, toFile(), 'The former data of base')
    await expectMove(0, [...toSchema(), '--remove-source'], 'Removed the former data')
    expect(existsSync(fileOf(baseId))).toBe(false)
    expect(await schemas()).toContain(`nc_${baseId}`)
  })
})
