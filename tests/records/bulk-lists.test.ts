import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Bench, createBench, type TestTable } from './support.ts'

let bench: Bench
let table: TestTable
let viewId: string
let publicPath: string

beforeAll(async () => {
  bench = await createBench()
  table = await bench.table({ Title: 'SingleLineText', Kind: 'SingleLineText', N: 'Number' }, [
    { Title: 'a', Kind: 'x', N: 1 },
    { Title: 'b', Kind: 'y', N: 2 },
    { Title: 'c', Kind: 'y', N: 3 },
    { Title: 'd', N: 4 },
  ])
  viewId = table.schema.views[0]!.id
  const { body } = await bench.rest.post(`/api/v1/db/meta/views/${viewId}/share`)
  publicPath = `/api/v2/public/shared-view/${body.uuid}`
})
afterAll(() => bench.stop())

const post = (path: string, body: unknown) => bench.rest.post(`/api/v2/tables/${table.id}/bulk/${path}`, body)
const titles = (list: { list: { Title: string }[] }) => list.list.map((row) => row.Title)
const info = (totalRows: number, pageSize = 25) => ({
  totalRows,
  page: 1,
  pageSize,
  isFirstPage: true,
  isLastPage: totalRows <= pageSize,
})

describe('POST /api/v2/tables/{tableId}/bulk/dataList', () => {
  test('refuses lists that are too long together, such as the same long texts again and again', async () => {
    const text = 'x'.repeat(1_000_000)
    const long = await bench.table(
      { Title: 'SingleLineText', Long: 'LongText' },
      Array.from({ length: 4 }, () => ({ Title: 'a', Long: text })),
    )
    const ask = (count: number, more: object) =>
      bench.rest.post(
        `/api/v2/tables/${long.id}/bulk/dataList`,
        Array.from({ length: count }, (_, at) => ({ alias: at, ...more })),
      )
    expect(await ask(20, {})).toMatchObject({ status: 400, body: { msg: expect.stringContaining('64 MB') } })
    expect((await ask(200, { fields: 'Title' })).status).toBe(201)
    const { status, body } = await ask(2, {})
    expect([status, Object.keys(body), body[1].list[3].Long.length]).toEqual([201, ['0', '1'], 1_000_000])
  })

  test.each(
    [
      {},
      [],
      { alias: 'a' },
      ['a'],
      [null],
      [{ alias: { toString: 1 } }],
      [{ fields: [{ toString: 1 }] }],
    ].map((body) => [body]),
  )('refuses the body %j', async (body) => {
    expect(await post('dataList', body)).toMatchObject({
      status: 400,
      body: { msg: 'Invalid bulkFilterList' },
    })
  })

  test('refuses more lists than an answer may have, and all lists where one is invalid', async () => {
    const many = Array.from({ length: 201 }, (_, at) => ({ alias: String(at) }))
    expect(await post('dataList', many)).toMatchObject({
      status: 400,
      body: { msg: 'A call can have up to 200 lists' },
    })
    const invalid = { alias: 'b', where: '(Nope,eq,1)' }
    expect(await post('dataList', [{ alias: 'a' }, invalid])).toMatchObject({
      status: 422,
      body: { msg: "Column alias 'Nope' not found." },
    })
    expect(await post('dataList', [{ alias: 'a', offset: 100 }])).toMatchObject({
      status: 422,
      body: { error: 'INVALID_OFFSET_VALUE' },
    })
  })

  test('reads very many parameters in linear time', async () => {
    const many = Object.fromEntries(Array.from({ length: 200_000 }, (_, at) => [`k${at}`, 1]))
    const { status, body } = await post('dataList', [{ ...many, alias: 'x', where: '(N,eq,2)' }])
    expect([status, titles(body.x)]).toEqual([201, ['b']])
    // A look-up of each name among all takes minutes.
  })

  test('lists by alias, each with its own parameters', async () => {
    const n = table.field('N').id
    const { status, body } = await post(`dataList?viewId=${viewId}&where=(N,eq,4)`, [
      { alias: 'where', where: '(Kind,eq,y)', sort: '-N', fields: ['Title', 'N'] },
      { alias: 'page', limit: 2, page: 1 },
      { alias: 'json', filterArrJson: JSON.stringify([{ fk_column_id: n, comparison_op: 'gt', value: 3 }]) },
      { alias: 'list', filterArr: [{ fk_column_id: n, comparison_op: 'lt', value: 2 }], sortArrJson: [] },
      { alias: '__proto__', where: '(N,eq,3)' },
    ])
    expect(status).toBe(201)
    const { list, page, json, where, ['__proto__']: odd } = body
    expect(where).toEqual({
      list: [
        { Title: 'c', N: 3 },
        { Title: 'b', N: 2 },
      ],
      pageInfo: info(2),
    })
    expect([titles(page), page.pageInfo]).toEqual([['a', 'b'], info(4, 2)])
    expect([titles(json), titles(list), titles(odd)]).toEqual([['d'], ['a'], ['c']])
  })

  test('answers in either spelling, and by a public link', async () => {
    const wanted = [{ alias: 'x', where: '(N,gt,2)' }]
    const nobody = bench.app.rest()
    for (const name of ['dataList', 'datalist']) {
      expect(titles((await post(name, wanted)).body.x)).toEqual(['c', 'd'])
      const { status, body } = await nobody.post(`${publicPath}/bulk/${name}`, wanted)
      expect([status, titles(body.x)]).toEqual([201, ['c', 'd']])
    }
  })

  test('has only what the view and its link show', async () => {
    const { body: view } = await bench.rest.post(`/api/v1/db/meta/tables/${table.id}/grids`, { title: 'Few' })
    await bench.rest.post(`/api/v1/db/meta/views/${view.id}/filters`, {
      fk_column_id: table.field('N').id,
      comparison_op: 'lt',
      value: '3',
    })
    await bench.trpc.views.arrange.mutate({
      viewId: view.id,
      fields: [{ fieldId: table.field('Kind').id, show: false }],
    })
    const rows = [
      { Id: 1, Title: 'a', N: 1 },
      { Id: 2, Title: 'b', N: 2 },
    ]
    expect((await post(`dataList?viewId=${view.id}`, [{ alias: 'x' }])).body.x.list).toEqual(rows)
    const { uuid } = (await bench.rest.post(`/api/v1/db/meta/views/${view.id}/share`)).body
    const path = `/api/v2/public/shared-view/${uuid}/bulk`
    const nobody = bench.app.rest()
    expect((await nobody.post(`${path}/dataList`, [{ alias: 'x' }])).body.x.list).toEqual(rows)
    const hidden = [{ alias: 'x', where: '(Kind,eq,x)', column_name: 'Kind' }]
    expect((await nobody.post(`${path}/dataList`, hidden)).status).toBe(422)
    expect((await nobody.post(`${path}/group`, [{ alias: 'x', column_name: 'Kind' }])).status).toBe(404)
  })
})

describe('POST /api/v2/tables/{tableId}/bulk/group', () => {
  test('groups by alias, each by its own column', async () => {
    const wanted = [
      { alias: 'x', column_name: 'Kind', sort: '-Kind' },
      { alias: 'y', column_name: 'Kind', where: '(N,gt,2)', limit: 1 },
    ]
    const x = {
      list: [
        { count: 2, Kind: 'y' },
        { count: 1, Kind: 'x' },
        { count: 1, Kind: null },
      ],
      pageInfo: info(3),
    }
    const y = { list: [{ count: 1, Kind: null }], pageInfo: info(2, 1) }
    expect(await post('group', wanted)).toMatchObject({ status: 201, body: { x, y } })
    expect((await bench.app.rest().post(`${publicPath}/bulk/group`, wanted)).body).toEqual({ x, y })
    expect((await post('group', [{ alias: 'x' }])).status).toBe(400)
    expect((await post('group', [{ alias: 'x', column_name: 'Nope' }])).status).toBe(404)
  })
})

describe('GET /api/v2/tables/{tableId}/aggregate?aggregation=', () => {
  const read = async (query: string) =>
    (await bench.rest.get(`/api/v2/tables/${table.id}/aggregate?${query}`)).body
  const brackets = (...pairs: [field: string, type: string][]) =>
    pairs
      .map(([field, type], at) => `aggregation[${at}][field]=${field}&aggregation[${at}][type]=${type}`)
      .join('&')

  test('answers the summaries that are asked for, in every form', async () => {
    const n = table.field('N').id
    const title = table.field('Title').id
    expect(await read('')).toEqual({})
    expect(await read(brackets([n, 'sum']))).toEqual({ N: 10 })
    expect(await read(`${brackets([n, 'min'], [title, 'count_filled'])}&viewId=${viewId}`)).toEqual({
      N: 1,
      Title: 4,
    })
    expect(
      await read(
        `aggregation[][field]=${n}&aggregation[][type]=max&aggregation[][field]=${title}&aggregation[][type]=count`,
      ),
    ).toEqual({ N: 4, Title: 4 })
    const json = encodeURIComponent(JSON.stringify([{ field: n, type: 'avg' }]))
    expect(await read(`aggregation=${json}&where=(N,gt,2)`)).toEqual({ N: 3.5 })
    const nobody = bench.app.rest()
    expect((await nobody.get(`${publicPath}/aggregate?${brackets([n, 'sum'])}`)).body).toEqual({ N: 10 })
  })

  test('leaves out what a field does not offer', async () => {
    const n = table.field('N').id
    const wanted = brackets([n, 'nope'], [table.field('Title').id, 'sum'], ['nope', 'sum'], [n, 'none'])
    expect(await read(wanted)).toEqual({})
  })
})
