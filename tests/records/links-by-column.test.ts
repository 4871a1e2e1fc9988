import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { defineSchemaTables } from '../../modules/schema/tables.ts'
import { createLink, linkedIds } from './links-support.ts'
import { type Bench, createBench } from './support.ts'

/** In databases of others a key may refer to another column than the primary key. */
describe('links whose key refers to another column', () => {
  let bench: Bench
  beforeAll(async () => {
    bench = await createBench()
  })
  afterAll(() => bench.stop())

  test('are read, written, let go and brought back by that column', async () => {
    const authors = await bench.table(
      { Title: 'SingleLineText', Code: { type: 'Number', unique: true } },
      [70, 50, 60].map((Code) => ({ Title: `author ${Code}`, Code })),
    )
    const books = await bench.table(
      undefined,
      ['a', 'b', 'c'].map((Title) => ({ Title })),
    )
    const link = await createLink(bench, authors, books, 'hm')
    const { meta } = bench.app.kernel
    const { fields } = meta.tables(defineSchemaTables)
    for (const end of [link.own, link.inverse]) {
      const options = { ...end.options, parentFieldId: authors.field('Code').id }
      await meta.db.update(fields).set({ options }).where(eq(fields.id, end.fieldId))
    }
    // A rename has every reader take the definitions anew.
    for (const { id, title } of [authors, books]) {
      await bench.trpc.schema.updateTable.mutate({ tableId: id, title: `${title} x` })
    }
    const keys = async () => {
      const fieldIds = [link.inverse.options.keyFieldId ?? '']
      const page = await bench.trpc.records.list.query({
        query: { tableId: books.id, fieldIds, limit: 10, offset: 0 },
      })
      return page.rows.map(([key]) => key)
    }
    const { records } = await bench.trpc.records.write.mutate({
      change: {
        baseId: bench.baseId,
        operations: [
          { kind: 'link', tableId: authors.id, fieldId: link.own.fieldId, id: 2, targets: [1, 3] },
        ],
      },
    })
    expect(await keys()).toEqual([50, null, 50])
    const marked = records.find(({ tableId, recordId }) => tableId === books.id && recordId === 3)
    expect(marked?.after?.[link.inverse.fieldId]).toBe('{"linked":[2],"unlinked":[]}')
    expect(await linkedIds(bench, link.own, 2)).toEqual([1, 3])
    expect(await linkedIds(bench, link.inverse, 3)).toEqual([2])
    await link.set(3, [1], link.inverse)
    expect(await keys()).toEqual([50, null, 70])
    const linkable = await bench.trpc.records.linkable.query({
      tableId: authors.id,
      fieldId: link.own.fieldId,
      recordId: 2,
      limit: 10,
      offset: 0,
    })
    expect(linkable.ids).toEqual([2, 3])
    for (const remove of [
      () =>
        bench.trpc.records.write.mutate({
          change: { baseId: bench.baseId, operations: [{ kind: 'delete', tableId: authors.id, ids: [2] }] },
        }),
      () => bench.trpc.records.deleteMatching.mutate({ selection: { tableId: authors.id, recordIds: [2] } }),
    ]) {
      await remove()
      expect(await keys()).toEqual([null, null, 70])
      await bench.trpc.records.undo.mutate({ baseId: bench.baseId })
      expect(await keys()).toEqual([50, null, 70])
    }
  })
})
