import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { LinkOptions } from '../../src/core/fields/link-options.ts'
import type { Field } from '../../src/core/model.ts'
import { linkedIds, type TestEnd } from '../records/links-support.ts'
import { type Bench, createBench, refusalOf } from '../records/support.ts'
import { connect, createForeign, type ForeignDatabase } from './support.ts'

/** Keys of one column and of several, a junction without an id of its own, and a key that must not be empty. */
const TABLES = [
  'create table author (id integer primary key, name varchar(50))',
  `create table book (id integer primary key, title varchar(50), author_id integer,
    foreign key (author_id) references author (id) on delete set null)`,
  'create table tag (id integer primary key, label varchar(50))',
  `create table book_tag (book_id integer not null, tag_id integer not null, primary key (book_id, tag_id),
    foreign key (book_id) references book (id) on delete cascade,
    foreign key (tag_id) references tag (id) on delete cascade)`,
  `create table page (book_id integer not null, number integer not null, text_id integer,
    primary key (book_id, number), foreign key (text_id) references tag (id))`,
  "insert into author values (1, 'Ann'), (2, 'Bob')",
  "insert into book values (1, 'A', 1), (2, 'B', null), (3, 'C', 2)",
  "insert into tag values (1, 'x'), (2, 'y'), (3, 'z')",
  'insert into book_tag values (1, 1), (3, 2)',
  'insert into page values (1, 1, 3), (1, 2, null), (2, 1, null)',
]

describe.each(['postgres', 'mariadb'] as const)('links of %s', (kind) => {
  let bench: Bench
  let foreign: ForeignDatabase
  const ids = new Map<string, string>()

  beforeAll(async () => {
    bench = await createBench()
    foreign = await createForeign(kind, TABLES)
    await connect(bench, foreign.sent)
    for (const table of await bench.trpc.schema.tables.query({ baseId: bench.baseId })) {
      ids.set(table.tableName, table.id)
    }
  })
  afterAll(async () => {
    await bench.stop()
    await foreign.stop()
  })

  /** The side of a link that leads from one table to another. */
  async function end(from: string, to: string, linkKind: LinkOptions['kind']): Promise<TestEnd> {
    const { fields } = await bench.trpc.schema.table.query({ tableId: ids.get(from) ?? '' })
    const found = fields.find(({ options, type }: Field) => {
      const link = options as LinkOptions
      return /Link/.test(type) && link.kind === linkKind && link.relatedTableId === ids.get(to)
    })
    if (!found) throw new Error(`${from} has no ${linkKind} to ${to}`)
    return {
      tableId: found.tableId,
      fieldId: found.id,
      title: found.title,
      options: found.options as LinkOptions,
    }
  }
  const apply = (operation: object) =>
    bench.trpc.records.write.mutate({
      change: { baseId: bench.baseId, operations: [operation as never] },
    })
  const write = (
    verb: 'link' | 'unlink',
    { tableId, fieldId }: TestEnd,
    id: number,
    targets: (number | string)[],
  ) => apply({ kind: verb, tableId, fieldId, id, targets })
  const undo = () => bench.trpc.records.undo.mutate({ baseId: bench.baseId })
  const pairs = () => foreign.ask('select book_id, tag_id from book_tag order by book_id, tag_id')

  test('keys of children are written, moved and taken back', async () => {
    const books = await end('author', 'book', 'hm')
    const author = await end('book', 'author', 'bt')
    const keys = async () =>
      (await foreign.ask<{ author_id: number | null }>('select author_id from book order by id')).map(
        (row) => row.author_id,
      )
    await write('link', books, 1, [2, 3])
    expect(await keys()).toEqual([1, 1, 1])
    expect(await linkedIds(bench, books, 1)).toEqual([1, 2, 3])
    await undo()
    expect(await keys()).toEqual([1, null, 2])
    await write('unlink', author, 3, [2])
    expect(await keys()).toEqual([1, null, null])
    await undo()
    expect((await refusalOf(write('link', books, 1, [99]))).code).toBe('RECORD_NOT_FOUND')
  })

  test('pairs of a junction without an id are made, found again, and taken back', async () => {
    const tags = await end('book', 'tag', 'mm')
    const books = await end('tag', 'book', 'mm')
    await write('link', tags, 1, [1, 2, 3])
    expect(await linkedIds(bench, tags, 1)).toEqual([1, 2, 3])
    await write('unlink', books, 1, [1])
    expect(await pairs()).toEqual([
      { book_id: 1, tag_id: 2 },
      { book_id: 1, tag_id: 3 },
      { book_id: 3, tag_id: 2 },
    ])
    await undo()
    await undo()
    expect(await pairs()).toEqual([
      { book_id: 1, tag_id: 1 },
      { book_id: 3, tag_id: 2 },
    ])
  })

  test('children whose keys are of several columns are linked by them', async () => {
    const pages = await end('tag', 'page', 'hm')
    expect(await linkedIds(bench, pages, 3)).toEqual(['1___1'])
    await write('link', pages, 2, ['1___1', '2___1'])
    const texts = () => foreign.ask('select text_id from page order by book_id, number')
    expect(await texts()).toEqual([{ text_id: 2 }, { text_id: null }, { text_id: 2 }])
    await undo()
    expect(await texts()).toEqual([{ text_id: 3 }, { text_id: null }, { text_id: null }])
  })

  test('what a deleted record leaves behind goes first, and comes back with it', async () => {
    await apply({ kind: 'delete', tableId: ids.get('tag'), ids: [2] })
    expect(await pairs()).toEqual([{ book_id: 1, tag_id: 1 }])
    await undo()
    expect(await pairs()).toEqual([
      { book_id: 1, tag_id: 1 },
      { book_id: 3, tag_id: 2 },
    ])
    await apply({ kind: 'delete', tableId: ids.get('author'), ids: [2] })
    expect(await foreign.ask('select author_id from book where id = 3')).toEqual([{ author_id: null }])
    await undo()
    expect(await foreign.ask('select author_id from book where id = 3')).toEqual([{ author_id: 2 }])
  })

  test('so it is where all that match are deleted', async () => {
    const before = await pairs()
    const selection = { tableId: ids.get('tag') ?? '', recordIds: [1, 2] }
    await bench.trpc.records.deleteMatching.mutate({ selection })
    expect(await pairs()).toEqual([])
    await undo()
    expect(await pairs()).toEqual(before)
  })

  test('REST links by the keys that the database has', async () => {
    const tags = await end('book', 'tag', 'mm')
    const path = `/api/v2/tables/${tags.tableId}/links/${tags.fieldId}/records/2`
    expect((await bench.rest.post(path, [{ id: 3 }])).status).toBe(201)
    expect((await bench.rest.get(path)).body.list).toMatchObject([{ id: 3 }])
    expect((await bench.rest.delete(path, [{ id: 3 }])).body).toBe(true)
  })
})
