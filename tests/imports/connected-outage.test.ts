import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Bench, createBench } from '../records/support.ts'
import { type ConnectedProxy, proxyCommits } from '../sources/support.ts'
import {
  type ConnectedDatabase,
  type ConnectedTable,
  connectTables,
  createConnected,
  type LoadOptions,
  load,
  startLoad,
} from './connected-support.ts'
import { type Door, doorOf, ended, reportOf, resultOf } from './support.ts'

const TABLES = {
  postgres: [
    'create table author (id serial primary key, name text not null)',
    'create table person (code text primary key, name text)',
    'create table stock (code text primary key, name text)',
    'create table loud (id serial primary key, name text)',
    `create function loud() returns trigger language plpgsql as $$
      begin new.name = upper(new.name); return new; end $$`,
    'create trigger loud before insert on loud for each row execute function loud()',
  ],
  mariadb: [
    'create table author (id int auto_increment primary key, name varchar(50) not null)',
    'create table person (code varchar(50) primary key, name varchar(50))',
    'create table stock (code varchar(50) primary key, name varchar(50))',
    'create table loud (id int auto_increment primary key, name varchar(50))',
    'create trigger loud before insert on loud for each row set new.name = upper(new.name)',
  ],
}

const COUNT = 2_500

describe.each(['postgres', 'mariadb'] as const)('a connection to %s that breaks during an import', (kind) => {
  let bench: Bench
  let database: ConnectedDatabase
  let proxy: ConnectedProxy
  let door: Door
  let tables: Map<string, ConnectedTable>

  beforeAll(async () => {
    bench = await createBench()
    door = doorOf(bench.app, bench.owner)
    database = await createConnected(kind, TABLES[kind], '')
    proxy = await proxyCommits(database.sent)
    ;({ tables } = await connectTables(bench, proxy))
  })
  afterAll(async () => {
    await bench.stop()
    await proxy.stop()
    await database.stop()
  })

  const into = (name: string, file: string, options?: LoadOptions) =>
    load(door, bench.baseId, tables.get(name)!, file, options)
  const counts = async (table: string, column = 'name') => {
    const [row] = await database.ask<{ all: number; different: number }>(
      `select count(*) as ${kind === 'postgres' ? '"all"' : '`all`'}, count(distinct ${column}) as different from ${table}`,
    )
    return [Number(row?.all), Number(row?.different)]
  }
  const names = (prefix: string) => Array.from({ length: COUNT }, (_, at) => `${prefix} ${at}`)

  test.each(['before', 'after'] as const)(
    'just %s a commit repeats and loses no row of a table that numbers its records',
    async (moment) => {
      await database.ask('delete from author')
      // A sequence of PostgreSQL goes on below it.
      await database.ask("insert into author (id, name) values (1000000, 'there')")
      const before = proxy.cuts()
      proxy.cutAt(moment, { skip: 1 })
      const { result, report } = await into('author', `name\n${names('name').join('\n')}\n`)
      expect(proxy.cuts() - before).toBe(1)
      expect([result.rows, result.rowsRefused, report]).toEqual([COUNT, 0, []])
      expect(await counts('author')).toEqual([COUNT + 1, COUNT + 1])
    },
  )

  test.each(['before', 'after'] as const)(
    'just %s a commit repeats and loses no row of a table with keys of its own',
    async (moment) => {
      await database.ask('delete from person')
      proxy.cutAt(moment, { skip: 1, downMs: 1_500 })
      const lines = names('c').map((code) => `${code},x`)
      const { result } = await into('person', `code,name\n${lines.join('\n')}\n`)
      expect(result).toMatchObject({ rows: COUNT, rowsRefused: 0 })
      proxy.cutAt(moment, { skip: 1 })
      const changed = names('c').map((code) => `${code},y`)
      const updated = await into('person', `code,name\n${changed.join('\n')}\nnew,z\n`, { keys: ['code'] })
      expect(updated.result.update).toMatchObject({ added: 1 })
      const { changed: some = 0, unchanged = 0 } = updated.result.update ?? {}
      expect(some + unchanged).toBe(COUNT)
      expect(await counts('person', 'code')).toEqual([COUNT + 1, COUNT + 1])
      const [left] = await database.ask<{ n: number }>(`select count(*) as n from person where name = 'x'`)
      expect(Number(left?.n)).toBe(0)
    },
  )

  test('while it looks for records only makes it wait', async () => {
    const lines = names('c').map((code) => `${code},x`)
    const file = `code,name\n${lines.join('\n')}\n`
    await into('stock', file)
    const before = proxy.cuts()
    proxy.cutAt('before', { downMs: 1_500, text: /select.*from [`"]stock/is })
    const { result } = await into('stock', file, { keys: ['code'] })
    expect(proxy.cuts() - before).toBe(1)
    expect(result.update).toMatchObject({ added: 0, changed: 0, unchanged: COUNT })
  })

  test('never writes rows again of which the table does not tell whether they are there, and reports them', async () => {
    proxy.cutAt('after', { skip: 1 })
    const { result, report } = await into('loud', `name\n${names('a').join('\n')}\n`)
    const [all, different] = await counts('loud')
    expect([all, different]).toEqual([COUNT, COUNT])
    expect(result.rows + result.rowsRefused).toBe(COUNT)
    expect(result.rowsRefused).toBe(1_000)
    expect(report).toHaveLength(1_000)
    expect(report[0]).toContain('connection was lost while this row was written')
  })

  test('for good ends it with the rows that it has written, and tells where it stopped', async () => {
    await database.ask('delete from author')
    const { jobId } = await startLoad(
      door,
      bench.baseId,
      tables.get('author')!,
      `name\n${names('name').join('\n')}\n`,
    )
    proxy.cutAt('before', { skip: 1, downMs: 3_600_000 })
    const client = bench.trpc
    for (;;) {
      if (proxy.cuts() > 0 && (await client.jobs.get.query({ jobId })).progress.done >= 1_000) break
      await Bun.sleep(20)
    }
    await client.jobs.cancel.mutate({ jobId })
    const result = resultOf(await ended(door, jobId))
    expect(result).toMatchObject({ rows: 1_000, stopped: { rows: 500, row: 2_002, reason: null } })
    expect(await reportOf(door, jobId)).toHaveLength(1_000)
    expect(await counts('author')).toEqual([1_000, 1_000])
  })
})
