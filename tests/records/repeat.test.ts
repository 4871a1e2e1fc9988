import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createMember } from '../support/factories.ts'
import { createLink } from './links-support.ts'
import { type Bench, createBench, type TestTable } from './support.ts'

let bench: Bench
let table: TestTable

beforeAll(async () => {
  bench = await createBench()
  table = await bench.table({ Num: 'Number' }, [{ Title: 'a', Num: 1 }])
})
afterAll(() => bench.stop())

const insert = (count: number, clientId: string, trpc = bench.trpc) =>
  trpc.records.write.mutate({
    change: {
      baseId: bench.baseId,
      clientId,
      operations: [
        {
          kind: 'insert',
          tableId: table.id,
          rows: Array.from({ length: count }, (_, index) => ({ values: table.values({ Num: index }) })),
        },
      ],
    },
  })

describe('records.write with a client id', () => {
  test.each([1, 3, 250])(
    'writes %p records once when it is sent again, and answers the same',
    async (count) => {
      const before = await table.total()
      const first = await insert(count, `again-${count}`)
      const again = await insert(count, `again-${count}`)
      expect(first.inserted).toHaveLength(count)
      expect([again.id, again.inserted]).toEqual([first.id, first.inserted])
      if (again.truncated) expect(count).toBeGreaterThanOrEqual(100)
      else expect(again.records).toEqual(first.records)
      expect(await table.total()).toBe(before + count)
    },
  )

  test.each([3, 600])('answers %p linked records in the order of their rows', async (count) => {
    const tags = await bench.table(undefined, [{ Title: 'tag' }])
    const own = await bench.table(
      { Num: 'Number' },
      Array.from({ length: 8 }, () => ({ Num: 1 })),
    )
    const { own: link } = await createLink(bench, own, tags, 'mm')
    const values = { ...own.values({ Num: 1 }), [link.fieldId]: JSON.stringify([1]) }
    const rows = Array.from({ length: count }, () => ({ values }))
    const operations = [{ kind: 'insert' as const, tableId: own.id, rows }]
    const change = { baseId: bench.baseId, clientId: `linked-${count}`, operations }
    const first = await bench.trpc.records.write.mutate({ change })
    const again = await bench.trpc.records.write.mutate({ change })
    expect(first.inserted).toEqual(Array.from({ length: count }, (_, index) => index + 9))
    expect(again.inserted).toEqual(first.inserted)
  })

  test('answers records of two tables in the order of their rows', async () => {
    const tables = [await bench.table({ Num: 'Number' }), await bench.table({ Num: 'Number' }, [{ Num: 1 }])]
    for (const [at, order] of [tables, tables.toReversed()].entries()) {
      const operations = order.map((own) => ({
        kind: 'insert' as const,
        tableId: own.id,
        rows: [{ values: own.values({ Num: 1 }) }],
      }))
      const change = { baseId: bench.baseId, clientId: `tables-${at}`, operations }
      const first = await bench.trpc.records.write.mutate({ change })
      const again = await bench.trpc.records.write.mutate({ change })
      expect(again.inserted).toEqual(first.inserted)
    }
  })

  test('writes once when both arrive together', async () => {
    const before = await table.total()
    const [one, other] = await Promise.all([insert(2, 'together'), insert(2, 'together')])
    expect(one.inserted).toEqual(other.inserted)
    expect(await table.total()).toBe(before + 2)
  })

  test('is told apart from the same id of another person', async () => {
    const before = await table.total()
    const editor = await createMember(bench.app, bench.baseId, 'editor')
    await insert(1, 'mine')
    await insert(1, 'mine', bench.app.trpc(editor.token))
    expect(await table.total()).toBe(before + 2)
  })

  test('tells other browsers once', async () => {
    const seen: unknown[] = []
    const stop = bench.app.kernel.events.on('records.changed', (change) => seen.push(change.clientId))
    await insert(1, 'heard')
    await insert(1, 'heard')
    stop()
    expect(seen).toEqual(['heard'])
  })
})

describe('records.deleteMatching and records.updateMatching with a client id', () => {
  const open = () => bench.table({ Num: 'Number' }, [{ Num: 1 }, { Num: 1 }])
  const add = (own: TestTable) =>
    bench.trpc.records.write.mutate({
      change: {
        baseId: bench.baseId,
        operations: [{ kind: 'insert', tableId: own.id, rows: [{ values: own.values({ Num: 1 }) }] }],
      },
    })

  test('delete once when sent again, and answer the same', async () => {
    const own = await open()
    const call = { selection: { tableId: own.id }, clientId: 'delete-all' }
    const first = await bench.trpc.records.deleteMatching.mutate(call)
    await add(own)
    const again = await bench.trpc.records.deleteMatching.mutate(call)
    expect(first.count).toBe(2)
    expect([again.id, again.count]).toEqual([first.id, first.count])
    expect(await own.total()).toBe(1)
  })

  test('update once when sent again, and answer the same', async () => {
    const own = await open()
    const call = { selection: { tableId: own.id }, values: own.values({ Num: 2 }), clientId: 'update-all' }
    const first = await bench.trpc.records.updateMatching.mutate(call)
    await add(own)
    const again = await bench.trpc.records.updateMatching.mutate(call)
    expect([again.id, again.count]).toEqual([first.id, 2])
    const { body } = await bench.rest.get(own.path)
    expect(body.list.map((row: { Num: number }) => row.Num)).toEqual([2, 2, 1])
  })

  test('answer the same for links by which the records are not selected any more', async () => {
    const [own, other] = [await open(), await bench.table({ Num: 'Number' }, [{ Num: 1 }])]
    const { fieldId } = (await createLink(bench, own, other, 'bt')).own
    const filter = { fieldId, operator: 'blank', value: null }
    const call = {
      selection: { tableId: own.id, filter },
      values: { [fieldId]: '[1]' },
      clientId: 'link-all',
    }
    const first = await bench.trpc.records.updateMatching.mutate(call as never)
    const again = await bench.trpc.records.updateMatching.mutate(call as never)
    expect(first.count).toBe(2)
    expect([again.id, again.count]).toEqual([first.id, first.count])
  })
})
