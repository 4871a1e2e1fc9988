import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type ConnectedTable, connectTables } from '../imports/connected-support.ts'
import { type Bench, createBench, type TestTable } from '../records/support.ts'
import {
  type ConnectedProxy,
  createForeign,
  type ForeignDatabase,
  jobEnd,
  proxyCommits,
} from '../sources/support.ts'

const TABLES = {
  postgres: [
    'create table numbered (id serial primary key, name varchar(50), note varchar(50))',
    'create table keyed (name varchar(50) primary key, note varchar(50))',
    'create table behind (id serial primary key, name varchar(50), note varchar(50))',
    'create table unnumbered (id uuid default gen_random_uuid() primary key, name varchar(50), note varchar(50))',
  ],
  mariadb: [
    'create table numbered (id int auto_increment primary key, name varchar(50), note varchar(50))',
    'create table keyed (name varchar(50) primary key, note varchar(50))',
  ],
}

const COUNT = 1_250
const idsOf = (count: number) => Array.from({ length: count }, (_, at) => at + 1)

describe.each(['postgres', 'mariadb'] as const)(
  'a connection to %s that breaks while a job copies records there',
  (kind) => {
    let bench: Bench
    let database: ForeignDatabase
    let proxy: ConnectedProxy
    let tables: Map<string, ConnectedTable>
    let source: TestTable

    beforeAll(async () => {
      bench = await createBench()
      database = await createForeign(kind, TABLES[kind])
      proxy = await proxyCommits(database.sent)
      ;({ tables } = await connectTables(bench, proxy))
      source = await bench.table({ name: 'SingleLineText', note: 'SingleLineText' })
      for (let from = 0; from < COUNT; from += 1_000) {
        const rows = idsOf(Math.min(1_000, COUNT - from)).map((id) => ({
          name: `row ${from + id}`,
          ...(id % 2 === 0 && { note: 'even' }),
        }))
        expect((await bench.rest.post(source.path, rows)).status).toBe(200)
      }
    })
    afterAll(async () => {
      await bench.stop()
      await proxy.stop()
      await database.stop()
    })

    async function begin(table: string): Promise<string> {
      const target = tables.get(table)
      const titleOf = (name: string) => target?.fields.find(({ title }) => title === name)?.title ?? name
      const { status, body } = await bench.rest.post(`${source.path}/copy`, {
        targetTableId: target?.tableId,
        ids: idsOf(COUNT),
        mapping: { [titleOf('name')]: 'name', [titleOf('note')]: 'note' },
      })
      expect(status).toBe(200)
      return body.jobId
    }
    async function counts(table: string): Promise<number[]> {
      const [row] = await database.ask<{ n: number; names: number }>(
        `select count(*) as n, count(distinct name) as names from ${table}`,
      )
      return [Number(row?.n), Number(row?.names)]
    }

    describe.each(['before', 'after'] as const)('just %s a commit', (moment) => {
      test.each(['numbered', 'keyed'])(
        'copies each record once to a table that is %s, and one undo takes all back',
        async (table) => {
          const before = proxy.cuts()
          proxy.cutAt(moment, { skip: 1 })
          const job = await jobEnd(bench, await begin(table))
          expect(proxy.cuts() - before).toBe(1)
          expect(job).toMatchObject({ status: 'completed', error: null, result: { copied: COUNT, left: 0 } })
          expect(await counts(table)).toEqual([COUNT, COUNT])
          await bench.trpc.records.undo.mutate({ baseId: bench.baseId })
          expect(await counts(table)).toEqual([0, 0])
        },
      )

      test.if(kind === 'postgres')(
        'copies each once where neither numbers nor values tell the copies',
        async () => {
          // The sequence gives lower numbers than that of a record that is there.
          await database.ask("insert into behind (id, name) values (100000, 'there')")
          for (const table of ['unnumbered', 'behind']) {
            proxy.cutAt(moment, { skip: 1 })
            const job = await jobEnd(bench, await begin(table))
            expect(job).toMatchObject({
              status: 'completed',
              error: null,
              result: { copied: COUNT, left: 0 },
            })
            await database.ask("delete from behind where name = 'there'")
            expect(await counts(table)).toEqual([COUNT, COUNT])
            await bench.trpc.records.undo.mutate({ baseId: bench.baseId })
            expect(await counts(table)).toEqual([0, 0])
          }
        },
      )
    })
  },
)
