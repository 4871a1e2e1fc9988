import { Database } from 'bun:sqlite'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { constants, getPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { asCaller, nameCaller } from '../../src/caller.ts'
import type { UserActor } from '../../src/core/actor.ts'
import { createWorkerPool, type TaskKind, type WorkerPool } from '../../src/pool.ts'
import { until } from '../support/until.ts'

const threads: Worker[] = []
const RealWorker = globalThis.Worker
let pool: WorkerPool
let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sheaf-pool-'))
  new Database(join(folder, 'a.db'), { create: true }).run('create table t (id integer)')
})
afterAll(() => rmSync(folder, { recursive: true }))

beforeEach(() => {
  globalThis.Worker = class extends RealWorker {
    constructor(...given: ConstructorParameters<typeof RealWorker>) {
      super(...given)
      threads.push(this)
    }
  }
  pool = createWorkerPool(2)
})
afterEach(() => {
  globalThis.Worker = RealWorker
  threads.length = 0
  pool.close()
})

const run = (sql: string, kind?: TaskKind, params: unknown[] = []) =>
  pool.run('sqlite.values', { path: join(folder, 'a.db'), sql, params }, kind)

/** A statement that takes as long as it counts. */
const COUNT =
  'with recursive c (x) as (select 1 union all select x + 1 from c where x < ?) select count(*) from c'
/** So long that a test which waits for its end does not end. */
const FOR_EVER = 1e12

/** Runs work as that of a request. */
function as<T>(
  work: () => Promise<T>,
  {
    user = 'ann',
    signal,
    timeoutMs = 60_000,
  }: { user?: string; signal?: AbortSignal; timeoutMs?: number } = {},
): Promise<T> {
  const request = new Request('http://localhost/', { signal })
  return asCaller(request, timeoutMs, () => {
    nameCaller({ kind: 'user', id: user } as UserActor)
    return work()
  })
}

describe('the worker pool', () => {
  test('gives the error of a task to its caller alone', async () => {
    const answers = await Promise.allSettled([pool.run('nonsense', {}), run('select nothing')])
    expect(answers).toMatchObject([
      { status: 'rejected', reason: { message: 'No task is called "nonsense"' } },
      { status: 'rejected', reason: { name: 'PoolTaskError' } },
    ])
  })

  test('tells those who wait for a thread that ends without a word, and starts another', async () => {
    const lost = [run('select 1'), run('select 1')].map((answer) => answer.catch(String))
    for (const thread of threads) thread.terminate()
    expect(await Promise.all(lost)).toEqual(new Array(2).fill('PoolTaskError: A worker thread has ended'))
    expect(await run('select 1')).toEqual([[1]])
    expect(threads.length).toBe(3)
  })

  test('gives the same rows from a thread and from a process', async () => {
    const sql = `select 1 as n, 'text' as t, null as z, x'00ff' as b, 1.5 as r`
    const rows = [[1, 'text', null, new Uint8Array([0, 255]), 1.5]]
    expect(await run(sql)).toEqual(rows)
    expect(await run(sql, 'large read')).toEqual(rows)
    await expect(run('select nothing from t', 'large read')).rejects.toMatchObject({ name: 'PoolTaskError' })
  })

  // A thousand and more are packed.
  test('passes long columns on as they are', async () => {
    const ids =
      'with recursive c (x) as (select 1 union all select x + 1 from c where x < 1500) select x from c'
    for (const kind of ['read', 'large read'] as const) {
      for (const number of [2_000, 4_294_967_295, 4_294_967_296, -1, 0.5, -0]) {
        const column = (await run(`${ids} union all select ?`, kind, [number])) as ArrayLike<number>
        expect(column).toHaveLength(1_501)
        expect([column[0], column[1_500]]).toEqual([1, number])
      }
      const rows = (await run(`${ids} union all select 'a'`, kind)) as unknown[][]
      expect(rows.at(-1)).toEqual(['a'])
    }
  })
})

describe('a read of a request', () => {
  for (const kind of ['read', 'large read'] as const) {
    test(`is given up when the client goes away (${kind})`, async () => {
      await run('select 1', kind)
      const client = new AbortController()
      const count = kind === 'read' ? 30_000_000 : FOR_EVER
      const answer = as(() => run(COUNT, kind, [count]), { signal: client.signal })
      setTimeout(() => client.abort(), 50)
      await expect(answer).rejects.toMatchObject({ code: 'QUERY_CANCELLED' })
      // Before it has begun, too.
      await expect(as(() => run('select 1', kind), { signal: client.signal })).rejects.toMatchObject({
        code: 'QUERY_CANCELLED',
      })
      expect(await as(() => run('select 2', kind))).toEqual([[2]])
    })
  }

  test.skipIf(process.platform !== 'linux')('ends with its process, and leaves no core busy', async () => {
    const client = new AbortController()
    const reads = [1, 2, 3].map(() =>
      as(() => run(COUNT, 'large read', [FOR_EVER]), { signal: client.signal }),
    )
    const outcomes = Promise.allSettled(reads)
    await until(() => readers().length > 0)
    expect(readers().length).toBeGreaterThan(0)
    client.abort()
    await outcomes
    await until(() => readers().length === 0)
    expect(readers()).toEqual([])
  })

  test.skipIf(process.platform !== 'linux')(
    'lets requests go before all threads of its process',
    async () => {
      const client = new AbortController()
      const answer = as(() => run(COUNT, 'large read', [FOR_EVER]), { signal: client.signal })
      answer.catch(() => {})
      const priorities = () =>
        readers().flatMap((id) =>
          readdirSync(`/proc/${id}/task`).map((thread) => getPriority(Number(thread))),
        )
      const isLow = (priority: number) => priority === constants.priority.PRIORITY_BELOW_NORMAL
      await until(() => priorities().length > 1 && priorities().every(isLow))
      const found = priorities()
      expect(found.length).toBeGreaterThan(1)
      expect(found.filter((priority) => !isLow(priority))).toEqual([])
      client.abort()
      await expect(answer).rejects.toThrow()
    },
  )

  test.skipIf(process.platform !== 'linux')('a write does not, as others wait for its end', async () => {
    await run('select 1', 'large write')
    expect(readers().map((id) => getPriority(Number(id)))).toEqual([getPriority(process.pid)])
  })

  test('is stopped after the time that a request may take, with words that say so', async () => {
    const answer = as(() => run(COUNT, 'large read', [FOR_EVER]), { timeoutMs: 400 })
    await expect(answer).rejects.toMatchObject({
      code: 'QUERY_TIMEOUT',
      status: 503,
      message: expect.stringContaining('QUERY_TIMEOUT_SECONDS'),
    })
    expect(await run('select 1', 'large read')).toEqual([[1]])
  })

  test('waits no longer than that for its turn', async () => {
    const client = new AbortController()
    const before = [1, 2].map(() => as(() => run(COUNT, 'large read', [FOR_EVER]), { signal: client.signal }))
    const waiting = as(() => run('select 1', 'large read'), { timeoutMs: 300 })
    await expect(waiting).rejects.toMatchObject({
      code: 'QUERY_TIMEOUT',
      message: expect.stringContaining('The database is busy with other requests'),
    })
    client.abort()
    await Promise.allSettled(before)
  })

  test('of one user does not wait behind the many of another', async () => {
    const client = new AbortController()
    const many = Array.from({ length: 8 }, () =>
      as(() => run(COUNT, 'large read', [FOR_EVER]), { user: 'ann', signal: client.signal }),
    )
    const outcomes = Promise.allSettled(many)
    // Ann's never end by themselves: Bob is answered beside them, or not at all.
    expect(await as(() => run('select 1', 'large read'), { user: 'bob' })).toEqual([[1]])
    expect(await as(() => run('select 2', 'large read'), { user: 'cleo' })).toEqual([[2]])
    client.abort()
    await outcomes
  })
})

/** Processes that this one has started as readers. */
function readers(): string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false
    try {
      const [, after = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')
      const [state, parent] = after.split(' ')
      const isReader = readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('src/reader.')
      return parent === String(process.pid) && state !== 'Z' && isReader
    } catch (error) {
      // It has ended meanwhile.
      if (error instanceof Error && 'code' in error) return false
      throw error
    }
  })
}
