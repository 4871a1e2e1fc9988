import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Bench, createBench } from '../records/support.ts'
import { connect, createForeign } from './support.ts'

/** A parent with a child for each rule, a chain of cascades, and a tree of its own. */
const TABLES = [
  'create table parent (id integer primary key, name varchar(20))',
  ...['restrict', 'no action', 'cascade', 'set null'].map((rule) => {
    const table = `c_${rule.replace(' ', '_')}`
    return `create table ${table} (id integer primary key, name varchar(20), parent_id integer,
      foreign key (parent_id) references parent (id) on delete ${rule})`
  }),
  `create table grandchild (id integer primary key, name varchar(20), child_id integer not null,
    foreign key (child_id) references c_cascade (id) on delete cascade)`,
  `create table guard (id integer primary key, name varchar(20), child_id integer,
    foreign key (child_id) references c_cascade (id) on delete restrict)`,
  `create table node (id integer primary key, name varchar(20), parent_id integer,
    foreign key (parent_id) references node (id))`,
  `create table place (region varchar(10) not null, number integer not null, name varchar(20), primary key (region, number))`,
  `create table visit (id integer primary key, name varchar(20), region varchar(10), number integer,
    foreign key (region, number) references place (region, number) on delete cascade)`,
  "insert into parent values (1, 'restrict'), (2, 'no action'), (3, 'cascade'), (4, 'set null'), (5, 'guarded')",
  "insert into c_restrict values (1, 'a', 1), (2, 'b', 1)",
  "insert into c_no_action values (1, 'a', 2)",
  "insert into c_cascade values (1, 'a', 3), (2, 'b', 3), (3, 'c', 5)",
  "insert into c_set_null values (1, 'a', 4), (2, 'b', 4), (3, 'c', 1)",
  "insert into grandchild values (1, 'x', 1), (2, 'y', 2), (3, 'z', 3)",
  "insert into guard values (1, 'g', 3)",
  "insert into node values (1, 'root', null), (2, 'branch', 1), (3, 'leaf', 2), (4, 'other', null)",
  "insert into place values ('n', 1, 'a'), ('s', 1, 'b')",
  "insert into visit values (1, 'v', 'n', 1), (2, 'w', 's', 1)",
]

interface World {
  sent: { client: string; connection: Record<string, unknown> }
  ask(statement: string): Promise<Record<string, unknown>[]>
  stop(): Promise<void>
}

async function openSqlite(bench: Bench, statements = TABLES): Promise<World> {
  const folder = join(bench.app.config.dataDir, 'sources')
  mkdirSync(folder, { recursive: true })
  const file = new Database(join(folder, 'rules.db'))
  file.run('pragma journal_mode = wal')
  for (const statement of statements) file.run(statement)
  return {
    sent: { client: 'sqlite3', connection: { filename: 'rules.db' } },
    ask: async (statement) => file.query(statement).all() as Record<string, unknown>[],
    stop: async () => file.close(),
  }
}

describe.each(['postgres', 'mariadb', 'sqlite'] as const)('deleting a parent in %s', (kind) => {
  let bench: Bench
  let world: World
  const ids = new Map<string, string>()

  beforeAll(async () => {
    bench = await createBench()
    world = kind === 'sqlite' ? await openSqlite(bench) : await createForeign(kind, TABLES)
    await connect(bench, world.sent)
    for (const table of await bench.trpc.schema.tables.query({ baseId: bench.baseId })) {
      ids.set(table.tableName, table.id)
    }
  })
  afterAll(async () => {
    await bench.stop()
    await world.stop()
  })

  const remove = (table: string, ...rows: (number | string)[]) =>
    bench.trpc.records.write.mutate({
      change: {
        baseId: bench.baseId,
        operations: [{ kind: 'delete', tableId: ids.get(table) ?? '', ids: rows }],
      },
    })
  const undo = () => bench.trpc.records.undo.mutate({ baseId: bench.baseId })
  const redo = () => bench.trpc.records.redo.mutate({ baseId: bench.baseId })
  const everything = async () => {
    const rows: Record<string, unknown> = {}
    for (const table of [...ids.keys()].sort()) {
      rows[table] = await world.ask(`select * from ${table} order by 1, 2`)
    }
    return rows
  }
  const effects = (table: string, recordIds: (number | string)[]) =>
    bench.trpc.records.effectsOfDeletion.query({ selection: { tableId: ids.get(table) ?? '', recordIds } })

  test.each([
    ['restrict', 1, 'c_restrict', 2],
    ['no action', 2, 'c_no_action', 1],
  ] as const)(
    '%s: refuses, names the table and the number of records, and changes nothing',
    async (_, id, child, count) => {
      const before = await everything()
      const path = `/api/v2/tables/${ids.get('parent')}/records`
      const { status, body } = await bench.rest.delete(path, { id })
      expect(status).toBe(400)
      expect(body.message ?? body.msg).toContain(`${count} record`)
      expect(body.message ?? body.msg).toContain(`“${child}”`)
      expect(await everything()).toEqual(before)
      expect(await effects('parent', [id])).toContainEqual({
        table: child,
        count,
        rule: id === 1 ? 'RESTRICT' : 'NO ACTION',
      })
    },
  )

  test('cascade: deletes children and theirs, and undo and redo follow', async () => {
    const before = await everything()
    expect(await effects('parent', [3])).toEqual([
      { table: 'c_cascade', count: 2, rule: 'CASCADE' },
      { table: 'grandchild', count: 2, rule: 'CASCADE' },
    ])
    await remove('parent', 3)
    const after = await everything()
    expect([after.c_cascade, after.grandchild].map((rows) => (rows as unknown[]).length)).toEqual([1, 1])
    await undo()
    expect(await everything()).toEqual(before)
    await redo()
    expect(await everything()).toEqual(after)
    await undo()
    expect(await everything()).toEqual(before)
  })

  test('cascade: refuses where a child that would go is held by others', async () => {
    const before = await everything()
    await expect(remove('parent', 5)).rejects.toThrow('1 record of “guard” refers to it')
    expect(await everything()).toEqual(before)
    expect(await effects('parent', [5])).toContainEqual({ table: 'guard', count: 1, rule: 'RESTRICT' })
  })

  test('set null: empties the keys of children, and undo fills them again', async () => {
    const before = await everything()
    expect(await effects('parent', [4])).toEqual([{ table: 'c_set_null', count: 2, rule: 'SET NULL' }])
    await remove('parent', 4)
    const keys = await world.ask('select parent_id from c_set_null order by id')
    expect(keys.map((row) => row.parent_id)).toEqual([null, null, 1])
    await undo()
    expect(await everything()).toEqual(before)
  })

  test('a tree: refuses a branch with leaves, deletes whole branches in any order', async () => {
    const before = await everything()
    await expect(remove('node', 1)).rejects.toThrow('1 record of “node” refers to it')
    expect(await effects('node', [1, 2, 3])).toEqual([])
    await remove('node', 1, 2, 3)
    expect(await world.ask('select id from node')).toEqual([{ id: 4 }])
    await undo()
    expect(await everything()).toEqual(before)
  })

  test('a key of several columns, which no link shows, follows its rule as well', async () => {
    const before = await everything()
    await remove('place', 'n___1')
    expect(await world.ask('select id from visit')).toEqual([{ id: 2 }])
    await undo()
    expect(await everything()).toEqual(before)
  })

  test('all that match are deleted by the same rules', async () => {
    const before = await everything()
    const selection = { tableId: ids.get('parent') ?? '', recordIds: [3, 1] }
    await expect(bench.trpc.records.deleteMatching.mutate({ selection })).rejects.toThrow('“c_restrict”')
    expect(await everything()).toEqual(before)
  })
})

test('a role that may not read the tables that refer deletes as far as the database allows', async () => {
  const bench = await createBench()
  const role = `clerk_${crypto.randomUUID().slice(0, 8)}`
  const foreign = await createForeign('postgres', [
    `create table customer (id integer primary key, name text);
     create table audit (id integer primary key, customer_id integer references customer (id));
     create table session (id integer primary key, customer_id integer references customer (id) on delete cascade);
     insert into customer values (1, 'Ann'), (2, 'Bob');
     insert into audit values (1, 2);
     insert into session values (1, 1);
     create role ${role} login password 'clerk';
     grant usage on schema public to ${role};
     grant select, insert, update, delete on customer to ${role}`,
  ])
  const connection = { ...foreign.sent.connection, user: role, password: 'clerk' }
  await connect(bench, { ...foreign.sent, connection })
  const [table] = await bench.trpc.schema.tables.query({ baseId: bench.baseId })
  const tableId = table?.id ?? ''
  const path = `/api/v2/tables/${tableId}/records`
  const refused = await bench.rest.delete(path, { id: 2 })
  expect([refused.status, refused.body.message]).toEqual([400, expect.stringContaining('audit')])
  const selection = { tableId, recordIds: [1] }
  expect(await bench.trpc.records.effectsOfDeletion.query({ selection })).toEqual([])
  expect((await bench.rest.delete(path, { id: 1 })).status).toBe(200)
  expect(await foreign.ask('select id from customer')).toEqual([{ id: 2 }])
  expect(await foreign.ask('select id from session')).toEqual([])
  await bench.stop()
  await foreign.ask(`drop owned by ${role}; drop role ${role}`)
  await foreign.stop()
})

const DEFAULTS = [
  'create table status (id integer primary key, name varchar(20))',
  `create table task (id integer primary key, name varchar(20), status_id integer not null default 1,
    foreign key (status_id) references status (id) on delete set default)`,
  "insert into status values (1, 'new'), (2, 'old')",
  "insert into task values (1, 'a', 2), (2, 'b', 1)",
]

test.each(['postgres', 'sqlite'] as const)(
  'set default: %s gives children their default, and undo takes it back',
  async (kind) => {
    const bench = await createBench()
    const world = kind === 'sqlite' ? await openSqlite(bench, DEFAULTS) : await createForeign(kind, DEFAULTS)
    await connect(bench, world.sent)
    const { baseId, trpc } = bench
    const tables = await trpc.schema.tables.query({ baseId })
    const path = `/api/v2/tables/${tables.find(({ tableName }) => tableName === 'status')?.id}/records`
    const keys = async () =>
      (await world.ask('select status_id from task order by id')).map((row) => row.status_id)
    expect((await bench.rest.delete(path, { id: 2 })).status).toBe(200)
    expect(await keys()).toEqual([1, 1])
    await trpc.records.undo.mutate({ baseId })
    expect(await keys()).toEqual([2, 1])
    await trpc.records.redo.mutate({ baseId })
    expect(await keys()).toEqual([1, 1])
    await bench.stop()
    await world.stop()
  },
)

test('set null of some columns leaves the others of the key, and undo fills them', async () => {
  const bench = await createBench()
  const foreign = await createForeign('postgres', [
    `create table project (tenant integer, id integer, name text, primary key (tenant, id));
     create table task (tenant integer, id integer, project_id integer, primary key (tenant, id),
       foreign key (tenant, project_id) references project (tenant, id) on delete set null (project_id));
     insert into project values (7, 1, 'x'); insert into task values (7, 1, 1)`,
  ])
  await connect(bench, foreign.sent)
  const { baseId, trpc } = bench
  const tables = await trpc.schema.tables.query({ baseId })
  const tableId = tables.find(({ tableName }) => tableName === 'project')?.id ?? ''
  const stored = () => foreign.ask('select tenant, project_id from task')
  const change = { baseId, operations: [{ kind: 'delete' as const, tableId, ids: ['7___1'] }] }
  await trpc.records.write.mutate({ change })
  expect(await stored()).toEqual([{ tenant: 7, project_id: null }])
  await trpc.records.undo.mutate({ baseId })
  expect(await stored()).toEqual([{ tenant: 7, project_id: 1 }])
  await bench.stop()
  await foreign.stop()
})

test.each(['postgres', 'sqlite'] as const)(
  'set null, then cascade: undo restores the key that %s emptied before it deleted the record',
  async (kind) => {
    const statements = [
      'create table customer (id integer primary key, name varchar(20))',
      `create table an_order (id integer primary key, customer_id integer,
        foreign key (customer_id) references customer (id) on delete cascade)`,
      `create table note (id integer primary key, customer_id integer, order_id integer,
        foreign key (customer_id) references customer (id) on delete cascade,
        foreign key (order_id) references an_order (id) on delete set null)`,
      "insert into customer values (1, 'Ann')",
      'insert into an_order values (5, 1)',
      'insert into note values (7, 1, 5)',
    ]
    const bench = await createBench()
    const world =
      kind === 'sqlite' ? await openSqlite(bench, statements) : await createForeign(kind, statements)
    await connect(bench, world.sent)
    const { baseId, trpc } = bench
    const tables = await trpc.schema.tables.query({ baseId })
    const path = `/api/v2/tables/${tables.find(({ tableName }) => tableName === 'customer')?.id}/records`
    const notes = () => world.ask('select customer_id, order_id from note')
    expect((await bench.rest.delete(path, { id: 1 })).status).toBe(200)
    expect(await notes()).toEqual([])
    await trpc.records.undo.mutate({ baseId })
    expect(await notes()).toEqual([{ customer_id: 1, order_id: 5 }])
    await trpc.records.redo.mutate({ baseId })
    expect(await notes()).toEqual([])
    await bench.stop()
    await world.stop()
  },
)

test.each(['postgres', 'sqlite'] as const)(
  'set null: %s empties a key that was added since the tables were read',
  async (kind) => {
    const statements = [
      'create table customer (id integer primary key, name varchar(20))',
      'create table note (id integer primary key, name varchar(20))',
      "insert into customer values (1, 'Ann')",
      "insert into note values (7, 'x')",
    ]
    const bench = await createBench()
    const world =
      kind === 'sqlite' ? await openSqlite(bench, statements) : await createForeign(kind, statements)
    await connect(bench, world.sent)
    const tables = await bench.trpc.schema.tables.query({ baseId: bench.baseId })
    const path = `/api/v2/tables/${tables.find(({ tableName }) => tableName === 'customer')?.id}/records`
    await world.ask(
      'alter table note add column customer_id integer references customer (id) on delete set null',
    )
    await world.ask('update note set customer_id = 1')
    expect((await bench.rest.delete(path, { id: 1 })).status).toBe(200)
    expect(await world.ask('select customer_id from note')).toEqual([{ customer_id: null }])
    await bench.stop()
    await world.stop()
  },
)
