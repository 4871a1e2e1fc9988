import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { createWorkerPool, type WorkerPool } from '../../src/pool.ts'

const threads: Worker[] = []
const RealWorker = globalThis.Worker
let pool: WorkerPool

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

const query = () => pool.run('sqlite.all', { path: ':memory:', sql: 'select 1 as n', params: [] })

describe('the worker pool', () => {
  test('gives the error of a task to its caller alone', async () => {
    const answers = await Promise.allSettled([pool.run('nonsense', {}), query()])
    expect(answers).toMatchObject([
      { status: 'rejected', reason: { message: 'No task is called "nonsense"' } },
      { status: 'rejected', reason: { name: 'PoolTaskError' } },
    ])
  })

  test('tells those who wait for a thread that ends without a word, and starts another', async () => {
    const lost = [query(), query(), query()].map((answer) => answer.catch(String))
    for (const thread of threads) thread.terminate()
    expect(await Promise.all(lost)).toEqual(new Array(3).fill('PoolTaskError: A worker thread has ended'))
    const file = `${import.meta.dir}/../../package.json`
    await expect(pool.run('sqlite.all', { path: file, sql: 'select 1', params: [] })).rejects.toThrow(
      'file is not a database',
    )
    expect(threads.length).toBe(3)
  })
})
