import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { EVERY_TYPE, STORED_VALUES } from './every-type.ts'
import { type Bench, createBench, type TestTable } from './support.ts'

let bench: Bench
beforeAll(async () => {
  bench = await createBench()
})
afterAll(() => bench.stop())

const undo = () => bench.trpc.records.undo.mutate({ baseId: bench.baseId })
const redo = () => bench.trpc.records.redo.mutate({ baseId: bench.baseId })

/** The rows without what says when they were written. */
const rowsOf = async (table: TestTable) =>
  (await table.list()).map(({ UpdatedAt: _, CreatedAt: __, ...row }) => row)

/** A row of awkward values of every type. */
const rowOf = (at: number) =>
  Object.fromEntries(
    Object.entries(STORED_VALUES).map(([title, values]) => [title, values[at % values.length]]),
  )

interface Action {
  name: string
  rows: number
  act(table: TestTable): Promise<unknown>
}

const ACTIONS: Action[] = [
  { name: 'one insert', rows: 2, act: (table) => bench.rest.post(table.path, rowOf(3)) },
  { name: 'several inserts', rows: 2, act: (table) => bench.rest.post(table.path, [rowOf(3), {}, rowOf(4)]) },
  {
    name: 'a bulk insert, which the log keeps as a range',
    rows: 2,
    act: (table) =>
      bench.rest.post(
        table.path,
        Array.from({ length: 250 }, (_, index) => rowOf(index)),
      ),
  },
  {
    name: 'an update of every type',
    rows: 3,
    act: (table) =>
      bench.rest.patch(table.path, [
        { Id: 1, ...rowOf(5) },
        { Id: 3, ...rowOf(2) },
      ]),
  },
  { name: 'one deletion', rows: 12, act: (table) => bench.rest.delete(table.path, { Id: 7 }) },
  {
    name: 'a deletion of all',
    rows: 12,
    act: (table) =>
      bench.rest.delete(
        table.path,
        Array.from({ length: 12 }, (_, index) => ({ Id: index + 1 })),
      ),
  },
  { name: 'a move', rows: 5, act: (table) => bench.rest.post(`${table.path}/5/move?before=2`) },
  { name: 'a move to the end', rows: 5, act: (table) => bench.rest.post(`${table.path}/1/move`) },
  {
    name: 'a deletion of all that match',
    rows: 30,
    act: (table) =>
      bench.trpc.records.deleteMatching.mutate({
        selection: { tableId: table.id, filter: { fieldId: table.field('Id').id, operator: 'gt', value: 4 } },
      }),
  },
  {
    name: 'an update of all that match',
    rows: 30,
    act: (table) =>
      bench.trpc.records.updateMatching.mutate({
        selection: { tableId: table.id, filter: { fieldId: table.field('Id').id, operator: 'gt', value: 4 } },
        values: table.values({ Cb: true, Num: 77, Ss: 'red', Dec: 0.1, Dt: null, Title: '' }),
      }),
  },
  {
    name: 'a bulk update by REST',
    rows: 30,
    act: (table) =>
      bench.rest.send(
        'PATCH',
        `/api/v1/db/data/bulk/noco/${bench.baseId}/${table.id}/all?where=(Cb,checked)`,
        { body: { Cb: false, Notes: 'x' } },
      ),
  },
]

describe('undo and redo', () => {
  test('of an update of many days and times, as a set', async () => {
    const table = await bench.table(
      { Title: 'SingleLineText', Day: 'Date', At: 'DateTime' },
      Array.from({ length: 1_000 }, (_, at) => ({
        Title: `${at}`,
        Day: '2024-02-29',
        At: '2024-02-29 12:00:00+00:00',
      })),
    )
    const before = await rowsOf(table)
    await bench.trpc.records.updateMatching.mutate({
      selection: { tableId: table.id },
      values: table.values({ Day: '2025-01-01', At: null }),
    })
    const after = await rowsOf(table)
    expect(after).not.toEqual(before)
    expect(await undo()).toMatchObject({ skipped: 0 })
    expect(await rowsOf(table)).toEqual(before)
    expect(await redo()).toMatchObject({ skipped: 0 })
    expect(await rowsOf(table)).toEqual(after)
  })

  for (const { name, rows, act } of ACTIONS) {
    test(`of ${name}: back, forth, and back again`, async () => {
      const table = await bench.table(
        EVERY_TYPE,
        Array.from({ length: rows }, (_, index) => rowOf(index)),
      )
      const before = await rowsOf(table)
      await act(table)
      const after = await rowsOf(table)
      expect(after).not.toEqual(before)
      for (let round = 0; round < 3; round++) {
        expect(await undo()).toMatchObject({ skipped: 0 })
        expect(await rowsOf(table)).toEqual(before)
        expect(await table.total()).toBe(before.length)
        expect(await redo()).toMatchObject({ skipped: 0 })
        expect(await rowsOf(table)).toEqual(after)
        expect(await table.total()).toBe(after.length)
      }
    })
  }

  test('take back the latest first, and do again what was taken back last', async () => {
    const table = await bench.table({ Title: 'SingleLineText' }, [{ Title: '0' }])
    for (const title of ['1', '2', '3']) await bench.rest.patch(table.path, { Id: 1, Title: title })
    const title = async () => (await table.titles())[0]
    await undo()
    expect(await title()).toBe('2')
    await undo()
    expect(await title()).toBe('1')
    await redo()
    expect(await title()).toBe('2')
    await undo()
    await undo()
    expect(await title()).toBe('0')
    for (const expected of ['1', '2', '3']) {
      await redo()
      expect(await title()).toBe(expected)
    }
    expect(await redo()).toMatchObject({ applied: null, kind: null, records: 0 })
  })

  test('a new action ends what could be done again', async () => {
    const table = await bench.table({ Title: 'SingleLineText' }, [{ Title: '0' }])
    await bench.rest.patch(table.path, { Id: 1, Title: '1' })
    await undo()
    await bench.rest.patch(table.path, { Id: 1, Title: '2' })
    expect(await redo()).toMatchObject({ applied: null })
    expect(await table.titles()).toEqual(['2'])
    // One that changed nothing is no action.
    await undo()
    await bench.rest.patch(table.path, { Id: 1, Title: '0' })
    expect(await redo()).toMatchObject({ kind: 'records.update' })
    expect(await table.titles()).toEqual(['2'])
  })

  test('two that come at the same time take back two actions', async () => {
    const table = await bench.table({ Title: 'SingleLineText' }, [{ Title: '0' }])
    for (const title of ['1', '2', '3', '4']) await bench.rest.patch(table.path, { Id: 1, Title: title })
    await Promise.all([undo(), undo(), undo()])
    expect(await table.titles()).toEqual(['1'])
    await Promise.all([redo(), redo()])
    expect(await table.titles()).toEqual(['3'])
  })

  test('of thousands of deleted records', async () => {
    const table = await bench.table({ Title: 'SingleLineText', Cb: 'Checkbox' })
    await bench.rest.post(
      table.path,
      Array.from({ length: 3000 }, (_, index) => ({ Title: `${index}`, Cb: index % 2 })),
    )
    const page = () => table.list('?limit=1000&offset=1500')
    const before = await page()
    for (const remove of [
      () =>
        bench.rest.delete(
          table.path,
          Array.from({ length: 3000 }, (_, index) => ({ Id: index + 1 })),
        ),
      () => bench.trpc.records.deleteMatching.mutate({ selection: { tableId: table.id } }),
    ]) {
      await remove()
      expect(await table.total()).toBe(0)
      expect(await undo()).toMatchObject({ records: 3000 })
      expect(await table.total()).toBe(3000)
      expect(await page()).toEqual(before)
      expect(await redo()).toMatchObject({ records: 3000 })
      expect(await table.total()).toBe(0)
      await undo()
      expect(await page()).toEqual(before)
    }
  })
})
