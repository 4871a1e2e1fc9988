import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createMember } from '../support/factories.ts'
import { createLink, type TestEnd } from './links-support.ts'
import { type Bench, changesNothing, createBench, refusalOf, type TestTable } from './support.ts'

describe('the picker of links', () => {
  let bench: Bench
  let books: TestTable
  let tags: TestTable
  beforeAll(async () => {
    bench = await createBench()
    books = await bench.table(undefined, [{ Title: 'Hobbit' }, { Title: 'Dune' }])
    tags = await bench.table(
      { Title: 'SingleLineText', Note: 'SingleLineText', Num: 'Number', Long: 'LongText', More: 'Number' },
      ['fantasy', 'sf', 'old', 'Old English', null].map((Title, Num) => ({ Title, Num, Note: `n${Num}` })),
    )
  })
  afterAll(() => bench.stop())

  const ask = (which: 'linked' | 'linkable', { tableId, fieldId }: TestEnd, more: object = {}) =>
    bench.trpc.records[which].query({
      tableId,
      fieldId,
      recordId: 1,
      limit: 10,
      offset: 0,
      ...more,
    })

  test('is refused to strangers, and for what is not there', async () => {
    const { own } = await createLink(bench, books, tags, 'mm')
    const stranger = await bench.app.signUp()
    const viewer = await createMember(bench.app, bench.baseId, 'viewer')
    const request = { tableId: own.tableId, fieldId: own.fieldId, recordId: 1, limit: 10, offset: 0 }
    for (const which of ['linked', 'linkable'] as const) {
      const asked = (token: string) => bench.app.trpc(token).records[which].query(request)
      expect((await refusalOf(asked(stranger.token))).status).toBe(403)
      expect((await asked(viewer.token)).offset).toBe(0)
      expect((await refusalOf(ask(which, own, { recordId: 99 }))).code).toBe('RECORD_NOT_FOUND')
      expect((await refusalOf(ask(which, { ...own, fieldId: 'cnope' }))).code).toBe('FIELD_NOT_FOUND')
      const text = { ...own, fieldId: books.field('Title').id }
      expect((await refusalOf(ask(which, text))).message).toBe('Field “Title” is not a link')
    }
  })

  test('shows names first and a few fields more, a page at a time, without a count', async () => {
    const link = await createLink(bench, books, tags, 'mm')
    await link.write('link', 1, [2])
    const page = await ask('linkable', link.own, { limit: 2 })
    expect(page).toMatchObject({ tableId: tags.id, ids: [1, 3], hasMore: true, offset: 0 })
    expect(page.fieldIds).toEqual(['Title', 'Note', 'Num', 'Long'].map((title) => tags.field(title).id))
    expect(page.rows[0]).toEqual(['fantasy', 'n0', 0, null])
    expect(await ask('linkable', link.own, { limit: 2, offset: 2 })).toMatchObject({
      ids: [4, 5],
      hasMore: false,
    })
    expect(await ask('linked', link.own)).toMatchObject({ ids: [2], hasMore: false })
    expect((await ask('linkable', link.own, { recordId: null })).ids).toEqual([1, 2, 3, 4, 5])
  })

  test('finds as one types, in any case', async () => {
    const link = await createLink(bench, books, tags, 'hm')
    await link.write('link', 2, [3])
    expect((await ask('linkable', link.own, { search: 'OLD' })).ids).toEqual([3, 4])
    await link.write('link', 1, [3])
    expect((await ask('linkable', link.own, { search: 'old' })).ids).toEqual([4])
    expect((await ask('linked', link.own, { search: 'eng' })).ids).toEqual([])
  })

  test('finds by the fields beside the names, names first', async () => {
    const pets = await bench.table({ Title: 'SingleLineText', Breed: 'SingleLineText', Age: 'Number' }, [
      { Title: 'Rex', Breed: 'Bulldog', Age: 12 },
      { Title: 'Max', Breed: 'Poodle', Age: 3 },
      { Title: 'Bullet', Breed: 'Greyhound', Age: 3 },
    ])
    const link = await createLink(bench, books, pets, 'mm')
    expect((await ask('linkable', link.own, { search: 'bull' })).ids).toEqual([3, 1])
    expect((await ask('linkable', link.own, { search: 'bull', limit: 1 })).hasMore).toBe(true)
    expect((await ask('linkable', link.own, { search: 'bull', limit: 1, offset: 1 })).ids).toEqual([1])
    expect((await ask('linkable', link.own, { search: '12' })).ids).toEqual([1])
    await link.write('link', 1, [1])
    expect((await ask('linkable', link.own, { search: 'bull' })).ids).toEqual([3])
    expect((await ask('linked', link.own, { search: 'dog' })).ids).toEqual([1])
  })

  test('offers only what the view of the link shows, in its order; linked is shown in any case', async () => {
    const view = await bench.trpc.views.create.mutate({ tableId: tags.id, title: 'Some', kind: 'grid' })
    const fieldId = tags.field('Num').id
    await bench.trpc.views.update.mutate({
      viewId: view.id,
      patch: {
        filter: { fieldId, operator: 'gt', value: 0 },
        sorts: [{ fieldId, direction: 'desc' }],
      },
    })
    const link = await createLink(bench, books, tags, 'mm', { viewId: view.id })
    expect((await ask('linkable', link.own)).ids).toEqual([5, 4, 3, 2])
    await link.write('link', 1, [1, 4])
    expect((await ask('linked', link.own)).ids).toEqual([1, 4])
    expect((await ask('linkable', link.own)).ids).toEqual([5, 3, 2])
    await bench.trpc.views.delete.mutate({ viewId: view.id })
    expect((await ask('linkable', link.own)).ids).toEqual([2, 3, 5])
  })

  test('links of a table with itself are told apart from their reverse', async () => {
    const link = await createLink(bench, tags, tags, 'mm')
    await link.write('link', 1, [2, 1])
    expect((await ask('linked', link.own)).ids).toEqual([1, 2])
    expect((await ask('linked', link.inverse)).ids).toEqual([1])
    expect((await ask('linkable', link.inverse)).ids).toEqual([2, 3, 4, 5])
    const tree = await createLink(bench, tags, tags, 'hm')
    await tree.write('link', 1, [3])
    expect((await ask('linked', tree.inverse, { recordId: 3 })).ids).toEqual([1])
    expect((await ask('linkable', tree.inverse, { recordId: 3 })).ids).toEqual([2, 3, 4, 5])
  })

  test('what makes no sense is refused, never a fault of the server', async () => {
    const link = await createLink(bench, books, tags, 'mm')
    const tree = await createLink(bench, books, tags, 'oo')
    const odd = ['abc', '', -1, 0, 1.5, 1e300, '9'.repeat(40), '1; drop table x', '\u0000', "'", '1.0', ' 1']
    await changesNothing(bench, async () => {
      for (const { own } of [link, tree]) {
        for (const id of odd) {
          const calls = [
            () => link.write('link', 1, [id], own),
            () => link.write('unlink', id, [1], own),
            () => link.set(1, [id], own),
            () => ask('linked', own, { recordId: id }),
            () =>
              bench.trpc.records.write.mutate({
                change: {
                  baseId: bench.baseId,
                  operations: [
                    {
                      kind: 'update',
                      tableId: tags.id,
                      rows: [{ id: 1, values: { [tree.own.options.keyFieldId ?? '']: id } }],
                    },
                  ],
                },
              }),
          ]
          // An empty key is none, and a number may stand as text.
          for (const call of calls.slice(0, id === '' || Number(id) === 1 ? 4 : 5)) {
            const { status } = await refusalOf(call())
            expect([id, status >= 400 && status < 500]).toEqual([id, true])
          }
        }
        for (const text of ['[1', '[[1]]', '{"Id":1}', '[null]', '[true]', 'x'.repeat(1000)]) {
          const values = { [own.fieldId]: text }
          const rows = [{ id: 1, values }]
          const refused = await refusalOf(
            bench.trpc.records.write.mutate({
              change: { baseId: bench.baseId, operations: [{ kind: 'update', tableId: books.id, rows }] },
            }),
          )
          expect([text, refused.status]).toEqual([text, 422])
        }
      }
      for (const body of [null, 'x', [[1]], [null], [true], [{ Id: {} }], [{ Id: 'x' }], 7]) {
        const path = `/api/v2/tables/${books.id}/links/${link.own.fieldId}/records/1`
        const { status } = await bench.rest.post(path, body)
        expect([body, status >= 400 && status < 500]).toEqual([body, true])
      }
    })
  })
})
