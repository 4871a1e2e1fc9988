import { Database } from 'bun:sqlite'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDisk } from '../../src/db/log-sync.ts'
import { createOpenFiles } from '../../src/db/open-files.ts'
import { createBaseFile, openSqliteEngine } from '../../src/db/sqlite-engine.ts'
import type { Engine, Transaction } from '../../src/dialects/dialect.ts'
import { createWorkerPool, type WorkerPool } from '../../src/pool.ts'
import { until } from '../support/until.ts'

/** A disk that syncs when the test says so. */
interface SlowDisk {
  /** Ends the oldest sync: with the error, or after a real one. */
  finish(error?: Error): void
  waiting: number
  begun: number
}

let folder: string
let pool: WorkerPool
let engine: Engine
let disk: SlowDisk

beforeAll(() => {
  pool = createWorkerPool(1)
})
afterAll(() => pool.close())

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sheaf-log-sync-'))
  const path = join(folder, 'base.db')
  createBaseFile(path)
  const syncs: ((error?: Error) => void)[] = []
  disk = {
    finish: (error) => syncs.shift()?.(error),
    get waiting() {
      return syncs.length
    },
    begun: 0,
  }
  const system = createDisk()
  engine = openSqliteEngine({ path, name: 'base.db' }, pool, createOpenFiles(10), {
    syncNow: system.syncNow,
    sync(log) {
      disk.begun++
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      syncs.push((error) => {
        if (error) return reject(error)
        system.syncNow(log)
        resolve()
      })
      return promise
    },
  })
  await engine.write((tx) => tx.run({ sql: 'create table t (id integer primary key)', params: [] }))
})

afterEach(async () => {
  while (disk.waiting > 0) disk.finish()
  await engine.close()
  rmSync(folder, { recursive: true })
})

const insert = (id: number, onCommit?: () => void) =>
  engine.writeTogether(
    (tx: Transaction) => tx.run({ sql: 'insert into t values (?)', params: [id] }),
    onCommit,
  )

const stored = async () => (await engine.values({ sql: 'select id from t order by id', params: [] })).flat()

const settled = async (promise: Promise<unknown>) =>
  (await Promise.race([promise.then(() => 'done'), Bun.sleep(20).then(() => 'waiting')])) as string

describe('a write on a slow disk', () => {
  test('is acknowledged when it is on disk, and counted when it is committed', async () => {
    let isCounted = false
    const write = insert(1, () => {
      isCounted = true
    })
    await until(() => disk.waiting === 1)
    expect(await settled(write)).toBe('waiting')
    expect(isCounted).toBe(true)
    disk.finish()
    await write
  })

  test('keeps neither reads nor the writes after it waiting, which share the next sync', async () => {
    const first = insert(1)
    await until(() => disk.waiting === 1)
    const later = [2, 3, 4].map((id) => insert(id))
    await until(() => disk.begun === 1)
    expect(await settled(Promise.race(later))).toBe('waiting')
    expect(await stored()).toEqual([1, 2, 3, 4])
    disk.finish()
    await first
    await until(() => disk.waiting === 1)
    expect(await settled(Promise.race(later))).toBe('waiting')
    disk.finish()
    await Promise.all(later)
    expect(disk.begun).toBe(2)
  })

  test('is in the file when the base is closed meanwhile', async () => {
    const write = insert(1)
    await until(() => disk.waiting === 1)
    await engine.close()
    disk.finish()
    await write
    const file = new Database(join(folder, 'base.db'), { readonly: true })
    expect(file.query('select id from t').values()).toEqual([[1]])
    file.close()
  })
})

describe('a write whose sync fails', () => {
  const broken = Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' })

  test('is refused with those that wait for the next sync', async () => {
    const first = insert(1)
    await until(() => disk.waiting === 1)
    const second = insert(2)
    await settled(second)
    disk.finish(broken)
    const unusable = { code: 'DATABASE_UNREACHABLE' }
    await expect(first).rejects.toMatchObject(unusable)
    await expect(second).rejects.toMatchObject(unusable)
    expect(disk.begun).toBe(1)
  })

  test('is brought to disk by a checkpoint before the next write', async () => {
    const refused = insert(1)
    await until(() => disk.waiting === 1)
    disk.finish(broken)
    await expect(refused).rejects.toThrow('EIO')
    const next = insert(2)
    await until(() => disk.waiting === 1)
    const withoutLog = join(folder, 'copy.db')
    copyFileSync(join(folder, 'base.db'), withoutLog)
    const file = new Database(withoutLog)
    expect(file.query('select id from t').values()).toEqual([[1]])
    file.close()
    disk.finish()
    await next
    expect(await stored()).toEqual([1, 2])
  })

  test('keeps later writes away until a checkpoint succeeds', async () => {
    await insertNow(1)
    const reader = new Database(join(folder, 'base.db'), { readonly: true })
    reader.run('begin')
    reader.query('select * from t').all()
    const refused = insert(2)
    await until(() => disk.waiting === 1)
    disk.finish(broken)
    await expect(refused).rejects.toThrow('EIO')
    // The reader needs the file as it was.
    await expect(insert(3)).rejects.toMatchObject({ code: 'DATABASE_UNREACHABLE' })
    reader.close()
    await insertNow(4)
    expect(await stored()).toEqual([1, 2, 4])
  })

  async function insertNow(id: number): Promise<void> {
    const write = insert(id)
    await until(() => disk.waiting === 1)
    disk.finish()
    await write
  }
})

describe('a disk', () => {
  /** Syncs of a log with the time that each takes on the thread; true for those in the thread pool. */
  async function syncs(times: readonly number[], logs = ['base.db']): Promise<boolean[]> {
    let now = 0
    let takes = 0
    const clock = () => now
    const paced = createDisk(
      {
        fdatasync: (_, done) => done(null),
        fdatasyncSync: () => {
          now += takes
        },
      },
      clock,
    )
    const inPool: boolean[] = []
    // It is the only log from its second sync on.
    await paced.sync(join(folder, 'base.db'))
    for (const [at, ms] of times.entries()) {
      takes = ms
      const synced = paced.sync(join(folder, logs[at % logs.length] ?? ''))
      inPool.push(synced !== undefined)
      await synced
    }
    return inPool
  }
  const lengths = (inPool: boolean[]) =>
    inPool
      .map((each) => (each ? 'p' : 't'))
      .join('')
      .match(/p+|t+/g)
      ?.map(({ length }) => length)

  test('that is quick is waited for on the thread', async () => {
    expect(await syncs(Array(50).fill(0.1))).toEqual(Array(50).fill(false))
  })

  test('that is quick is waited for in the thread pool while several logs are written', async () => {
    expect(await syncs(Array(50).fill(0.1), ['base.db-wal', 'base.db'])).toEqual(Array(50).fill(true))
  })

  test('that is slow is waited for in the thread pool, and tried again less and less often', async () => {
    expect(lengths(await syncs(Array(1 + 16 + 1 + 32 + 1 + 64 + 1).fill(5)))).toEqual([
      1, 16, 1, 32, 1, 64, 1,
    ])
  })

  test('that was slow once is soon waited for on the thread again', async () => {
    expect(lengths(await syncs([5, ...Array(40).fill(0.1)]))).toEqual([1, 16, 24])
  })
})
