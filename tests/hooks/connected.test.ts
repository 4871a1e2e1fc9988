import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  type ConnectedProxy,
  connect,
  createForeign,
  type ForeignDatabase,
  proxyCommits,
} from '../sources/support.ts'
import { createHookBench, type HookBench } from './support.ts'

const STATEMENTS = {
  postgres: ['create table tasks (id serial primary key, title text, done int)'],
  mariadb: ['create table tasks (id int auto_increment primary key, title varchar(99), done int)'],
}

describe.each(['postgres', 'mariadb'] as const)('a webhook of a table in a connected %s', (kind) => {
  let bench: HookBench
  let foreign: ForeignDatabase
  let proxy: ConnectedProxy
  let tableId: string
  beforeAll(async () => {
    bench = await createHookBench()
    foreign = await createForeign(kind, STATEMENTS[kind])
    proxy = await proxyCommits(foreign.sent)
    await connect(bench, proxy.sent)
    const tables = await bench.trpc.schema.tables.query({ baseId: bench.baseId })
    tableId = tables.find(({ tableName }) => tableName === 'tasks')?.id ?? ''
  })
  afterAll(async () => {
    await bench.stop()
    await proxy.stop()
    await foreign.stop()
  })

  test('is called with the records before and after, by a condition as well', async () => {
    const { fields } = await bench.trpc.schema.table.query({ tableId })
    const done = fields.find(({ title }) => title === 'done')?.id ?? ''
    const settings = {
      title: 'Hook',
      event: 'after' as const,
      operations: ['insert' as const, 'update' as const, 'delete' as const],
    }
    const channel = (path: string) => ({
      type: 'URL',
      payload: { path: `${bench.receiver.url}${path}` },
    })
    await bench.trpc.hooks.create.mutate({ tableId, ...settings, channel: channel('/hook') })
    await bench.trpc.hooks.create.mutate({
      tableId,
      ...settings,
      isConditional: true,
      filter: { fieldId: done, operator: 'gt', value: 0 },
      channel: channel('/done'),
    })
    const path = `/api/v2/tables/${tableId}/records`
    await bench.rest.post(path, { title: 'a', done: 0 })
    await bench.rest.patch(path, { id: 1, done: 1 })
    await bench.rest.delete(path, { id: 1 })
    await bench.settled()
    const told = (path: string) =>
      bench
        .received(path)
        .map(({ type, data }) => [
          type.split('.').at(-1),
          data.previous_rows?.[0]?.done,
          data.rows[0]?.title,
          data.rows[0]?.done,
        ])
    expect(told('/hook')).toEqual([
      ['insert', undefined, 'a', 0],
      ['update', 0, 'a', 1],
      ['delete', undefined, 'a', 1],
    ])
    expect(told('/done').map(([operation]) => operation)).toEqual(['update', 'delete'])
  })

  test('is called for every change of records that are gone a moment later, with the values of its time', async () => {
    const path = `/api/v2/tables/${tableId}/records`
    const from = bench.received('/hook').length
    const insertion = proxy.holdAt('after')
    const added = bench.rest.post(path, { title: 'brief', done: 0 })
    const inserted = await insertion
    const [row] = await foreign.ask<{ id: number }>(`select id from tasks where title = 'brief'`)
    // Each change waits for the one before, and begins as soon as that is in the log.
    const updated = bench.rest.patch(path, { id: row?.id, done: 1 })
    await Bun.sleep(50)
    const update = proxy.holdAt('after')
    inserted.pass()
    const changed = await update
    const deleted = bench.rest.delete(path, { id: row?.id })
    await Bun.sleep(50)
    const deletion = proxy.holdAt('after')
    changed.pass()
    const gone = await deletion
    // The record is gone, but the log does not have that yet. The webhook is told of the earlier changes meanwhile.
    await Bun.sleep(200)
    gone.pass()
    for (const { status } of [await added, await updated, await deleted]) expect(status).toBe(200)
    await bench.settled()
    const told = bench
      .received('/hook')
      .slice(from)
      .map(({ type, data }) => [type.split('.').at(-1), ...data.rows.map((row) => [row.title, row.done])])
    expect(told).toEqual([
      ['insert', ['brief', 0]],
      ['update', ['brief', 1]],
      ['delete', ['brief', 1]],
    ])
  })

  test('leaves a history of the record', async () => {
    const history = await bench.trpc.records.history.query({ tableId, recordId: 1 })
    expect(history.entries.map(({ kind }) => kind)).toEqual([
      'records.delete',
      'records.update',
      'records.insert',
    ])
  })
})
