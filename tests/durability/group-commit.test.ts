import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, type Mock, spyOn, test } from 'bun:test'
import { createGroupCommit } from '../../src/db/group-commit.ts'
import { createMutex } from '../../src/db/mutex.ts'
import { groupSession } from '../../src/db/sqlite-engine.ts'
import type { Transaction } from '../../src/dialects/dialect.ts'

let file: Database
let write: ReturnType<typeof createGroupCommit>
let exclusively: ReturnType<typeof createMutex>
let statements: string[]
let clock: Mock<() => number>

beforeEach(() => {
  // A group is full after some milliseconds, which a busy machine may let pass between two of its writes.
  clock = spyOn(performance, 'now').mockReturnValue(0)
  file = new Database(':memory:')
  file.run('pragma foreign_keys = on')
  file.run('create table parents (id integer primary key)')
  // A broken reference is found by the commit and not by the insert.
  file.run(
    'create table t (id integer primary key, parent references parents (id) deferrable initially deferred)',
  )
  statements = []
  const prepare = (sql: string) => {
    statements.push(sql)
    return file.prepare<unknown, never[]>(sql)
  }
  const tx: Transaction = {
    run: async ({ sql, params }) => ({ changes: file.prepare(sql).run(...(params as never[])).changes }),
    runMany: async () => {},
    all: async <T>() => [] as T[],
    insertOne: async () => null,
    insertMany: async () => [],
  }
  exclusively = createMutex()
  write = createGroupCommit((work) => exclusively(() => work(groupSession(file, prepare, tx))))
})

afterEach(() => clock.mockRestore())

const insert =
  (id: number, parent: number | null = null) =>
  async (tx: Transaction) => {
    await tx.run({ sql: 'insert into t values (?, ?)', params: [id, parent] })
    return id
  }
const commits = () => statements.filter((sql) => sql === 'commit').length
const savepoints = () => statements.filter((sql) => sql.startsWith('savepoint')).length
const stored = () =>
  file
    .query<{ id: number }, []>('select id from t order by id')
    .all()
    .map(({ id }) => id)
const outcomes = (results: PromiseSettledResult<number>[]) =>
  results.map((result) => (result.status === 'fulfilled' ? result.value : 'refused'))

describe('writes that wait together', () => {
  test('are committed as one, each answered with its own result', async () => {
    expect(await Promise.all([1, 2, 3, 4, 5].map((id) => write(insert(id))))).toEqual([1, 2, 3, 4, 5])
    expect([stored(), commits()]).toEqual([[1, 2, 3, 4, 5], 1])
  })

  test('are taken back alone where one throws, with what it had written', async () => {
    const results = await Promise.allSettled([
      write(insert(1)),
      write(async (tx) => {
        await insert(2)(tx)
        throw new Error('thought better of it')
      }),
      write(insert(1)),
      write(insert(3)),
    ])
    expect(outcomes(results)).toEqual([1, 'refused', 'refused', 3])
    expect([stored(), commits()]).toEqual([[1, 3], 1])
  })

  test('run without savepoints, whose copies of pages cost as much as short writes, also where one fails before it writes', async () => {
    const results = await Promise.allSettled([
      write(insert(1)),
      write(async () => {
        throw new Error('nothing to write')
      }),
      write(insert(1)),
      write(insert(2)),
    ])
    expect(outcomes(results)).toEqual([1, 'refused', 'refused', 2])
    expect([stored(), commits(), savepoints()]).toEqual([[1, 2], 1, 0])
  })

  test('begin again without one that fails after it has written, and answer each once, with what is stored', async () => {
    const runs = new Map<number, number>()
    const told: string[] = []
    const counted = (id: number) => async (tx: Transaction) => {
      runs.set(id, (runs.get(id) ?? 0) + 1)
      await insert(id)(tx)
      return `${id}, run ${runs.get(id)}`
    }
    const tell = (result: string) => told.push(result)
    const half = async (tx: Transaction) => {
      await insert(50)(tx)
      await insert(1)(tx)
      return 'never'
    }
    const results = await Promise.allSettled([
      write(counted(1), tell),
      write(counted(2), tell),
      write(half, tell),
      write(counted(3), tell),
      write(half, tell),
      write(counted(4), tell),
    ])
    const expected = ['1, run 2', '2, run 2', '3, run 1', '4, run 1']
    expect(results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))).toEqual(
      expected,
    )
    expect(told).toEqual(expected)
    expect([stored(), commits()]).toEqual([[1, 2, 3, 4], 1])
    // Those after the first failure have savepoints, so that a second one takes back nothing else.
    expect(savepoints()).toBeGreaterThan(0)
  })

  test('do without savepoints again some time after a failure', async () => {
    const failing = async (tx: Transaction) => {
      await insert(50)(tx)
      throw new Error('thought better of it')
    }
    await Promise.allSettled([write(insert(1)), write(failing)])
    let id = 2
    const pair = () => Promise.all([write(insert(id++)), write(insert(id++))])
    await pair()
    expect(savepoints()).toBeGreaterThan(0)
    for (let groups = 0; groups < 60; groups++) await pair()
    statements = []
    await pair()
    expect([commits(), savepoints()]).toEqual([1, 0])
  })

  test('are all answered where one ends the transaction of all, and those that wait have their turn', async () => {
    const results = await Promise.allSettled([
      write(insert(1)),
      write(async () => {
        throw new Error('refused by itself')
      }),
      // As a full disk does: the engine takes back everything.
      write(async (tx) => {
        await tx.run({ sql: 'insert or rollback into t values (1, null)', params: [] })
        return 2
      }),
      write(insert(3)),
    ])
    expect(outcomes(results)).toEqual(['refused', 'refused', 'refused', 3])
    expect(results.map((result) => (result.status === 'rejected' ? String(result.reason) : ''))).toEqual([
      expect.stringContaining('UNIQUE'),
      'Error: refused by itself',
      expect.stringContaining('UNIQUE'),
      '',
    ])
    expect([stored(), file.inTransaction]).toEqual([[3], false])
  })

  test('are all refused where the commit fails, and those after them are not', async () => {
    const told: number[] = []
    const first = await Promise.allSettled([
      write(insert(1), () => told.push(1)),
      write(insert(2, 77), () => told.push(2)),
    ])
    expect(outcomes(first)).toEqual(['refused', 'refused'])
    expect([stored(), told, file.inTransaction]).toEqual([[], [], false])
    expect(await write(insert(3), (id) => told.push(id))).toBe(3)
    expect([stored(), told]).toEqual([[3], [3]])
  })

  test('wait for the lease, and let others have it in between', async () => {
    const order: string[] = []
    const lease = exclusively(async () => {
      await Bun.sleep(5)
      order.push('lease')
    })
    const group = write(insert(1)).then(() => order.push('group'))
    const later = exclusively(async () => {
      order.push('later lease')
    })
    await Promise.all([lease, group, later])
    expect(order).toEqual(['lease', 'group', 'later lease'])
  })

  test('do not keep out a lease for ever, however many come', async () => {
    clock.mockRestore()
    let isOver = false
    const busy = async () => {
      for (let id = 100; !isOver; id++) await write(insert(id))
    }
    const writing = busy()
    await Bun.sleep(5)
    await exclusively(async () => {
      isOver = true
    })
    await writing
    expect(stored().length).toBeGreaterThan(0)
  })
})
