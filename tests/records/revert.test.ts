import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { actionText } from '../../src/core/actions.ts'
import type { TestUser } from '../support/app.ts'
import { createMember } from '../support/factories.ts'
import { createLink, linkedIds } from './links-support.ts'
import { type Bench, changesNothing, createBench, refusalOf, type TestTable } from './support.ts'

let bench: Bench
let ann: TestUser
beforeAll(async () => {
  bench = await createBench()
  ann = await createMember(bench.app, bench.baseId, 'editor')
})
afterAll(() => bench.stop())

/** The newest action of the table. */
async function newest(table: TestTable): Promise<number> {
  const { actions } = await bench.trpc.records.actions.query({
    baseId: bench.baseId,
    tableId: table.id,
    limit: 1,
  })
  return actions[0]!.id
}

const rowsOf = async (table: TestTable) =>
  (await table.list()).map(({ UpdatedAt: _, CreatedAt: __, ...row }) => row)

const preview = (entryId: number, timeZone?: string) =>
  bench.trpc.records.previewRevert.query({ baseId: bench.baseId, entryId, timeZone })
const revert = (entryId: number) => bench.trpc.records.revert.mutate({ baseId: bench.baseId, entryId })
const redo = (entryId: number) => bench.trpc.records.redo.mutate({ baseId: bench.baseId, entryId })

describe('records.revert', () => {
  test('rejects a viewer, an editor for actions of others, and unknown entries', async () => {
    const table = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'a' }])
    const entryId = await newest(table)
    const viewer = bench.app.trpc((await createMember(bench.app, bench.baseId, 'viewer')).token)
    await changesNothing(bench, async () => {
      for (const user of [viewer, bench.app.trpc(ann.token)]) {
        const asked = { baseId: bench.baseId, entryId }
        expect(await refusalOf(user.records.revert.mutate(asked))).toMatchObject({ status: 403 })
        expect(await refusalOf(user.records.previewRevert.query(asked))).toMatchObject({ status: 403 })
      }
      expect(await refusalOf(revert(9_999_999))).toMatchObject({ status: 404 })
    })
  })

  test('names records by times in the time zone of whoever previews it', async () => {
    const table = await bench.table({ At: 'DateTime', Qty: 'Number' }, [
      { At: '2026-01-05 23:30:00+00:00', Qty: 1 },
    ])
    await bench.rest.patch(table.path, { Id: 1, Qty: 2 })
    const entryId = await newest(table)
    await bench.app.rest(ann.token).patch(table.path, { Id: 1, Qty: 3 })
    const { action, kept } = await preview(entryId, 'Asia/Tokyo')
    expect(actionText(action)).toBe('Qty of 2026-01-06 08:30: 1 → 2')
    expect(kept.items).toMatchObject([{ recordTitle: '2026-01-06 08:30', fieldTitle: 'Qty' }])
  })

  test('gives back old values, and leaves those that someone changed since, who is named', async () => {
    const table = await bench.table({ Title: 'SingleLineText', Qty: 'Number' }, [
      { Title: 'a', Qty: 1 },
      { Title: 'b', Qty: 2 },
      { Title: 'c', Qty: 3 },
    ])
    await bench.rest.patch(table.path, [
      { Id: 1, Title: 'A', Qty: 10 },
      { Id: 2, Qty: 20 },
      { Id: 3, Qty: 30 },
    ])
    const entryId = await newest(table)
    await bench.app.rest(ann.token).patch(table.path, [
      { Id: 2, Qty: 21 },
      { Id: 3, Title: 'C' },
    ])
    const told = await preview(entryId)
    expect(told).toMatchObject({ added: 0, changed: 2, deleted: 0 })
    expect(told.kept).toMatchObject({
      total: 1,
      isPartial: false,
      by: [{ actorId: ann.id, count: 1 }],
      items: [{ recordId: 2, recordTitle: 'b', fieldTitle: 'Qty', actorId: ann.id, isDeleted: false }],
    })
    expect(told.people.map(({ id }) => id)).toEqual([ann.id])
    expect(await revert(entryId)).toMatchObject({ kind: 'records.update', skipped: 1 })
    const reverted = [
      { Id: 1, Title: 'a', Qty: 1 },
      { Id: 2, Title: 'b', Qty: 21 },
      { Id: 3, Title: 'C', Qty: 3 },
    ]
    expect(await rowsOf(table)).toEqual(reverted)
    expect(await revert(entryId)).toMatchObject({ records: 0 })
    expect(await rowsOf(table)).toEqual(reverted)
    await redo(entryId)
    expect(await rowsOf(table)).toEqual([
      { Id: 1, Title: 'A', Qty: 10 },
      { Id: 2, Title: 'b', Qty: 21 },
      { Id: 3, Title: 'C', Qty: 30 },
    ])
  })

  test.each([3, 150, 1_200])('of %i new records leaves those that someone changed since', async (count) => {
    const rows = Array.from({ length: count }, (_, index) => ({ Title: `r${index}` }))
    const table = await bench.table({ Title: 'SingleLineText', Qty: 'Number' }, rows)
    const entryId = await newest(table)
    const annRest = bench.app.rest(ann.token)
    await annRest.patch(table.path, [{ Id: 2, Qty: 5 }])
    // A change that was undone does not count.
    await annRest.patch(table.path, [{ Id: 3, Qty: 6 }])
    await bench.app
      .trpc(ann.token)
      .records.undo.mutate({ baseId: bench.baseId, entryId: await newest(table) })
    const told = await preview(entryId)
    expect(told).toMatchObject({ deleted: count - 1, changed: 0 })
    expect(told.kept).toMatchObject({
      total: 1,
      items: [{ recordId: 2, recordTitle: 'r1', fieldTitle: null }],
    })
    await revert(entryId)
    expect(await rowsOf(table)).toEqual([{ Id: 2, Title: 'r1', Qty: 5 }])
    await redo(entryId)
    expect(await table.total()).toBe(count)
  })

  test.each([3, 1_200])('of a deletion of %i records restores those that are not there', async (count) => {
    const rows = Array.from({ length: count }, (_, index) => ({ Title: `r${index}` }))
    const table = await bench.table({ Title: 'SingleLineText' }, rows)
    await bench.trpc.records.deleteMatching.mutate({ selection: { tableId: table.id } })
    const entryId = await newest(table)
    await bench.trpc.records.restoreTrashed.mutate({ tableId: table.id, recordIds: [2] })
    await bench.app.rest(ann.token).patch(table.path, [{ Id: 2, Title: 'hers' }])
    expect((await preview(entryId)).added).toBe(count)
    await revert(entryId)
    expect(await table.total()).toBe(count)
    expect((await rowsOf(table)).find(({ Id }) => Id === 2)).toEqual({ Id: 2, Title: 'hers' })
  })

  test('of links leaves those that someone changed since', async () => {
    const [books, people] = [await bench.table(), await bench.table()]
    await bench.rest.post(books.path, [{ Title: 'b1' }, { Title: 'b2' }])
    await bench.rest.post(people.path, [{ Title: 'p1' }, { Title: 'p2' }])
    const owner = await createLink(bench, books, people, 'bt')
    const pairs = await createLink(bench, books, people, 'mm')
    await owner.set(1, [1])
    const entryId = await newest(books)
    const values = { [owner.own.fieldId]: '[2]' }
    const update = { kind: 'update' as const, tableId: books.id, rows: [{ id: 1, values }] }
    await bench.app
      .trpc(ann.token)
      .records.write.mutate({ change: { baseId: bench.baseId, operations: [update] } })
    expect((await preview(entryId)).kept.items).toMatchObject([
      { recordId: 1, fieldTitle: owner.own.title, actorId: ann.id },
    ])
    expect(await revert(entryId)).toMatchObject({ skipped: 1 })
    expect(await linkedIds(bench, owner.own, 1)).toEqual([2])
    const { id: pairsId } = await pairs.set(1, [1, 2])
    await pairs.write('unlink', 1, [2])
    await revert(pairsId)
    expect(await linkedIds(bench, pairs.own, 1)).toEqual([])
  })

  test('of a field brings it back', async () => {
    const table = await bench.table({ Title: 'SingleLineText', Note: 'SingleLineText' }, [
      { Title: 'a', Note: 'n' },
    ])
    await bench.trpc.schema.deleteField.mutate({ fieldId: table.field('Note').id })
    const entryId = await newest(table)
    expect(await preview(entryId)).toMatchObject({ changed: 0, kept: { total: 0 } })
    await revert(entryId)
    expect(await rowsOf(table)).toEqual([{ Id: 1, Title: 'a', Note: 'n' }])
  })

  test.each([3, 1_200])(
    'of a deletion of %i records leaves one that was deleted again since',
    async (count) => {
      const rows = Array.from({ length: count }, (_, index) => ({ Title: `r${index}` }))
      const table = await bench.table({ Title: 'SingleLineText' }, rows)
      await bench.trpc.records.deleteMatching.mutate({ selection: { tableId: table.id } })
      const entryId = await newest(table)
      await bench.trpc.records.restoreTrashed.mutate({ tableId: table.id, recordIds: [2] })
      const hers = bench.app.rest(ann.token)
      await hers.patch(table.path, [{ Id: 2, Title: 'hers' }])
      await hers.delete(table.path, [{ Id: 2 }])
      await revert(entryId)
      expect(await table.total()).toBe(count - 1)
      const { records } = await bench.trpc.records.trash.query({ tableId: table.id })
      expect(records.map(({ title }) => title)).toEqual(['hers'])
    },
  )
})
