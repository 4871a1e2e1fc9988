import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Bench, createBench, readLog } from './support.ts'

let bench: Bench
beforeAll(async () => {
  bench = await createBench()
})
afterAll(() => bench.stop())

const undo = () => bench.trpc.records.undo.mutate({ baseId: bench.baseId })

describe('the change log', () => {
  test('keeps who did what, with the values before and after, in the transaction of the write', async () => {
    const table = await bench.table({ Title: 'SingleLineText', Cb: 'Checkbox' })
    const title = table.field('Title').id
    const done = table.field('Cb').id
    await bench.rest.post(table.path, { Title: 'a' })
    await bench.rest.patch(table.path, { Id: 1, Title: 'b', Cb: 1 })
    await bench.trpc.records.updateMatching.mutate({
      selection: { tableId: table.id },
      values: { [done]: false },
    })
    await bench.rest.delete(table.path, { Id: 1 })
    const log = (await readLog(bench, table)).filter(({ kind }) => kind.startsWith('records.'))
    expect(log.map(({ kind, records, actor_id }) => [kind, records, actor_id])).toEqual([
      ['records.insert', 1, bench.owner.id],
      ['records.update', 1, bench.owner.id],
      ['records.update', 1, bench.owner.id],
      ['records.delete', 1, bench.owner.id],
    ])
    const [insert, update, all, remove] = log.map(({ changes }) => changes[0]!)
    expect(insert).toMatchObject({ record_id: 1, before: null, after: { [title]: 'a', [done]: false } })
    expect(update).toMatchObject({
      before: { [title]: 'a', [done]: false },
      after: { [title]: 'b', [done]: true },
    })
    expect(all).toMatchObject({ before: { [done]: true }, after: { [done]: false } })
    expect(remove).toMatchObject({ before: { [title]: 'b', [done]: false }, after: null })
  })

  test('tells what happened to a record, newest first, page by page', async () => {
    const table = await bench.table({ Title: 'SingleLineText', Num: 'Number' })
    const tableId = table.id
    await bench.rest.post(
      table.path,
      Array.from({ length: 120 }, (_, index) => ({ Num: index })),
    )
    await bench.rest.patch(table.path, { Id: 50, Title: 'a' })
    await bench.rest.patch(table.path, { Id: 51, Title: 'other' })
    await bench.rest.patch(table.path, { Id: 50, Title: 'b', Num: 1 })
    await undo()
    const history = (cursor?: number) => bench.trpc.records.history.query({ tableId, recordId: 50, cursor })
    const { entries, people } = await history()
    expect(entries.map(({ kind }) => kind)).toEqual([
      'undo',
      'records.update',
      'records.update',
      'records.insert',
    ])
    const [title, num] = [table.field('Title').id, table.field('Num').id]
    expect(entries[1]?.changes).toEqual([
      { fieldId: title, before: 'a', after: 'b' },
      { fieldId: num, before: 49, after: 1 },
    ])
    expect(entries[0]?.changes).toEqual([
      { fieldId: title, before: 'b', after: 'a' },
      { fieldId: num, before: 1, after: 49 },
    ])
    expect(people).toEqual([{ id: bench.owner.id, email: bench.owner.email, displayName: null }])
    const older = await history(entries[1]?.id)
    expect(older.entries.map(({ id }) => id)).toEqual(entries.slice(2).map(({ id }) => id))
    for (let at = 0; at < 60; at++) await bench.rest.patch(table.path, { Id: 50, Num: 1000 + at })
    const first = await history()
    expect(first.entries).toHaveLength(50)
    const second = await history(first.entries.at(-1)?.id)
    expect(second.entries).toHaveLength(14)
  })

  test('is announced with each write: to those who listen for the base', async () => {
    const table = await bench.table({ Title: 'SingleLineText' })
    const seen: { id: number; kind: number; truncated: boolean }[] = []
    const stop = bench.app.kernel.events.on('records.changed', ({ id, records, truncated }) =>
      seen.push({ id, kind: records.length, truncated }),
    )
    await bench.rest.post(table.path, { Title: 'a' })
    await bench.rest.post(table.path, [])
    await bench.rest.patch(table.path, { Id: 1, Title: 'a' })
    await bench.rest.post(
      table.path,
      Array.from({ length: 600 }, () => ({})),
    )
    await bench.trpc.records.deleteMatching.mutate({ selection: { tableId: table.id } })
    await undo()
    stop()
    expect(seen.map(({ kind, truncated }) => [kind, truncated])).toEqual([
      [1, false],
      [0, true],
      [0, true],
      [0, true],
    ])
    expect(seen.map(({ id }) => id)).toEqual(seen.map(({ id }) => id).toSorted((a, b) => a - b))
  })
})
