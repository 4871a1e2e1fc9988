import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  column,
  createTable,
  JSON_TYPE,
  M,
  openShop,
  outcome,
  raw,
  type Shop,
  scalarOf,
  TEXT_TYPE,
} from './support.ts'

// Wire §14 to §16: rows, their cells and the pages that they come in.
let shop: Shop
let table: Awaited<ReturnType<typeof createTable>>
/** Of a view without the numbers, with a filter and a sort. */
let viewId: string
let v1: string
let v2: string
let bulk: string
beforeAll(async () => {
  shop = await openShop()
  table = await createTable(shop, 'Rows', [
    { title: 'Num', column_name: 'num', uidt: 'Number' },
    { title: 'Done', column_name: 'done', uidt: 'Checkbox' },
    { title: 'State', column_name: 'state', uidt: 'SingleSelect', colOptions: { options: [{ title: 'a' }] } },
    { title: 'By', uidt: 'CreatedBy' },
  ])
  v2 = `/api/v2/tables/${table.id}/records`
  v1 = `/api/v1/db/data/noco/${shop.baseId}/${table.id}`
  bulk = `/api/v1/db/data/bulk/noco/${shop.baseId}/${table.id}`
  await shop.rest.post(v2, [
    { Title: 'one', Num: 1, Done: true, State: 'a' },
    { title: 'two' },
    { Title: 'three' },
  ])
  viewId = (await shop.rest.post(`${M}/tables/${table.id}/grids`, { title: 'Some rows' })).body.id
  const line = { fk_column_id: column(table, 'Num').id, show: false }
  await shop.rest.post(`${M}/views/${viewId}/columns`, line)
  const filter = { fk_column_id: column(table, 'Title').id, comparison_op: 'neq', value: 'two' }
  await shop.rest.post(`${M}/views/${viewId}/filters`, filter)
  await shop.rest.post(`${M}/views/${viewId}/sorts`, {
    fk_column_id: column(table, 'Title').id,
    direction: 'desc',
  })
})
afterAll(() => shop.app.stop())

const person = () => ({ id: shop.admin.id, email: 'ann@example.com', display_name: null, meta: null })

describe('a row', () => {
  test('comes with its keys in the order of the columns, and none of the hidden ones', async () => {
    const { body } = await shop.rest.get(`${v1}/1`)
    expect(Object.keys(body)).toEqual(['Id', 'CreatedAt', 'UpdatedAt', 'Title', 'Num', 'Done', 'State', 'By'])
    expect(body).toMatchObject({
      Id: 1,
      UpdatedAt: null,
      Title: 'one',
      Num: 1,
      Done: 1,
      State: 'a',
      By: person(),
    })
    expect((await shop.rest.get(`${v2}/1`)).body).toEqual(body)
    expect((await shop.rest.get(`${v1}?limit=1`)).body.list).toEqual([body])
  })

  test('has only the fields that are named, and the hidden ones not even then', async () => {
    const hidden = 'nc_order,nc_created_by,nc_updated_by'
    expect((await shop.rest.get(`${v2}/1?fields=Num,Title`)).body).toEqual({ Num: 1, Title: 'one' })
    expect((await shop.rest.get(`${v2}?fields=${hidden},Title&limit=1`)).body.list).toEqual([
      { Title: 'one' },
    ])
    expect((await shop.rest.get(`${v2}?fields=${hidden}&limit=1`)).body.list).toEqual([{}])
    expect((await shop.rest.get(`${v1}/1?fields=${hidden}`)).body).toEqual({})
  })

  test('written over v1 shows its place, over v2 its id alone', async () => {
    const made = (await shop.rest.post(v1, { Title: 'placed' })).body
    expect(Object.keys(made).slice(0, 5)).toEqual(['Id', 'CreatedAt', 'UpdatedAt', 'nc_order', 'Title'])
    const patched = (await shop.rest.patch(`${v1}/${made.Id}`, { Title: 'again', nope: 1 })).body
    expect(patched).toMatchObject({ Id: made.Id, Title: 'again', nc_order: made.nc_order })
    expect(outcome(await shop.rest.patch(v2, { id: made.Id, num: 2 }))).toEqual([200, { Id: made.Id }])
    expect(scalarOf(await shop.rest.delete(`${v1}/${made.Id}`))).toEqual([200, TEXT_TYPE, 1])
  })

  test('is made empty from no body, plain text, and an empty one; a form fills it', async () => {
    const post = async (type: string | null, body?: string) => {
      const headers = { 'xc-auth': shop.admin.token, ...(type !== null && { 'content-type': type }) }
      const { status, text } = await raw(shop.app, 'POST', v2, { headers, body })
      const { Id } = JSON.parse(text)
      const row = (await shop.rest.get(`${v2}/${Id}?fields=Title,Num,Done`)).body
      await shop.rest.delete(v2, { Id })
      return [status, row]
    }
    const empty = [200, { Title: null, Num: null, Done: 0 }]
    expect(await post(null)).toEqual(empty)
    expect(await post('application/json', '{}')).toEqual(empty)
    expect(await post('text/plain', '{"Title":"x"}')).toEqual(empty)
    expect(await post('application/x-www-form-urlencoded', 'Title=f&Num=4&Done=true')).toEqual([
      200,
      { Title: 'f', Num: 4, Done: 1 },
    ])
  })

  test('that is not there is refused alike by every call', async () => {
    const missing = [404, { error: 'RECORD_NOT_FOUND', message: "Record '999' not found" }]
    expect(outcome(await shop.rest.get(`${v1}/999`))).toEqual(missing)
    expect(outcome(await shop.rest.get(`${v2}/999`))).toEqual(missing)
    expect(outcome(await shop.rest.patch(`${v1}/999`, {}))).toMatchObject(missing)
    expect(outcome(await shop.rest.delete(`${v1}/999`))).toMatchObject(missing)
    expect(outcome(await shop.rest.patch(v2, { Id: 999 }))).toMatchObject(missing)
    expect(outcome(await shop.rest.post(`${v2}/999/move`))).toMatchObject(missing)
    expect((await shop.rest.delete(v2, [{ Id: 999 }, { Id: 998 }])).body.message).toBe(
      "Records '999', '998' not found",
    )
    expect((await shop.rest.patch(v2, { Num: 1 })).body.message).toBe("Record 'unknown' not found")
    expect(outcome(await shop.rest.delete(v2, { Num: 1 }))).toEqual([
      422,
      { error: 'REQUIRED_FIELD_MISSING', message: "Field 'Id' is required" },
    ])
    expect(outcome(await shop.rest.get(`${v2}/abc`))).toEqual([
      422,
      { error: 'INVALID_PK_VALUE', message: "Primary key value 'abc' is invalid for column 'Id'" },
    ])
    const exist = await shop.rest.get(`${v1}/999/exist`)
    expect([exist.status, exist.headers.get('content-type'), exist.body]).toEqual([200, JSON_TYPE, false])
  })

  test('with a wrong option is refused with nothing but the message', async () => {
    expect(outcome(await shop.rest.patch(v2, { Id: 1, State: 'zz' }))).toEqual([
      400,
      { msg: 'Invalid option(s) "zz" provided for column "State". Valid options are "a"' },
    ])
  })
})

describe('a page', () => {
  const all = { totalRows: 3, page: 1, pageSize: 25, isFirstPage: true, isLastPage: true }
  const cut = { totalRows: 3, pageSize: 2, isFirstPage: false }

  test.each([
    ['', all],
    ['limit=0', all],
    ['limit=-1', all],
    ['limit=abc&offset=-5', all],
    ['limit=5000', { ...all, pageSize: 1000 }],
    ['limit=2', { ...cut, page: 1, isFirstPage: true, isLastPage: false }],
    ['l=2&o=2', { ...cut, page: 2, isLastPage: true }],
    ['limit=2&page=2', { ...cut, page: 2, isLastPage: true }],
    ['limit=2&offset=1', { ...cut, isLastPage: true, offset: 1 }],
  ])('of ?%s tells where it stands', async (query, expected) => {
    for (const path of [v1, v2])
      expect((await shop.rest.get(`${path}?${query}`)).body.pageInfo).toEqual(expected)
  })

  test('behind the last row is refused, of groups too', async () => {
    const refused = (offset: number) => [
      422,
      { error: 'INVALID_OFFSET_VALUE', message: `Offset value '${offset}' is invalid` },
    ]
    expect(outcome(await shop.rest.get(`${v2}?offset=3`))).toEqual(refused(3))
    expect(outcome(await shop.rest.get(`${v1}?page=2`))).toEqual(refused(25))
    expect(outcome(await shop.rest.get(`${v1}/groupby?column_name=State&offset=9`))).toEqual(refused(9))
    const where = encodeURIComponent('(Title,eq,none)')
    expect((await shop.rest.get(`${v2}?where=${where}&offset=0`)).body).toEqual({
      list: [],
      pageInfo: { ...all, totalRows: 0 },
    })
  })
})

describe('groups', () => {
  test('show people as cells do, and count as a scalar', async () => {
    const { body } = await shop.rest.get(`${v1}/groupby?column_name=By`)
    expect(body.list).toEqual([{ count: 3, By: person() }])
    expect(scalarOf(await shop.rest.get(`${v1}/groupby/count?column_name=State`))).toEqual([
      200,
      TEXT_TYPE,
      2,
    ])
    const buckets = (await shop.rest.get(`${v1}/group/${column(table, 'State').id}?fields=Id`)).body
    expect(
      buckets.map(({ key, value }: { key: unknown; value: { list: object[] } }) => [key, value.list.length]),
    ).toEqual([
      ['a', 1],
      [null, 2],
    ])
  })
})

describe('a view', () => {
  const path = () => `${v1}/views/${encodeURIComponent('Some rows')}`

  test('filters, sorts and hides, whatever is named', async () => {
    const { list, pageInfo } = (await shop.rest.get(path())).body
    expect(list.map((row: { Title: string }) => row.Title)).toEqual(['three', 'one'])
    expect(Object.keys(list[0])).toEqual(['Id', 'Title', 'Done', 'State', 'By'])
    expect(pageInfo.totalRows).toBe(2)
    expect((await shop.rest.get(`${path()}?fields=Title,Num,CreatedAt&sort=Title`)).body.list).toEqual([
      { Title: 'one' },
      { Title: 'three' },
    ])
    expect((await shop.rest.get(`${path()}?fields=Num`)).body.list).toEqual([{}, {}])
    expect((await shop.rest.get(`${path()}/count`)).body).toEqual({ count: 2 })
    expect((await shop.rest.get(`${v2}?viewId=${viewId}`)).body.list).toEqual(list)
    expect((await shop.rest.get(`${v2}/count?viewId=${viewId}`)).body).toEqual({ count: 2 })
  })

  test('answers a write as it shows the row', async () => {
    const { body } = await shop.rest.post(path(), { Title: 'through', Num: 5 })
    expect(Object.keys(body)).toEqual(['Id', 'Title', 'Done', 'State', 'By'])
    expect((await shop.rest.get(`${v2}/${body.Id}`)).body.Num).toBe(5)
    await shop.rest.delete(v2, { Id: body.Id })
  })

  test('sums up the columns that have a summary', async () => {
    const aggregate = `/api/v2/tables/${table.id}/aggregate`
    expect(outcome(await shop.rest.get(`${aggregate}?viewId=${viewId}`))).toEqual([200, {}])
    const lines = (await shop.rest.get(`${M}/grids/${table.views[0].id}/grid-columns`)).body
    const line = lines.find(
      ({ fk_column_id: id }: { fk_column_id: string }) => id === column(table, 'Num').id,
    )
    await shop.rest.patch(`${M}/grid-columns/${line.id}`, { aggregation: 'sum' })
    expect((await shop.rest.get(aggregate)).body).toEqual({ Num: 1 })
    expect((await shop.rest.get(`${aggregate}?viewId=vw00000000000000`)).body.error).toBe('VIEW_NOT_FOUND')
  })
})

describe('bulk', () => {
  test('answers ids, then rows, then ids by their column, and 201 to an upsert', async () => {
    const made = (await shop.rest.post(bulk, [{ Title: 'b1' }, { Title: 'b2' }])).body
    expect(made).toEqual([{ Id: expect.any(Number) }, { Id: expect.any(Number) }])
    const [{ Id: first }, { Id: second }] = made
    const updated = (await shop.rest.patch(bulk, [{ Id: first, Num: 7 }, { Id: 999 }, { Num: 3 }])).body
    expect(updated).toMatchObject([{ Id: first, Title: 'b1', Num: 7 }])
    const upserted = await shop.rest.post(`${bulk}/upsert`, [{ Id: first, Num: 8 }, { Title: 'b3' }])
    expect(outcome(upserted)).toMatchObject([201, [{ Id: first, Num: 8 }, { Title: 'b3' }]])
    expect(outcome(await shop.rest.delete(bulk, [{ Id: second }, { Id: 999 }]))).toEqual([
      200,
      [{ id: second }],
    ])
    const where = encodeURIComponent('(Title,like,b)')
    expect(scalarOf(await shop.rest.patch(`${bulk}/all?where=${where}`, { Num: 9 }))).toEqual([
      200,
      TEXT_TYPE,
      2,
    ])
    const gone = (await shop.rest.delete(`${bulk}/all?where=${where}`)).body
    expect(gone).toMatchObject([
      { Title: 'b1', Num: 9 },
      { Title: 'b3', Num: 9 },
    ])
    expect(gone[0]).not.toHaveProperty('nc_order')
    expect((await shop.rest.get(`${v2}/count`)).body).toEqual({ count: 3 })
  })
})
