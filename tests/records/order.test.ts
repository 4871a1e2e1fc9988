import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createLink } from './links-support.ts'
import { type Bench, createBench, refusalOf, type TestTable } from './support.ts'

let bench: Bench
beforeAll(async () => {
  bench = await createBench()
})
afterAll(() => bench.stop())

const ids = async (table: TestTable) =>
  (await table.list('?limit=1000&fields=Id')).map((row) => Number(row.Id))
const rows = (count: number) => Array.from({ length: count }, (_, index) => ({ Title: `${index + 1}` }))
const move = (table: TestTable, moved: number[], before: number | null) =>
  bench.trpc.records.write.mutate({
    change: { baseId: bench.baseId, operations: [{ kind: 'move', tableId: table.id, ids: moved, before }] },
  })

describe('POST /api/v2/tables/{tableId}/records/{recordId}/move', () => {
  test('puts a record before another, or at the end', async () => {
    const table = await bench.table({ Title: 'SingleLineText' }, rows(5))
    const answer = await bench.rest.post(`${table.path}/4/move?before=1`)
    expect([answer.status, answer.body]).toEqual([201, true])
    expect(await ids(table)).toEqual([4, 1, 2, 3, 5])
    await bench.rest.post(`${table.path}/4/move`)
    expect(await ids(table)).toEqual([1, 2, 3, 5, 4])
    await bench.rest.post(`${table.path}/4/move?before=4`)
    expect(await ids(table)).toEqual([1, 2, 3, 5, 4])
  })

  test('refuses records that are not there, and ids that are none', async () => {
    const table = await bench.table({ Title: 'SingleLineText' }, rows(2))
    const ask = async (path: string) => {
      const { status, body } = await bench.rest.post(`${table.path}/${path}`)
      return [status, body.error]
    }
    expect(await ask('9/move?before=1')).toEqual([404, 'RECORD_NOT_FOUND'])
    expect(await ask('1/move?before=9')).toEqual([404, 'RECORD_NOT_FOUND'])
    expect(await ask('x/move')).toEqual([422, 'INVALID_PK_VALUE'])
    expect(await ask('1/move?before=x')).toEqual([422, 'INVALID_PK_VALUE'])
    expect(await ids(table)).toEqual([1, 2])
  })
})

describe('the order of a table', () => {
  test('is that of the ids in a junction table, whose records cannot be moved', async () => {
    const [books, tags] = [await bench.table(undefined, rows(1)), await bench.table(undefined, rows(3))]
    const link = await createLink(bench, books, tags, 'mm')
    await link.write('link', 1, [3, 1])
    await link.write('link', 1, [2])
    const listed = await bench.trpc.schema.tables.query({ baseId: bench.baseId, includeJunctions: true })
    const { id, title } = listed.find(({ isJunction }) => isJunction)!
    const path = `/api/v2/tables/${id}/records`
    const message = `Records of ${title} can’t be reordered: they are the links between two tables`
    const moved = await bench.rest.post(`${path}/3/move?before=1`)
    expect([moved.status, moved.body.msg]).toEqual([400, message])
    const insert = { kind: 'insert' as const, tableId: id, rows: [{ values: {} }], before: 1 }
    const change = { baseId: bench.baseId, operations: [insert] }
    expect((await refusalOf(bench.trpc.records.write.mutate({ change }))).message).toBe(message)
    const { body } = await bench.rest.get(path)
    const tagOf = (row: object) => Object.values(row).at(-1)
    expect(body.list.map((row: { Id: number }) => `${row.Id} ${tagOf(row)}`)).toEqual(['1 3', '2 1', '3 2'])
    // The log of a link has a line for each row, which is no longer than its pair.
    expect(body.list[0]).toMatchObject({ CreatedAt: null, UpdatedAt: null })
  })

  test('stays right however often records go to the same place', async () => {
    const table = await bench.table({ Title: 'SingleLineText' }, rows(6))
    let expected = [1, 2, 3, 4, 5, 6]
    for (let step = 0; step < 150; step++) {
      const moved = step % 2 === 0 ? 5 : 6
      await move(table, [moved], 2)
      expected = expected.filter((id) => id !== moved)
      expected.splice(expected.indexOf(2), 0, moved)
      if (step % 10 === 9) expect(await ids(table)).toEqual(expected)
    }
    const places = (
      await bench.trpc.records.list.query({
        query: { tableId: table.id, fieldIds: [table.field('nc_order').id], limit: 10, offset: 0 },
      })
    ).rows.map(([place]) => Number(place))
    expect(new Set(places).size).toBe(6)
  })

  test('takes new records before another, all in their order, many times', async () => {
    const table = await bench.table({ Title: 'SingleLineText' }, rows(2))
    const expected = [1, 2]
    for (let step = 0; step < 60; step++) {
      const operation = {
        kind: 'insert' as const,
        tableId: table.id,
        rows: [{ values: {} }, { values: {} }],
        before: 2,
      }
      const { inserted } = await bench.trpc.records.write.mutate({
        change: { baseId: bench.baseId, operations: [operation] },
      })
      expected.splice(-1, 0, ...inserted.map(Number))
    }
    expect(await ids(table)).toEqual(expected)
  })

  test('moves a block, one of it being the place itself, as it is given', async () => {
    const table = await bench.table({ Title: 'SingleLineText' }, rows(6))
    await move(table, [5, 2, 6], 3)
    expect(await ids(table)).toEqual([1, 5, 2, 6, 3, 4])
    await move(table, [3, 3, 1], null)
    expect(await ids(table)).toEqual([5, 2, 6, 4, 3, 1])
    await move(table, [6, 2], 6)
    expect((await ids(table)).toSorted()).toEqual([1, 2, 3, 4, 5, 6])
  })

  test('is not changed by an update, and a new record goes to its end', async () => {
    const table = await bench.table({ Title: 'SingleLineText' }, rows(3))
    await move(table, [3], 1)
    await bench.rest.patch(table.path, { Id: 1, Title: 'x' })
    await bench.rest.post(table.path, {})
    expect(await ids(table)).toEqual([3, 1, 2, 4])
  })

  test('says where a record stands in a query', async () => {
    const table = await bench.table({ Title: 'SingleLineText' }, rows(20))
    const query = {
      tableId: table.id,
      limit: 5,
      offset: 0,
      sorts: [{ fieldId: table.field('Id').id, direction: 'desc' as const }],
    }
    const position = (recordId: number) => bench.trpc.records.position.query({ query, recordId })
    expect([await position(20), await position(1), await position(99)]).toEqual([
      { offset: 0 },
      { offset: 19 },
      { offset: null },
    ])
    const { places } = await bench.trpc.records.positions.query({ query, recordIds: [1, 99, 20] })
    expect(places.toSorted((a, b) => a.offset - b.offset)).toEqual([
      { recordId: 20, offset: 0 },
      { recordId: 1, offset: 19 },
    ])
    expect(await bench.trpc.records.positions.query({ query, recordIds: [] })).toEqual({ places: [] })
    const tooMany = Array.from({ length: 1001 }, (_, at) => at)
    expect(bench.trpc.records.positions.query({ query, recordIds: tooMany })).rejects.toThrow()
  })
})
