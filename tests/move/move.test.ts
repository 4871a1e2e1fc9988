import { Database } from 'bun:sqlite'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import type { ServerProcess } from '../imports/server-process.ts'
import { EVERY_TYPE, STORED_VALUES } from '../records/every-type.ts'
import { PASSWORD } from '../support/app.ts'
import { createTrpcClient } from '../support/client.ts'
import { fillFolder, type Kept } from '../support/kept-folder.ts'
import { type Engine, openPlace, type Place, snapshot } from './support.ts'

describe('sheaf move', () => {
  let place: Place
  let kept: Kept
  let baseId: string
  let everyTypeId: string
  let titleId: string
  const running: ServerProcess[] = []
  const start = async (on: Engine): Promise<ServerProcess> => {
    const server = await place.start(on)
    running.push(server)
    return server
  }
  afterEach(async () => {
    await Promise.all(running.splice(0).map((server) => server.end('SIGKILL')))
  })
  const signIn = async (server: ServerProcess) => {
    const { token } = await createTrpcClient(server.url).auth.signIn.mutate({
      email: kept.email,
      password: PASSWORD,
    })
    return createTrpcClient(server.url, token)
  }
  beforeAll(async () => {
    place = await openPlace()
    const server = await start('sqlite')
    kept = await fillFolder(server.url)
    const api = await signIn(server)
    baseId = (await api.bases.create.mutate({ title: 'Types' })).id
    const { table, fields } = await api.schema.createTable.mutate({
      baseId,
      title: 'Every type',
      fields: Object.entries(EVERY_TYPE).map(([title, spec]) => ({
        title,
        ...(typeof spec === 'string' ? { type: spec } : spec),
      })) as never,
    })
    everyTypeId = table.id
    titleId = fields.find(({ title }) => title === 'Title')?.id ?? ''
    const longest = Math.max(...Object.values(STORED_VALUES).map((values) => values.length))
    for (let row = 0; row < longest; row++) {
      const values: Record<string, CellValue> = {}
      for (const { id, title } of fields) {
        const known = STORED_VALUES[title as keyof typeof EVERY_TYPE]
        if (known) values[id] = known[row % known.length] ?? null
      }
      await api.records.write.mutate({
        change: { baseId, operations: [{ kind: 'insert', tableId: everyTypeId, rows: [{ values }] }] },
      })
    }
    await server.end('SIGTERM')
  })
  afterAll(() => place.remove())

  test('refuses unknown arguments and a missing target, and changes nothing', async () => {
    for (const [code, args, message] of [
      [2, [], '--to postgres or --to sqlite'],
      [2, ['--to', 'oracle'], '--to postgres or --to sqlite'],
      [2, ['--to', 'postgres', '--bases'], '--bases'],
      [2, ['--to', 'postgres', '--cancel', '--remove-source'], 'exclude each other'],
      [1, ['--to', 'postgres', '--cancel'], 'no unfinished move'],
      [1, ['--to', 'postgres', '--remove-source'], 'not the source of a completed move'],
      [1, ['--to', 'sqlite'], 'data already'],
    ] as const) {
      const { exitCode, output } = await place.move([...args])
      expect([exitCode, output]).toEqual([code, expect.stringContaining(message)])
    }
    const help = await place.move(['--help'])
    expect([help.exitCode, help.output]).toEqual([0, expect.stringContaining('--remove-source')])
  })

  test('refuses while a server runs on the source or on the target', async () => {
    const onFiles = await start('sqlite')
    const refused = await place.move(['--to', 'postgres'])
    expect([refused.exitCode, refused.output]).toEqual([
      1,
      expect.stringContaining('already using the data folder'),
    ])
    await onFiles.end('SIGTERM')
    const onDatabase = await start('postgres')
    const again = await place.move(['--to', 'postgres'])
    expect([again.exitCode, again.output]).toEqual([1, expect.stringContaining('stop all servers first')])
    await onDatabase.end('SIGTERM')
    await (await place.move(['--to', 'postgres', '--cancel'])).exitCode
    await (await start('sqlite')).end('SIGTERM')
  })

  /** Moves and checks that all is the same, and that undo and redo still work. */
  async function moveAndCompare(from: Engine, to: Engine): Promise<void> {
    const before = await start(from)
    const writer = await signIn(before)
    for (const text of ['first', 'second']) {
      const rows = [{ id: 3, values: { [titleId]: text } }]
      await writer.records.write.mutate({
        change: { baseId, operations: [{ kind: 'update', tableId: everyTypeId, rows }] },
      })
    }
    const expected = await snapshot(writer)
    await before.end('SIGTERM')
    const { exitCode, output } = await place.move(['--to', to])
    expect([exitCode, output]).toEqual([0, expect.stringContaining('every cell compared')])

    const refused = await place.refusalOf(from)
    expect([refused.exitCode, refused.output]).toEqual([1, expect.stringContaining('was moved to')])
    const after = await start(to)
    const api = await signIn(after)
    expect(await snapshot(api)).toEqual(expected)

    const title = async () => {
      const query = { tableId: everyTypeId, fieldIds: [titleId], limit: 3, offset: 0 }
      return (await api.records.list.query({ query })).rows[2]?.[0]
    }
    expect(await title()).toBe('second')
    await api.records.undo.mutate({ baseId })
    expect(await title()).toBe('first')
    await api.records.redo.mutate({ baseId })
    expect(await title()).toBe('second')

    // New records and log entries continue the numbers of the old ones.
    const { records, id } = await api.records.write.mutate({
      change: { baseId, operations: [{ kind: 'insert', tableId: everyTypeId, rows: [{ values: {} }] }] },
    })
    const { entries } = await api.records.history.query({ tableId: everyTypeId, recordId: 3 })
    expect(id).toBeGreaterThan(Math.max(...entries.map((entry) => entry.id)))
    const query = { tableId: everyTypeId, fieldIds: [titleId], limit: 1000, offset: 0 }
    expect(Number(records[0]?.recordId)).toBe((await api.records.list.query({ query })).rows.length)

    // What was in the trash before the move comes back: a field with its values, a record with its links.
    const base = (await api.bases.list.query()).find((each) => each.title === kept.baseTitle)
    const tables = await api.schema.tables.query({ baseId: base?.id ?? '' })
    const kinds = tables.find((table) => table.title === 'Kinds')
    const typeOf = async () =>
      (await api.schema.table.query({ tableId: kinds?.id ?? '' })).fields.find(
        (field) => field.title === 'Dec',
      )?.type
    expect(await typeOf()).toBe('SingleLineText')
    await api.records.undo.mutate({ baseId: base?.id ?? '' })
    expect(await typeOf()).toBe('Decimal')
    await api.records.redo.mutate({ baseId: base?.id ?? '' })
    // A column with an index of its own can be dropped and made unique: the names are those of the engine.
    const number = await api.schema.createField.mutate({
      tableId: everyTypeId,
      field: { title: `N${to}`, type: 'Number', unique: true } as never,
    })
    await api.schema.deleteField.mutate({ fieldId: number.id })
    await after.end('SIGTERM')
  }

  test('moves everything from files to PostgreSQL, keeps the files, and removes them when told', async () => {
    await moveAndCompare('sqlite', 'postgres')
    const files = () => readdirSync(join(place.dataDir, 'bases')).filter((name) => name.endsWith('.db'))
    expect(files().length).toBeGreaterThan(2)
    const again = await place.move(['--to', 'postgres'])
    expect([again.exitCode, again.output]).toEqual([0, expect.stringContaining('had been moved already')])
    const early = await place.move(['--to', 'sqlite'])
    expect([early.exitCode, early.output]).toEqual([1, expect.stringContaining('--remove-source')])
    expect((await place.move(['--to', 'postgres', '--remove-source'])).exitCode).toBe(0)
    expect(files()).toEqual([])
  })

  test('moves everything back', async () => {
    await moveAndCompare('postgres', 'sqlite')
    expect((await place.move(['--to', 'sqlite', '--remove-source'])).exitCode).toBe(0)
    await using sql = new Bun.SQL(place.database.url, { max: 1 })
    const left = await sql`select relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where relkind = 'r' and (nspname = 'public' or nspname like 'nc_%')`
    expect([...left]).toEqual([])
  })

  test('leaves the tables of other programs in the database alone', async () => {
    const other = await openPlace()
    try {
      await using sql = new Bun.SQL(other.database.url, { max: 1 })
      await sql.unsafe('create table invoices (id uuid primary key, name varchar(40))')
      await sql.unsafe('create table notes (id integer primary key, note text)')
      const server = await other.start('postgres')
      const { token } = await createTrpcClient(server.url).auth.signUp.mutate({
        email: 'ann@example.com',
        password: PASSWORD,
      })
      await createTrpcClient(server.url, token).bases.create.mutate({ title: 'B' })
      await server.end('SIGTERM')
      const { exitCode, output } = await other.move(['--to', 'sqlite'])
      expect([exitCode, output]).toEqual([0, expect.stringContaining('every cell compared')])
      expect((await other.move(['--to', 'sqlite', '--remove-source'])).exitCode).toBe(0)
      const left = await sql`select relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where relkind = 'r' and (nspname = 'public' or nspname like 'nc\\_%') order by relname`
      expect([...left]).toEqual([{ relname: 'invoices' }, { relname: 'notes' }])
    } finally {
      await other.remove()
    }
  })

  test('names a cell that cannot be moved, and is cancelled', async () => {
    const path = join(place.dataDir, 'bases', `${baseId}.db`)
    const file = new Database(path)
    const [table] = file
      .query<{ name: string }, []>(
        `select name from sqlite_schema where name like 'Every%' and type = 'table'`,
      )
      .all()
    const set = (value: string) => file.run(`update "${table?.name}" set "Num" = ${value} where id = 2`)
    set(`'no number'`)
    const { exitCode, output } = await place.move(['--to', 'postgres'])
    expect([exitCode, output]).toEqual([
      1,
      expect.stringContaining('Num is "no number", which is no integer'),
    ])
    for (const engine of ['sqlite', 'postgres'] as const) {
      const refused = await place.refusalOf(engine)
      expect([refused.exitCode, refused.output]).toEqual([1, expect.stringContaining('sheaf move --cancel')])
    }
    expect((await place.move(['--to', 'postgres', '--cancel'])).exitCode).toBe(0)
    set('0')
    file.close()
    await (await start('sqlite')).end('SIGTERM')
  })

  test('finds a cell that was changed in the copy before the move ended', async () => {
    const other = await openPlace()
    try {
      const server = await other.start('sqlite')
      const { token } = await createTrpcClient(server.url).auth.signUp.mutate({
        email: 'ann@example.com',
        password: PASSWORD,
      })
      const api = createTrpcClient(server.url, token)
      const { id } = await api.bases.create.mutate({ title: 'B' })
      const { table } = await api.schema.createTable.mutate({ baseId: id, title: 'T' })
      const rows = [{ values: {} }, { values: {} }]
      await api.records.write.mutate({
        change: { baseId: id, operations: [{ kind: 'insert', tableId: table.id, rows }] },
      })
      await server.end('SIGTERM')
      // An interrupted move: everything is copied, but the metadata cannot be written yet.
      const meta = new Database(join(other.dataDir, 'sheaf.db'))
      meta.run(`update settings set value = 'no json'`)
      meta.run(`insert into settings (key, value) values ('broken', 'no json') on conflict do nothing`)
      expect((await other.move(['--to', 'postgres'])).exitCode).toBe(1)
      await using sql = new Bun.SQL(other.database.url, { max: 1 })
      await sql.unsafe(`update "nc_${id}"."${table.tableName}" set "Title" = 'forged' where id = 2`)
      const { exitCode, output } = await other.move(['--to', 'postgres'])
      expect([exitCode, output]).toEqual([1, expect.stringMatching(/Title of row 2 is null .* but "forged"/)])
      meta.close()
    } finally {
      await other.remove()
    }
  })
})
