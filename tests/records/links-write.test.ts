import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { RecordId } from '../../src/core/model.ts'
import { createLink, linkedIds } from './links-support.ts'
import { type Bench, changesNothing, createBench, refusalOf, type TestTable } from './support.ts'

describe('records.write of links', () => {
  let bench: Bench
  beforeAll(async () => {
    bench = await createBench()
  })
  afterAll(() => bench.stop())

  const rows = (count: number) => Array.from({ length: count }, (_, index) => ({ Title: `r${index + 1}` }))
  const tables = async (own = 3, related = 3): Promise<[TestTable, TestTable]> => [
    await bench.table(undefined, rows(own)),
    await bench.table(undefined, rows(related)),
  ]
  const undo = () => bench.trpc.records.undo.mutate({ baseId: bench.baseId })
  const redo = () => bench.trpc.records.redo.mutate({ baseId: bench.baseId })
  const history = async (tableId: string, recordId: RecordId) =>
    (await bench.trpc.records.history.query({ tableId, recordId })).entries

  test('refuses targets that are not there, naming each, and changes nothing', async () => {
    const [books, tags] = await tables()
    const link = await createLink(bench, books, tags, 'mm')
    await changesNothing(bench, async () => {
      expect(await refusalOf(link.write('link', 1, [1, 99]))).toEqual({
        code: 'RECORD_NOT_FOUND',
        status: 404,
        message: `Record '{"Id":99}' not found`,
      })
      const several = await refusalOf(link.write('unlink', 1, [98, 99]))
      expect(several.message).toBe(`Records '{"Id":98}', '{"Id":99}' not found`)
      expect((await refusalOf(link.write('link', 77, [1]))).message).toBe("Record '77' not found")
      const many = Array.from({ length: 5000 }, (_, index) => index + 100)
      const { message } = await refusalOf(link.write('link', 1, many))
      expect([message.length < 2500, message.endsWith(' and 4900 more not found')]).toEqual([true, true])
      expect((await refusalOf(link.set(1, [99]))).code).toBe('RECORD_NOT_FOUND')
    })
    const other = { ...link.own, fieldId: books.field('Title').id }
    expect((await refusalOf(link.write('link', 1, [1], other))).message).toBe('Field “Title” is not a link')
  })

  test('has-many: linking moves a child from its old parent, unlinking frees it', async () => {
    const [authors, books] = await tables()
    const link = await createLink(bench, authors, books, 'hm')
    await link.write('link', 1, [1, 2])
    await link.write('link', 2, [2, 3])
    expect(await linkedIds(bench, link.own, 1)).toEqual([1])
    expect(await linkedIds(bench, link.own, 2)).toEqual([2, 3])
    expect(await linkedIds(bench, link.inverse, 2)).toEqual([2])
    await link.write('unlink', 2, [1, 2])
    expect(await linkedIds(bench, link.own, 1)).toEqual([1])
    expect(await linkedIds(bench, link.own, 2)).toEqual([3])
    await link.write('link', 3, [1, 2], link.inverse)
    expect(await linkedIds(bench, link.inverse, 3)).toEqual([2])
  })

  test('one-to-one: both old partners are freed', async () => {
    for (const holdsKey of [false, true]) {
      const [left, right] = await tables()
      const link = await createLink(bench, left, right, 'oo', { holdsKey })
      await link.write('link', 1, [1])
      await link.write('link', 2, [2])
      await link.write('link', 1, [2])
      expect(await linkedIds(bench, link.own, 1)).toEqual([2])
      expect(await linkedIds(bench, link.own, 2)).toEqual([])
      expect(await linkedIds(bench, link.inverse, 1)).toEqual([])
      await undo()
      expect(await linkedIds(bench, link.own, 1)).toEqual([1])
      expect(await linkedIds(bench, link.own, 2)).toEqual([2])
    }
  })

  test('linking what is linked, and unlinking what is not, changes nothing', async () => {
    const [books, tags] = await tables()
    const link = await createLink(bench, books, tags, 'mm')
    await link.write('link', 1, [1, 2, 2])
    await changesNothing(bench, async () => {
      await link.write('link', 1, [2, 1])
      await link.write('unlink', 1, [3])
      await link.set(1, [1, 2])
    })
  })

  test('a required link cannot be taken away, by either side or by deleting the parent', async () => {
    const [books, authors] = await tables(0, 2)
    const link = await createLink(bench, books, authors, 'bt', { required: true, title: 'Author' })
    const insert = (values: Record<string, string>) =>
      bench.trpc.records.write.mutate({
        change: {
          baseId: bench.baseId,
          operations: [{ kind: 'insert', tableId: books.id, rows: [{ values }] }],
        },
      })
    expect((await refusalOf(insert({}))).message).toBe("Field 'Author' is required")
    const { inserted } = await insert({ [link.own.fieldId]: '[1]' })
    const [id = 0] = inserted
    await changesNothing(bench, async () => {
      expect((await refusalOf(link.set(id, []))).message).toBe("Field 'Author' is required")
      expect((await refusalOf(link.write('unlink', id, [1]))).message).toBe("Field 'Author' is required")
      const inverse = await refusalOf(link.write('unlink', 1, [id], link.inverse))
      expect([inverse.code, inverse.message]).toEqual([
        'REQUIRED_FIELD_MISSING',
        "Field 'Author' is required",
      ])
      const deletion = { kind: 'delete' as const, tableId: authors.id, ids: [1] }
      const refused = await refusalOf(
        bench.trpc.records.write.mutate({ change: { baseId: bench.baseId, operations: [deletion] } }),
      )
      expect(refused.message).toBe(`Field “Author” is required: “${id}” in “${books.title}” would lose it`)
      const selection = { tableId: authors.id, recordIds: [1] }
      expect((await refusalOf(bench.trpc.records.deleteMatching.mutate({ selection }))).message).toBe(
        refused.message,
      )
    })
    await link.set(id, [2])
    expect(await linkedIds(bench, link.own, id)).toEqual([2])
  })

  test('a key written as such must lead to a record, and is told of on both sides', async () => {
    const [books, authors] = await tables()
    const link = await createLink(bench, books, authors, 'bt')
    const key = (value: number | null) =>
      bench.trpc.records.write.mutate({
        change: {
          baseId: bench.baseId,
          operations: [
            {
              kind: 'update',
              tableId: books.id,
              rows: [{ id: 1, values: { [link.own.options.keyFieldId ?? '']: value } }],
            },
          ],
        },
      })
    const refused = await changesNothing(bench, () => refusalOf(key(99)))
    expect([refused.code, refused.status]).toEqual(['INVALID_VALUE_FOR_FIELD', 422])
    expect(refused.message).toContain("Invalid value '99' for type 'ForeignKey'")
    const { records, tableIds } = await key(2)
    expect(tableIds.toSorted()).toEqual([books.id, authors.id].toSorted())
    const marks = records.map(({ tableId, recordId, after }) => [
      tableId,
      recordId,
      after?.[link.own.fieldId] ?? after?.[link.inverse.fieldId],
    ])
    expect(marks).toEqual([
      [books.id, 1, '{"linked":[2],"unlinked":[]}'],
      [authors.id, 2, '{"linked":[1],"unlinked":[]}'],
    ])
    expect(await linkedIds(bench, link.inverse, 2)).toEqual([1])
  })

  test('both sides are modified, and their histories tell of the link', async () => {
    const [books, tags] = await tables()
    const link = await createLink(bench, books, tags, 'mm')
    const { records, tableIds } = await bench.trpc.records.write.mutate({
      change: {
        baseId: bench.baseId,
        operations: [{ kind: 'link', tableId: books.id, fieldId: link.own.fieldId, id: 1, targets: [2, 3] }],
      },
    })
    const junction = link.own.options.junction?.tableId ?? ''
    expect(tableIds.toSorted()).toEqual([books.id, tags.id, junction].toSorted())
    const sides = records.filter(({ tableId }) => tableId !== junction)
    expect(sides.map(({ tableId, recordId }) => `${tableId} ${recordId}`).toSorted()).toEqual(
      [`${books.id} 1`, `${tags.id} 2`, `${tags.id} 3`].toSorted(),
    )
    const [book] = await books.list('?limit=1')
    const [tag, other] = (await tags.list()).slice(1)
    expect([book?.UpdatedAt, tag?.UpdatedAt, other?.UpdatedAt]).not.toContain(null)
    expect((await tags.list())[0]?.UpdatedAt).toBeNull()
    const changes = async (tableId: string, id: number) => (await history(tableId, id))[0]?.changes
    expect(await changes(books.id, 1)).toEqual([
      { fieldId: link.own.fieldId, before: null, after: '{"linked":[2,3],"unlinked":[]}' },
    ])
    expect(await changes(tags.id, 3)).toEqual([
      { fieldId: link.inverse.fieldId, before: null, after: '{"linked":[1],"unlinked":[]}' },
    ])
    await undo()
    expect(await linkedIds(bench, link.own, 1)).toEqual([])
    expect(await changes(tags.id, 3)).toEqual([
      { fieldId: link.inverse.fieldId, before: null, after: '{"linked":[],"unlinked":[1]}' },
    ])
    await redo()
    expect(await linkedIds(bench, link.own, 1)).toEqual([2, 3])
  })

  test('history and activity list the links that a deleted record had', async () => {
    const [books, tags] = await tables()
    const many = await createLink(bench, books, tags, 'mm')
    const children = await createLink(bench, books, tags, 'hm')
    await many.write('link', 1, [2, 3])
    await many.write('link', 2, [1])
    await children.write('link', 1, [3])
    const { id } = await bench.trpc.records.write.mutate({
      change: { baseId: bench.baseId, operations: [{ kind: 'delete', tableId: books.id, ids: [1, 3] }] },
    })
    const links = (changes: readonly { fieldId: string; after: unknown }[] | undefined) =>
      changes?.flatMap(({ fieldId, after }) =>
        fieldId === many.own.fieldId || fieldId === children.own.fieldId ? [after] : [],
      )
    const lost = ['{"linked":[],"unlinked":[2,3]}', '{"linked":[],"unlinked":[3]}']
    const [deletion] = await history(books.id, 1)
    expect(links(deletion?.changes)).toEqual(lost)
    expect(links((await history(books.id, 3))[0]?.changes)).toEqual([])
    const { records } = await bench.trpc.activity.entry.query({ baseId: bench.baseId, entryId: id })
    expect(records.map(({ recordId, changes }) => [recordId, links(changes)])).toEqual([
      [1, lost],
      [3, []],
    ])
    // A child keeps its own view of it.
    expect((await history(tags.id, 3))[0]?.changes.map(({ after }) => after)).toContain(
      '{"linked":[],"unlinked":[1]}',
    )
  })

  test('undo leaves links that others have made since', async () => {
    const [authors, books] = await tables()
    const link = await createLink(bench, authors, books, 'hm')
    await link.write('link', 1, [1])
    const other = await bench.app.signUp()
    await bench.app.services.auth.access.setMembership(bench.baseId, other.id, 'editor')
    await bench.app.trpc(other.token).records.write.mutate({
      change: {
        baseId: bench.baseId,
        operations: [{ kind: 'link', tableId: authors.id, fieldId: link.own.fieldId, id: 2, targets: [1] }],
      },
    })
    expect((await undo()).skipped).toBe(1)
    expect(await linkedIds(bench, link.own, 2)).toEqual([1])
  })

  test('undo of a link whose partner is gone leaves no key that leads nowhere', async () => {
    const [authors, books] = await tables()
    const link = await createLink(bench, authors, books, 'hm')
    await link.write('link', 1, [1])
    await link.write('unlink', 1, [1])
    const other = await bench.app.signUp()
    await bench.app.services.auth.access.setMembership(bench.baseId, other.id, 'editor')
    await bench.app.trpc(other.token).records.write.mutate({
      change: { baseId: bench.baseId, operations: [{ kind: 'delete', tableId: authors.id, ids: [1] }] },
    })
    expect((await undo()).skipped).toBe(1)
    const fieldIds = [link.inverse.options.keyFieldId ?? '']
    const page = await bench.trpc.records.list.query({
      query: { tableId: books.id, fieldIds, limit: 10, offset: 0 },
    })
    expect(page.rows).toEqual([[null], [null], [null]])
  })

  test('many writers at once leave both sides of a one-to-one link true', async () => {
    const [left, right] = await tables(6, 6)
    const link = await createLink(bench, left, right, 'oo')
    await Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        link.write('link', 1 + (index % 6), [1 + ((index * 5) % 6)], index % 2 ? link.own : link.inverse),
      ),
    )
    const own = await Promise.all([1, 2, 3, 4, 5, 6].map((id) => linkedIds(bench, link.own, id)))
    const inverse = await Promise.all([1, 2, 3, 4, 5, 6].map((id) => linkedIds(bench, link.inverse, id)))
    own.forEach((targets, index) => {
      expect(targets.length).toBeLessThanOrEqual(1)
      for (const target of targets) expect(inverse[Number(target) - 1]).toEqual([index + 1])
    })
    expect(own.flat().length).toBe(inverse.flat().length)
  })

  test('a change that is sent again is answered as before, pairs not counted among the new records', async () => {
    const [books, tags] = await tables(0, 3)
    const link = await createLink(bench, books, tags, 'mm')
    const change = {
      baseId: bench.baseId,
      clientId: crypto.randomUUID(),
      operations: [
        { kind: 'insert' as const, tableId: books.id, rows: [{ values: { [link.own.fieldId]: '[1,2]' } }] },
      ],
    }
    const first = await bench.trpc.records.write.mutate({ change })
    const second = await bench.trpc.records.write.mutate({ change })
    expect(first.inserted).toHaveLength(1)
    expect(second.inserted).toEqual(first.inserted)
    expect(await linkedIds(bench, link.inverse, 1)).toEqual(first.inserted)
  })

  test('updateMatching gives all records the same links', async () => {
    const [books, authors] = await tables()
    const link = await createLink(bench, books, authors, 'bt')
    const { count } = await bench.trpc.records.updateMatching.mutate({
      selection: { tableId: books.id },
      values: { [link.own.fieldId]: '[2]' },
    })
    expect(count).toBeGreaterThanOrEqual(3)
    expect(await linkedIds(bench, link.inverse, 2)).toEqual([1, 2, 3])
    await undo()
    expect(await linkedIds(bench, link.inverse, 2)).toEqual([])
  })

  test('others are told of every table that a link, a deletion or taking it back touches', async () => {
    const [authors, books] = await tables()
    const link = await createLink(bench, authors, books, 'hm')
    const heard: string[][] = []
    const stop = bench.app.kernel.events.on('records.changed', ({ tableIds }) =>
      heard.push(tableIds.toSorted()),
    )
    await link.write('link', 1, [1, 2])
    await bench.trpc.records.write.mutate({
      change: { baseId: bench.baseId, operations: [{ kind: 'delete', tableId: authors.id, ids: [1] }] },
    })
    await undo()
    await bench.trpc.records.deleteMatching.mutate({ selection: { tableId: authors.id } })
    await undo()
    const both = [authors.id, books.id].toSorted()
    expect(heard).toEqual([both, both, both, both, both])
    stop()
  })
})
