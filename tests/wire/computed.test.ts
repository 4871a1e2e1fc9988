import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { column, createTable, M, openShop, outcome, type Shop } from './support.ts'

// Wire §14 and §15 for computed columns: links, lookups, rollups, counts and formulas.

// biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects of an answer
type Row = Record<string, any>

let shop: Shop
let author: Row
let book: Row
const v1 = (table: string, rest = '') => `/api/v1/db/data/noco/${shop.baseId}/${table}${rest}`
const flag = (value: boolean) => shop.app.flag(value)

beforeAll(async () => {
  shop = await openShop()
  author = await createTable(shop, 'Author', [{ title: 'Born', column_name: 'born', uidt: 'Year' }])
  book = await createTable(shop, 'Book', [
    { title: 'Price', column_name: 'price', uidt: 'Decimal' },
    { title: 'Read', column_name: 'read', uidt: 'Checkbox' },
    { title: 'Cover', column_name: 'cover', uidt: 'Attachment' },
    { title: 'By', column_name: 'by', uidt: 'User' },
  ])
  const tag = await createTable(shop, 'Tag')
  const add = async (table: Row, sent: Row): Promise<void> => {
    const { status, body } = await shop.rest.post(`${M}/tables/${table.id}/columns`, sent)
    if (status !== 200) throw new Error(`${sent.title}: ${JSON.stringify(body)}`)
    table.columns = body.columns
    if (table === author) book.columns = (await shop.rest.get(`${M}/tables/${book.id}`)).body.columns
  }
  const id = (table: Row, title: string) => column(table as never, title).id
  const lookup = (title: string, table: Row, relation: string, target: string) => ({
    title,
    uidt: 'Lookup',
    fk_relation_column_id: id(table, relation),
    fk_lookup_column_id: target,
  })
  const rollup = (title: string, rollup_function: string) => ({
    title,
    uidt: 'Rollup',
    fk_relation_column_id: id(author, 'Books'),
    rollup_function,
    fk_rollup_column_id: id(book, 'Price'),
  })
  const link = (title: string, uidt: string, type: string, parent: Row, child: Row) => ({
    title,
    uidt,
    type,
    parentId: parent.id,
    childId: child.id,
  })
  await add(author, link('Books', 'Links', 'hm', author, book))
  await add(book, link('Tags', 'Links', 'mm', book, tag))
  await add(book, link('Labels', 'LinkToAnotherRecord', 'mm', book, tag))
  await add(book, link('Twin', 'LinkToAnotherRecord', 'oo', book, tag))
  await add(book, lookup('AuthorName', book, 'Author', id(author, 'Title')))
  await add(book, lookup('TagNames', book, 'Tags', id(tag, 'Title')))
  for (const name of ['sum', 'min', 'avg', 'count']) await add(author, rollup(name, name))
  await add(author, { title: 'Number', uidt: 'Count', fk_relation_column_id: id(author, 'Books') })
  for (const target of ['Price', 'Read', 'Cover', 'By', 'TagNames'])
    await add(author, lookup(`Their ${target}`, author, 'Books', id(book, target)))
  await add(book, { title: 'Twice', uidt: 'Formula', formula_raw: '{Price} * 2' })
  await add(book, { title: 'Dear', uidt: 'Formula', formula_raw: '{Price} > 5' })
  await add(book, { title: 'Page', uidt: 'Formula', formula_raw: "URL('http://x.y')" })
  await add(book, { title: 'Code', uidt: 'QrCode', fk_qr_value_column_id: id(book, 'Title') })
  const write = (table: Row, rows: Row[]) => shop.rest.post(`/api/v2/tables/${table.id}/records`, rows)
  await write(author, [{ Title: 'Tolkien', Born: 1892 }, { Title: 'Herbert' }])
  await write(tag, [{ Title: 'fantasy' }, { Title: 'sf' }])
  await write(book, [
    {
      Title: 'Hobbit',
      Price: 10,
      Read: true,
      By: shop.admin.id,
      Cover: [{ url: 'http://x.y/z.png' }],
      Author: { Id: 1 },
      Tags: [{ Id: 1 }, { Id: 2 }],
      Labels: { Id: 1 },
      Twin: 2,
    },
    { Title: 'LOTR', Price: 2.5, Author_id: 1, Tags: [2] },
    { Title: 'Dune' },
  ])
})
afterAll(() => shop.app.stop())

const list = async (table: string, query: string) =>
  (await shop.rest.get(v1(table, `?${encodeURI(query)}`))).body.list as Row[]

describe('cells of computed columns', () => {
  const one = async (table: string, id: number) => (await shop.rest.get(v1(table, `/${id}`))).body

  test('are counts, records by name, scalars and lists', async () => {
    expect(await one('Book', 1)).toMatchObject({
      Author_id: 1,
      Author: { Id: 1, Title: 'Tolkien' },
      Tags: 2,
      Labels: [{ Id: 1, Title: 'fantasy' }],
      Twin: { Id: 2, Title: 'sf' },
      AuthorName: 'Tolkien',
      TagNames: ['fantasy', 'sf'],
      Twice: 20,
      Dear: 1,
      Page: 'URI::( http://x.y )',
      Code: 'Hobbit',
    })
    expect(await one('Author', 1)).toMatchObject({
      Books: 2,
      sum: 12.5,
      min: 2.5,
      avg: 6.25,
      count: 2,
      Number: 2,
      'Their Price': [10, 2.5],
      'Their Read': [flag(true), flag(false)],
      'Their Cover': [{ url: 'http://x.y/z.png', signedUrl: 'http://x.y/z.png' }],
      'Their By': [{ id: shop.admin.id, email: 'ann@example.com', display_name: null, meta: null }],
      'Their TagNames': ['fantasy', 'sf', 'sf'],
    })
  })

  test('are null, nought or empty where nothing is linked', async () => {
    expect(await one('Book', 3)).toMatchObject({
      Author_id: null,
      Author: null,
      Tags: 0,
      Labels: [],
      Twin: null,
      AuthorName: null,
      TagNames: [],
      Twice: null,
      Dear: 0,
    })
    expect(await one('Author', 2)).toMatchObject({
      Books: 0,
      sum: 0,
      min: null,
      avg: 0,
      count: 0,
      Number: 0,
      'Their Price': [],
      'Their Read': [],
      'Their Cover': [],
      'Their By': [],
      'Their TagNames': [],
    })
  })

  test('are the same in a list, by id, over v2 and after a write', async () => {
    const whole = await one('Book', 1)
    const [first] = await list('Book', 'limit=1')
    expect(first).toEqual(whole)
    expect((await shop.rest.get(`/api/v2/tables/${book.id}/records/1`)).body).toEqual(whole)
    const {
      nc_order: _,
      UpdatedAt: __,
      ...written
    } = (await shop.rest.patch(v1('Book', '/1'), { Price: 10 })).body
    expect(whole).toMatchObject(written)
  })

  test('read "ERR" or nothing once a column that they need is gone', async () => {
    const add = (sent: Row) => shop.rest.post(`${M}/tables/${book.id}/columns`, sent)
    const base = column((await add({ title: 'Base', uidt: 'Number' })).body, 'Base')
    await add({ title: 'Broken', uidt: 'Formula', formula_raw: '{Base} + 1' })
    const broken = column((await shop.rest.delete(`${M}/columns/${base.id}`)).body, 'Broken') as Row
    expect(broken.colOptions.error).toBe("Column 'Base' was deleted")
    expect(await list('Book', 'fields=Broken&limit=1')).toEqual([{ Broken: 'ERR' }])
  })
})

describe('nested[…]', () => {
  test.each<[string, Row]>([
    ['nested[Author][fields]=Born', { Author: { Id: 1, Born: 1892 } }],
    ['nested[Author][fields]=Born,Title', { Author: { Id: 1, Title: 'Tolkien', Born: 1892 } }],
    ['nested[Labels][limit]=1', { Labels: [{ Id: 1, Title: 'fantasy' }] }],
    ['nested[Labels][offset]=1', { Labels: [] }],
    ['nested[Labels][where]=(Title,eq,sf)', { Labels: [] }],
    ['nested[Nope][fields]=Born', { Author: { Id: 1, Title: 'Tolkien' } }],
    ['nested=1&nested[Labels]=2', { Labels: [{ Id: 1, Title: 'fantasy' }] }],
  ])('%s', async (query, expected) => {
    const [first] = await list('Book', `fields=Author,Labels&limit=1&${query}`)
    expect(first).toMatchObject(expected)
    // And of one record, over both.
    const shaped = `?fields=Author,Labels&${encodeURI(query)}`
    for (const path of [v1('Book', '/1'), `/api/v2/tables/${book.id}/records/1`])
      expect((await shop.rest.get(path + shaped)).body).toEqual(first)
  })

  test('refuses what the related table has not', async () => {
    const refused = async (query: string) => outcome(await shop.rest.get(v1('Book', `?${encodeURI(query)}`)))
    expect(await refused('nested[Labels][fields]=Nope')).toEqual([
      404,
      { error: 'FIELD_NOT_FOUND', message: "Field 'Nope' not found" },
    ])
    expect(await refused('nested[Labels][where]=(Nope,eq,1)')).toEqual([
      422,
      { msg: "Column alias 'Nope' not found." },
    ])
  })
})

describe('where', () => {
  const ids = async (table: string, where: string) => {
    const { body } = await shop.rest.get(v1(table, `?fields=Id&where=${encodeURIComponent(where)}`))
    return body.list?.map((row: Row) => row.Id) ?? body.message ?? body.msg
  }

  test.each<[string, string, number[]]>([
    ['Book', '(Tags,gt,0)', [1, 2]],
    ['Book', '(Tags,eq,2)', [1]],
    ['Book', '(Author,eq,Tolkien)', [1, 2]],
    ['Book', '(Author,neq,Tolkien)', [3]],
    ['Book', '(Author,blank)', [3]],
    ['Book', '(Author_id,eq,1)', [1, 2]],
    ['Book', '(Twin,eq,sf)', [1]],
    ['Book', '(AuthorName,like,tol)', [1, 2]],
    ['Book', '(TagNames,eq,fantasy)', [1]],
    ['Book', '(Twice,gt,10)', [1]],
    ['Book', '(Dear,eq,1)', [1]],
    ['Book', '(Dear,checked)', [1]],
    ['Book', '(Page,like,x.y)', [1, 2, 3]],
    ['Book', '(Cover,notblank)', [1]],
    ['Author', '(Books,gt,1)', [1]],
    ['Author', '(sum,eq,0)', [2]],
    ['Author', '(min,null)', [2]],
    ['Author', '(Number,eq,2)', [1]],
    ['Author', '(Their Price,eq,2.5)', [1]],
    ['Author', '(Their Read,checked)', [1]],
    ['Author', '(Their By,like,ann)', [1]],
  ])('of %s: %s', async (table, where, expected) => {
    expect(await ids(table, where)).toEqual(expected)
  })

  test.each([
    ['(Tags,eq,many)', 'Value many is not supported for type Links on column Tags'],
    ['(Tags,like,f)', 'Operation like is not supported for type Links on column Tags'],
    ['(Twice,gt,abc)', 'Value abc is not supported for type Formula on column Twice'],
    ['(Code,like,Hob)', 'Operation like is not supported for type QrCode on column Code'],
  ])('refuses %s', async (where, reason) => {
    expect(await ids('Book', where)).toBe(`Filter verification failed: ${reason}`)
  })
})

describe('groupby', () => {
  const groups = async (query: string) => (await shop.rest.get(v1('Book', `/groupby?${query}`))).body.list

  test('groups by what links are called, and by values that are worked out', async () => {
    expect(await groups('column_name=Author')).toEqual([
      { count: 1, Author: null },
      { count: 2, Author: 'Tolkien' },
    ])
    expect(await groups('column_name=Tags')).toEqual([
      { count: 1, Tags: 0 },
      { count: 1, Tags: 1 },
      { count: 1, Tags: 2 },
    ])
    expect(await groups('column_name=Dear')).toEqual([
      { count: 2, Dear: 0 },
      { count: 1, Dear: 1 },
    ])
    expect(await groups('column_name=AuthorName,Twice&sort=-AuthorName')).toEqual([
      { count: 1, AuthorName: 'Tolkien', Twice: 5 },
      { count: 1, AuthorName: 'Tolkien', Twice: 20 },
      { count: 1, AuthorName: null, Twice: null },
    ])
  })

  test('tells how many groups another column would make of each', async () => {
    expect(await groups('column_name=Author&subGroupColumnName=Title')).toEqual([
      { count: 1, Author: null, __sub_group_count__: 1 },
      { count: 2, Author: 'Tolkien', __sub_group_count__: 2 },
    ])
    // Having none is a group as well.
    expect(await groups('column_name=Author&subGroupColumnName=By')).toEqual([
      { count: 1, Author: null, __sub_group_count__: 1 },
      { count: 2, Author: 'Tolkien', __sub_group_count__: 2 },
    ])
    const unknown = await shop.rest.get(v1('Book', '/groupby?column_name=Author&subGroupColumnName=Nope'))
    expect([unknown.status, unknown.body.error]).toEqual([404, 'FIELD_NOT_FOUND'])
  })
})

describe('a view', () => {
  test('sums up computed columns and files, under the names that clients know', async () => {
    const lines = (await shop.rest.get(`${M}/grids/${book.views[0].id}/grid-columns`)).body as Row[]
    const summed = { Tags: 'sum', Twice: 'avg', Cover: 'attachment_size', Code: 'count' }
    for (const [title, aggregation] of Object.entries(summed)) {
      const line = lines.find(({ fk_column_id: id }) => id === column(book as never, title).id)!
      expect((await shop.rest.patch(`${M}/grid-columns/${line.id}`, { aggregation })).body).toBe(1)
      const [shown] = (await shop.rest.get(`${M}/grids/${book.views[0].id}/grid-columns`)).body.filter(
        ({ id }: Row) => id === line.id,
      )
      expect(shown.aggregation).toBe(aggregation)
    }
    const { body } = await shop.rest.get(`/api/v2/tables/${book.id}/aggregate`)
    expect(body).toEqual({ Tags: 3, Twice: 12.5, Cover: 0, Code: 3 })
  })

  test('hides links and lookups that it does not show, even where they are named', async () => {
    const { id } = (await shop.rest.post(`${M}/tables/${book.id}/grids`, { title: 'Some' })).body
    for (const title of ['Tags', 'TagNames']) {
      const line = { fk_column_id: column(book as never, title).id, show: false }
      await shop.rest.post(`${M}/views/${id}/columns`, line)
    }
    const { list } = (await shop.rest.get(v1('Book', '/views/Some?fields=Title,Tags,TagNames&limit=1'))).body
    expect(list).toEqual([{ Title: 'Hobbit' }])
  })
})

test('bulk writes over all rows of a condition that is worked out, and counts these rows alone', async () => {
  const all = (where: string) =>
    `/api/v1/db/data/bulk/noco/${shop.baseId}/Book/all?where=${encodeURIComponent(where)}`
  // The authors change as well: each loses a book.
  expect((await shop.rest.patch(all('(AuthorName,eq,Tolkien)'), { Author_id: 2 })).body).toBe(2)
  expect((await shop.rest.patch(all('(Tags,gt,1)'), { Price: 11, Tags: [], Author: null })).body).toBe(1)
  expect(await list('Book', 'fields=Title,Price,Tags,Author&sort=-Price&limit=1')).toEqual([
    { Title: 'Hobbit', Price: 11, Tags: 2, Author: { Id: 2, Title: 'Herbert' } },
  ])
  expect((await shop.rest.patch(all('(Author,eq,Herbert)'), { Author_id: 1 })).body).toBe(2)
  const gone = (await shop.rest.delete(all('(Twice,gt,20)'))).body
  expect(gone).toMatchObject([{ Title: 'Hobbit', Twice: 22, Author: { Id: 1, Title: 'Tolkien' } }])
  expect((await shop.rest.get(v1('Author', '/1'))).body).toMatchObject({ Books: 1, sum: 2.5 })
})
