import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createTableCopyJob } from '../../modules/imports/copies/jobs.ts'
import type { UserActor } from '../../src/core/actor.ts'
import type { TableSchema } from '../../src/core/model.ts'
import { doorOf, ended } from '../imports/support.ts'
import { type Bench, changesNothing, createBench, type TestTable } from '../records/support.ts'

let bench: Bench
let tasks: TestTable
beforeAll(async () => {
  bench = await createBench()
  tasks = await bench.table({ Title: 'SingleLineText' }, [{ Title: 't1' }, { Title: 't2' }])
})
afterAll(() => bench.stop())

const open = (tableId: string): Promise<TableSchema> => bench.trpc.schema.table.query({ tableId })

async function copy(options: object = {}, tableId = tasks.id): Promise<TableSchema> {
  const started = await bench.trpc.copies.table.mutate({ tableId, options })
  const job = await ended(doorOf(bench.app, bench.owner), started.jobId)
  expect([job.status, job.error, job.result]).toEqual(['completed', null, { id: started.tableId }])
  return open(started.tableId)
}

describe('the job that copies a table', () => {
  test('is cancelled while it waits for the base, and leaves nothing', async () => {
    const engine = await bench.app.kernel.sources.engine(bench.baseId)
    await changesNothing(bench, async () => {
      let jobId = ''
      // Somebody else writes: the copy has begun and cannot go on.
      await engine.exclusively(async () => {
        ;({ jobId } = await bench.trpc.copies.table.mutate({ tableId: tasks.id }))
        while ((await bench.trpc.jobs.get.query({ jobId })).status === 'waiting') await Bun.sleep(5)
        await bench.trpc.jobs.cancel.mutate({ jobId })
      })
      const job = await ended(doorOf(bench.app, bench.owner), jobId)
      expect([job.status, job.result]).toEqual(['cancelled', null])
    })
    const tables = await bench.trpc.schema.tables.query({ baseId: bench.baseId })
    expect(tables.map(({ title }) => title)).toEqual([tasks.title])
  })

  test('is failed at the next start where it was cut off, and completed where only its end was not noted', async () => {
    const job = createTableCopyJob(bench.app.services.schema)
    const owner: UserActor = { kind: 'user', id: bench.owner.id, email: '', orgRoles: [], via: 'session' }
    const at = { id: 'job', userId: owner.id }
    const input = { owner, tableId: tasks.id, title: 'Cut off', withData: true, withViews: true }
    expect(await job.recover({ ...input, newTableId: 'm00000000000000' }, at)).toBeNull()
    const { id } = (await copy()).table
    expect(await job.recover({ ...input, newTableId: id }, at)).toEqual({ result: { id } })
  })

  test('is refused where a linked table has no room for its reverses, and changes nothing', async () => {
    // With two reverses there is room for one field more, where two are to come.
    const titles = Array.from({ length: 997 }, (_, index) => `F${index}`)
    const full = await bench.table(Object.fromEntries(titles.map((title) => [title, 'SingleLineText'])))
    const source = await bench.table({ Title: 'SingleLineText' })
    for (const title of ['One', 'Two']) {
      const field = { title, type: 'Links', options: { kind: 'mm', relatedTableId: full.id } } as never
      await bench.trpc.schema.createField.mutate({ tableId: source.id, field })
    }
    await changesNothing(bench, async () => {
      const { jobId } = await bench.trpc.copies.table.mutate({ tableId: source.id })
      const job = await ended(doorOf(bench.app, bench.owner), jobId)
      expect([job.status, job.error]).toEqual([
        'failed',
        `${full.title} has reached the limit of 1000 fields`,
      ])
    })
  })

  test('writes many records in stretches, and tells how far it is', async () => {
    const long = await bench.table({ Title: 'SingleLineText' })
    const field = long.field('Title').id
    const operations = Array.from({ length: 45_000 }, (_, index) => ({ values: { [field]: `r${index}` } }))
    await bench.trpc.records.write.mutate({
      change: { baseId: bench.baseId, operations: [{ kind: 'insert', tableId: long.id, rows: operations }] },
    })
    const told: { done: number; total: number | null }[] = []
    bench.app.kernel.events.on('job.changed', ({ kind, progress: { done, total } }) => {
      if (kind === 'duplicate-model' && done > 0) told.push({ done, total })
    })
    const made = await copy({}, long.id)
    const { body } = await bench.rest.get(`/api/v2/tables/${made.table.id}/records?limit=1&sort=-Id`)
    expect([body.pageInfo.totalRows, body.list[0].Title]).toEqual([45_000, 'r44999'])
    expect(told.at(-1)).toEqual({ done: 45_000, total: 45_000 })
  })

  test('is started over REST, for tables of the base that is named', async () => {
    for (const prefix of ['/api/v1/db/meta', '/api/v2/meta']) {
      const path = `${prefix}/duplicate/${bench.baseId}/table/${tasks.id}`
      const { status, body } = await bench.rest.post(path, {
        options: { excludeData: 1, excludeViews: null },
      })
      expect([status, body]).toEqual([200, { id: expect.stringMatching(/^job/) }])
      const job = await ended(doorOf(bench.app, bench.owner), body.id)
      expect(job.kind).toBe('duplicate-model')
      expect(job.result).toEqual({ id: expect.stringMatching(/^m/) })
    }
    const other = await bench.trpc.bases.create.mutate({ title: 'Other' })
    const elsewhere = `/api/v1/db/meta/duplicate/${other.id}/table/${tasks.id}`
    expect((await bench.rest.post(elsewhere, {})).status).toBe(404)
  })
})
