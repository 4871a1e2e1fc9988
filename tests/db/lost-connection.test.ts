import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import type { Field } from '../../src/core/model.ts'
import { type PostgresConnection, postgresConnection } from '../../src/db/connection.ts'
import { openMysqlEngine } from '../../src/db/mysql/engine.ts'
import { connectPostgres } from '../../src/db/postgres/driver.ts'
import {
  openPostgresDatabase,
  openPostgresEngine,
  type PostgresDatabase,
} from '../../src/db/postgres/engine.ts'
import { pagesInWorkers } from '../../src/db/postgres/page-task.ts'
import type { Engine, Transaction } from '../../src/dialects/dialect.ts'
import { createWorkerPool } from '../../src/pool.ts'
import { mysqlConnection } from '../dialects/engines.ts'
import { createDatabase, type TestDatabase } from '../support/servers.ts'
import { until } from '../support/until.ts'

let made: TestDatabase
let database: PostgresDatabase
let engine: Engine
beforeAll(async () => {
  made = await createDatabase('postgres')
  database = openPostgresDatabase(postgresConnection(made.url))
  engine = openPostgresEngine(database, 'public', 'Shop')
  await engine.write((tx) => tx.run({ sql: 'create table t (id integer)', params: [] }))
})
afterAll(async () => {
  await database.close()
  await made.drop()
})

/** As a server that is started anew does: every connection of ours is gone. */
async function cutAll(): Promise<void> {
  await using sql = new Bun.SQL(made.url, { max: 1 })
  const ours = sql`application_name = 'sheaf' and datname = current_database()`
  const ended: { pid: number }[] =
    await sql`select pid, pg_terminate_backend(pid) from pg_stat_activity where ${ours}`
  // Their connections end with their processes.
  await until(() => ended.every(({ pid }) => !existsSync(`/proc/${pid}`)), 'The end of the connections')
  await Bun.sleep(50)
}

const insert = (id: number) => (tx: Transaction) => tx.run({ sql: 'insert into t values ($1)', params: [id] })
const ids = async () =>
  (await engine.values({ sql: 'select id from t order by id', params: [] })).map(([id]) => id)

describe('a PostgreSQL that was away', () => {
  test('is read and written again once it is back', async () => {
    await engine.write(insert(1))
    await Promise.all([ids(), ids(), ids()])
    await cutAll()
    expect(await Promise.all([ids(), ids(), ids(), ids()])).toEqual([[1], [1], [1], [1]])
    await cutAll()
    await engine.writeTogether(insert(2))
    await cutAll()
    await engine.exclusively(() => engine.all({ sql: 'select 1', params: [] }))
    expect(await ids()).toEqual([1, 2])
  })

  test('is not connected again by what goes on after the end of a server', async () => {
    const limits = { points: 1, scans: 1, writers: 1 }
    const shared = openPostgresDatabase(postgresConnection(made.url), limits, { idleInTransactionMs: 60_000 })
    const own = openPostgresEngine(shared, 'public', 'Shop')
    const held = Promise.withResolvers<void>()
    const begun = Promise.withResolvers<void>()
    const failures = Promise.allSettled([
      own.write(async (tx) => {
        begun.resolve()
        await held.promise
        await insert(20)(tx)
      }),
      own.write(insert(21)),
    ])
    await begun.promise
    await shared.close()
    held.resolve()
    const later = [
      own.write(insert(22)),
      own.writeTogether(insert(23)),
      own.all({ sql: 'select 1', params: [] }),
    ]
    for (const one of [...(await failures), ...(await Promise.allSettled(later))])
      expect(one).toMatchObject({ reason: { code: 'DATABASE_UNREACHABLE', status: 503 } })
    expect(Math.max(...(await ids()).map(Number))).toBeLessThan(20)
  })

  test('keeps nothing of a write that it cut in two, and says so', async () => {
    const ways = [
      (work: (tx: Transaction) => Promise<unknown>) => engine.write(work),
      (work: (tx: Transaction) => Promise<unknown>) => engine.writeTogether(work),
    ]
    for (const write of ways) {
      const failure = await write(async (tx) => {
        await insert(10)(tx)
        await cutAll()
        // On another connection this would stand alone.
        await insert(11)(tx).catch(() => null)
        await insert(12)(tx)
      }).catch((error) => error)
      expect(failure).toMatchObject({ code: 'DATABASE_UNREACHABLE', status: 503 })
    }
    expect(await ids()).toEqual([1, 2])
    await engine.write(insert(3))
    expect(await ids()).toEqual([1, 2, 3])
  })

  test('leaves no lock behind where only a worker of Citus was away', async () => {
    // What the coordinator answers, on a connection that goes on.
    const sql = `do $$ begin raise 'connection to the remote node failed' using errcode = '08006'; end $$`
    const failing = { sql, params: [] }
    const refused = [
      () => engine.write((tx) => tx.run(failing)),
      () =>
        engine.write(
          (tx) => tx.run(failing),
          async () => {},
        ),
      () => engine.writeTogether((tx) => tx.run(failing)),
      () => engine.writeScript([failing]),
    ]
    for (const [at, write] of refused.entries()) {
      expect(await write().catch((error) => error)).toMatchObject({ code: 'DATABASE_UNREACHABLE' })
      await engine.write(insert(30 + at))
    }
    expect(await ids()).toEqual([1, 2, 3, 30, 31, 32, 33])
    await engine.write((tx) => tx.run({ sql: 'delete from t where id >= 30', params: [] }))
  })
})

describe('a transaction of the driver whose connection was lost', () => {
  // The driver throws outside of any promise, which fails this test, or never answers, unless it is patched.
  test('fails, whatever its work does afterwards', async () => {
    const client = connectPostgres(postgresConnection(made.url), { searchPath: null, statementTimeoutMs: 0 })
    const late: unknown[] = []
    const isDone = Promise.withResolvers<void>()
    const failure = await client
      .begin(async (tx) => {
        await tx`select 1`
        await cutAll()
        late.push(await tx`select 2`.catch((error) => error.code))
        setTimeout(isDone.resolve, 50)
        throw new Error('rolls back')
      })
      .catch((error) => error)
    expect(failure).toMatchObject({ code: 'CONNECTION_CLOSED' })
    await isDone.promise
    expect(late).toEqual(['CONNECTION_CLOSED'])
    expect(await client`select 3 as three`).toMatchObject([{ three: 3 }])
    await client.end()
  })
})

const nowhere = { host: '127.0.0.1', port: 1 }

describe('pages of a file that threads read', () => {
  const number = { id: 'f', title: 'N', type: 'Number', options: {}, isList: false } as unknown as Field
  const page = {
    table: { format: { name: 'json' as const }, fields: [number], people: [], timeZone: 'UTC' },
    recordIds: [3, 1, 9, 2],
    first: 0,
    isWide: false,
  }
  const statement = { sql: 'select id, id from t', params: [] }
  const pool = createWorkerPool(1)
  afterAll(() => pool.close())
  const textOf = async (connection: PostgresConnection, from = engine) => {
    const { rows, pieces } = await pagesInWorkers(pool, connection, 'public', from)(statement, page)
    return [rows, new TextDecoder().decode(pieces[0]?.bytes)]
  }
  const expected = [3, '\n{"N":3},\n{"N":1},\n{"N":2}']

  test('come from a new connection once the database is back', async () => {
    expect(await textOf(database.connection)).toEqual(expected)
    await cutAll()
    expect(await textOf(database.connection)).toEqual(expected)
  })

  test('are read by the server itself where a thread gets no connection', async () => {
    expect(await textOf({ ...database.connection, ...nowhere })).toEqual(expected)
    const away = openPostgresDatabase({ ...database.connection, ...nowhere })
    const unreachable = openPostgresEngine(away, 'public', 'Shop')
    expect(await textOf(away.connection, unreachable).catch((error) => error)).toMatchObject({
      code: 'DATABASE_UNREACHABLE',
    })
    await away.close()
  })
})

describe('a database that cannot be reached', () => {
  test('is named in a refusal, for every way to ask it', async () => {
    const away = openPostgresDatabase({ ...postgresConnection(made.url), ...nowhere })
    const url = 'mysql://a:b@127.0.0.1:1/x'
    const engines = [
      openPostgresEngine(away, 'public', 'Shop'),
      openMysqlEngine(mysqlConnection(url), 'Shop'),
    ]
    for (const { all, write, writeTogether, writeScript, exclusively, dialect } of engines) {
      const select = { sql: 'select 1', params: [] }
      const asked = [
        all(select),
        all(select, { scan: true }),
        write(async () => null),
        writeTogether(async () => null),
        writeScript([select]),
        ...(dialect.client === 'pg' ? [exclusively(async () => null)] : []),
      ]
      for (const answer of await Promise.allSettled(asked)) {
        expect(answer).toMatchObject({ status: 'rejected', reason: { code: 'DATABASE_UNREACHABLE' } })
        expect(String((answer as PromiseRejectedResult).reason.message)).toContain('Shop')
      }
    }
    await away.close()
  })

  test('is told from one that refuses who asks', async () => {
    const wrong = openPostgresDatabase({ ...postgresConnection(made.url), password: 'wrong' })
    const answer = openPostgresEngine(wrong, 'public', 'Shop').all({ sql: 'select 1', params: [] })
    expect(await answer.catch((error) => error)).toMatchObject({
      code: 'DATABASE_ERROR',
      message: expect.stringContaining('Shop refused the connection'),
    })
    await wrong.close()
  })
})
