import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Work } from '../../src/core/work.ts'
import { type Bench, createBench, refusalOf } from '../records/support.ts'
import { longestTurn } from '../support/longest-turn.ts'
import { connect, createForeign } from './support.ts'

/** Enough that what is done with all of them in one go shows. */
const CHILDREN = 60_000
/** Just below the limit of linked records in one change. */
const MOST = 190_000

/** More than a deletion in a connected database may touch. */
const TOO_MANY = 200_001

/** The longest that the thread may work without a turn, in its own time: other processes do not count. */
const BOUND_MS = 200

const TABLES = [
  'create table parent (id integer primary key, name varchar(20))',
  ...['set null', 'cascade'].map(
    (
      rule,
    ) => `create table c_${rule.replace(' ', '_')} (id integer primary key, name varchar(20), at timestamp,
      parent_id integer references parent (id) on delete ${rule})`,
  ),
  'create index set_null_parent on c_set_null (parent_id)',
  'create index cascade_parent on c_cascade (parent_id)',
  "insert into parent values (1, 'kept by none'), (2, 'owner'), (3, 'crowded')",
]

interface World {
  sent: { client: string; connection: Record<string, unknown> }
  ask(statement: string): Promise<Record<string, unknown>[]>
  /** A table of `n`, from 1 to `count`. */
  numbers(count: number): string
  stop(): Promise<void>
}

async function openSqlite(bench: Bench): Promise<World> {
  const folder = join(bench.app.config.dataDir, 'sources')
  mkdirSync(folder, { recursive: true })
  const file = new Database(join(folder, 'large.db'))
  file.run('pragma journal_mode = wal')
  file.run('pragma busy_timeout = 5000')
  for (const statement of TABLES) file.run(statement)
  return {
    sent: { client: 'sqlite3', connection: { filename: 'large.db' } },
    ask: async (statement) => file.query(statement).all() as Record<string, unknown>[],
    numbers: (count) =>
      `(with recursive ids(n) as (select 1 union all select n + 1 from ids where n < ${count}) select n from ids)`,
    stop: async () => file.close(),
  }
}

async function openPostgres(): Promise<World> {
  const foreign = await createForeign('postgres', TABLES)
  return { ...foreign, numbers: (count) => `generate_series(1, ${count}) as numbers (n)` }
}

describe.each(['sqlite', 'postgres'] as const)('deleting a record with many linked ones in %s', (kind) => {
  let bench: Bench
  let world: World
  let parents = ''
  beforeAll(async () => {
    bench = await createBench()
    world = kind === 'sqlite' ? await openSqlite(bench) : await openPostgres()
    await fill('c_set_null', 1, CHILDREN)
    await fill('c_cascade', 2, CHILDREN)
    await connect(bench, world.sent)
    const tables = await bench.trpc.schema.tables.query({ baseId: bench.baseId })
    parents = tables.find(({ tableName }) => tableName === 'parent')!.id
  })
  afterAll(async () => {
    await bench.stop()
    await world.stop()
  })

  const fill = (table: string, parentId: number, count: number) =>
    world.ask(`insert into ${table} (id, name, at, parent_id)
      select n + (select count(*) from ${table}), 'child', '2026-01-02 03:04:05', ${parentId} from ${world.numbers(count)}`)
  const childrenOf = async (table: string, parentId: number) => {
    const [row] = await world.ask(`select count(*) as n from ${table} where parent_id = ${parentId}`)
    return Number(row?.n)
  }
  const remove = (id: number) =>
    bench.trpc.records.write.mutate({
      change: { baseId: bench.baseId, operations: [{ kind: 'delete', tableId: parents, ids: [id] }] },
    })
  const undo = () => bench.trpc.records.undo.mutate({ baseId: bench.baseId })

  test.each([
    ['c_set_null', 1],
    ['c_cascade', 2],
  ] as const)('lets others in between, as does its undo: %s', async (table, id) => {
    const deletion = await longestTurn(() => remove(id))
    expect(deletion.result.count).toBe(CHILDREN + 1)
    expect(await childrenOf(table, id)).toBe(0)
    const restoration = await longestTurn(undo)
    expect(await childrenOf(table, id)).toBe(CHILDREN)
    console.log(
      `${kind}, ${table}: longest turn ${deletion.longestMs.toFixed(0)} ms, of the undo ${restoration.longestMs.toFixed(0)} ms`,
    )
    expect(deletion.longestMs).toBeLessThan(BOUND_MS)
    expect(restoration.longestMs).toBeLessThan(BOUND_MS)
  })

  test('can be cancelled while it runs: nothing is changed then', async () => {
    // As many as may be linked, so that the deletion is still running when it has been announced.
    await fill('c_cascade', 2, MOST - CHILDREN)
    const shown: Work[] = []
    const listener = (work: Work) => {
      shown.push({ ...work })
      if (shown.length === 1)
        void bench.trpc.records.cancelWork.mutate({ baseId: bench.baseId, workId: work.id })
    }
    bench.app.kernel.events.on('work.changed', listener)
    const refusal = await refusalOf(remove(2))
    expect(refusal).toMatchObject({ code: 'CONFLICT', status: 409 })
    expect(shown[0]).toMatchObject({ kind: 'delete', tableId: parents, hasEnded: false })
    expect(shown.at(-1)).toMatchObject({ hasEnded: true })
    expect(await childrenOf('c_cascade', 2)).toBe(MOST)
    expect((await world.ask('select id from parent where id = 2')).length).toBe(1)
  })

  test('is refused where more are linked than pass through this process, and says what to do', async () => {
    await fill('c_set_null', 3, TOO_MANY)
    const refusal = await refusalOf(remove(3))
    expect(refusal).toMatchObject({
      status: 400,
      message:
        'Not deleted: more than 200000 other records are linked to these. Delete or unlink some of those first',
    })
    expect(await childrenOf('c_set_null', 3)).toBe(TOO_MANY)
    expect((await world.ask('select id from parent where id = 3')).length).toBe(1)
  })
})
