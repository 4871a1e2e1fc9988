import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { RecordId } from '../../src/core/model.ts'
import { createLink, linkedIds, type TestEnd } from './links-support.ts'
import { type Bench, createBench, type TestTable } from './support.ts'

/** More than undo takes back record by record: see `SET_FROM` in `modules/records/history/undo.ts`. */
const MANY = 1_200

/** More than the write door deletes, or lets go of, one by one. */
const CROWD = 6_000

describe('links of many records', () => {
  let bench: Bench
  beforeAll(async () => {
    bench = await createBench()
  })
  afterAll(() => bench.stop())

  const rows = (count: number) => Array.from({ length: count }, (_, index) => ({ Title: `r${index + 1}` }))
  const undo = () => bench.trpc.records.undo.mutate({ baseId: bench.baseId })
  const redo = () => bench.trpc.records.redo.mutate({ baseId: bench.baseId })
  const idsOf = async ({ id: tableId }: TestTable): Promise<RecordId[]> => {
    const first = await bench.trpc.records.list.query({
      query: { tableId, fieldIds: [], limit: 1000, offset: 0 },
    })
    const rest = await bench.trpc.records.list.query({
      query: { tableId, fieldIds: [], limit: 1000, offset: 1000 },
    })
    return [...first.ids, ...rest.ids]
  }
  const countOf = (tableId: string) =>
    bench.trpc.records.count.query({ selection: { tableId } }).then(({ count }) => count)
  const insert = (table: TestTable, list: Record<string, unknown>[]) =>
    bench.trpc.records.write.mutate({
      change: {
        baseId: bench.baseId,
        operations: [
          { kind: 'insert', tableId: table.id, rows: list.map((values) => ({ values: values as never })) },
        ],
      },
    })

  /** Counts what a base's file is asked while `work` runs. */
  async function statementsOf(work: () => Promise<unknown>): Promise<number> {
    const engine = await bench.app.kernel.sources.engine(bench.baseId)
    const { writeTogether } = engine
    let count = 0
    const counted = <T>(call: () => T): T => {
      count++
      return call()
    }
    engine.writeTogether = (run, onCommit) =>
      writeTogether(
        (tx) =>
          run({
            ...tx,
            run: (statement) => counted(() => tx.run(statement)),
            runMany: (sql, list) => counted(() => tx.runMany(sql, list)),
            all: (statement) => counted(() => tx.all(statement)),
          }),
        onCommit,
      )
    try {
      await work()
    } finally {
      engine.writeTogether = writeTogether
    }
    return count
  }

  test('linking 400 records takes as many statements as linking 4', async () => {
    for (const kind of ['hm', 'mm'] as const) {
      const own = await bench.table(undefined, rows(3))
      const related = await bench.table(undefined, rows(404))
      const link = await createLink(bench, own, related, kind)
      const ids = await idsOf(related)
      const few = await statementsOf(() => link.write('link', 1, ids.slice(0, 4)))
      const many = await statementsOf(() => link.write('link', 2, ids.slice(4)))
      expect([kind, many]).toEqual([kind, few])
      expect(many).toBeLessThan(kind === 'hm' ? 9 : 12)
      const deleted = (list: RecordId[]) => () =>
        bench.trpc.records.write.mutate({
          change: { baseId: bench.baseId, operations: [{ kind: 'delete', tableId: related.id, ids: list }] },
        })
      const one = await statementsOf(deleted(ids.slice(0, 1)))
      expect(await statementsOf(deleted(ids.slice(1)))).toBeLessThanOrEqual(one + 2)
    }
  })

  test('whole tables go with their links as a set, and come back with them', async () => {
    const parents = await bench.table(undefined, rows(MANY))
    const children = await bench.table(undefined, rows(5))
    const owned = await createLink(bench, parents, children, 'hm')
    const second = await createLink(bench, parents, children, 'hm')
    const tagged = await createLink(bench, parents, children, 'mm')
    const self = await createLink(bench, parents, parents, 'mm')
    const tree = await createLink(bench, parents, parents, 'hm')
    const junction = tagged.own.options.junction?.tableId ?? ''
    await owned.write('link', 7, [1, 2])
    await second.write('link', 1100, [1, 3])
    await tagged.write('link', 3, [1, 2, 3])
    await self.write('link', 5, [6, 7])
    await tree.write('link', 8, [9])
    const ends: [TestEnd, RecordId][] = [
      [owned.own, 7],
      [owned.inverse, 1],
      [second.inverse, 1],
      [second.own, 1100],
      [tagged.own, 3],
      [tagged.inverse, 2],
      [self.own, 5],
      [tree.own, 8],
      [tree.inverse, 9],
    ]
    const look = () => Promise.all(ends.map(([end, id]) => linkedIds(bench, end, id)))
    const before = await look()
    expect(before.every((list) => list.length > 0)).toBe(true)

    const applied = await bench.trpc.records.deleteMatching.mutate({ selection: { tableId: parents.id } })
    expect(applied.count).toBe(MANY)
    expect(applied.tableIds).toContain(children.id)
    expect(applied.tableIds).toContain(junction)
    expect(await countOf(junction)).toBe(0)
    for (const end of [owned.inverse, second.inverse, tagged.inverse])
      expect(await linkedIds(bench, end, 1)).toEqual([])

    await undo()
    expect(await look()).toEqual(before)
    await redo()
    expect([await countOf(parents.id), await countOf(children.id), await countOf(junction)]).toEqual([
      0, 5, 0,
    ])
    await undo()
    expect(await look()).toEqual(before)
  })

  test('what has gone meanwhile does not come back, and what has a new partner keeps it', async () => {
    const parents = await bench.table(undefined, rows(3))
    const children = await bench.table(undefined, rows(MANY))
    const owned = await createLink(bench, parents, children, 'hm')
    const paired = await createLink(bench, parents, children, 'oo')
    const tagged = await createLink(bench, parents, children, 'mm')
    await owned.write('link', 1, [1])
    await owned.write('link', 2, [2])
    await paired.write('link', 3, [4])
    await paired.write('link', 2, [5])
    await tagged.write('link', 1, [6])
    await tagged.write('link', 2, [6])
    await bench.trpc.records.deleteMatching.mutate({
      selection: { tableId: children.id, recordIds: (await idsOf(children)).slice(0, MANY - 1) },
    })
    const other = await bench.app.signUp()
    await bench.app.services.auth.access.setMembership(bench.baseId, other.id, 'editor')
    await bench.app.trpc(other.token).records.write.mutate({
      change: {
        baseId: bench.baseId,
        operations: [
          { kind: 'delete', tableId: parents.id, ids: [1] },
          { kind: 'link', tableId: parents.id, fieldId: paired.own.fieldId, id: 3, targets: [MANY] },
        ],
      },
    })
    await undo()
    expect(await linkedIds(bench, owned.inverse, 1)).toEqual([])
    expect(await linkedIds(bench, owned.inverse, 2)).toEqual([2])
    expect(await linkedIds(bench, paired.own, 3)).toEqual([MANY])
    expect(await linkedIds(bench, paired.inverse, 4)).toEqual([])
    expect(await linkedIds(bench, paired.own, 2)).toEqual([5])
    expect(await linkedIds(bench, tagged.inverse, 6)).toEqual([2])
  })

  test('a deletion of thousands by their ids is written as a set, once for each client id', async () => {
    const table = await bench.table()
    await insert(
      table,
      Array.from({ length: CROWD }, () => ({})),
    )
    const remove = (ids: RecordId[], clientId?: string) =>
      bench.trpc.records.write.mutate({
        change: { baseId: bench.baseId, clientId, operations: [{ kind: 'delete', tableId: table.id, ids }] },
      })
    const ids = Array.from({ length: CROWD }, (_, index) => index + 1)
    await expect(remove([...ids, CROWD + 7])).rejects.toThrow(`Record '${CROWD + 7}' not found`)
    expect(await countOf(table.id)).toBe(CROWD)

    const first = await remove(ids.slice(1), 'sent-twice')
    const second = await remove(ids.slice(1), 'sent-twice')
    expect(first).toMatchObject({ clientId: 'sent-twice', truncated: true, count: CROWD - 1, inserted: [] })
    expect(second).toMatchObject({ id: first.id, at: first.at, truncated: true, inserted: [] })
    expect(await countOf(table.id)).toBe(1)
    await undo()
    expect(await countOf(table.id)).toBe(CROWD)
    await redo()
    expect(await countOf(table.id)).toBe(1)
  })

  test('a record with thousands of children is deleted with one label, and comes back with them', async () => {
    const parents = await bench.table(undefined, rows(2))
    const children = await bench.table()
    const owned = await createLink(bench, children, parents, 'bt')
    await insert(
      children,
      Array.from({ length: CROWD }, () => ({ [owned.own.fieldId]: '[1]' })),
    )
    const kids = async () => (await linkedIds(bench, owned.own, 7)).length
    const remove = { kind: 'delete' as const, tableId: parents.id, ids: [1] }
    const change = { baseId: bench.baseId, operations: [remove] }
    const applied = await bench.trpc.records.write.mutate({ change })
    expect(applied.tableIds).toContain(children.id)
    expect([await countOf(parents.id), await countOf(children.id), await kids()]).toEqual([1, CROWD, 0])
    const next = await bench.trpc.records.nextAction.query({
      baseId: bench.baseId,
      direction: 'undo',
      tableId: parents.id,
    })
    expect(next).toMatchObject({ records: 1, label: { params: { record: 'r1' } } })
    await undo()
    expect([await countOf(parents.id), await kids()]).toEqual([2, 1])
    // Among other operations the children are written one by one.
    await bench.trpc.records.write.mutate({
      change: {
        baseId: bench.baseId,
        operations: [remove, { kind: 'insert', tableId: parents.id, rows: [{ values: {} }] }],
      },
    })
    expect([await countOf(parents.id), await kids()]).toEqual([2, 0])
    await undo()
    expect([await countOf(parents.id), await kids()]).toEqual([2, 1])
  })

  test('many new records with links are kept as a range, which undo and redo bring back whole', async () => {
    const parents = await bench.table(undefined, rows(2))
    const children = await bench.table()
    const owned = await createLink(bench, children, parents, 'bt')
    const { inserted } = await insert(
      children,
      Array.from({ length: 150 }, (_, index) => ({ [owned.own.fieldId]: `[${1 + (index % 2)}]` })),
    )
    const linked = async () => (await linkedIds(bench, owned.inverse, 1)).length
    expect([inserted.length, await linked()]).toEqual([150, 75])
    await undo()
    expect([await countOf(children.id), await linked()]).toEqual([0, 0])
    await redo()
    expect([await countOf(children.id), await linked()]).toEqual([150, 75])
  })
})
