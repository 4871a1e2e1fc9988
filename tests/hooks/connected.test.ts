import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { connect, createForeign, type ForeignDatabase } from '../sources/support.ts'
import { createHookBench, type HookBench } from './support.ts'

const STATEMENTS = {
  postgres: ['create table tasks (id serial primary key, title text, done int)'],
  mariadb: ['create table tasks (id int auto_increment primary key, title varchar(99), done int)'],
}

describe.each(['postgres', 'mariadb'] as const)('a webhook of a table in a connected %s', (kind) => {
  let bench: HookBench
  let foreign: ForeignDatabase
  let tableId: string
  beforeAll(async () => {
    bench = await createHookBench()
    foreign = await createForeign(kind, STATEMENTS[kind])
    await connect(bench, foreign.sent)
    const tables = await bench.trpc.schema.tables.query({ baseId: bench.baseId })
    tableId = tables.find(({ tableName }) => tableName === 'tasks')?.id ?? ''
  })
  afterAll(async () => {
    await bench.stop()
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
    const titles = Array.from({ length: 40 }, (_, at) => `t${at}`)
    await Promise.all(
      titles.map(async (title) => {
        const { body } = await bench.rest.post(path, { title, done: 0 })
        await bench.rest.patch(path, { id: body.id, done: 1 })
        await bench.rest.delete(path, { id: body.id })
      }),
    )
    await bench.settled()
    const told = bench
      .received('/hook')
      .slice(from)
      .map(({ type, data }) => [type.split('.').at(-1), ...data.rows.map((row) => [row.title, row.done])])
    const expected = titles.flatMap((title) => [
      ['insert', [title, 0]],
      ['update', [title, 1]],
      ['delete', [title, 1]],
    ])
    expect(told.map(String).toSorted()).toEqual(expected.map(String).toSorted())
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
