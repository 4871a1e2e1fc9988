import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createMember } from '../support/factories.ts'
import { createLink, linkedIds } from './links-support.ts'
import { type Bench, changesNothing, createBench, refusalOf, type TestTable } from './support.ts'

let bench: Bench
beforeAll(async () => {
  bench = await createBench()
})
afterAll(() => bench.stop())

async function newest(): Promise<number> {
  const { actions } = await bench.trpc.records.actions.query({ baseId: bench.baseId, limit: 1 })
  return actions[0]!.id
}

const row = async (table: TestTable, id: number) => {
  const { UpdatedAt: _, CreatedAt: __, ...rest } = (await table.list()).find(({ Id }) => Id === id) ?? {}
  return rest
}

const preview = (table: TestTable, recordId: number, entryId: number) =>
  bench.trpc.records.previewRecordVersion.query({ tableId: table.id, recordId, entryId })
const restore = (table: TestTable, recordId: number, entryId: number) =>
  bench.trpc.records.restoreRecordVersion.mutate({ tableId: table.id, recordId, entryId })
const undo = () => bench.trpc.records.undo.mutate({ baseId: bench.baseId })

describe('records.restoreRecordVersion', () => {
  test('rejects viewers, entries that do not exist, and times before the record existed', async () => {
    const table = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'a' }])
    const before = await newest()
    await bench.rest.post(table.path, [{ Title: 'later' }])
    const viewer = bench.app.trpc((await createMember(bench.app, bench.baseId, 'viewer')).token)
    await changesNothing(bench, async () => {
      const version = { tableId: table.id, recordId: 1, entryId: before }
      expect(await refusalOf(viewer.records.restoreRecordVersion.mutate(version))).toMatchObject({
        status: 403,
      })
      expect(await refusalOf(viewer.records.previewRecordVersion.query(version))).toMatchObject({
        status: 403,
      })
      expect(await refusalOf(restore(table, 2, before))).toMatchObject({ status: 404 })
      expect(await refusalOf(restore(table, 1, 9_999_999))).toMatchObject({ status: 404 })
      expect(await refusalOf(restore(table, 77, before))).toMatchObject({ status: 404 })
    })
  })

  test('restores the values of a version as one change, and shows the differences before', async () => {
    const files = { Title: 'SingleLineText', Qty: 'Number', Secret: 'Password', Done: 'Checkbox' } as never
    const table = await bench.table(files, [{ Title: 'a', Qty: 1, Secret: 'first', Done: true }])
    const version = await newest()
    const original = await row(table, 1)
    await bench.rest.patch(table.path, [{ Id: 1, Qty: 2 }])
    await bench.rest.patch(table.path, [{ Id: 1, Title: 'b', Secret: 'second', Done: false }])
    await bench.rest.patch(table.path, [{ Id: 1, Qty: 3 }])
    const changed = await row(table, 1)
    const told = await preview(table, 1, version)
    expect(told).toMatchObject({ isDeleted: false, left: [] })
    expect(told.changes).toContainEqual({ fieldId: table.field('Qty').id, before: 3, after: 1 })
    expect(told.changes).toContainEqual({ fieldId: table.field('Title').id, before: 'b', after: 'a' })
    expect(JSON.stringify(told)).not.toContain('$argon')
    expect(await restore(table, 1, version)).toMatchObject({ changed: true })
    expect(await row(table, 1)).toEqual(original)
    expect((await preview(table, 1, version)).changes).toEqual([])
    expect(await restore(table, 1, version)).toMatchObject({ changed: false })
    await undo()
    expect(await row(table, 1)).toEqual(changed)
  })

  test('restores links of all kinds, without those to records that are gone or taken', async () => {
    const [books, people] = [await bench.table(), await bench.table()]
    await bench.rest.post(books.path, [{ Title: 'b1' }, { Title: 'b2' }])
    await bench.rest.post(
      people.path,
      [1, 2, 3, 4].map((n) => ({ Title: `p${n}` })),
    )
    const pairs = await createLink(bench, books, people, 'mm')
    const owned = await createLink(bench, books, people, 'hm')
    const owner = await createLink(bench, books, people, 'bt')
    const twin = await createLink(bench, books, books, 'mm')
    await pairs.set(1, [1, 2])
    await owned.set(1, [1, 2, 3])
    await owner.set(1, [4])
    await twin.set(1, [1, 2])
    const version = await newest()
    await pairs.set(1, [3])
    await owned.set(1, [4])
    await owner.set(1, [1])
    await twin.set(1, [])
    await owned.set(2, [3])
    await bench.rest.delete(people.path, [{ Id: 2 }])
    const told = await preview(books, 1, version)
    expect(told.changes.find(({ fieldId }) => fieldId === pairs.own.fieldId)?.after).toBe(
      '{"linked":[1],"unlinked":[3]}',
    )
    await restore(books, 1, version)
    expect(await linkedIds(bench, pairs.own, 1)).toEqual([1])
    expect(await linkedIds(bench, owned.own, 1)).toEqual([1])
    expect(await linkedIds(bench, owned.own, 2)).toEqual([3])
    expect(await linkedIds(bench, owner.own, 1)).toEqual([4])
    expect(await linkedIds(bench, twin.own, 1)).toEqual([1, 2])
    await undo()
    expect(await linkedIds(bench, pairs.own, 1)).toEqual([3])
    expect(await linkedIds(bench, owned.own, 1)).toEqual([4])
    expect(await linkedIds(bench, owner.own, 1)).toEqual([1])
    expect(await linkedIds(bench, twin.own, 1)).toEqual([])
  })

  test('restores a deleted record in a version before its last changes, with its links', async () => {
    const [books, people] = [
      await bench.table({ Title: 'SingleLineText', Qty: 'Number' }),
      await bench.table(),
    ]
    await bench.rest.post(books.path, [{ Title: 'b1', Qty: 1 }])
    await bench.rest.post(people.path, [{ Title: 'p1' }, { Title: 'p2' }])
    const pairs = await createLink(bench, books, people, 'mm')
    await pairs.set(1, [1])
    const version = await newest()
    await bench.rest.patch(books.path, [{ Id: 1, Qty: 2 }])
    await pairs.set(1, [2])
    await bench.rest.delete(books.path, [{ Id: 1 }])
    const deletion = await newest()
    expect(await preview(books, 1, version)).toMatchObject({ isDeleted: true })
    await restore(books, 1, version)
    expect(await row(books, 1)).toMatchObject({ Title: 'b1', Qty: 1 })
    expect(await linkedIds(bench, pairs.own, 1)).toEqual([1])
    await undo()
    expect(await books.total()).toBe(0)
    await restore(books, 1, deletion)
    expect(await row(books, 1)).toMatchObject({ Title: 'b1', Qty: 2 })
  })

  test('keeps links over a deletion that was undone', async () => {
    const [books, people] = [
      await bench.table({ Title: 'SingleLineText', Qty: 'Number' }),
      await bench.table(),
    ]
    await bench.rest.post(books.path, [{ Title: 'b1', Qty: 1 }])
    await bench.rest.post(people.path, [{ Title: 'p1' }])
    const pairs = await createLink(bench, books, people, 'mm')
    await pairs.set(1, [1])
    const version = await newest()
    await bench.rest.patch(books.path, [{ Id: 1, Qty: 2 }])
    await bench.rest.delete(books.path, [{ Id: 1 }])
    const deletion = await newest()
    await restore(books, 1, deletion)
    expect(await row(books, 1)).toMatchObject({ Qty: 2 })
    expect(await linkedIds(bench, pairs.own, 1)).toEqual([1])
    await restore(books, 1, version)
    expect(await row(books, 1)).toMatchObject({ Qty: 1 })
    expect(await linkedIds(bench, pairs.own, 1)).toEqual([1])
  })

  test('leaves out values that their field rejects now, and names these fields', async () => {
    const table = await bench.table(
      { Title: 'SingleLineText', Qty: 'SingleLineText', Gone: 'SingleLineText' },
      [{ Title: 'a', Qty: 'many', Gone: 'x' }],
    )
    const version = await newest()
    await bench.rest.patch(table.path, [{ Id: 1, Title: 'b', Qty: '7', Gone: 'y' }])
    await bench.trpc.schema.updateField.mutate({ fieldId: table.field('Qty').id, patch: { type: 'Number' } })
    await bench.trpc.schema.deleteField.mutate({ fieldId: table.field('Gone').id })
    expect(await preview(table, 1, version)).toMatchObject({ left: ['Qty'] })
    await restore(table, 1, version)
    expect(await row(table, 1)).toEqual({ Id: 1, Title: 'a', Qty: 7 })
  })

  test('refuses a unique value that another record has taken, and names it', async () => {
    const table = await bench.table(
      { Title: 'SingleLineText', Code: { type: 'SingleLineText', unique: true } },
      [{ Title: 'a', Code: 'x' }],
    )
    const version = await newest()
    await bench.rest.patch(table.path, [{ Id: 1, Code: 'y' }])
    await bench.rest.post(table.path, [{ Title: 'b', Code: 'x' }])
    const refused = await changesNothing(bench, () => refusalOf(restore(table, 1, version)))
    expect(refused).toMatchObject({
      status: 400,
      message: 'Field “Code” must be unique: “x” is already used by record 2',
    })
  })
})
