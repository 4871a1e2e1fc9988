import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { doorOf, ended, formatOf, resultOf, upload } from '../imports/support.ts'
import { type Bench, createBench, refusalOf, type TestTable } from './support.ts'

let bench: Bench
beforeAll(async () => {
  bench = await createBench()
})
afterAll(() => bench.stop())

const numbers = async (table: TestTable, title = 'No') =>
  (await table.list()).map((row) => [row.Title, row[title]])

const addNumber = (table: TestTable) =>
  bench.trpc.schema.createField.mutate({ tableId: table.id, field: { title: 'No', type: 'AutoNumber' } })

const undo = () => bench.trpc.records.undo.mutate({ baseId: bench.baseId })
const redo = () => bench.trpc.records.redo.mutate({ baseId: bench.baseId })

describe('an auto number', () => {
  test('counts from 1 in a new table, whatever is sent for it', async () => {
    const table = await bench.table({ Title: 'SingleLineText', No: 'AutoNumber' }, [
      { Title: 'a', No: 99 },
      { Title: 'b' },
    ])
    await bench.rest.post(table.path, { Title: 'c' })
    expect(await numbers(table)).toEqual([
      ['a', 1],
      ['b', 2],
      ['c', 3],
    ])
    const values = table.values({ No: 7 })
    const operations = [{ kind: 'update' as const, tableId: table.id, rows: [{ id: 1, values }] }]
    const write = bench.trpc.records.write.mutate({ change: { baseId: bench.baseId, operations } })
    expect((await refusalOf(write)).message).toContain('is read-only')
  })

  test('numbers the records that are there in the table’s order, and goes on from there', async () => {
    const rows = ['a', 'b', 'c', 'd'].map((Title) => ({ Title }))
    const table = await bench.table({ Title: 'SingleLineText' }, rows)
    await bench.rest.delete(table.path, { Id: 2 })
    await bench.rest.post(`${table.path}/4/move?before=1`)
    await addNumber(table)
    await bench.rest.post(table.path, [{ Title: 'e' }, { Title: 'f' }])
    expect(await numbers(table)).toEqual([
      ['d', 1],
      ['a', 2],
      ['c', 3],
      ['e', 4],
      ['f', 5],
    ])
  })

  test('is never given twice, and comes back with its record', async () => {
    const table = await bench.table({ Title: 'SingleLineText', No: 'AutoNumber' })
    const add = (Title: string) => bench.rest.post(table.path, { Title })
    await add('a')
    await add('b')
    await bench.rest.delete(table.path, { Id: 2 })
    await add('c')
    expect(await numbers(table)).toEqual([
      ['a', 1],
      ['c', 3],
    ])
    await undo()
    await undo()
    expect(await numbers(table)).toEqual([
      ['a', 1],
      ['b', 2],
    ])
    await redo()
    await redo()
    expect(await numbers(table)).toEqual([
      ['a', 1],
      ['c', 3],
    ])
  })

  test('keeps its numbers over undo and redo of many records at once', async () => {
    const table = await bench.table({ Title: 'SingleLineText', No: 'AutoNumber' })
    const rows = Array.from({ length: 300 }, (_, at) => ({ values: table.values({ Title: `r${at}` }) }))
    const operations = [{ kind: 'insert' as const, tableId: table.id, rows }]
    await bench.trpc.records.write.mutate({ change: { baseId: bench.baseId, operations } })
    const before = await numbers(table)
    expect(before.at(-1)).toEqual(['r299', 300])
    await undo()
    await redo()
    expect(await numbers(table)).toEqual(before)
  })

  test('numbers what an import adds', async () => {
    const table = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'a' }, { Title: 'b' }])
    await bench.rest.delete(table.path, { Id: 1 })
    await addNumber(table)
    const door = doorOf(bench.app, bench.owner)
    const file = 'Title\nx\ny\n'
    const { jobId } = await bench.trpc.imports.start.mutate({
      baseId: bench.baseId,
      tableId: table.id,
      uploadId: await upload(door, file),
      width: 1,
      format: formatOf(file),
      columns: [{ index: 0, fieldId: table.field('Title').id }],
    })
    expect(resultOf(await ended(door, jobId)).rows).toBe(2)
    await bench.rest.post(table.path, { Title: 'z' })
    expect(await numbers(table)).toEqual([
      ['b', 1],
      ['x', 2],
      ['y', 3],
      ['z', 4],
    ])
  })

  test('numbers in the trash what is made meanwhile, and becomes a number like others', async () => {
    const table = await bench.table({ Title: 'SingleLineText', No: 'AutoNumber' }, [{ Title: 'a' }])
    const fieldId = table.field('No').id
    await bench.trpc.schema.deleteField.mutate({ fieldId })
    await bench.rest.post(table.path, { Title: 'b' })
    await bench.trpc.schema.restoreField.mutate({ fieldId })
    expect(await numbers(table)).toEqual([
      ['a', 1],
      ['b', 2],
    ])
    await bench.trpc.schema.updateField.mutate({ fieldId, patch: { options: { behind: -500 } } })
    await bench.rest.post(table.path, { Title: 'c' })
    expect((await numbers(table)).at(-1)).toEqual(['c', 3])
    await bench.trpc.schema.updateField.mutate({ fieldId, patch: { type: 'Number' } })
    await bench.rest.post(table.path, { Title: 'd', No: 40 })
    expect(await numbers(table)).toEqual([
      ['a', 1],
      ['b', 2],
      ['c', 3],
      ['d', 40],
    ])
    const back = bench.trpc.schema.updateField.mutate({ fieldId, patch: { type: 'AutoNumber' } })
    expect((await refusalOf(back)).code).toBe('NOT_IMPLEMENTED')
  })
})
