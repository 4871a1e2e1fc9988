import { Database } from 'bun:sqlite'

import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test'
import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { doorOf, ended } from '../imports/support.ts'
import { EVERY_TYPE, STORED_VALUES } from '../records/every-type.ts'
import { type Bench, createBench, type TestTable } from '../records/support.ts'
import { createDatabase, type TestDatabase } from '../support/servers.ts'
import {
  BACKUP_TIMEOUT_MS,
  backupIn,
  enter,
  fill as fillPlace,
  openPlace,
  type Place,
  settingsOf,
} from './support.ts'

setDefaultTimeout(BACKUP_TIMEOUT_MS)

const HOMES = ['sqlite', 'postgres'] as const
type Home = (typeof HOMES)[number]

interface Filled {
  bench: Bench
  orders: TestTable
  customers: TestTable
  backupId: string
  place: string
}

const folder = mkdtempSync(join(tmpdir(), 'sheaf-places-'))
const filled = {} as Record<Home, Filled>

const { Raw: _raw, ...TYPES } = EVERY_TYPE

/** Values of each type, the awkward ones among them, and what COPY escapes. */
const ROWS = Array.from({ length: 20 }, (_, row) =>
  Object.fromEntries(
    Object.keys(TYPES).map((name) => {
      const values = STORED_VALUES[name as keyof typeof TYPES]
      return [name, values[row % values.length]]
    }),
  ),
).concat([{ Title: '\\N' }, { Notes: 'a\tb\nc\\d\\N\r\n\\t é 😀' }])

async function fill(home: Home): Promise<Filled> {
  const bench = await createBench({ database: home })
  const { trpc } = bench
  const customers = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'Ada' }, { Title: 'Bea' }])
  const orders = await bench.table(TYPES, ROWS)
  const link = await trpc.schema.createField.mutate({
    tableId: orders.id,
    field: {
      title: 'Customer',
      type: 'Links',
      options: { kind: 'mm', relatedTableId: customers.id },
    } as never,
  })
  await trpc.records.write.mutate({
    change: {
      baseId: bench.baseId,
      operations: [{ kind: 'link', tableId: orders.id, fieldId: link.id, id: 1, targets: [1, 2] }],
    },
  })
  await trpc.comments.create.mutate({ tableId: orders.id, recordId: 1, text: 'Is it right?' })
  const place = join(folder, home)
  await trpc.backups.save.mutate(settingsOf(place))
  expect(await end(bench, (await trpc.backups.run.mutate()).jobId)).toMatchObject({ status: 'completed' })
  const backupId = (await trpc.backups.list.query())[0]?.id ?? ''
  return { bench, orders, customers, backupId, place }
}

beforeAll(async () => {
  for (const home of HOMES) filled[home] = await fill(home)
})
afterAll(async () => {
  for (const { bench } of Object.values(filled)) await bench.stop()
  rmSync(folder, { recursive: true, force: true })
})

const end = ({ app, owner }: Bench, jobId: string) => ended(doorOf(app, owner), jobId)

/** The cells of a table, as this server returns them. */
async function cellsOf({ trpc, rest }: Bench, baseId: string, { title }: { title: string }) {
  const found = (await trpc.schema.tables.query({ baseId })).find((table) => table.title === title)
  const { list } = (await rest.get(`/api/v2/tables/${found?.id}/records?sort=Id`)).body
  return list.map(({ CreatedAt: _created, UpdatedAt: _updated, ...cells }: Record<string, unknown>) => cells)
}

describe.each([
  ['sqlite', 'postgres'],
  ['postgres', 'sqlite'],
] as const)('restoring one base of a backup of %s into an installation on %s', (from, to) => {
  test('brings its cells, links and comments, which can be edited, undone and numbered on', async () => {
    const { bench, orders, customers, backupId, place } = filled[from]
    const there = filled[to].bench
    await there.trpc.backups.save.mutate(settingsOf(place))
    const { jobId, baseId } = await there.trpc.backups.restoreBase.mutate({
      backupId,
      baseId: bench.baseId,
      title: 'Brought',
    })
    expect(await end(there, jobId)).toMatchObject({ status: 'completed', error: null })
    // Checkboxes are numbers where they are stored as such.
    const expected = (await cellsOf(bench, bench.baseId, orders.schema.table)).map(
      (cells: Record<string, unknown>) => ({
        ...cells,
        Cb: cells.Cb === null ? null : there.app.flag(Boolean(cells.Cb)),
      }),
    )
    expect(expected).toHaveLength(ROWS.length)
    expect(await cellsOf(there, baseId, orders.schema.table)).toEqual(expected)
    expect(await cellsOf(there, baseId, customers.schema.table)).toEqual(
      await cellsOf(bench, bench.baseId, customers.schema.table),
    )
    const table = (await there.trpc.schema.tables.query({ baseId })).find(
      ({ title }) => title === orders.schema.table.title,
    )
    const path = `/api/v2/tables/${table?.id}/records`
    const comments = await there.trpc.comments.list.query({ tableId: table?.id ?? '', recordId: 1 })
    expect(JSON.stringify(comments)).toContain('Is it right?')
    expect((await there.rest.post(path, { Title: 'Next' })).body.Id).toBe(ROWS.length + 1)
    await there.trpc.records.undo.mutate({ baseId })
    expect((await there.rest.get(`${path}/count`)).body.count).toBe(ROWS.length)
    expect(existsSync(there.app.kernel.sources.path(baseId))).toBe(to === 'sqlite')
    expect(readdirSync(there.app.config.dataDir).filter((name) => name.startsWith('restore-'))).toEqual([])
  })
})

test.each(HOMES)('sheaf restore --base --file writes a base of %s as an SQLite file', async (home) => {
  const { bench, orders, customers, backupId, place: from } = filled[home]
  const place = openPlace()
  try {
    const file = place.path('shop.db')
    const args = ['restore', '--from', from, '--backup', backupId, '--base', bench.baseId, '--file', file]
    const unknown = await place.sheaf([...args.slice(0, 6), 'p0', ...args.slice(7)])
    expect(unknown).toMatchObject({ code: 1, errors: `The backup ${backupId} has no base p0\n` })
    expect(await place.sheaf(args)).toMatchObject({ code: 0, errors: '' })
    expect(readdirSync(place.folder).filter((name) => name.startsWith('shop'))).toEqual(['shop.db'])
    const database = new Database(file, { readonly: true })
    const count = ({ schema }: TestTable) =>
      database.query<{ n: number }, []>(`select count(*) as n from "${schema.table.tableName}"`).get()?.n
    expect([count(orders), count(customers)]).toEqual([ROWS.length, 2])
    expect(database.query('select * from sheaf_changes').all().length).toBeGreaterThan(0)
    database.close()
    expect((await place.sheaf(args)).errors).toContain('exists already')
  } finally {
    await place.remove()
  }
})

describe('sheaf restore of a whole installation', () => {
  let database: TestDatabase
  let place: Place
  beforeEach(async () => {
    database = await createDatabase('postgres')
    place = openPlace()
  })
  afterEach(async () => {
    await place.remove()
    await database.drop()
  })

  const inPostgres = () => ({ DATABASE_URL: database.url, DATA_DIR: place.path('postgres') })

  test('brings a backup of files into PostgreSQL, and a backup of that back into files', async () => {
    // Another program's table, of a type that no other engine has.
    await using sql = new Bun.SQL(database.url, { max: 1 })
    await sql`create table invoices (id uuid primary key)`
    const server = await place.start()
    const { rest, path, baseId } = await fillPlace(server.url, 1_500)
    await rest.delete(path, [{ Id: 3 }])
    await server.end('SIGTERM')
    backupIn(await place.sheaf(['backup', '--to', place.backups, '--with-secrets']))

    const toPostgres = await place.sheaf(['restore', '--from', place.backups], inPostgres())
    expect([toPostgres.code, toPostgres.errors]).toEqual([0, ''])
    expect(readdirSync(place.path('postgres'))).not.toContain('sheaf.db')
    const there = await place.start(place.path('postgres'), inPostgres())
    await expectSame(there.url, path, baseId, 1_501)
    await there.end('SIGTERM')

    backupIn(await place.sheaf(['backup', '--to', place.path('second'), '--with-secrets'], inPostgres()))
    const toFiles = await place.sheaf(['restore', '--from', place.path('second'), '--replace'])
    expect([toFiles.code, toFiles.errors]).toEqual([0, ''])
    const back = await place.start()
    await expectSame(back.url, path, baseId, 1_502)
    await back.end('SIGTERM')
  })

  test('changes nothing in PostgreSQL if a chunk is missing, and keeps what it replaces', async () => {
    const other = await place.start(place.path('postgres'), inPostgres())
    const { path: kept } = await fillPlace(other.url, 5)
    await other.end('SIGTERM')
    const server = await place.start()
    const { path } = await fillPlace(server.url, 10)
    await server.end('SIGTERM')
    backupIn(await place.sheaf(['backup', '--to', place.backups, '--with-secrets']))
    const refused = await place.sheaf(['restore', '--from', place.backups], inPostgres())
    expect([refused.code, refused.errors]).toEqual([1, expect.stringContaining('has data already')])
    renameSync(join(place.backups, 'packs'), join(place.backups, 'away'))
    const damaged = await place.sheaf(['restore', '--from', place.backups, '--replace'], inPostgres())
    expect([damaged.code, damaged.errors]).toEqual([1, expect.stringContaining('cannot be restored')])
    const unchanged = await place.start(place.path('postgres'), inPostgres())
    expect((await (await enter(unchanged.url)).rest.get(`${kept}/count`)).body.count).toBe(5)
    await unchanged.end('SIGTERM')
    renameSync(join(place.backups, 'away'), join(place.backups, 'packs'))
    const restored = await place.sheaf(['restore', '--from', place.backups, '--replace'], inPostgres())
    expect([restored.code, restored.errors]).toEqual([0, ''])
    expect(restored.output).toContain('The former tables are in the schemas sheaf_replaced_')
    const there = await place.start(place.path('postgres'), inPostgres())
    expect((await (await enter(there.url)).rest.get(`${path}/count`)).body.count).toBe(10)
    await there.end('SIGTERM')
  })

  /** The records, their trash and their numbering are there. */
  async function expectSame(url: string, path: string, baseId: string, nextId: number): Promise<void> {
    const { rest, trpc } = await enter(url)
    expect((await rest.get(`${path}/count`)).body.count).toBe(1_499)
    expect((await rest.get(`${path}/1500`)).body).toMatchObject({ Name: 'Order 1499', Qty: 1_499 })
    await trpc.records.undo.mutate({ baseId })
    expect((await rest.get(`${path}/3`)).body).toMatchObject({ Name: 'Order 2' })
    await trpc.records.redo.mutate({ baseId })
    const { Id } = (await rest.post(path, { Name: 'Next' })).body
    expect(Id).toBe(nextId)
    await trpc.records.undo.mutate({ baseId })
  }
})
