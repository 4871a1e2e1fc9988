import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Bench, createBench } from '../records/support.ts'
import { createBase } from '../support/factories.ts'
import { connect, createForeign } from './support.ts'

let main: Bench
beforeAll(async () => {
  main = await createBench()
})
afterAll(() => main.stop())

/** A base of its own that is connected to what the statements make. */
async function connected(kind: 'postgres' | 'mariadb', statements: string[]) {
  const foreign = await createForeign(kind, statements)
  const { id: baseId } = await createBase(main.app, main.owner)
  const bench = { ...main, baseId }
  await connect(bench, foreign.sent)
  return { foreign, bench, paths: await pathsOf(bench) }
}

async function pathsOf({ trpc, baseId }: Bench): Promise<Record<string, string>> {
  const tables = await trpc.schema.tables.query({ baseId })
  return Object.fromEntries(tables.map(({ tableName, id }) => [tableName, `/api/v2/tables/${id}/records`]))
}

describe('keys that are no counters', () => {
  test.each([
    ['postgres', 'create table thing (id uuid primary key default gen_random_uuid(), name text)'],
    ['mariadb', 'create table thing (id uuid primary key default uuid(), name varchar(20))'],
  ] as const)('%s: a uuid is made where none is given, and taken where one is', async (kind, statement) => {
    const { bench, foreign, paths } = await connected(kind, [statement])
    const made = await bench.rest.post(paths.thing!, { name: 'a' })
    expect([made.status, made.body]).toEqual([200, { id: expect.stringMatching(/^[0-9a-f-]{36}$/) }])
    const id = 'c0ffee00-1111-2222-3333-444444444444'
    expect((await bench.rest.post(paths.thing!, { id, name: 'b' })).body).toEqual({ id })
    expect((await bench.rest.get(`${paths.thing}/${id}`)).body).toMatchObject({ id, name: 'b' })
    await bench.rest.patch(paths.thing!, { id, name: 'c' })
    await bench.rest.delete(paths.thing!, { id: made.body.id })
    expect((await foreign.ask<{ name: string }>('select name from thing')).map(({ name }) => name)).toEqual([
      'c',
    ])
    await bench.trpc.records.undo.mutate({ baseId: bench.baseId })
    expect(await foreign.ask("select count(*) as n from thing where name = 'a'")).toHaveLength(1)
    expect((await bench.rest.get(`${paths.thing}/${made.body.id}`)).body).toMatchObject({ name: 'a' })
    await foreign.stop()
  })

  test.each([
    ['postgres', 'create table thing (code varchar(10) primary key, name text)'],
    ['mariadb', 'create table thing (code varchar(10) primary key, name text)'],
  ] as const)('%s: a text is asked for, and kept as it is written', async (kind, statement) => {
    const { bench, foreign, paths } = await connected(kind, [statement])
    const none = await bench.rest.post(paths.thing!, { name: 'x' })
    expect([none.status, none.body.error]).toEqual([422, 'REQUIRED_FIELD_MISSING'])
    expect((await bench.rest.post(paths.thing!, { code: '007', name: 'x' })).body).toEqual({ code: '007' })
    expect((await bench.rest.get(`${paths.thing}/007`)).body).toMatchObject({ code: '007', name: 'x' })
    expect((await bench.rest.patch(paths.thing!, { code: '007', name: 'y' })).status).toBe(200)
    expect(await foreign.ask('select code, name from thing')).toEqual([{ code: '007', name: 'y' }])
    const twice = await bench.rest.post(paths.thing!, { code: '007' })
    expect([twice.status, JSON.stringify(twice.body).includes('007')]).toEqual([400, true])
    await foreign.stop()
  })

  test.each([
    ['postgres', 'double precision', '0.1'],
    ['postgres', 'boolean', 'true'],
    ['mariadb', 'timestamp(3)', "'2024-03-05 10:00:00.123'"],
    ['mariadb', 'datetime', "'2024-03-05 10:00:00'"],
    ['mariadb', 'float', '0.1'],
    ['mariadb', 'tinyint(1)', '1'],
  ] as const)('%s: records by a key of the type %s are looked at only', async (kind, type, value) => {
    const { bench, foreign, paths } = await connected(kind, [
      `create table thing (k ${type} primary key, name varchar(20)); insert into thing values (${value}, 'a')`,
    ])
    const { list } = (await bench.rest.get(paths.thing!)).body
    expect(list).toMatchObject([{ name: 'a' }])
    const [table] = await bench.trpc.schema.tables.query({ baseId: bench.baseId })
    const { readOnlyReason } = await bench.trpc.schema.table.query({ tableId: table?.id ?? '' })
    expect(readOnlyReason).toContain(`primary key has type ${type}`)
    const answers = [
      await bench.rest.delete(paths.thing!, { k: list[0].k }),
      await bench.rest.patch(paths.thing!, { k: list[0].k, name: 'b' }),
      await bench.rest.post(paths.thing!, { name: 'c' }),
    ]
    // 422: such a key is none for REST, before anything else is looked at.
    for (const { status } of answers) expect([403, 422]).toContain(status)
    expect(await foreign.ask('select name from thing')).toEqual([{ name: 'a' }])
    await foreign.stop()
  })

  test.each([
    ['postgres', 'bigint generated by default as identity (start with 9007199254740993) primary key', ''],
    ['mariadb', 'bigint auto_increment primary key', 'auto_increment = 9007199254740993'],
  ] as const)(
    '%s: a counter beyond 2^53 gives exact ids, by which records are linked',
    async (kind, key, option) => {
      const { bench, foreign, paths } = await connected(kind, [
        `create table author (id ${key}, name varchar(20)) ${option}`,
        'create table book (id integer primary key, author_id bigint, foreign key (author_id) references author (id))',
        'insert into book values (1, null)',
      ])
      const ids = ['9007199254740993', '9007199254740994']
      const made = await bench.rest.post(paths.author!, [{ name: 'a' }, { name: 'b' }])
      expect(made.body.map(({ id }: { id: unknown }) => String(id))).toEqual(ids)
      const { baseId, trpc } = bench
      const tables = await trpc.schema.tables.query({ baseId })
      const linkOf = async (tableName: string) => {
        const tableId = tables.find((table) => table.tableName === tableName)?.id ?? ''
        const { fields } = await trpc.schema.table.query({ tableId })
        const fieldId = fields.find(({ type }) => /Link/.test(type))?.id ?? ''
        return { tableId, fieldId }
      }
      const link = async (from: string, id: string | number, targets: (string | number)[]) =>
        trpc.records.write.mutate({
          change: { baseId, operations: [{ kind: 'link', ...(await linkOf(from)), id, targets }] },
        })
      const text = kind === 'postgres' ? 'author_id::text' : 'cast(author_id as char)'
      const linked = async () => (await foreign.ask(`select ${text} as author from book`))[0]?.author
      await link('book', 1, [ids[0]!])
      expect(await linked()).toBe(ids[0]!)
      await link('author', ids[1]!, [1])
      expect(await linked()).toBe(ids[1]!)
      for (let change = 0; change < 3; change++) await trpc.records.undo.mutate({ baseId })
      expect(await foreign.ask('select name from author')).toEqual([])
      await foreign.stop()
    },
  )

  test('numbers of eight bytes and those that only the database gives', async () => {
    const { bench, foreign, paths } = await connected('postgres', [
      `create table big (id bigint primary key, name text);
       create table own (id integer generated always as identity primary key, name text);
       insert into big values (9223372036854775807, 'x')`,
    ])
    const id = '9223372036854775807'
    expect((await bench.rest.get(paths.big!)).body.list).toMatchObject([{ id, name: 'x' }])
    await bench.rest.patch(paths.big!, { id, name: 'y' })
    expect(await foreign.ask('select name from big')).toEqual([{ name: 'y' }])
    await bench.rest.post(paths.own!, { name: 'a' })
    await bench.rest.delete(paths.own!, { id: 1 })
    await bench.trpc.records.undo.mutate({ baseId: bench.baseId })
    expect(await foreign.ask('select id, name from own')).toEqual([{ id: 1, name: 'a' }])
    await foreign.stop()
  })
})

describe('an SQLite file', () => {
  test('is read and written like any other database', async () => {
    const folder = join(main.app.config.dataDir, 'sources')
    mkdirSync(folder, { recursive: true })
    const file = new Database(join(folder, 'shop.db'))
    file.run('pragma journal_mode = wal')
    file.run(`create table customer (id integer primary key, name varchar(20) not null, raw blob, any_thing)`)
    file.run(
      `create table purchase (id integer primary key, customer_id integer references customer, total real, at integer, code varchar(2))`,
    )
    file.run(`insert into customer values (1, 'Ann', x'00ff', 12), (2, 'Bob', null, '12')`)
    const { id: baseId } = await createBase(main.app, main.owner)
    const bench = { ...main, baseId }
    await connect(bench, { client: 'sqlite3', connection: { filename: 'shop.db' } })
    const paths = await pathsOf(bench)
    expect((await bench.rest.get(paths.customer!)).body.list).toMatchObject([
      { id: 1, name: 'Ann', raw: '0x00ff' },
      { id: 2, name: 'Bob', raw: null },
    ])
    expect((await bench.rest.post(paths.purchase!, { customer_id: 1, total: 9.5 })).body).toEqual({ id: 1 })
    expect((await bench.rest.get(paths.purchase!)).body.list).toMatchObject([
      { customer: { id: 1, name: 'Ann' } },
    ])
    // Whatever a column's type says, SQLite keeps numbers of up to eight bytes and texts of any length.
    const large = { id: 1, at: 1_700_000_000_000, code: 'longer' }
    expect((await bench.rest.patch(paths.purchase!, large)).status).toBe(200)
    expect(file.query('select id, at, code from purchase').all()).toEqual([large])
    await bench.rest.delete(paths.purchase!, { id: 1 })
    await bench.rest.delete(paths.customer!, [{ id: 1 }, { id: 2 }])
    expect(file.query('select count(*) as n from customer').get()).toEqual({ n: 0 })
    await bench.trpc.records.undo.mutate({ baseId })
    expect(
      file.query('select id, name, hex(raw) as raw, typeof(any_thing) as kind from customer').all(),
    ).toEqual([
      { id: 1, name: 'Ann', raw: '00FF', kind: 'integer' },
      { id: 2, name: 'Bob', raw: '', kind: 'text' },
    ])
    file.close()
  })
})

describe.each(['postgres', 'mariadb', 'sqlite'] as const)(
  'texts in a key of several columns of %s',
  (kind) => {
    /** Parts that hold the separator, begin or end with its sign, or hold the escape sign. */
    const PARTS = ['a', 'a___b', 'a_', '_a', '__', '___', 'a~_b', '~', '~~', 'x|_y', 'one_two', 'ü___ß']
    const pairs = PARTS.flatMap((a) => PARTS.map((b) => [a, b] as const))
    let bench: Bench
    let tableId: string
    let stop = async () => {}

    beforeAll(async () => {
      const { id: baseId } = await createBase(main.app, main.owner)
      bench = { ...main, baseId }
      const text =
        kind === 'mariadb' ? 'varchar(20) character set utf8mb4 collate utf8mb4_bin' : 'varchar(20)'
      const statements = [
        `create table pair (a ${text} not null, b ${text} not null, note varchar(20), primary key (a, b))`,
        `insert into pair (a, b) values ${pairs.map(([a, b]) => `('${a}', '${b}')`).join(', ')}`,
      ]
      if (kind === 'sqlite') {
        const folder = join(main.app.config.dataDir, 'sources')
        mkdirSync(folder, { recursive: true })
        const file = new Database(join(folder, 'pairs.db'))
        for (const statement of statements) file.run(statement)
        file.close()
        await connect(bench, { client: 'sqlite3', connection: { filename: 'pairs.db' } })
      } else {
        const foreign = await createForeign(kind, statements)
        stop = foreign.stop
        await connect(bench, foreign.sent)
      }
      const [table] = await bench.trpc.schema.tables.query({ baseId })
      tableId = table?.id ?? ''
    })
    afterAll(() => stop())

    const path = () => `/api/v2/tables/${tableId}/records`
    const read = async () =>
      (await bench.rest.get(`${path()}?limit=1000`)).body.list as Record<string, string>[]

    test('tell all records apart, and name each in every call', async () => {
      const { ids } = await bench.trpc.records.list.query({ query: { tableId, limit: 1000, offset: 0 } })
      expect(new Set(ids).size).toBe(pairs.length)
      expect(ids).toContain('a___a')
      expect(ids).toContain('one_two___one_two')
      for (const id of ids) {
        const answer = await bench.rest.get(`${path()}/${encodeURIComponent(String(id))}`)
        expect([id, answer.status]).toEqual([id, 200])
      }
      expect((await bench.rest.patch(path(), { a: 'a___b', b: '_a', note: 'x' })).status).toBe(200)
      expect((await read()).filter(({ note }) => note === 'x')).toMatchObject([{ a: 'a___b', b: '_a' }])
      expect((await bench.rest.delete(path(), { a: 'a_', b: '___' })).status).toBe(200)
      expect((await read()).some(({ a, b }) => a === 'a_' && b === '___')).toBe(false)
      await bench.trpc.records.undo.mutate({ baseId: bench.baseId })
      expect((await read()).some(({ a, b }) => a === 'a_' && b === '___')).toBe(true)
      expect((await bench.rest.post(path(), { a: '_n_', b: '___n' })).status).toBe(200)
      const v1 = `/api/v1/db/data/noco/${bench.baseId}/${tableId}/${encodeURIComponent('~_n~____~_~_~_n')}`
      expect((await bench.rest.get(v1)).body).toMatchObject({ a: '_n_', b: '___n' })
      expect((await bench.rest.delete(v1)).status).toBe(200)
      expect(await read()).toHaveLength(pairs.length)
    })
  },
)
