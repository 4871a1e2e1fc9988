import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readLinks, readList } from '../../src/core/fields/list-value.ts'
import { createLibrary, type Library } from './library.ts'
import { type Bench, createBench, type TestTable } from './support.ts'

let bench: Bench
let library: Library

beforeAll(async () => {
  bench = await createBench()
  library = await createLibrary(bench)
  const { authors, books, tags } = library
  await library.addThrough(books, 'Writer', 'Author', [authors, 'Title'])
  await library.addThrough(books, 'Born', 'Author', [authors, 'Born'])
  await library.addThrough(books, 'Living', 'Author', [authors, 'Living'])
  await library.addThrough(books, 'Tag names', 'Tags', [tags, 'Title'])
  await library.addThrough(books, 'Tag weight', 'Tags', [tags, 'Weight'], 'sum')
  await library.addThrough(authors, 'Titles', 'Books', [books, 'Title'])
  await library.addThrough(authors, 'All tags', 'Books', [books, 'Tag names'])
  await library.addThrough(authors, 'Total', 'Books', [books, 'Price'], 'sum')
  await library.addThrough(authors, 'Mean', 'Books', [books, 'Price'], 'avg')
  await library.addThrough(authors, 'Dearest', 'Books', [books, 'Price'], 'max')
  await library.addThrough(authors, 'First', 'Books', [books, 'Published'], 'min')
  await library.addThrough(books, 'Writer total', 'Author', [authors, 'Total'])
  await library.add(authors, 'Works', 'LinkToAnotherRecord', {
    kind: 'mm',
    relatedTableId: books.id,
    createInverse: false,
  })
  const { id } = await library.field(authors, 'Books')
  await library.add(authors, 'Number', 'Count', { relationFieldId: id })
  await library.add(books, 'Code', 'QrCode', { valueFieldId: (await library.field(books, 'Writer')).id })
  await library.link(authors, 'Works', 1, [2, 1])
})

afterAll(() => bench.stop())

const get = async (path: string) => {
  const { status, body } = await bench.rest.get(path)
  if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`)
  return body
}
const named = (rows: Record<string, unknown>[], title: string) => rows.find((row) => row.Title === title)
const titles = async (table: TestTable, where: string) =>
  table.titles(`?limit=100&where=${encodeURIComponent(where)}`)

describe('GET /api/v2/tables/{tableId}/records with computed fields', () => {
  test('gives Links as their number, a belongs-to as an object, and other links as lists of them', async () => {
    const authors = await library.authors.list()
    expect(authors.map((row) => row.Books)).toEqual([2, 1, 0])
    expect(authors.map((row) => row.Works)).toEqual([
      [
        { Id: 1, Title: 'Hobbit' },
        { Id: 2, Title: 'LOTR' },
      ],
      [],
      [],
    ])
    const books = await library.books.list()
    expect(named(books, 'Hobbit')?.Author).toEqual({ Id: 1, Title: 'Tolkien' })
    expect(named(books, 'Anon')?.Author).toBeNull()
    expect(books.map((row) => row.Tags)).toEqual([2, 1, 0, 0])
  })

  test('gives lookups as one value or as a list, also through several links', async () => {
    const books = await library.books.list()
    expect(books.map((row) => row.Writer)).toEqual(['Tolkien', 'Tolkien', 'Asimov', null])
    expect(books.map((row) => row.Born)).toEqual(['1892-01-03', '1892-01-03', '1920-01-02', null])
    expect(books.map((row) => row['Tag names'])).toEqual([['fantasy', 'classic'], ['fantasy'], [], []])
    expect(books.map((row) => row['Writer total'])).toEqual([30.5, 30.5, 5, null])
    expect(books.map((row) => row.Code)).toEqual(['Tolkien', 'Tolkien', 'Asimov', null])
    const authors = await library.authors.list()
    expect(authors.map((row) => row.Titles)).toEqual([['Hobbit', 'LOTR'], ['Foundation'], []])
    expect(authors.map((row) => row['All tags'])).toEqual([['fantasy', 'classic', 'fantasy'], [], []])
  })

  test('gives rollups: 0 for the sum and mean of nothing, null for its extremes', async () => {
    const authors = await library.authors.list()
    expect(authors.map((row) => row.Total)).toEqual([30.5, 5, 0])
    expect(authors.map((row) => row.Mean)).toEqual([15.25, 5, 0])
    expect(authors.map((row) => row.Dearest)).toEqual([20.5, 5, null])
    expect(authors.map((row) => row.First)).toEqual(['1937-09-21', '1951-06-01', null])
    expect(authors.map((row) => row.Number)).toEqual([2, 1, 0])
  })

  test('filters links by their number, a belongs-to by its name, and lists by any of their values', async () => {
    const { authors, books } = library
    expect(await titles(authors, '(Books,gt,1)')).toEqual(['Tolkien'])
    expect(await titles(authors, '(Books,eq,0)')).toEqual(['Nobody'])
    expect(await titles(books, '(Author,eq,Asimov)')).toEqual(['Foundation'])
    expect(await titles(books, '(Author,like,tolk)')).toEqual(['Hobbit', 'LOTR'])
    expect(await titles(books, '(Author,blank)')).toEqual(['Anon'])
    expect(await titles(books, '(Tag names,eq,classic)')).toEqual(['Hobbit'])
    expect(await titles(books, '(Tag names,neq,classic)')).toEqual(['LOTR', 'Foundation', 'Anon'])
    expect(await titles(books, '(Tag names,blank)')).toEqual(['Foundation', 'Anon'])
    expect(await titles(books, '(Born,lt,exactDate,1900-01-01)')).toEqual(['Hobbit', 'LOTR'])
    expect(await titles(books, '(Living,checked)')).toEqual(['Foundation'])
    expect(await titles(authors, '(Total,gte,30)')).toEqual(['Tolkien'])
    expect(await titles(authors, '(All tags,like,CLASS)~or(Dearest,blank)')).toEqual(['Tolkien', 'Nobody'])
  })

  test('refuses what a computed field cannot be compared with, and names it', async () => {
    const { body, status } = await bench.rest.get(`${library.authors.path}?where=(Books,like,x)`)
    expect([status, body.error]).toEqual([422, 'FILTER_VERIFICATION_FAILED'])
    expect(body.message).toContain('Books')
  })

  test('sorts by links, names, lookups and rollups, on deep pages too', async () => {
    const { authors, books } = library
    expect(await authors.titles('?sort=-Books')).toEqual(['Tolkien', 'Asimov', 'Nobody'])
    expect(await authors.titles('?sort=Total')).toEqual(['Nobody', 'Asimov', 'Tolkien'])
    expect(await books.titles('?sort=Author')).toEqual(['Anon', 'Foundation', 'Hobbit', 'LOTR'])
    expect(await books.titles('?sort=-Tag weight,-Title')).toEqual(['Hobbit', 'LOTR', 'Foundation', 'Anon'])
    const [last] = await books.list('?sort=-Writer&limit=1&offset=3&fields=Title,Tags,Author')
    expect(last).toEqual({ Title: 'Anon', Tags: 0, Author: null })
  })

  test('gives only the fields that are asked for', async () => {
    expect(await library.books.list('?fields=Writer&limit=1')).toEqual([{ Writer: 'Tolkien' }])
    expect(await get(`${library.books.path}/1?fields=Author,Tags`)).toEqual({
      Author: { Id: 1, Title: 'Tolkien' },
      Tags: 2,
    })
  })

  test('follows a change of what is linked, and a new display field, at once', async () => {
    const { tags, books, authors } = library
    await bench.rest.patch(tags.path, [{ Id: 2, Title: 'classics' }])
    expect(named(await books.list(), 'Hobbit')?.['Tag names']).toEqual(['fantasy', 'classics'])
    await bench.rest.patch(tags.path, [{ Id: 2, Title: 'classic' }])
    const born = await library.field(authors, 'Born')
    const title = await library.field(authors, 'Title')
    await bench.trpc.schema.setDisplayField.mutate({ fieldId: born.id })
    expect(named(await books.list(), 'Hobbit')?.Author).toEqual({ Id: 1, Born: '1892-01-03' })
    await bench.trpc.schema.setDisplayField.mutate({ fieldId: title.id })
    expect(named(await books.list(), 'Hobbit')?.Author).toEqual({ Id: 1, Title: 'Tolkien' })
  })
})

describe('nested parameters', () => {
  const works = async (parameters: string) =>
    (await library.authors.list(`?fields=Title,Works&${parameters}`)).map((row) => row.Works)

  test('shape the records of a link', async () => {
    expect(await works('nested[Works][fields]=Title,Price,Author,Tags')).toEqual([
      [
        { Id: 1, Title: 'Hobbit', Price: 10, Author: { Id: 1, Title: 'Tolkien' }, Tags: 2 },
        { Id: 2, Title: 'LOTR', Price: 20.5, Author: { Id: 1, Title: 'Tolkien' }, Tags: 1 },
      ],
      [],
      [],
    ])
    // As axios writes `nested: {Works: {fields: ['Title', 'Tags']}}`.
    const listed = await works('nested[Works][fields][0]=Title&nested[Works][fields][1]=Tags')
    expect(listed).toEqual(await works('nested[Works][fields]=Title,Tags'))
    expect(listed[0]).toMatchObject([{ Tags: 2 }, { Tags: 1 }])
    expect(await works('nested[Works][limit]=1')).toEqual([[{ Id: 1, Title: 'Hobbit' }], [], []])
    expect(await works('nested[Works][limit]=1&nested[Works][offset]=1')).toEqual([
      [{ Id: 2, Title: 'LOTR' }],
      [],
      [],
    ])
    const where = encodeURIComponent('(Tags,gt,1)~or(Writer,eq,Asimov)')
    expect(await works(`nested[Works][where]=${where}`)).toEqual([[{ Id: 1, Title: 'Hobbit' }], [], []])
  })

  test('shape the record of a belongs-to', async () => {
    const [row] = await library.books.list('?fields=Author&limit=1&nested[Author][fields]=Born,Total')
    expect(row).toEqual({ Author: { Id: 1, Born: '1892-01-03', Total: 30.5 } })
  })

  test('refuse fields and conditions that the related table has not', async () => {
    const path = `${library.authors.path}?nested[Works]`
    expect((await bench.rest.get(`${path}[fields]=Nope`)).status).toBe(404)
    expect((await bench.rest.get(`${path}[where]=(Nope,eq,1)`)).status).toBe(422)
  })
})

describe('GET …/groupby with computed fields', () => {
  test('groups by names of links, by lookups and by numbers', async () => {
    const group = async (table: TestTable, name: string) =>
      (await get(`/api/v1/db/data/noco/${bench.baseId}/${table.id}/groupby?column_name=${name}`)).list
    expect(await group(library.books, 'Author')).toEqual([
      { count: 1, Author: null },
      { count: 1, Author: 'Asimov' },
      { count: 2, Author: 'Tolkien' },
    ])
    expect(await group(library.books, 'Tags')).toEqual([
      { count: 2, Tags: 0 },
      { count: 1, Tags: 1 },
      { count: 1, Tags: 2 },
    ])
    expect(await group(library.books, 'Tag names')).toContainEqual({ count: 2, 'Tag names': [] })
    expect(await group(library.books, 'Writer,Tags')).toHaveLength(4)
  })
})

describe('records.list with computed fields', () => {
  test('gives links with the names of their records, and lists as text', async () => {
    const { books } = library
    const fields = await Promise.all(
      ['Author', 'Tags', 'Tag names', 'Living'].map((t) => library.field(books, t)),
    )
    const page = await bench.trpc.records.list.query({
      query: { tableId: books.id, fieldIds: fields.map(({ id }) => id), limit: 10, offset: 0 },
    })
    const [author, tags, names, living] = page.rows[0] ?? []
    expect(readLinks(author ?? null)).toEqual({ count: 1, records: [{ id: 1, title: 'Tolkien' }] })
    expect(readLinks(tags ?? null)).toEqual({
      count: 2,
      records: [
        { id: 1, title: 'fantasy' },
        { id: 2, title: 'classic' },
      ],
    })
    expect(readList(names ?? null)).toEqual(['fantasy', 'classic'])
    expect(living).toBe(false)
    expect(page.rows[3]).toEqual([null, null, null, null])
  })

  test('reads the computed cells of some records alone', async () => {
    const { authors } = library
    const { id } = await library.field(authors, 'Total')
    const page = await bench.trpc.records.list.query({
      query: { tableId: authors.id, fieldIds: [id], recordIds: [3, 1], sorts: [], limit: 2, offset: 0 },
    })
    expect([page.ids, page.rows]).toEqual([
      [1, 3],
      [[30.5], [0]],
    ])
  })

  test('searches the names of links and the values of lookups', async () => {
    const search = async (text: string, title?: string) => {
      const fieldId = title ? (await library.field(library.books, title)).id : null
      const { count } = await bench.trpc.records.count.query({
        selection: { tableId: library.books.id, search: { text, fieldId } },
      })
      return count
    }
    expect(await search('CLASSIC')).toBe(1)
    expect(await search('tolk')).toBe(2)
    expect(await search('fantasy', 'Tags')).toBe(2)
    expect(await search('fantasy', 'Title')).toBe(0)
  })

  test('sums up links, lookups and rollups', async () => {
    const of = async (table: TestTable, title: string, summary: string) => {
      const { id } = await library.field(table, title)
      const answer = await bench.trpc.records.summaries.query({
        selection: { tableId: table.id },
        summaries: [{ fieldId: id, summary }],
      })
      return answer[id]
    }
    expect(await of(library.books, 'Tags', 'sum')).toBe(3)
    expect(await of(library.authors, 'Total', 'max')).toBe(30.5)
    expect(await of(library.authors, 'Total', 'median')).toBe(5)
    expect(await of(library.books, 'Tag names', 'filled')).toBe(2)
    expect(await of(library.books, 'Writer', 'unique')).toBe(2)
    expect(await of(library.books, 'Author', 'empty')).toBe(1)
    expect(await of(library.books, 'Living', 'checked')).toBe(1)
  })
})

describe('a computed field whose source goes to the trash', () => {
  test('gives nothing, and again what it gave once that is restored', async () => {
    const { books, tags } = library
    const weight = await library.field(tags, 'Weight')
    await bench.trpc.schema.deleteField.mutate({ fieldId: weight.id })
    expect((await books.list()).map((row) => row['Tag weight'])).toEqual([null, null, null, null])
    // Without its condition a filter would let everything through, to be deleted for example.
    const { body, status } = await bench.rest.get(`${books.path}?where=(Tag weight,null)`)
    expect(status).toBe(422)
    expect(body.message).toContain('Tag weight')
    expect(await books.titles('?sort=-Tag weight')).toHaveLength(4)
    await bench.trpc.schema.restoreField.mutate({ fieldId: weight.id })
    expect((await books.list()).map((row) => row['Tag weight'])).toEqual([7, 3, 0, 0])
    await bench.trpc.schema.deleteTable.mutate({ tableId: tags.id })
    const [row] = await books.list()
    expect([row?.['Tag names'], row?.['Tag weight']]).toEqual([null, null])
    expect(row?.Writer).toBe('Tolkien')
    await bench.trpc.schema.restoreTable.mutate({ tableId: tags.id })
    expect((await books.list())[0]?.['Tag names']).toEqual(['fantasy', 'classic'])
  })
})

test('nested records of a page have a limit together', async () => {
  const { authors, books } = library
  const many = (count: number) => Array.from({ length: count }, (_, at) => ({ Title: `Row ${at}` }))
  const [writers, works] = [
    await bench.rest.post(authors.path, many(51)),
    await bench.rest.post(books.path, many(1_000)),
  ]
  const ids = works.body.map((row: { Id: number }) => row.Id)
  for (const { Id } of writers.body) await library.link(authors, 'Works', Id, ids)
  const page = (rows: number) =>
    `${authors.path}?limit=${rows}&sort=-Id&fields=Works&nested[Works][limit]=1000`
  const refused = await bench.rest.get(page(51))
  expect([refused.status, refused.body.msg]).toEqual([400, expect.stringContaining('50000 linked records')])
  const { list } = await get(page(50))
  expect(list.map((row: { Works: unknown[] }) => row.Works.length)).toEqual(Array(50).fill(1_000))
  // So do those of several lists in one answer.
  const one = { limit: 1, sort: '-Id', fields: ['Works'], 'nested[Works][limit]': 1_000 }
  const several = (count: number) =>
    bench.rest.post(
      `/api/v2/tables/${authors.id}/bulk/dataList`,
      Array.from({ length: count }, (_, alias) => ({ alias, ...one })),
    )
  const tooMany = await several(51)
  expect([tooMany.status, tooMany.body.msg]).toEqual([400, expect.stringContaining('50000 linked records')])
  const { body } = await several(50)
  expect(body[49].list[0].Works).toHaveLength(1_000)
})

test('nested records are read where they hold nobody up', async () => {
  const engine = await bench.app.kernel.sources.engine(bench.baseId)
  const { all } = engine
  const scans: unknown[] = []
  engine.all = (statement, options) => {
    if (statement.sql.includes('\u0001owner')) scans.push(options?.scan)
    return all(statement, options)
  }
  try {
    await library.authors.list('?nested[Works][limit]=1')
  } finally {
    Object.assign(engine, { all })
  }
  expect(scans).toEqual([true])
})
