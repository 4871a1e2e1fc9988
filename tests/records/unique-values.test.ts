import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Bench, createBench, refusalOf, type TestTable } from './support.ts'

describe('values of a unique field that go from record to record in one change', () => {
  let bench: Bench
  beforeAll(async () => {
    bench = await createBench()
  })
  afterAll(() => bench.stop())

  const table = (values: (string | null)[]) =>
    bench.table(
      { Title: 'SingleLineText', Code: { type: 'SingleLineText', unique: true } },
      values.map((Code) => ({ Code })),
    )
  const write = (...operations: object[]) =>
    bench.trpc.records.write.mutate({ change: { baseId: bench.baseId, operations: operations as never } })
  const updates = (of: TestTable, rows: Record<number, string | null>) => ({
    kind: 'update',
    tableId: of.id,
    rows: Object.entries(rows).map(([id, Code]) => ({ id: Number(id), values: of.values({ Code }) })),
  })
  const codes = async (of: TestTable) => (await of.list()).map(({ Code }) => Code)
  const undo = () => bench.trpc.records.undo.mutate({ baseId: bench.baseId })
  const redo = () => bench.trpc.records.redo.mutate({ baseId: bench.baseId })

  test.each<[string, (string | null)[], Record<number, string | null>, (string | null)[]]>([
    ['two are swapped', ['a', 'b'], { 1: 'b', 2: 'a' }, ['b', 'a']],
    ['a column moves down', ['a', 'b', 'c'], { 2: 'a', 3: 'b', 1: null }, [null, 'a', 'b']],
    ['a column moves up', ['a', 'b', 'c'], { 1: 'b', 2: 'c', 3: 'd' }, ['b', 'c', 'd']],
    ['all go round', ['a', 'b', 'c'], { 1: 'c', 2: 'a', 3: 'b' }, ['c', 'a', 'b']],
  ])('%s; undo and redo move them back and forth', async (_, before, given, after) => {
    const made = await table(before)
    await write(updates(made, given))
    expect(await codes(made)).toEqual(after)
    await undo()
    expect(await codes(made)).toEqual(before)
    await redo()
    expect(await codes(made)).toEqual(after)
  })

  test('REST clients may swap them too', async () => {
    const made = await table(['a', 'b'])
    const { status } = await bench.rest.patch(made.path, [
      { Id: 1, Code: 'b' },
      { Id: 2, Code: 'a' },
    ])
    expect([status, await codes(made)]).toEqual([200, ['b', 'a']])
  })

  test('one of a third record is still refused by name, and nothing is emptied', async () => {
    const made = await table(['a', 'b', 'c'])
    const refusal = await refusalOf(write(updates(made, { 1: 'b', 2: 'c' })))
    expect(refusal.message).toBe('Field “Code” must be unique: “c” is already used by record 3')
    expect(await codes(made)).toEqual(['a', 'b', 'c'])
  })

  test('undo and redo bring back records whose value another one has had meanwhile', async () => {
    const made = await table(['a', 'b'])
    await write({ kind: 'delete', tableId: made.id, ids: [2] }, updates(made, { 1: 'b' }))
    await undo()
    expect(await codes(made)).toEqual(['a', 'b'])
    await redo()
    expect(await codes(made)).toEqual(['b'])
    const insert = { kind: 'insert', tableId: made.id, rows: [{ values: made.values({ Code: 'b' }) }] }
    await write(updates(made, { 1: 'z' }), insert)
    expect(await codes(made)).toEqual(['z', 'b'])
    await undo()
    expect(await codes(made)).toEqual(['b'])
    await redo()
    expect(await codes(made)).toEqual(['z', 'b'])
  })
})
