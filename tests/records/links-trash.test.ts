import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readLinks } from '../../src/core/fields/list-value.ts'
import type { RecordId } from '../../src/core/model.ts'
import { createLink, linkedIds, type TestEnd } from './links-support.ts'
import { type Bench, createBench, refusalOf, type TestTable } from './support.ts'

describe('links and the trash', () => {
  let bench: Bench
  let other: ReturnType<Bench['app']['trpc']>
  beforeAll(async () => {
    bench = await createBench()
    const user = await bench.app.signUp()
    await bench.app.services.auth.access.setMembership(bench.baseId, user.id, 'creator')
    other = bench.app.trpc(user.token)
  })
  afterAll(() => bench.stop())

  const table = (count: number) =>
    bench.table(
      undefined,
      Array.from({ length: count }, (_, index) => ({ Title: `r${index + 1}` })),
    )
  const remove = ({ id: tableId }: TestTable, ids: RecordId[], by = bench.trpc) =>
    by.records.write.mutate({
      change: { baseId: bench.baseId, operations: [{ kind: 'delete', tableId, ids }] },
    })
  const undo = () => bench.trpc.records.undo.mutate({ baseId: bench.baseId })
  /** What the cell says: the count and the records that it lists must agree. */
  const cell = async ({ tableId, fieldId }: TestEnd, id: RecordId): Promise<RecordId[]> => {
    const query = { tableId, fieldIds: [fieldId], recordIds: [id], limit: 1, offset: 0 }
    const { rows } = await bench.trpc.records.list.query({ query })
    const { count, records } = readLinks(rows[0]?.[0] ?? null)
    expect(count).toBe(records.length)
    return records.map((record) => record.id)
  }

  test('a deleted record that comes back counts as one, though those that it is linked to change with it', async () => {
    const [own, related] = [await table(1), await table(2)]
    const link = await createLink(bench, own, related, 'mm')
    await link.write('link', 1, [1, 2])
    await remove(own, [1])
    expect(await undo()).toMatchObject({ kind: 'records.delete', records: 1 })
    expect(await cell(link.own, 1)).toEqual([1, 2])
  })

  test('records that go while a link is in the trash are not linked when it is back, until they are', async () => {
    for (const kind of ['mm', 'hm', 'oo'] as const) {
      const [own, related] = [await table(2), await table(2)]
      const link = await createLink(bench, own, related, kind)
      await link.write('link', 1, [1])
      if (kind !== 'oo') await link.write('link', 1, [2])
      await other.schema.deleteField.mutate({ fieldId: link.own.fieldId })
      await remove(related, [1])
      await other.schema.restoreField.mutate({ fieldId: link.own.fieldId })
      const rest = kind === 'oo' ? [] : [2]
      expect([kind, await cell(link.own, 1), await linkedIds(bench, link.own, 1)]).toEqual([kind, rest, rest])
      await undo()
      expect([kind, await cell(link.own, 1)]).toEqual([kind, [1, ...rest]])
      await remove(own, [1])
      expect([kind, await cell(link.inverse, 2)]).toEqual([kind, []])
    }
  })

  test('a parent that goes while the link is in the trash leaves a child that can be linked anew', async () => {
    const [parents, children] = [await table(2), await table(1)]
    const link = await createLink(bench, parents, children, 'hm')
    await link.write('link', 1, [1])
    await other.schema.deleteField.mutate({ fieldId: link.own.fieldId })
    await remove(parents, [1])
    await other.schema.restoreField.mutate({ fieldId: link.own.fieldId })
    expect(await cell(link.inverse, 1)).toEqual([])
    await link.write('link', 2, [1])
    expect(await cell(link.inverse, 1)).toEqual([2])
  })

  test('undo of a deletion brings the record back while its links are in the trash', async () => {
    const [own, related] = [await table(2), await table(2)]
    const link = await createLink(bench, own, related, 'mm')
    await link.write('link', 1, [1, 2])
    await remove(own, [1])
    await other.schema.deleteField.mutate({ fieldId: link.own.fieldId })
    await undo()
    expect(await own.total()).toBe(2)
    await other.schema.restoreField.mutate({ fieldId: link.own.fieldId })
    expect(await cell(link.inverse, 1)).toEqual(await linkedIds(bench, link.inverse, 1))
  })

  test('a link to a table in the trash is refused, and holds again when the table is back', async () => {
    const [own, related] = [await table(2), await table(2)]
    const link = await createLink(bench, own, related, 'hm')
    await link.write('link', 1, [1])
    await other.schema.deleteTable.mutate({ tableId: related.id })
    expect((await refusalOf(link.write('link', 1, [2]))).status).toBeGreaterThanOrEqual(400)
    await remove(own, [2])
    await other.schema.restoreTable.mutate({ tableId: related.id })
    expect(await cell(link.own, 1)).toEqual([1])
  })
})
