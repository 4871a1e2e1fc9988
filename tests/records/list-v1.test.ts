import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createBase } from '../support/factories.ts'
import { createListTable } from './list-table.ts'
import { type Bench, createBench, type TestTable } from './support.ts'

let bench: Bench
let table: TestTable
beforeAll(async () => {
  bench = await createBench()
  table = await createListTable(bench)
})
afterAll(() => bench.stop())

const get = (query: string) => bench.rest.get(`${table.path}${query}`)
const v1 = (rest: string) => bench.rest.get(`/api/v1/db/data/noco/${bench.baseId}/${table.id}${rest}`)

describe('GET /api/v1/db/data/{orgs}/{base}/{table}', () => {
  test('finds base and table by id and by title, with any org', async () => {
    const { title } = await bench.trpc.bases.get.query({ baseId: bench.baseId })
    const answers = await Promise.all([
      v1('?limit=3'),
      bench.rest.get(
        `/api/v1/db/data/v1/${encodeURIComponent(title)}/${encodeURIComponent(table.title)}?limit=3`,
      ),
      get('?limit=3'),
    ])
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(answers[1]?.body).toEqual(answers[0]?.body)
    expect(answers[2]?.body).toEqual(answers[0]?.body)
  })

  test('means the base of an id, also where another has that id for its title', async () => {
    const { id } = await createBase(bench.app, bench.owner, bench.baseId)
    expect(id).not.toBe(bench.baseId)
    expect((await v1('/count')).status).toBe(200)
  })

  test('names what is unknown: base, table, view', async () => {
    const paths = ['/nope/nope', `/${bench.baseId}/nope`, `/${bench.baseId}/${table.id}/views/nope`]
    const codes = await Promise.all(
      paths.map(async (path) => (await bench.app.rest().get(`/api/v1/db/data/noco${path}`)).body.error),
    )
    expect(codes).toEqual(['BASE_NOT_FOUND', 'TABLE_NOT_FOUND', 'VIEW_NOT_FOUND'])
  })

  test('counts, finds one, tells whether a record is there', async () => {
    expect((await v1('/count')).body).toEqual({ count: 60 })
    expect((await v1('/count?where=(Num,eq,1)')).body.count).toBe(
      (await table.list('?limit=1000&where=(Num,eq,1)')).length,
    )
    expect((await v1('/find-one?where=(Num,eq,3)&fields=Num')).body).toEqual({ Num: 3 })
    expect((await v1('/find-one?where=(Num,eq,333)')).body).toEqual({})
    expect((await v1('/5/exist')).body).toBe(true)
    expect((await v1('/555/exist')).body).toBe(false)
  })

  test('groups by one and by two fields', async () => {
    const { body } = await v1('/groupby?column_name=Colour')
    expect(body.list).toEqual([
      { count: 15, Colour: null },
      { count: 15, Colour: 'blue' },
      { count: 15, Colour: 'green' },
      { count: 15, Colour: 'red' },
    ])
    expect(body.pageInfo.totalRows).toBe(4)
    expect((await v1('/groupby/count?column_name=Colour,Num')).body).toBe(28)
    expect(
      (await v1('/groupby?column_name=Colour&limit=2&sort=-Colour')).body.list.map(
        (g: { Colour: string }) => g.Colour,
      ),
    ).toEqual(['red', 'green'])
    const listed = await v1('/groupby?column_name[]=Colour&column_name[]=Num&sort[]=-Colour')
    expect(listed.body).toEqual((await v1('/groupby?column_name=Colour,Num&sort=-Colour')).body)
    const bySize = await v1('/groupby?column_name=Colour&sort=-count')
    expect([bySize.status, bySize.body]).toEqual([200, body])
    expect((await v1('/groupby?column_name=Colour&sort=Nope')).status).toBe(404)
    expect((await v1('/groupby?column_name=Nope')).status).toBe(404)
    expect((await v1('/groupby')).status).toBe(400)
  })

  test('gives one list for each option', async () => {
    const { body } = await v1(`/group/${table.field('Colour').id}?limit=2`)
    expect(body.map((bucket: { key: string | null }) => bucket.key)).toEqual(['red', 'green', 'blue', null])
    expect(
      body.map((bucket: { value: { pageInfo: { totalRows: number } } }) => bucket.value.pageInfo.totalRows),
    ).toEqual([15, 15, 15, 15])
    expect(body[0].value.list).toHaveLength(2)
  })

  test('gives shorter lists where there are many options', async () => {
    const choices = Array.from({ length: 99 }, (_, at) => ({ title: `c${at}` }))
    const many = await bench.table({
      Title: 'SingleLineText',
      Colour: { type: 'SingleSelect', options: { choices } },
    })
    const sizes = async (limit: number) => {
      const path = `/api/v1/db/data/noco/${bench.baseId}/${many.id}/group/${many.field('Colour').id}`
      const { body } = await bench.rest.get(`${path}?limit=${limit}`)
      const lists = body as { value: { pageInfo: { pageSize: number } } }[]
      return new Set(lists.map(({ value }) => value.pageInfo.pageSize))
    }
    expect([await sizes(25), await sizes(1000)]).toEqual([new Set([25]), new Set([250])])
  })

  test('pages each list by itself, so one that has ended is empty', async () => {
    const rows = [
      { Title: 'a', Half: 1 },
      { Title: 'b', Half: 1 },
      { Title: 'c', Half: 2 },
    ]
    const few = await bench.table({ Title: 'SingleLineText', Half: 'Number' }, rows)
    const path = `/api/v1/db/data/noco/${bench.baseId}/${few.id}/group/${few.field('Half').id}`
    const { status, body } = await bench.rest.get(`${path}?limit=1&offset=1&fields=Title`)
    expect(status).toBe(200)
    expect(body).toMatchObject([
      { key: '1', value: { list: [{ Title: 'b' }], pageInfo: { totalRows: 2, isLastPage: true } } },
      { key: '2', value: { list: [], pageInfo: { totalRows: 1, isLastPage: true } } },
      { key: null, value: { list: [], pageInfo: { totalRows: 0, isLastPage: true } } },
    ])
  })

  test('gives one list for each value of other fields, of which there may be 200', async () => {
    const rows = Array.from({ length: 201 }, (_, at) => ({ Title: `t${at}`, Half: Math.trunc(at / 2) }))
    const many = await bench.table({ Title: 'SingleLineText', Half: 'Number' }, [...rows, { Title: 'none' }])
    const group = (field: string) =>
      bench.rest.get(
        `/api/v1/db/data/noco/${bench.baseId}/${many.id}/group/${many.field(field).id}?limit=1&fields=Title`,
      )
    const { body } = await group('Half')
    expect(body).toHaveLength(102)
    expect([body[0], body[101]]).toMatchObject([
      { key: '0', value: { list: [{ Title: 't0' }], pageInfo: { totalRows: 2 } } },
      { key: null, value: { list: [{ Title: 'none' }], pageInfo: { totalRows: 1 } } },
    ])
    const { status, body: refusal } = await group('Title')
    expect([status, refusal.msg]).toEqual([400, 'Field “Title” has too many values to group records by'])
  })

  test('groups by a field once, however often it is named', async () => {
    const often = Array.from({ length: 2_001 }, () => 'Num').join(',')
    const { status, body } = await v1(`/groupby?column_name=${often}`)
    expect([status, body]).toEqual([200, (await v1('/groupby?column_name=Num')).body])
    expect((await v1(`/groupby/count?column_name=${often}`)).status).toBe(200)
  })
})
