import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type SQL, sql } from 'drizzle-orm'
import type { CellValue, StorageKind } from '../../src/core/fields/field-type.ts'
import type { Dialect, Engine, Transaction } from '../../src/dialects/dialect.ts'
import { createEvents } from '../../src/events.ts'
import { createWorks } from '../../src/works.ts'
import { ENGINES, type TestEngine } from './engines.ts'

const COLUMNS: [name: string, storage: StorageKind, values: CellValue[]][] = [
  ['n', 'integer', [null, 0, -5, 9007199254740991]],
  ['r', 'real', [null, 0.1, -2.5, 1e300]],
  ['t', 'text', [null, '', 'O\'Neil \\ "x" `y`', 'Ünï 🙂\n\t']],
  ['b', 'boolean', [null, true, false, true]],
  ['d', 'date', [null, '2024-02-29', '0987-01-02', '9999-12-31']],
  [
    'dt',
    'datetime',
    [null, '2024-02-29 12:00:00+00:00', '2024-02-29 12:00:00.250+00:00', '1001-01-01 00:00:00+00:00'],
  ],
  ['ti', 'time', [null, '00:00:00', '12:34:56', '23:59:59']],
  ['j', 'json', [null, '{"a": [1, 2]}', '"x"', '[]']],
]

/** Statements that take a minute, of servers. A file's run in a process where it is large, see `long-writes.test.ts`. */
const SLOW: Record<string, string> = { pg: 'select pg_sleep(60)', mysql2: 'select sleep(60)' }

describe.each(ENGINES)('an engine of $client', ({ client, open }) => {
  let made: TestEngine
  let engine: Engine
  let dialect: Dialect
  beforeAll(async () => {
    made = await open()
    engine = made.engine
    dialect = engine.dialect
    const plain = { required: false, defaultValue: null }
    await engine.write(async (tx) => {
      const columns = [
        { name: 'id', storage: 'id' as const, ...plain },
        ...COLUMNS.map(([name, storage]) => ({ name, storage, ...plain })),
      ]
      for (const statement of dialect.createTable('every "kind"', columns)) await tx.run(statement)
      const counter = [{ name: 'id', storage: 'integer' as const, required: true, defaultValue: 5 }]
      for (const statement of dialect.createTable('counter', counter)) await tx.run(statement)
    })
  })
  afterAll(() => made.close())

  const table = sql.identifier('every "kind"')
  const ask = <T>(query: SQL) => engine.all<T>(dialect.render(query))
  const insert = (tx: Transaction, value: number) =>
    tx.run(dialect.render(sql`insert into counter (id) values (${value})`))
  const counted = async () =>
    (await ask<{ id: number }>(sql`select id from counter order by id`)).map(({ id }) => id)

  test('stores default values of text unchanged, whatever they contain', async () => {
    const texts = ["it's", 'a\\', "\\' or 1=1) -- ", 'C:\\new\\table', "''"]
    const columns = texts.map((defaultValue, at) => {
      return { name: `t${at}`, storage: 'text' as const, required: false, defaultValue }
    })
    const id = { name: 'id', storage: 'id' as const, required: false, defaultValue: null }
    await engine.write(async (tx) => {
      for (const statement of dialect.createTable('defaults', [id, ...columns])) await tx.run(statement)
      await tx.run({ sql: dialect.insertDefaults('defaults'), params: [] })
    })
    const [row] = await ask<Record<string, string>>(sql`select * from defaults`)
    expect(columns.map(({ name }) => row?.[name])).toEqual(texts)
  })

  test('gives every value back as it was written, as rows of both kinds', async () => {
    const names = COLUMNS.map(([name]) => dialect.quote(name))
    const marks = names.map((_, index) => dialect.placeholder(index))
    const text = `insert into ${dialect.quote('every "kind"')} (${names.join(', ')}) values (${marks.join(', ')})`
    const rows = [0, 1, 2, 3].map((at) =>
      COLUMNS.map(
        ([, storage, values]) => dialect.encode(storage)?.(values[at] ?? null) ?? values[at] ?? null,
      ),
    )
    await engine.write((tx) => tx.runMany(text, rows))
    const columns = COLUMNS.map(([name]) => sql.identifier(name))
    const query = dialect.render(sql`select ${sql.join(columns, sql`, `)} from ${table} order by id`)
    const decoded = (await engine.values(query)).map((row) =>
      row.map((value, index) => dialect.decode(COLUMNS[index]![1])?.(value) ?? value),
    )
    const compact = (value: CellValue | unknown, index: number) =>
      COLUMNS[index]![1] === 'json' && value !== null ? JSON.stringify(JSON.parse(String(value))) : value
    expect(decoded.map((row) => row.map(compact))).toEqual(
      [0, 1, 2, 3].map((at) => COLUMNS.map(([, , values], index) => compact(values[at] ?? null, index))),
    )
    const [first] = await engine.all<Record<string, unknown>>(query, { scan: true })
    expect(Object.keys(first ?? {})).toEqual(COLUMNS.map(([name]) => name))
    expect(await engine.values(query, { scan: true })).toEqual(await engine.values(query))
  })

  test('writes rows as JSON in the form of cells, and reads them back as their columns take them', async () => {
    const columns = COLUMNS.filter(([, storage]) => storage !== 'json')
    const object = dialect.jsonObject(
      columns.map(([name, storage]) => ({ key: `c${name}`, column: sql`${sql.identifier(name)}`, storage })),
    )
    const rows = await ask<{ j: string }>(sql`select ${object} as j from ${table} order by id`)
    expect(rows.map(({ j }) => JSON.parse(j))).toEqual(
      [0, 1, 2, 3].map((at) =>
        Object.fromEntries(columns.map(([name, , values]) => [`c${name}`, values[at]])),
      ),
    )
    for (const [name, storage] of columns) {
      const column = sql`${sql.identifier(name)}`
      const same = dialect.isSame(column, dialect.jsonValue(object, `c${name}`, storage))
      const found = await ask<{ id: number }>(sql`select id from ${table} where ${same}`)
      expect([name, found.length]).toEqual([name, 4])
    }
  })

  test.skipIf(client === 'sqlite3')('tells the server how long a read may take', async () => {
    const limit = client === 'pg' ? `current_setting('statement_timeout')` : '@@max_statement_time'
    const [row] = await engine.values({ sql: `select ${limit}`, params: [] })
    expect(row).toEqual([client === 'pg' ? '1min' : 60])
  })

  test('tells equal from different, NULL among them', async () => {
    const same = async (left: SQL, right: SQL) =>
      (await ask(sql`select 1 as x from counter where ${dialect.isSame(left, right)} limit 1`)).length
    await engine.write((tx) => insert(tx, 1))
    expect(
      await Promise.all([same(sql`1`, sql`1`), same(sql`null`, sql`null`), same(sql`1`, sql`null`)]),
    ).toEqual([1, 1, 0])
    await engine.write((tx) => tx.run({ sql: 'delete from counter', params: [] }))
  })

  test('takes a write that throws back whole, and leaves the others', async () => {
    const failing = engine.write(async (tx) => {
      await insert(tx, 1)
      throw new Error('thought better of it')
    })
    const together = [1, 2, 3, 4, 5, 6].map((value) =>
      engine.writeTogether(async (tx) => {
        await insert(tx, value * 10)
        if (value % 3 === 0) throw new Error('refused')
        return value
      }),
    )
    const outcomes = await Promise.allSettled([failing, ...together])
    expect(outcomes.map(({ status }) => status === 'fulfilled')).toEqual([
      false,
      true,
      true,
      false,
      true,
      true,
      false,
    ])
    expect(await counted()).toEqual([10, 20, 40, 50])
  })

  const slow = SLOW[client]
  test.if(slow !== undefined)(
    'ends a followed write in the middle of a statement, and takes it back',
    async () => {
      const before = await counted()
      const events = createEvents((error) => {
        throw error
      })
      const works = createWorks({ events })
      // Once it is announced it sleeps.
      events.on('work.changed', ({ id }) => works.stop(id))
      const sleep = { sql: slow ?? '', params: [] }
      const added = dialect.render(sql`insert into counter (id) values (77)`)
      const name = { kind: 'update', baseId: 'p' } as const
      for (const write of [
        () =>
          engine.write(async (tx) => {
            await tx.run(added)
            await tx.all(sleep)
          }),
        () => engine.writeScript([added, sleep]),
      ]) {
        const outcome = works.follow<unknown>({ kind: 'anonymous' }, name, write)
        await expect(outcome).rejects.toMatchObject({ code: 'CONFLICT' })
      }
      expect(await counted()).toEqual(before)
      // The connection is as good as before.
      await engine.write((tx) => tx.run(dialect.render(sql`delete from counter where id = 77`)))
    },
  )

  test('lets nobody write between a write and what follows it', async () => {
    const order: string[] = []
    await Promise.all([
      engine.write(
        async (tx) => {
          await insert(tx, 60)
          order.push('first')
        },
        async () => {
          await Bun.sleep(30)
          expect(await counted()).toContain(60)
          order.push('after the first')
        },
      ),
      engine.writeTogether(async () => order.push('second')),
      engine.exclusively(async () => order.push('third')),
    ])
    expect(order).toEqual(['first', 'after the first', 'second', 'third'])
  })

  test('runs a script whole or not at all, and says what each statement did', async () => {
    const statements = [
      sql`insert into counter (id) values (71), (72)`,
      sql`select max(id) as top from counter`,
      sql`update counter set id = id + 1 where id > 70`,
    ].map((statement) => dialect.render(statement))
    expect(await engine.writeScript(statements)).toEqual([
      { changes: 2, rows: [] },
      { changes: 0, rows: [{ top: 72 }] },
      { changes: 2, rows: [] },
    ])
    const broken = [
      dialect.render(sql`insert into counter (id) values (99)`),
      { sql: 'nonsense', params: [] },
    ]
    const refusal = await engine.writeScript(async () => broken).catch((error) => error)
    expect(refusal).toBeInstanceOf(Error)
    expect(await counted()).not.toContain(99)
    await engine.write((tx) => tx.run({ sql: 'delete from counter', params: [] }))
  })

  test('tells how far a script is, stops it where asked to, and takes all of it back', async () => {
    const rows = () => engine.values({ sql: 'select id from counter order by id', params: [] })
    const before = await rows()
    const add = (id: number) => dialect.render(sql`insert into counter (id) values (${id})`)
    const stop = new AbortController()
    let isCommitted = false
    const stopped = engine.writeScript(
      async () => {
        // Asked to stop once it has begun: a statement is written, and then no more.
        setTimeout(() => stop.abort(new Error('enough')), 0)
        return [add(200), ...Array.from({ length: 2000 }, (_, index) => add(201 + index))]
      },
      {
        signal: stop.signal,
        progress: (written) => written > 0 && stop.abort(new Error('enough')),
        afterCommit: async () => {
          isCommitted = true
        },
      },
    )
    expect(await stopped.catch(({ message }) => message)).toBe('enough')
    expect([await rows(), isCommitted]).toEqual([before, false])
    let written = 0
    await engine.writeScript([add(300), add(301)], {
      progress: (rows) => {
        written = rows
      },
      afterCommit: async () => {
        isCommitted = (await rows()).length === before.length + 2
      },
    })
    expect([written, isCommitted]).toEqual([2, true])
    await engine.write((tx) => tx.run({ sql: 'delete from counter', params: [] }))
  })

  test('alters tables, and names the column that a rule was broken in', async () => {
    const run = async (statements: { sql: string; params: unknown[] }[]) =>
      engine.write(async (tx) => {
        for (const statement of statements) await tx.run(statement)
      })
    const storage = 'integer' as const
    await run(
      dialect.createTable('rules', [{ name: 'id', storage: 'id', required: true, defaultValue: null }]),
    )
    await run(dialect.addColumn('rules', { name: 'must', storage, required: true, defaultValue: 7 }))
    await run(dialect.addColumn('rules', { name: 'once', storage, required: false, defaultValue: null }))
    await run(dialect.createUniqueIndex('rules', ['once']))
    await run(dialect.createIndex('rules', ['once', 'id']))
    const columns = await engine.all<{ name: string; type: string }>(dialect.listColumns('rules'))
    expect(columns.map(({ name }) => name)).toEqual(['id', 'must', 'once'])
    expect(columns.every(({ type }) => type.length > 0)).toBe(true)
    const add = (values: SQL) =>
      engine
        .write((tx) => tx.run(dialect.render(sql`insert into rules (must, once) values (${values})`)))
        .then(() => null, dialect.violation)
    expect(await add(sql`1, 1`)).toBeNull()
    expect(await add(sql`2, 1`)).toMatchObject({ kind: 'unique', columns: ['once'] })
    expect(await add(sql`null, 2`)).toMatchObject({ kind: 'required', columns: ['must'] })
    await run(dialect.dropUniqueIndex('rules', 'once'))
    expect(await add(sql`2, 1`)).toBeNull()
    const key = await engine.write((tx) =>
      tx.insertOne({ sql: 'insert into rules (must) values (3)', params: [] }, 'id'),
    )
    expect(await ask(sql`select must from rules where id = ${key}`)).toEqual([{ must: 3 }])
    await run(dialect.renameColumn('rules', 'once', 'twice'))
    await run(dialect.dropColumn('rules', 'must'))
    await run(dialect.renameTable('rules', 'others'))
    expect(
      (await engine.all<{ name: string }>(dialect.listColumns('others'))).map(({ name }) => name),
    ).toEqual(['id', 'twice'])
    await run(dialect.dropTable('others'))
    await run(dialect.dropTable('others'))
  })

  test('gives out ids that nobody has had, without a gap, where it can', async () => {
    const ids = (count: number) => engine.write((tx) => dialect.allocateIds(tx, 'every "kind"', count))
    if (client === 'mysql2') return expect(ids(1)).rejects.toThrow('only as they are inserted')
    const [last] = await ask<{ id: number }>(sql`select max(id) as id from ${table}`)
    expect(await ids(0)).toEqual([])
    const given = await ids(3)
    expect(given).toEqual([1, 2, 3].map((step) => (last?.id ?? 0) + step))
  })
})

test('an engine of a file that is not ours shows whole numbers of any size and bytes without loss', async () => {
  const opened = await ENGINES.find(({ client }) => client === 'sqlite3')!.open()
  const { engine } = opened
  const run = (text: string) => engine.write((tx) => tx.run({ sql: text, params: [] }))
  await run('create table odd (id integer primary key, big integer, bytes blob)')
  await run("insert into odd values (1, 9223372036854775807, x'00ff'), (2, -5, null)")
  const expected = [
    [1, '9223372036854775807', '0x00ff'],
    [2, -5, null],
  ]
  const statement = { sql: 'select id, big, bytes from odd order by id', params: [] }
  expect(await engine.values(statement)).toEqual(expected)
  expect(await engine.values(statement, { scan: true })).toEqual(expected)
  expect((await engine.all<{ big: unknown }>(statement)).map(({ big }) => big)).toEqual([
    '9223372036854775807',
    -5,
  ])
  const added = { sql: 'insert into odd (big) values (?)', params: ['9223372036854775807'] }
  expect(await engine.write((tx) => tx.insertOne(added, 'id'))).toBe(3)
  const again = { sql: 'select id from odd where big = ? order by id', params: ['9223372036854775807'] }
  expect(await engine.values(again)).toEqual([[1], [3]])
  await opened.close()
})
