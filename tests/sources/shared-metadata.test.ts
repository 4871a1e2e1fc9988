import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Bench, benchOf } from '../records/support.ts'
import { createTestApp } from '../support/app.ts'
import { createBase } from '../support/factories.ts'
import { connect, createForeign, type ForeignDatabase, jobEnd } from './support.ts'

let bench: Bench
let foreign: ForeignDatabase
beforeAll(async () => {
  const app = await createTestApp({ database: 'postgres' })
  const owner = await app.signUp()
  const { id } = await createBase(app, owner)
  bench = benchOf(app, owner, id)
  foreign = await createForeign('mariadb', [
    'create table author (id int auto_increment primary key, name varchar(40) not null)',
    'create table book (id int auto_increment primary key, author_id int, foreign key (author_id) references author (id))',
  ])
})
afterAll(async () => {
  await bench.stop()
  await foreign.stop()
})

test('a source works the same where the metadata and the log are in PostgreSQL', async () => {
  const { trpc, rest, baseId } = bench
  const sourceId = await connect(bench, foreign.sent)
  const tables = await trpc.schema.tables.query({ baseId })
  const author = tables.find((table) => table.title === 'author')!
  const path = `/api/v2/tables/${author.id}/records`
  expect((await rest.post(path, { name: 'Ann' })).body).toEqual({ id: 1 })
  await rest.patch(path, { id: 1, name: 'Anna' })
  await trpc.records.undo.mutate({ baseId })
  expect(await foreign.ask('select name from author')).toEqual([{ name: 'Ann' }])
  await foreign.ask('alter table author add column born date, drop column name')
  const { id } = await trpc.schema.syncSource.mutate({ baseId, sourceId })
  expect((await jobEnd(bench, id)).status).toBe('completed')
  expect(await trpc.schema.differences.query({ baseId, sourceId })).toEqual([])
  await trpc.records.undo.mutate({ baseId })
  expect(await trpc.schema.differences.query({ baseId, sourceId })).toHaveLength(2)
  const gone = await trpc.sources.delete.mutate({ baseId, sourceId })
  expect((await jobEnd(bench, gone.id)).status).toBe('completed')
  expect(await trpc.schema.tables.query({ baseId })).toEqual([])
})
