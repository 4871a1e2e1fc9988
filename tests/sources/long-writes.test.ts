import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Work } from '../../src/core/work.ts'
import { createOpenFiles } from '../../src/db/open-files.ts'
import { openExternalSqliteEngine } from '../../src/db/sqlite-engine.ts'
import { createWorkerPool } from '../../src/pool.ts'
import { type Bench, createBench, refusalOf } from '../records/support.ts'
import { until } from '../support/until.ts'
import { connect, createForeign, type ForeignDatabase, type ServerKind } from './support.ts'

const ROWS = 5_000
const PLACES = [0, 1, 2, 3, 4]
const DIGITS = '(select 0 as n union all select 1 union all select 2 union all select 3 union all select 4) d'

describe.each<[ServerKind]>([['mariadb'], ['postgres']])('a long write in a connected %s', (kind) => {
  let bench: Bench
  let foreign: ForeignDatabase
  let tableId: string
  let noteId: string

  beforeAll(async () => {
    bench = await createBench()
    foreign = await createForeign(kind, [
      'create table part (id int primary key, note varchar(20))',
      // Five digits to the base of five: MariaDB counts no further than 1,000 by itself.
      `insert into part select ${PLACES.map((at) => `d${at}.n * ${5 ** at}`).join(' + ')} + 1, 'old'
        from ${PLACES.map((at) => `${DIGITS}${at}`).join(', ')}`,
      `insert into part select id + 3125, note from part where id <= ${ROWS - 3125}`,
    ])
    await connect(bench, foreign.sent)
    const tables = await bench.trpc.schema.tables.query({ baseId: bench.baseId })
    tableId = tables.find(({ title }) => /^part$/i.test(title))?.id ?? ''
    const { fields } = await bench.trpc.schema.table.query({ tableId })
    noteId = fields.find(({ columnName }) => columnName === 'note')?.id ?? ''
  })
  afterAll(async () => {
    await bench.stop()
    await foreign.stop()
  })

  test('is announced, and changes nothing when it is cancelled', async () => {
    const { app, trpc, baseId } = bench
    const gate = Promise.withResolvers<void>()
    const engine = await app.kernel.sources.engine(baseId)
    const other = engine.writeScript(async () => {
      await gate.promise
      return []
    })
    const announced = Promise.withResolvers<Work>()
    const stop = app.kernel.events.on('work.changed', announced.resolve)
    const selection = { tableId }
    const outcome = trpc.records.updateMatching.mutate({ selection, values: { [noteId]: 'new' } }).then(
      () => null,
      (error: Error) => error.message,
    )
    const { id: workId, kind: name } = await announced.promise
    stop()
    expect(name).toBe('update')
    gate.resolve()
    await other
    while (app.kernel.works.find(workId)?.share === 0) await Bun.sleep(1)
    expect(app.kernel.works.find(workId)).toMatchObject({ records: ROWS, canCancel: true })
    await trpc.records.cancelWork.mutate({ baseId, workId })
    expect(await outcome).toBe('The change was cancelled. Nothing was changed.')
    const [changed] = await foreign.ask<{ n: unknown }>("select count(*) as n from part where note <> 'old'")
    expect(Number(changed?.n)).toBe(0)
  })

  test('that meets a lock of another program is refused soon, and keeps no one from the base’s own tables', async () => {
    const { trpc, baseId } = bench
    const own = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'a' }])
    const update = (table: string, fieldId: string) =>
      trpc.records.write.mutate({
        change: {
          baseId,
          operations: [
            { kind: 'update' as const, tableId: table, rows: [{ id: 1, values: { [fieldId]: 'ours' } }] },
          ],
        },
      })
    const other = new Bun.SQL(foreign.database.url, { max: 1 })
    try {
      await other.unsafe('begin')
      await other.unsafe("update part set note = 'theirs' where id = 1")
      const waiting = refusalOf(update(tableId, noteId))
      await update(own.id, own.field('Title').id)
      expect(await waiting).toMatchObject({ code: 'CONFLICT', status: 409 })
    } finally {
      await other.unsafe('rollback')
      await other.close()
    }
    expect(await own.titles()).toEqual(['ours'])
  })
})

test('a write that the database ends for a deadlock with another program is refused as busy', async () => {
  await using stack = new AsyncDisposableStack()
  const bench = await createBench()
  stack.defer(() => bench.stop())
  const foreign = await createForeign('postgres', [
    'create table part (id int primary key, note varchar(20))',
    "insert into part values (1, 'old'), (2, 'old')",
  ])
  stack.defer(() => foreign.stop())
  await connect(bench, foreign.sent)
  const [table] = await bench.trpc.schema.tables.query({ baseId: bench.baseId })
  const tableId = table?.id ?? ''
  const { fields } = await bench.trpc.schema.table.query({ tableId })
  const noteId = fields.find(({ columnName }) => columnName === 'note')?.id ?? ''
  const update = (id: number) => ({
    kind: 'update' as const,
    tableId,
    rows: [{ id, values: { [noteId]: 'ours' } }],
  })
  const other = new Bun.SQL(foreign.database.url, { max: 1 })
  stack.defer(() => other.close())
  await other.unsafe("set deadlock_timeout = '60s'")
  await other.unsafe('begin')
  await other.unsafe("update part set note = 'theirs' where id = 2")
  const change = { baseId: bench.baseId, operations: [update(1), update(2)] }
  const refused = refusalOf(bench.trpc.records.write.mutate({ change }))
  const isWaiting = async () =>
    (
      await foreign.ask(`select 1 from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`)
    ).length > 0
  await until(isWaiting, 'The write waits for the lock')
  // PostgreSQL looks for deadlocks some time after a wait began, and ends the one that finds it.
  await other.unsafe("update part set note = 'theirs' where id = 1")
  expect(await refused).toMatchObject({ code: 'CONFLICT', status: 409 })
  await other.unsafe('rollback')
})

describe('a connected SQLite file that another program has locked', () => {
  let bench: Bench
  let file: Database
  let path: string
  beforeAll(async () => {
    bench = await createBench()
    const folder = join(bench.app.config.dataDir, 'sources')
    mkdirSync(folder, { recursive: true })
    file = new Database(join(folder, 'parts.db'))
    file.run('create table part (id integer primary key, note text)')
    file.run("insert into part values (1, 'old')")
    await connect(bench, { client: 'sqlite3', connection: { filename: 'parts.db' } })
    const [table] = await bench.trpc.schema.tables.query({ baseId: bench.baseId })
    path = `/api/v2/tables/${table?.id}/records`
  })
  afterAll(async () => {
    await bench.stop()
    file.close()
  })
  const note = () => file.query('select note from part').get()

  test('refuses a write after some seconds, without stopping the server', async () => {
    file.run('begin immediate')
    let turns = 0
    const ticks = setInterval(() => turns++, 20)
    const { status } = await bench.rest.patch(path, { id: 1, note: 'refused' })
    clearInterval(ticks)
    file.run('rollback')
    expect(status).toBe(409)
    expect(turns).toBeGreaterThan(3)
    expect(note()).toEqual({ note: 'old' })
  })

  test('is written to as soon as the other has ended, also where that reads until the commit', async () => {
    file.run('begin immediate')
    const first = bench.rest.patch(path, { id: 1, note: 'first' })
    await Bun.sleep(200)
    file.run('rollback')
    expect((await first).status).toBe(200)
    file.run('begin')
    expect(note()).toEqual({ note: 'first' })
    const second = bench.rest.patch(path, { id: 1, note: 'second' })
    await Bun.sleep(200)
    file.run('rollback')
    expect((await second).status).toBe(200)
    expect(note()).toEqual({ note: 'second' })
  })

  /** What a read answers while the file is locked for a second or more, and how often other work was done meanwhile. */
  async function whileLocked<T>(read: () => Promise<T>): Promise<{ answer: T; turns: number }> {
    file.run('begin exclusive')
    let turns = 0
    const ticks = setInterval(() => turns++, 20)
    const waiting = read()
    await Bun.sleep(1_000)
    const lockedUntil = performance.now() + 3_000
    while (turns <= 20 && performance.now() < lockedUntil) await Bun.sleep(20)
    clearInterval(ticks)
    file.run('rollback')
    return { answer: await waiting, turns }
  }

  test('is read as soon as the other has ended, without stopping the server', async () => {
    expect((await bench.rest.get(path)).status).toBe(200)
    const { answer, turns } = await whileLocked(() => bench.rest.get(path))
    expect(answer.status).toBe(200)
    expect(turns).toBeGreaterThan(20)
  })

  test('is connected and compared as soon as the other has ended, without stopping the server', async () => {
    const sent = { client: 'sqlite3', connection: { filename: 'parts.db' } } as const
    const connected = await whileLocked(() => connect(bench, sent))
    expect(connected.turns).toBeGreaterThan(20)
    const source = { baseId: bench.baseId, sourceId: connected.answer }
    const compared = await whileLocked(() => bench.trpc.schema.differences.query(source))
    expect(compared.answer).toEqual([])
    expect(compared.turns).toBeGreaterThan(20)
  })

  test('is opened, and read by a thread, as soon as the other has ended', async () => {
    const pool = createWorkerPool(1)
    const { answer, turns } = await whileLocked(async () => {
      const engine = openExternalSqliteEngine(file.filename, 'parts', pool, createOpenFiles(10))
      const rows = await engine.all({ sql: 'select id from part', params: [] }, { scan: true })
      await engine.close()
      return rows
    })
    expect(answer).toEqual([{ id: 1 }])
    expect(turns).toBeGreaterThan(20)
    pool.close()
  })
})
