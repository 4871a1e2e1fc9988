import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createListTable } from './list-table.ts'
import { type Bench, createBench, refusalOf, type TestTable } from './support.ts'

let bench: Bench
let table: TestTable
beforeAll(async () => {
  // A page that takes long has its matches counted, to find the index that would help: another statement.
  bench = await createBench({ config: { indexSlowMs: 60_000 } })
  table = await createListTable(bench)
})
afterAll(() => bench.stop())

const get = (query: string) => bench.rest.get(`${table.path}${query}`)

describe('GET /api/v2/tables/{tableId}/records', () => {
  test('gives the first 25 in the order of the table, with page information', async () => {
    const { status, body } = await get('')
    expect(status).toBe(200)
    expect(body.list.map((row: { Id: number }) => row.Id)).toEqual(
      Array.from({ length: 25 }, (_, index) => index + 1),
    )
    expect(body.pageInfo).toEqual({
      totalRows: 60,
      page: 1,
      pageSize: 25,
      isFirstPage: true,
      isLastPage: false,
    })
    expect(Object.keys(body.list[0]).sort()).toEqual([
      'Colour',
      'CreatedAt',
      'Id',
      'Num',
      'Title',
      'UpdatedAt',
    ])
    expect(body.list[0].CreatedAt).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\+00:00$/)
    expect(body.list[0].UpdatedAt).toBeNull()
  })

  test.each([
    [
      '?limit=10&offset=20',
      [21, 10],
      { totalRows: 60, page: 3, pageSize: 10, isFirstPage: false, isLastPage: false },
    ],
    [
      '?limit=10&page=6',
      [51, 10],
      { totalRows: 60, page: 6, pageSize: 10, isFirstPage: false, isLastPage: true },
    ],
    [
      '?limit=10&offset=7&page=6',
      [51, 10],
      { totalRows: 60, page: 6, pageSize: 10, isFirstPage: false, isLastPage: true },
    ],
    ['?l=7&o=3', [4, 7], { totalRows: 60, pageSize: 7, isFirstPage: false, isLastPage: false, offset: 3 }],
    ['?limit=0', [1, 25], { totalRows: 60, page: 1, pageSize: 25, isFirstPage: true, isLastPage: false }],
    ['?limit=-5', [1, 25], { totalRows: 60, page: 1, pageSize: 25, isFirstPage: true, isLastPage: false }],
    ['?limit=abc', [1, 25], { totalRows: 60, page: 1, pageSize: 25, isFirstPage: true, isLastPage: false }],
    [
      '?limit=99999',
      [1, 60],
      { totalRows: 60, page: 1, pageSize: 1000, isFirstPage: true, isLastPage: true },
    ],
    ['?offset=-9', [1, 25], { totalRows: 60, page: 1, pageSize: 25, isFirstPage: true, isLastPage: false }],
    ['?page=0', [1, 25], { totalRows: 60, page: 1, pageSize: 25, isFirstPage: true, isLastPage: false }],
  ])('pages %s', async (query, [first, length], pageInfo) => {
    const { body } = await get(query)
    expect(body.list).toHaveLength(length!)
    expect(body.list[0].Id).toBe(first)
    expect(body.pageInfo).toEqual(pageInfo)
  })

  test.each(['60', '100', '1e15', '99999999999999999999'])(
    'refuses the offset %s with INVALID_OFFSET_VALUE',
    async (offset) => {
      const { status, body } = await get(`?offset=${offset}`)
      expect(status).toBe(422)
      expect(body.error).toBe('INVALID_OFFSET_VALUE')
      expect(body.message).toStartWith("Offset value '")
    },
  )

  test('takes any offset 0 of an empty table', async () => {
    const empty = await bench.table()
    const { status, body } = await bench.rest.get(`${empty.path}?offset=0`)
    expect([status, body.list, body.pageInfo.totalRows]).toEqual([200, [], 0])
  })

  test.each([
    ['?fields=Title,Num', ['Title', 'Num']],
    ['?fields[]=Num&fields[]=Title', ['Num', 'Title']],
    ['?fields[0]=Num&fields[1]=Title', ['Num', 'Title']],
    ['?fields=Num&fields=Title', ['Num', 'Title']],
    ['?f=Title', ['Title']],
  ])('gives only the fields of %s, in that order', async (query, keys) => {
    const { body } = await get(query)
    expect(Object.keys(body.list[0])).toEqual(keys)
  })

  test('takes a field by its id', async () => {
    const { body } = await get(`?fields=${table.field('Num').id}`)
    expect(Object.keys(body.list[0])).toEqual(['Num'])
  })

  test.each(['?fields=Nope', '?fields=Title,', '?sort=Nope', '?sort=-title'])(
    'refuses the unknown field of %s',
    async (query) => {
      const { status, body } = await get(query)
      if (query.endsWith(',')) expect(status).toBe(200)
      else expect([status, body.error]).toEqual([404, 'FIELD_NOT_FOUND'])
    },
  )

  test('omits fields that are in the trash where tRPC asks for them by their ids, and refuses unknown ones', async () => {
    const { trpc } = bench
    const own = await bench.table({ Title: 'SingleLineText', Gone: 'Number' }, [{ Title: 'a', Gone: 1 }])
    const twice = await trpc.schema.createField.mutate({
      tableId: own.id,
      field: { type: 'Formula', title: 'Twice', options: { formula: '2 * 2' } },
    })
    const ids = [own.field('Gone').id, own.field('Title').id, twice.id]
    const query = { tableId: own.id, limit: 10, offset: 0 }
    const ask = (fieldIds: string[]) => trpc.records.list.query({ query: { ...query, fieldIds } })
    expect((await ask(ids)).rows).toEqual([[1, 'a', 4]])
    await trpc.schema.deleteField.mutate({ fieldId: own.field('Gone').id })
    await trpc.schema.deleteField.mutate({ fieldId: twice.id })
    expect(await ask(ids)).toMatchObject({ fieldIds: [own.field('Title').id], rows: [['a']] })
    expect((await refusalOf(ask([...ids, 'cnope']))).code).toBe('FIELD_NOT_FOUND')
  })

  test('sorts by several fields, empty values first ascending and last descending, ties in the table order', async () => {
    const rows = (await table.list('?limit=1000')) as { Id: number; Num: number | null }[]
    const rank = (value: number | null) => value ?? Number.NEGATIVE_INFINITY
    const ascending = rows.toSorted((a, b) => rank(a.Num) - rank(b.Num) || a.Id - b.Id)
    const descending = rows.toSorted((a, b) => rank(b.Num) - rank(a.Num) || b.Id - a.Id)
    expect((await table.list('?limit=1000&sort=Num')).map((row) => row.Id)).toEqual(
      ascending.map((row) => row.Id),
    )
    expect((await table.list('?limit=1000&sort=-Num,-Id')).map((row) => row.Id)).toEqual(
      descending.map((row) => row.Id),
    )
  })

  // The SDKs send `sort: ['-Num', '-Id']` so.
  test.each(['sort[]=-Num&sort[]=-Id', 'sort[0]=-Num&sort[1]=-Id', 's[]=-Num&s[]=-Id', 'sort=-Num&sort=-Id'])(
    'sorts by the list %s',
    async (query) => {
      expect(await table.list(`?limit=1000&${query}`)).toEqual(await table.list('?limit=1000&sort=-Num,-Id'))
    },
  )

  test('gives only the records that pks names, as far as the rest of the query lets them through', async () => {
    const { body } = await get('?pks=5,%203,9999&fields=Id')
    expect([body.list, body.pageInfo.totalRows]).toEqual([[{ Id: 3 }, { Id: 5 }], 2])
    expect((await get('?pks[]=3&pks[]=5&where=(Id,gt,3)&fields=Id')).body.list).toEqual([{ Id: 5 }])
    expect((await get('?pks=')).body.pageInfo.totalRows).toBe(60)
    expect((await get('?pks=3,abc')).body.error).toBe('INVALID_PK_VALUE')
  })

  test('refuses a list of filters: nobody says how they join', async () => {
    for (const query of ['where[]=(Num,eq,1)', 'w[0]=(Num,eq,1)', 'where=(Num,eq,1)&where=(Num,eq,2)'])
      expect([query, (await get(`?${query}`)).status]).toEqual([query, 422])
  })

  test('sorts a choice as its options stand', async () => {
    const colours = (await table.list('?limit=1000&sort=Colour')).map((row) => row.Colour)
    expect([...new Set(colours)]).toEqual([null, 'red', 'green', 'blue'])
  })

  test('sorts by sortArrJson, and ignores what is no JSON', async () => {
    const sorts = JSON.stringify([{ fk_column_id: table.field('Num').id, direction: 'desc' }])
    expect((await table.list(`?limit=1&sortArrJson=${encodeURIComponent(sorts)}`))[0]?.Num).toBe(6)
    expect((await table.list('?limit=1&sortArrJson=%7Bnope'))[0]?.Id).toBe(1)
  })

  test('filters by where and filterArrJson together, and counts what matches', async () => {
    const filters = JSON.stringify([
      { fk_column_id: table.field('Colour').id, comparison_op: 'eq', value: 'red' },
    ])
    const { body } = await get(`?limit=1000&where=(Num,gt,3)&filterArrJson=${encodeURIComponent(filters)}`)
    const expected = (await table.list()).filter((row) => Number(row.Num) > 3 && row.Colour === 'red')
    expect(body.list).toEqual(expected)
    expect(body.pageInfo.totalRows).toBe(expected.length)
    const { body: counted } = await bench.rest.get(`${table.path}/count?where=(Num,gt,3)~and(Colour,eq,red)`)
    expect(counted).toEqual({ count: expected.length })
  })

  test('shuffles without losing or repeating a record', async () => {
    const ids = (await table.list('?limit=1000&shuffle=1')).map((row) => Number(row.Id))
    expect(ids.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 60 }, (_, index) => index + 1))
    expect(ids).not.toEqual(ids.toSorted((a, b) => a - b))
  })

  test('carries a weak ETag, and answers 304 to one who has the page already', async () => {
    const first = await get('?limit=5')
    const etag = first.headers.get('etag') ?? ''
    expect(etag).toMatch(/^W\/"[^"]+"$/)
    const second = await bench.rest.send('GET', `${table.path}?limit=5`, {
      headers: { 'if-none-match': etag },
    })
    expect([second.status, second.body]).toEqual([304, null])
    const other = await bench.rest.send('GET', `${table.path}?limit=6`, {
      headers: { 'if-none-match': etag },
    })
    expect(other.status).toBe(200)
  })

  test('gives every answer a request id', async () => {
    const answers = [
      await get('?limit=5'),
      await get('?fields=Nope'),
      await bench.rest.get('/api/v2/tables/mnope/records'),
    ]
    const ids = answers.map(({ headers }) => headers.get('x-request-id'))
    expect(ids.every((id) => /^[a-z0-9]{12}$/.test(id ?? ''))).toBe(true)
    expect(new Set(ids).size).toBe(3)
  })

  test('reads through a view: its filter, its sorts and its hidden fields', async () => {
    const view = await bench.trpc.views.create.mutate({ tableId: table.id, title: 'Blue', kind: 'grid' })
    await bench.trpc.views.update.mutate({
      viewId: view.id,
      patch: {
        filter: { fieldId: table.field('Colour').id, operator: 'eq', value: 'blue' },
        sorts: [{ fieldId: table.field('Id').id, direction: 'desc' }],
      },
    })
    await bench.trpc.views.arrange.mutate({
      viewId: view.id,
      fields: [{ fieldId: table.field('Num').id, show: false }],
    })
    const { body } = await get(`?viewId=${view.id}&limit=1000&fields=Id,Num,Colour`)
    const expected = (await table.list()).filter((row) => row.Colour === 'blue').map((row) => row.Id)
    expect(body.list.map((row: { Id: number }) => row.Id)).toEqual(expected.toReversed())
    expect(Object.keys(body.list[0]).sort()).toEqual(['Colour', 'Id'])
    const { body: narrowed } = await get(`?viewId=${view.id}&where=(Num,eq,1)~or(Colour,eq,red)&sort=Id`)
    expect(narrowed.list.every((row: { Colour: string }) => row.Colour === 'blue')).toBe(true)
    const { body: counted } = await bench.rest.get(`${table.path}/count?viewId=${view.id}`)
    expect(counted.count).toBe(expected.length)
    const same = await bench.rest.get(
      `/api/v1/db/data/noco/${bench.baseId}/${table.id}/views/Blue?limit=1000`,
    )
    expect(same.body.list.map((row: { Id: number }) => row.Id)).toEqual(expected.toReversed())
    const other = await bench.table()
    expect((await bench.rest.get(`${other.path}?viewId=${view.id}`)).status).toBe(404)
    expect((await get('?viewId=vwnope')).body).toEqual({
      error: 'VIEW_NOT_FOUND',
      message: "View 'vwnope' not found",
    })
  })

  test('costs the same one statement whatever the number of rows', async () => {
    const engine = await bench.app.kernel.sources.engine(bench.baseId)
    const counted: string[] = []
    const originals = { all: engine.all, values: engine.values }
    engine.all = (statement, options) => {
      counted.push(statement.sql)
      return originals.all(statement, options) as never
    }
    engine.values = (statement, options) => {
      counted.push(statement.sql)
      return originals.values(statement, options)
    }
    const statementsOf = async (work: () => Promise<unknown>) => {
      counted.length = 0
      await work()
      return counted.length
    }
    try {
      await get('?limit=1')
      const query = { tableId: table.id, offset: 0 }
      // Where other processes write to the same tables, a total is looked up in the log.
      const plain = bench.app.kernel.meta.cluster.isShared ? 2 : 1
      expect(await statementsOf(() => get('?limit=1'))).toBe(plain)
      expect(await statementsOf(() => get('?limit=1000'))).toBe(plain)
      // A filtered page says how many match, which is a second statement.
      expect(await statementsOf(() => get('?limit=1&where=(Num,gt,1)'))).toBe(2)
      expect(await statementsOf(() => get('?limit=1000&where=(Num,gt,1)'))).toBe(2)
      expect(await statementsOf(() => bench.trpc.records.list.query({ query: { ...query, limit: 1 } }))).toBe(
        1,
      )
      expect(
        await statementsOf(() => bench.trpc.records.list.query({ query: { ...query, limit: 1000 } })),
      ).toBe(1)
      expect(await statementsOf(() => bench.rest.get(`${table.path}/1`))).toBe(1)
    } finally {
      Object.assign(engine, originals)
    }
  })
})
