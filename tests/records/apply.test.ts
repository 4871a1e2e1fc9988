import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Bench, changesNothing, createBench, readLog, refusalOf } from './support.ts'

let bench: Bench
beforeAll(async () => {
  bench = await createBench()
})
afterAll(() => bench.stop())

const v1Bulk = (table: { id: string }, rest = '') =>
  `/api/v1/db/data/bulk/noco/${bench.baseId}/${table.id}${rest}`

describe('records.write', () => {
  test('writes several operations as one action: all, or none', async () => {
    const table = await bench.table({ Title: 'SingleLineText', Num: 'Number' }, [
      { Title: 'a' },
      { Title: 'b' },
      { Title: 'c' },
    ])
    const other = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'o' }])
    const operations = [
      {
        kind: 'insert' as const,
        tableId: table.id,
        rows: [{ values: table.values({ Title: 'new' }) }],
        before: 2,
      },
      { kind: 'update' as const, tableId: table.id, rows: [{ id: 1, values: table.values({ Num: 9 }) }] },
      { kind: 'delete' as const, tableId: table.id, ids: [3] },
      { kind: 'move' as const, tableId: table.id, ids: [1], before: null },
      { kind: 'update' as const, tableId: other.id, rows: [{ id: 1, values: other.values({ Title: 'O' }) }] },
    ]
    await changesNothing(bench, async () => {
      const bad = { kind: 'update' as const, tableId: other.id, rows: [{ id: 77, values: {} }] }
      const change = { baseId: bench.baseId, operations: [...operations, bad] }
      expect((await refusalOf(bench.trpc.records.write.mutate({ change }))).code).toBe('RECORD_NOT_FOUND')
    })
    const applied = await bench.trpc.records.write.mutate({
      change: { baseId: bench.baseId, operations, clientId: 'me' },
    })
    expect(applied).toMatchObject({
      // A number that was given to a record which was refused may be left out.
      inserted: [expect.any(Number)],
      clientId: 'me',
      actorId: bench.owner.id,
      truncated: false,
      tableIds: [table.id, other.id],
    })
    expect(await table.titles()).toEqual(['new', 'b', 'a'])
    expect(await other.titles()).toEqual(['O'])
    expect(await table.total()).toBe(3)
    const undone = await bench.trpc.records.undo.mutate({ baseId: bench.baseId })
    expect([undone.kind, undone.skipped]).toEqual(['records.change', 0])
    expect(await table.list()).toMatchObject([{ Title: 'a', Num: null }, { Title: 'b' }, { Title: 'c' }])
    expect(await other.titles()).toEqual(['o'])
    await bench.trpc.records.redo.mutate({ baseId: bench.baseId })
    expect(await table.titles()).toEqual(['new', 'b', 'a'])
    expect(await other.titles()).toEqual(['O'])
  })

  test('takes operations that meet on one record', async () => {
    const table = await bench.table({ Title: 'SingleLineText', Num: 'Number' }, [
      { Title: 'a', Num: 1 },
      { Title: 'b', Num: 2 },
    ])
    const tableId = table.id
    const write = (
      operations: Parameters<typeof bench.trpc.records.write.mutate>[0]['change']['operations'],
    ) => bench.trpc.records.write.mutate({ change: { baseId: bench.baseId, operations } })
    const before = await table.list()
    const applied = await write([
      { kind: 'update', tableId, rows: [{ id: 1, values: table.values({ Title: 'x' }) }] },
      { kind: 'update', tableId, rows: [{ id: 1, values: table.values({ Num: 5 }) }] },
      { kind: 'move', tableId, ids: [1, 1], before: null },
      { kind: 'update', tableId, rows: [{ id: 2, values: table.values({ Title: 'y' }) }] },
      { kind: 'delete', tableId, ids: [2, 2] },
      { kind: 'insert', tableId, rows: [{ values: table.values({ Title: 'new' }) }] },
      { kind: 'update', tableId, rows: [{ id: 3, values: table.values({ Num: 3 }) }] },
    ])
    expect(applied.records).toHaveLength(3)
    expect(await table.list()).toMatchObject([
      { Id: 1, Title: 'x', Num: 5 },
      { Id: 3, Title: 'new', Num: 3 },
    ])
    await bench.trpc.records.undo.mutate({ baseId: bench.baseId })
    expect((await table.list()).map(({ Id, Title, Num }) => [Id, Title, Num])).toEqual(
      before.map(({ Id, Title, Num }) => [Id, Title, Num]),
    )
    const nothing = await write([
      { kind: 'insert', tableId, rows: [{ values: table.values({ Title: 'short' }) }] },
      { kind: 'delete', tableId, ids: [4] },
    ])
    expect(nothing.records).toEqual([])
    expect(await table.total()).toBe(2)
  })

  test('names what it refuses: the field, the record, the table of another base', async () => {
    const table = await bench.table({ Title: 'SingleLineText', At: 'CreatedTime', Num: 'Number' }, [
      { Title: 'a' },
    ])
    const other = await bench.trpc.bases.create.mutate({ title: 'Other' })
    const insert = (values: object, baseId = bench.baseId, tableId = table.id) =>
      refusalOf(
        bench.trpc.records.write.mutate({
          change: { baseId, operations: [{ kind: 'insert', tableId, rows: [{ values: values as never }] }] },
        }),
      )
    await changesNothing(bench, async () => {
      expect(await insert({ cnope: 1 })).toMatchObject({ code: 'FIELD_NOT_FOUND', status: 404 })
      expect(await insert({ [table.field('At').id]: '2024-01-01' })).toMatchObject({ code: 'BAD_REQUEST' })
      expect(await insert({ [table.field('Id').id]: 1 })).toMatchObject({ code: 'BAD_REQUEST' })
      expect(await insert({ [table.field('Num').id]: 'x' })).toMatchObject({
        code: 'INVALID_VALUE_FOR_FIELD',
      })
      expect(await insert({}, other.id)).toMatchObject({ code: 'TABLE_NOT_FOUND' })
      expect(await insert({}, 'pnope')).toMatchObject({ code: 'TABLE_NOT_FOUND' })
      expect(await insert({}, bench.baseId, 'mnope')).toMatchObject({ code: 'TABLE_NOT_FOUND', status: 404 })
    })
  })

  test('takes an id as text, and logs it as the number that it is', async () => {
    const table = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'a' }])
    const operations = [
      {
        kind: 'update' as const,
        tableId: table.id,
        rows: [{ id: '1', values: table.values({ Title: 'b' }) }],
      },
    ]
    await bench.trpc.records.write.mutate({ change: { baseId: bench.baseId, operations } })
    expect((await readLog(bench, table)).at(-1)?.changes[0]?.record_id).toBe(1)
    const { entries } = await bench.trpc.records.history.query({ tableId: table.id, recordId: '1' })
    expect(entries.map(({ kind }) => kind)).toEqual(['records.update', 'records.insert'])
  })
})

describe('writes that come at the same time', () => {
  test('stand or fall each alone, and undo takes back each alone', async () => {
    const table = await bench.table({ Title: { type: 'SingleLineText', unique: true }, Num: 'Number' }, [
      { Title: 'taken' },
    ])
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, index) => {
        if (index % 6 === 1)
          return bench.rest.post(table.path, [{ Title: `lost ${index}` }, { Title: 'taken' }])
        if (index % 6 === 2)
          return bench.rest.patch(table.path, [
            { Id: 1, Num: index },
            { Id: 999, Num: 1 },
          ])
        if (index % 6 === 3) return bench.rest.post(table.path, { Num: 'no number' })
        return bench.rest.post(table.path, { Title: `kept ${index}`, Num: index })
      }),
    )
    expect(answers.map(({ status }) => status)).toEqual(
      answers.map((_, index) => [200, 400, 404, 422, 200, 200][index % 6]!),
    )
    const rows = await table.list()
    expect(rows).toHaveLength(31)
    expect(new Set(rows.map((row) => row.Id)).size).toBe(31)
    expect(rows.slice(1).every((row) => row.Title === `kept ${row.Num}`)).toBe(true)
    expect((await readLog(bench, table)).filter(({ kind }) => kind === 'records.insert')).toHaveLength(31)
    expect(await table.total()).toBe(31)
    for (let step = 0; step < 30; step++) await bench.trpc.records.undo.mutate({ baseId: bench.baseId })
    expect(await table.titles()).toEqual(['taken'])
  })

  test('to one record follow one another: none is lost', async () => {
    const table = await bench.table({ Title: 'SingleLineText', Num: 'Number' }, [{ Num: 0 }])
    await Promise.all(
      Array.from({ length: 40 }, (_, index) => bench.rest.patch(table.path, { Id: 1, Num: index + 1 })),
    )
    const log = (await readLog(bench, table)).filter(({ kind }) => kind === 'records.update')
    const num = table.field('Num').id
    expect(log).toHaveLength(40)
    let value: unknown = 0
    for (const { changes } of log) {
      expect(changes[0]?.before?.[num]).toBe(value)
      value = changes[0]?.after?.[num]
    }
    expect((await table.list())[0]?.Num).toBe(value)
  })
})

describe('the number of records', () => {
  test('is exact after every kind of write, and at once', async () => {
    const table = await bench.table({ Title: 'SingleLineText', Num: 'Number' })
    const { id: tableId } = table
    const { baseId } = bench
    const expectTotal = async (total: number) => {
      expect(await table.total()).toBe(total)
      expect(await bench.trpc.records.count.query({ selection: { tableId } })).toEqual({ count: total })
    }
    await expectTotal(0)
    await bench.rest.post(table.path, {})
    await expectTotal(1)
    await bench.rest.post(
      table.path,
      Array.from({ length: 150 }, (_, index) => ({ Num: index })),
    )
    await expectTotal(151)
    await bench.trpc.records.undo.mutate({ baseId })
    await expectTotal(1)
    await bench.trpc.records.redo.mutate({ baseId })
    await expectTotal(151)
    await bench.rest.delete(table.path, [{ Id: 1 }, { Id: 2 }, { Id: 2 }])
    await expectTotal(149)
    await bench.trpc.records.undo.mutate({ baseId })
    await expectTotal(151)
    await bench.trpc.records.deleteMatching.mutate({
      selection: { tableId, filter: { fieldId: table.field('Num').id, operator: 'gt', value: 99 } },
    })
    await expectTotal(101)
    await bench.trpc.records.undo.mutate({ baseId })
    await expectTotal(151)
    await bench.rest.post(v1Bulk(table, '/upsert'), [{ Id: 1, Num: 1 }, { Num: 2 }])
    await expectTotal(152)
    await bench.rest.post(table.path, [{ Num: 'refused' }])
    await expectTotal(152)
  })

  test('is exact when many write at the same time as others ask for the first time', async () => {
    const table = await bench.table()
    const { id: tableId } = table
    const writes = Array.from({ length: 40 }, () => bench.rest.post(table.path, {}))
    const asks = Array.from({ length: 40 }, () => table.total())
    await Promise.all([...writes, ...asks])
    expect(await table.total()).toBe(40)
    expect(await bench.trpc.records.count.query({ selection: { tableId } })).toEqual({ count: 40 })
  })
})

describe('a table of hundreds of fields', () => {
  test('is written, found, changed and deleted as a set, and all of that undone', async () => {
    const titles = Array.from({ length: 300 }, (_, index) => `Field ${index}`)
    const table = await bench.table(
      Object.fromEntries(titles.map((title, index) => [title, index % 2 ? 'Number' : 'Checkbox'])),
    )
    const rowOf = (at: number) =>
      Object.fromEntries(titles.map((title, index) => [title, index % 2 ? index * at : at % 2 === 0]))
    await bench.rest.post(
      table.path,
      Array.from({ length: 120 }, (_, at) => rowOf(at)),
    )
    const rows = async () => (await table.list()).map(({ CreatedAt: _, UpdatedAt: __, ...row }) => row)
    const before = await rows()
    expect(before[5]).toMatchObject({ 'Field 299': 299 * 5, 'Field 298': bench.app.flag(false) })
    const search = { text: String(299 * 7), fieldId: null }
    const found = await bench.trpc.records.list.query({
      query: { tableId: table.id, search, limit: 10, offset: 0 },
    })
    expect(found.ids).toContain(8)
    const values = table.values(
      Object.fromEntries(titles.map((title, index) => [title, index % 2 ? 1 : true])),
    )
    for (const write of [
      () => bench.trpc.records.updateMatching.mutate({ selection: { tableId: table.id }, values }),
      () => bench.trpc.records.deleteMatching.mutate({ selection: { tableId: table.id } }),
      () =>
        bench.rest.delete(
          table.path,
          before.map(({ Id }) => ({ Id })),
        ),
    ]) {
      await write()
      expect(await rows()).not.toEqual(before)
      await bench.trpc.records.undo.mutate({ baseId: bench.baseId })
      expect(await rows()).toEqual(before)
    }
  })
})
