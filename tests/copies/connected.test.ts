import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { UserActor } from '../../src/core/actor.ts'
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
    check (price >= 0), unique (name), foreign key (maker_id) references makers (id) on delete cascade)`,
  'create index items_by_price on items (price, name)',
  `insert into makers (name) values ('Acme')`,
  `insert into items (name, price, maker_id) values ('a', 2.25, 1), ('b', 3, null), ('it''s "c"', 1, 1)`,
  'create view dear as select * from items',
  `create table staff (id integer primary key, name ${text} not null default 'references staff (id)', boss_id integer,
    foreign key (boss_id) references /* its own */ ${quote('staff', id)} (id))`,
  `insert into staff (id, name, boss_id) values (1, 'Ann', null), (2, 'Bob', 1)`,
]

/** A name in quotes where the database keeps them in its definition of a table, SQLite. */
const quote = (name: string, id: string) => (id.includes('autoincrement') ? `[${name.toUpperCase()}]` : name)

const TRIGGER: Record<string, string[]> = {
  postgres: [
    'create function keep() returns trigger language plpgsql as $$ begin return new; end $$',
    'create trigger kept before insert on items for each row execute function keep()',
  ],
  mariadb: ['create trigger kept before insert on items for each row set new.price = new.price'],
  sqlite: ['create trigger kept before insert on items begin select 1; end'],
}

const PLACES: Record<string, (bench: Bench) => Promise<Place>> = {
  postgres: () =>
    createForeign('postgres', [
      ...TABLES('integer generated always as identity primary key', 'varchar(100)'),
      ...(TRIGGER.postgres ?? []),
    ]),
  mariadb: () =>
    createForeign('mariadb', [
      ...TABLES('integer auto_increment primary key', 'varchar(100)'),
      ...(TRIGGER.mariadb ?? []),
    ]),
  sqlite: async (bench) => {
    const folder = join(bench.app.kernel.config.dataDir, 'sources')
    mkdirSync(folder, { recursive: true })
    const file = new Database(join(folder, 'shop.db'), { create: true })
    for (const statement of [
      ...TABLES('integer primary key autoincrement', 'text'),
      ...(TRIGGER.sqlite ?? []),
    ])
      file.run(statement)
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
  async function duplicate(options: object = {}, title = 'items') {
    const started = await bench.trpc.copies.table.mutate({ tableId: await titled(title), options })
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

  test('creates a table there with the same rows, keys, defaults, indexes and references', async () => {
    const original = await open(await titled('items'))
    await bench.trpc.views.create.mutate({ tableId: original.id, title: 'Cards', kind: 'gallery' })
    const { job, tableId } = await duplicate()
    const notCopied = [{ kind: 'trigger', name: 'kept' }]
    expect(job).toMatchObject({ status: 'completed', error: null, result: { id: tableId, notCopied } })
    const copy = await open(tableId)
    const { tableName } = copy.schema.table
    expect(await place.ask(INDEXED[kind]!(tableName))).toHaveLength(2)
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
    // The synchronization offers the reference of the copy as a link.
    const differences = await bench.trpc.schema.differences.query({ baseId: bench.baseId, sourceId })
    expect(differences.map((each) => each.kind)).toEqual(['relation.add'])
    // Its rows go with those that they refer to.
    if (kind === 'sqlite') await place.ask('pragma foreign_keys = on')
    await place.ask('delete from makers')
    expect(await place.ask(`select name from ${tableName} where maker_id is not null`)).toEqual([])
    await place.ask(`insert into makers (name) values ('Bolt')`)
  })

  test('creates a table that refers to itself where the original does', async () => {
    const { job, tableId } = await duplicate({}, 'staff')
    expect([job.status, job.error]).toEqual(['completed', null])
    const { tableName } = (await open(tableId)).schema.table
    if (kind === 'sqlite') await place.ask('pragma foreign_keys = on')
    await place.ask('delete from staff where id = 2')
    await place.ask('delete from staff')
    expect(await place.ask(`select name from ${tableName} where boss_id = 1`)).toEqual([{ name: 'Bob' }])
    await place.ask(`insert into ${tableName} (id, boss_id) values (3, 2)`)
    expect(await place.ask(`select name from ${tableName} where id = 3`)).toEqual([
      { name: 'references staff (id)' },
    ])
    await place.ask(`insert into staff (id, name) values (99, 'Cid')`)
    await expect(place.ask(`insert into ${tableName} (id, boss_id) values (4, 99)`)).rejects.toThrow()
  })

  test('leaves out the rows on request, and takes a free name', async () => {
    const { tableId } = await duplicate({ withData: false })
    const again = await duplicate({ withData: false })
    expect((await (await open(tableId)).list()).length).toBe(0)
    expect((await open(again.tableId)).schema.table.tableName).not.toBe(
      (await open(tableId)).schema.table.tableName,
    )
  })

  describe('that was cut off', () => {
    const asked = async (name: string) => ({
      tableId: await titled('items'),
      newTableId: `m${crypto.randomUUID().replaceAll('-', '').slice(0, 14)}`,
      title: name,
      name,
      withData: true,
      withViews: true,
    })
    const complete = (copy: Awaited<ReturnType<typeof asked>>) =>
      bench.app.services.schema.completeForeignCopy({ kind: 'user', id: bench.owner.id } as UserActor, copy)
    const isThere = (table: string) =>
      place.ask(`select * from ${table}`).then(
        () => true,
        () => false,
      )

    test('while it was filled is removed from the database', async () => {
      const copy = await asked('half')
      await place.ask(`create table sheaf_copy_${copy.newTableId} (a integer)`)
      expect(await complete(copy)).toBeNull()
      expect(await isThere(`sheaf_copy_${copy.newTableId}`)).toBe(false)
      expect(await titled('half')).toBe('')
    })

    test('before its definitions were stored is listed', async () => {
      const copy = await asked('whole')
      await place.ask(LIKE[kind]!('whole'))
      expect(await complete(copy)).toMatchObject({ id: copy.newTableId })
      expect(await titled('whole')).toBe(copy.newTableId)
      expect((await (await open(copy.newTableId)).list()).length).toBe(0)
    })

    test('leaves a table alone that another program has made', async () => {
      const copy = await asked('other')
      await place.ask('create table other (a integer primary key)')
      expect(await complete(copy)).toBeNull()
      expect([await isThere('other'), await titled('other')]).toEqual([true, ''])
    })
  })
})

/** Reads the indexes and unique keys of a table beside its primary key, by name. */
const INDEXED: Record<string, (table: string) => string> = {
  postgres: (table) =>
    `select indexrelid::regclass::text as name from pg_index where indrelid = '${table}'::regclass and not indisprimary`,
  mariadb: (table) =>
    `select distinct index_name as name from information_schema.statistics where table_schema = database()
      and table_name = '${table}' and index_name <> 'PRIMARY' and column_name <> 'maker_id'`,
  sqlite: (table) => `select name from pragma_index_list('${table}')`,
}

/** Creates an empty table like the original. */
const LIKE: Record<string, (table: string) => string> = {
  postgres: (table) => `create table ${table} (like items including all)`,
  mariadb: (table) => `create table ${table} like items`,
  sqlite: (table) =>
    `create table ${table} (id integer primary key, name text not null, price decimal(10,2) not null default 1.50, maker_id integer)`,
}
