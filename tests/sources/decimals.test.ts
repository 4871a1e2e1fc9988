import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Bench, createBench } from '../records/support.ts'
import { connect, createForeign } from './support.ts'

const AMOUNTS = [10.1, 20.22, 30.33, 30.12, 0.1, 0.2]
const LONG = '9007199254740993'

const TABLES = (kind: string) => [
  'create table customer (id integer primary key, name varchar(20))',
  `create table payment (id integer primary key, name varchar(20), customer_id integer references customer (id),
    amount ${kind === 'postgres' ? 'numeric' : 'decimal(20,4)'}, price ${kind === 'sqlite' ? 'real' : 'double precision'}, big bigint,
    precise ${kind === 'mariadb' ? 'decimal(40,20)' : 'numeric'}, stamp ${kind === 'mariadb' ? 'datetime(6)' : 'timestamp'})`,
  "insert into customer values (1, 'Ann'), (2, 'Bob')",
  ...AMOUNTS.map(
    (amount, index) =>
      `insert into payment values (${index + 1}, 'p${index + 1}', ${index < 4 ? 1 : 2}, ${amount}, ${amount}, ${BigInt(LONG) + BigInt(index)}, ${amount}, '2024-01-0${index + 1} 10:00:00.123456')`,
  ),
  ...(kind === 'sqlite' ? [] : ['update payment set precise = 3.14159265358979323846 where id = 1']),
  ...(kind === 'postgres'
    ? [
        'create view total as select customer_id, sum(amount) as sum, avg(amount) as mean from payment group by customer_id',
      ]
    : []),
]

describe.each(['postgres', 'mariadb', 'sqlite'] as const)('numbers of %s', (kind) => {
  let bench: Bench
  let ask: (statement: string) => Promise<Record<string, unknown>[]>
  let stop: () => Promise<void>
  const ids = new Map<string, string>()

  beforeAll(async () => {
    bench = await createBench()
    if (kind === 'sqlite') {
      const folder = join(bench.app.config.dataDir, 'sources')
      mkdirSync(folder, { recursive: true })
      const file = new Database(join(folder, 'numbers.db'))
      for (const statement of TABLES(kind)) file.run(statement)
      await connect(bench, { client: 'sqlite3', connection: { filename: 'numbers.db' } })
      ask = async (statement) => file.query(statement).all() as Record<string, unknown>[]
      stop = async () => file.close()
    } else {
      const foreign = await createForeign(
        kind,
        TABLES(kind).map((text) => text.replace('references customer (id)', '')),
      )
      await foreign.ask('alter table payment add foreign key (customer_id) references customer (id)')
      await connect(bench, foreign.sent)
      ask = (statement) => foreign.ask(statement)
      stop = foreign.stop
    }
    for (const table of await bench.trpc.schema.tables.query({ baseId: bench.baseId })) {
      ids.set(table.tableName, table.id)
    }
  })
  afterAll(async () => {
    await bench.stop()
    await stop()
  })

  const path = (table: string) => `/api/v2/tables/${ids.get(table)}/records`
  const list = async (table: string, query: string) => {
    const { status, body } = await bench.rest.get(`${path(table)}?limit=100&${query}`)
    if (status !== 200) throw new Error(`${query}: ${status} ${JSON.stringify(body)}`)
    return body.list as Record<string, unknown>[]
  }
  const found = async (table: string, where: string) =>
    (await list(table, `where=${where}&sort=id`)).map(({ id }) => id)
  const fieldsOf = async (table: string) =>
    (await bench.trpc.schema.table.query({ tableId: ids.get(table) ?? '' })).fields

  test('of decimal columns are added up and averaged as decimals', async () => {
    const tableId = ids.get('payment') ?? ''
    const fields = await fieldsOf('payment')
    for (const title of ['amount', 'price']) {
      const fieldId = fields.find((field) => field.title === title)!.id
      const summary = async (key: string) =>
        (
          await bench.trpc.records.summaries.query({
            selection: { tableId },
            summaries: [{ fieldId, summary: key }],
          })
        )[fieldId]
      expect([title, await summary('sum')]).toEqual([title, 91.07])
      expect([title, await summary('range')]).toEqual([title, 30.23])
      expect([title, await summary('avg')]).toEqual([title, 91.07 / 6])
      expect([title, await summary('median')]).toEqual([title, 15.16])
    }
  })

  test('of linked records are rolled up as decimals, and found by their sum', async () => {
    const { trpc } = bench
    const tableId = ids.get('customer') ?? ''
    const link = (await fieldsOf('customer')).find((field) => /Links/.test(field.type))!
    for (const title of ['amount', 'price']) {
      const target = (await fieldsOf('payment')).find((field) => field.title === title)!
      for (const name of ['sum', 'avg', 'sumDistinct', 'avgDistinct']) {
        await trpc.schema.createField.mutate({
          tableId,
          field: {
            title: `${name} ${title}`,
            type: 'Rollup',
            options: { relationFieldId: link.id, targetFieldId: target.id, function: name },
          },
        })
      }
      expect(await found('customer', `(sum ${title},eq,90.77)`)).toEqual([1])
      expect(await found('customer', `(sum ${title},eq,0.3)`)).toEqual([2])
      const [ann, bob] = await list('customer', 'sort=id')
      const both = (key: string) => [ann?.[`${key} ${title}`], bob?.[`${key} ${title}`]]
      expect([both('sum'), both('sumDistinct')]).toEqual([
        [90.77, 0.3],
        [90.77, 0.3],
      ])
      expect([both('avg'), both('avgDistinct')]).toEqual([
        [90.77 / 4, 0.15],
        [90.77 / 4, 0.15],
      ])
    }
  })

  test('without a limit of digits are numbers: sorted, compared, and written to the last digit', async () => {
    const order = (await list('payment', 'sort=amount')).map(({ amount }) => amount)
    expect(order).toEqual(AMOUNTS.toSorted((a, b) => a - b))
    expect(await found('payment', '(amount,gt,9)')).toEqual([1, 2, 3, 4])
    expect(await found('payment', '(amount,eq,30.33)')).toEqual([3])
    const field = await bench.trpc.schema.createField.mutate({
      tableId: ids.get('payment') ?? '',
      field: { title: 'twice', type: 'Formula', options: { formula: '{amount} * 2' } },
    })
    expect((await list('payment', 'sort=id')).map(({ twice }) => twice)).toEqual(
      AMOUNTS.map((amount) => amount * 2),
    )
    await bench.trpc.schema.deleteField.mutate({ fieldId: field.id })
    if (kind === 'postgres') {
      const totals = await list('total', 'sort=-sum')
      expect(totals.map(({ sum }) => sum)).toEqual([90.77, 0.3])
      expect(await list('total', 'where=(sum,eq,90.77)')).toHaveLength(1)
    }
  })

  test.if(kind !== 'sqlite')('of more digits than JavaScript has keep all of them', async () => {
    const digits = '3.14159265358979323846'
    expect((await list('payment', 'where=(id,eq,1)'))[0]?.precise).toBe(digits)
    expect(await found('payment', `(precise,eq,${digits})`)).toEqual([1])
    expect(await found('payment', '(precise,eq,3.14159265358979323847)')).toEqual([])
    expect(await found('payment', `(precise,gte,${digits})~and(precise,lt,4)`)).toEqual([1])
    const other = '-12345678901234567.00000000012'
    expect((await bench.rest.patch(path('payment'), { id: 2, precise: other })).status).toBe(200)
    const [row] = await ask(`select cast(precise as char(60)) as precise from payment where id = 2`)
    expect(String(row?.precise).trim().replace(/0+$/, '')).toBe(other)
    await bench.trpc.records.undo.mutate({ baseId: bench.baseId })
  })

  test('of eight bytes are told apart by filters', async () => {
    expect(await found('payment', `(big,eq,${LONG})`)).toEqual([1])
    expect(await found('payment', '(big,eq,9007199254740992)')).toEqual([])
    expect(await found('payment', `(big,gt,${LONG})`)).toEqual([2, 3, 4, 5, 6])
    expect(await found('payment', '(big,in,9007199254740994,9007199254740995)')).toEqual([2, 3])
    expect(await found('payment', '(big,neq,9007199254740997)')).toEqual([1, 2, 3, 4, 6])
    expect(await found('payment', '(big,gte,9007199254740994)~and(big,lte,9007199254740996)')).toEqual([
      2, 3, 4,
    ])
    expect(await found('payment', '(id,eq,99999999999999999999)')).toEqual([])
    expect(await found('payment', '(price,lt,99999999999999999999)')).toHaveLength(6)
  })

  test('and instants that are sent back as they were read stay exact', async () => {
    const before = await ask(`select cast(stamp as char(40)) as stamp from payment order by id`)
    for (const row of await list('payment', 'sort=id')) {
      const { id, stamp, big, precise, amount } = row
      const { status } = await bench.rest.patch(path('payment'), {
        id,
        stamp,
        big,
        precise,
        amount,
        name: 'x',
      })
      expect(status).toBe(200)
    }
    expect(await ask(`select cast(stamp as char(40)) as stamp from payment order by id`)).toEqual(before)
    expect(await found('payment', `(big,eq,${LONG})`)).toEqual([1])
  })
})

test.each(['postgres', 'sqlite'] as const)('infinite numbers of %s are shown and kept', async (kind) => {
  const bench = await createBench()
  const folder = join(bench.app.config.dataDir, 'sources')
  mkdirSync(folder, { recursive: true })
  const file = new Database(join(folder, 'infinite.db'))
  const make = 'create table t (id integer primary key, name varchar(20), x double precision)'
  const statements = [
    make,
    `insert into t values (1, 'a', ${kind === 'sqlite' ? '9e999' : "'Infinity'"}), (2, 'b', ${kind === 'sqlite' ? '-9e999' : "'-Infinity'"}), (3, 'c', 1)`,
  ]
  const foreign = kind === 'postgres' ? await createForeign(kind, statements) : null
  if (!foreign) for (const statement of statements) file.run(statement)
  await connect(bench, foreign?.sent ?? { client: 'sqlite3', connection: { filename: 'infinite.db' } })
  const [table] = await bench.trpc.schema.tables.query({ baseId: bench.baseId })
  const path = `/api/v2/tables/${table?.id}/records`
  const values = async () =>
    (await bench.rest.get(`${path}?sort=id`)).body.list.map(({ x }: { x: unknown }) => x)
  expect(await values()).toEqual(['Infinity', '-Infinity', 1])
  const { rows, fieldIds } = await bench.trpc.records.list.query({
    query: { tableId: table?.id ?? '', limit: 5, offset: 0 },
  })
  expect(rows.map((row) => row[fieldIds.length - 1])).toEqual(['Infinity', '-Infinity', 1])
  expect((await bench.rest.patch(path, { id: 1, x: 'Infinity', name: 'z' })).status).toBe(200)
  expect((await bench.rest.patch(path, { id: 3, x: '-Infinity' })).status).toBe(200)
  expect(await values()).toEqual(['Infinity', '-Infinity', '-Infinity'])
  expect((await bench.rest.patch(path, { id: 1, x: 2 })).status).toBe(200)
  await bench.trpc.records.undo.mutate({ baseId: bench.baseId })
  expect(await values()).toEqual(['Infinity', '-Infinity', '-Infinity'])
  expect((await bench.rest.get(`${path}?where=(x,gt,5)`)).body.list).toHaveLength(1)
  file.close()
  await bench.stop()
  await foreign?.stop()
})
