import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { doorOf, ended } from '../imports/support.ts'
import { type Bench, createBench, refusalOf, type TestTable, testTable } from '../records/support.ts'
import { connect, createForeign, type ForeignDatabase } from '../sources/support.ts'

/** A connected database with a table, one that refers to it, and a view. */
interface Place {
  sent: ForeignDatabase['sent']
  ask<T = Record<string, unknown>>(statement: string): Promise<T[]>
  stop(): Promise<void>
}

const TABLES = (id: string, text: string) => [
  `create table makers (id ${id}, name ${text} not null)`,
  `create table items (id ${id}, name ${text} not null, price decimal(10,2) not null default 1.50, maker_id integer,
    check (price >= 0), unique (name), foreign key (maker_id) references makers (id))`,
  `insert into makers (name) values ('Acme')`,
  `insert into items (name, price, maker_id) values ('a', 2.25, 1), ('b', 3, null), ('it''s "c"', 1, 1)`,
  'create view dear as select * from items',
]

const PLACES: Record<string, (bench: Bench) => Promise<Place>> = {
  postgres: () =>
    createForeign('postgres', TABLES('integer generated always as identity primary key', 'varchar(100)')),
  mariadb: () => createForeign('mariadb', TABLES('integer auto_increment primary key', 'varchar(100)')),
  sqlite: async (bench) => {
    const folder = join(bench.app.kernel.config.dataDir, 'sources')
    mkdirSync(folder, { recursive: true })
    const file = new Database(join(folder, 'shop.db'), { create: true })
    for (const statement of TABLES('integer primary key autoincrement', 'text')) file.run(statement)
    return {
      sent: { client: 'sqlite3', connection: { filename: 'shop.db' } },
      ask: async <T>(statement: string) => file.query(statement).all() as T[],
      stop: async () => file.close(),
    }
  },
}

describe.each(Object.keys(PLACES))('duplicating a table of a connected database in %s', (kind) => {
  let bench: Bench
  let place: Place
  let sourceId: string

  beforeAll(async () => {
    bench = await createBench()
    place = await PLACES[kind]!(bench)
    sourceId = await connect(bench, place.sent)
  })
  afterAll(async () => {
    await place?.stop()
    await bench?.stop()
  })

  const titled = async (title: string) =>
    (await bench.trpc.schema.tables.query({ baseId: bench.baseId })).find(
      (table) => table.title.toLowerCase() === title.toLowerCase(),
    )?.id ?? ''
  const open = async (tableId: string): Promise<TestTable> =>
    testTable(bench.rest, await bench.trpc.schema.table.query({ tableId }))
  async function duplicate(options: object = {}) {
    const started = await bench.trpc.copies.table.mutate({ tableId: await titled('items'), options })
    return { ...started, job: await ended(doorOf(bench.app, bench.owner), started.jobId) }
  }

  test('is refused for views and read-only sources, and changes nothing', async () => {
    const before = await place.ask('select count(*) as n from items')
    const refused = (tableId: string) => refusalOf(bench.trpc.copies.table.mutate({ tableId }))
    expect(await refused(await titled('dear'))).toMatchObject({ status: 400 })
    for (const rule of [{ isSchemaReadonly: true }, { isDataReadonly: true }]) {
      await bench.trpc.sources.update.mutate({ baseId: bench.baseId, sourceId, ...rule })
      expect(await refused(await titled('items'))).toMatchObject({ status: 400 })
      const reset = Object.fromEntries(Object.keys(rule).map((key) => [key, false]))
      await bench.trpc.sources.update.mutate({ baseId: bench.baseId, sourceId, ...reset })
    }
    expect(await place.ask('select count(*) as n from items')).toEqual(before)
  })

  test('creates a table there with the same rows, keys, defaults and rules', async () => {
    const original = await open(await titled('items'))
    await bench.trpc.views.create.mutate({ tableId: original.id, title: 'Cards', kind: 'gallery' })
    const { job, tableId } = await duplicate()
    expect(job).toMatchObject({ status: 'completed', error: null, result: { id: tableId } })
    const copy = await open(tableId)
    const plain = (rows: Record<string, unknown>[]) =>
      rows.map((row) =>
        Object.fromEntries(Object.entries(row).filter(([key]) => /^(id|name|price)$/i.test(key))),
      )
    expect(plain(await copy.list())).toEqual(plain(await original.list()))
    expect(copy.schema.views.map(({ title }) => title)).toContain('Cards')
    expect(copy.schema.table.sourceId).toBe(original.schema.table.sourceId)
    // New records are numbered after the copied ones, with the defaults of the database.
    const name = copy.schema.fields.find(({ title }) => title.toLowerCase() === 'name')?.title ?? ''
    const made = await bench.rest.post(copy.path, { [name]: 'new' })
    expect(made.status).toBe(200)
    const rows = await copy.list()
    const last = rows.at(-1) ?? {}
    const valueIn = (key: string) => Object.entries(last).find(([title]) => title.toLowerCase() === key)?.[1]
    expect([Number(valueIn('id')), Number(valueIn('price'))]).toEqual([4, 1.5])
    expect((await bench.rest.post(copy.path, { [name]: 'new' })).status).toBeGreaterThanOrEqual(400)
    const [{ n = 0 } = {}] = await place.ask<{ n: number }>('select count(*) as n from items')
    expect(Number(n)).toBe(3)
    // The synchronization finds nothing new, except references where the database has copied them.
    const differences = await bench.trpc.schema.differences.query({ baseId: bench.baseId, sourceId })
    expect(differences.map((each) => each.kind)).toEqual(kind === 'sqlite' ? ['relation.add'] : [])
  })

  test('leaves out the rows on request, and takes a free name', async () => {
    const { tableId } = await duplicate({ withData: false })
    const again = await duplicate({ withData: false })
    expect((await (await open(tableId)).list()).length).toBe(0)
    expect((await open(again.tableId)).schema.table.tableName).not.toBe(
      (await open(tableId)).schema.table.tableName,
    )
  })

  test('leaves nothing in the database where it fails, or is found cut off at the next start', async () => {
    const names = async () =>
      JSON.stringify(
        (await bench.trpc.schema.tables.query({ baseId: bench.baseId })).map(({ title }) => title).toSorted(),
      )
    const before = await names()
    await place.ask('create table sheaf_copy_m00000000000000 (a integer)').catch(() => [])
    await bench.app.services.schema.dropForeignCopy({
      tableId: await titled('items'),
      newTableId: 'm00000000000000',
    })
    await expect(place.ask('select * from sheaf_copy_m00000000000000')).rejects.toThrow()
    expect(await names()).toBe(before)
  })
})
