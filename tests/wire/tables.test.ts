import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { COLUMN_KEYS, TABLE_KEYS } from '../support/wire-keys.ts'
import { column, createTable, M, openShop, outcome, type Shop, scalarOf, TEXT_TYPE } from './support.ts'

// Wire §7 and §8: tables and columns.
let shop: Shop
beforeAll(async () => {
  shop = await openShop()
})
afterAll(() => shop.app.stop())

const NAMED_VIEW_KEYS = ['ptn', '_ptn', 'ptype', 'tn', '_tn', 'table_meta', 'disabled']

describe('a table', () => {
  test('has every key; by its id, also its columns and its views with the names of the table', async () => {
    const made = await createTable(shop, 'Keys')
    const whole = [...TABLE_KEYS, 'views', 'columns', 'columnsById', 'columnsHash']
    expect(Object.keys(made)).toEqual(whole)
    expect(made.views[0]).not.toHaveProperty('ptn')
    const { body } = await shop.rest.get(`${M}/tables/${made.id}`)
    expect(Object.keys(body)).toEqual(whole)
    for (const key of NAMED_VIEW_KEYS) expect(body.views[0]).toHaveProperty(key)
    expect(body.columnsById[body.columns[0].id]).toEqual(body.columns[0])
    expect((await shop.rest.get(`${M}/tables/${made.id}/columns/hash`)).body).toEqual({
      hash: body.columnsHash,
    })
    const { list } = (await shop.rest.get(`${M}/projects/${shop.baseId}/tables`)).body
    expect(Object.keys(list[0])).toEqual(TABLE_KEYS)
  })

  test('begins with its id, then five system columns', async () => {
    const { columns } = await createTable(shop, 'System')
    const seen = columns.map((one: Record<string, unknown>) => [
      one.column_name,
      one.title,
      one.uidt,
      one.system,
    ])
    expect(seen).toEqual([
      ['id', 'Id', 'ID', false],
      ['created_at', 'CreatedAt', 'CreatedTime', true],
      ['updated_at', 'UpdatedAt', 'LastModifiedTime', true],
      ['created_by', 'nc_created_by', 'CreatedBy', true],
      ['updated_by', 'nc_updated_by', 'LastModifiedBy', true],
      ['nc_order', 'nc_order', 'Order', true],
      ['title', 'Title', 'SingleLineText', false],
    ])
  })

  test('is refused in the words that clients match on', async () => {
    await createTable(shop, 'Taken')
    const post = async (body: object) =>
      outcome(await shop.rest.post(`${M}/projects/${shop.baseId}/tables`, body))
    expect(await post({ title: 'Taken', columns: [] })).toEqual([
      422,
      { error: 'DUPLICATE_ALIAS', message: `Duplicate table alias 'Taken' at base '${shop.baseId}'` },
    ])
    expect(await post({ title: 'a.b', columns: [] })).toEqual([
      400,
      { msg: 'Following characters are not allowed "."' },
    ])
    expect(await post({ title: 'X' })).toMatchObject([
      400,
      { errors: [{ params: { missingProperty: 'columns' } }] },
    ])
  })

  test('answers writes as clients know them', async () => {
    const { id } = await createTable(shop, 'Written')
    const path = `${M}/tables/${id}`
    expect(outcome(await shop.rest.patch(path, { title: 'X' }))).toEqual([
      400,
      { msg: 'Missing table name `table_name` property in request body' },
    ])
    expect(outcome(await shop.rest.patch(path, { table_name: 'X', title: 'X' }))).toEqual([
      200,
      { msg: 'The table has been updated successfully' },
    ])
    expect(scalarOf(await shop.rest.post(`${path}/reorder`, { order: 3 }))).toEqual([200, TEXT_TYPE, 1])
    expect(scalarOf(await shop.rest.delete(path))).toEqual([200, TEXT_TYPE, true])
  })
})

describe('a table with links', () => {
  test('shows what holds pairs where it is asked for, and takes its links along', async () => {
    const { rest, baseId } = shop
    const [book, tag] = [await createTable(shop, 'Book'), await createTable(shop, 'Tag')]
    const link = { title: 'Tags', uidt: 'Links', parentId: book.id, childId: tag.id, type: 'mm' }
    const { body } = await rest.post(`${M}/tables/${book.id}/columns`, link)
    const { colOptions } = column(body, 'Tags') as unknown as { colOptions: { fk_mm_model_id: string } }
    const titles = async (query: string) =>
      (await rest.get(`${M}/projects/${baseId}/tables${query}`)).body.list.map(
        ({ title, mm }: { title: string; mm: boolean }) => [title, mm],
      )
    const junction = ['nc_m2m_Book_Tag', true]
    expect(await titles('')).not.toContainEqual(junction)
    expect(await titles('?includeM2M=true')).toContainEqual(junction)
    const junctionPath = `${M}/tables/${colOptions.fk_mm_model_id}`
    const { columns } = (await rest.get(junctionPath)).body
    const keys = columns.filter(({ uidt }: { uidt: string }) => uidt === 'ForeignKey')
    expect(keys.map(({ title }: { title: string }) => title)).toEqual(['Book_id', 'Tag_id'])
    // It comes and goes with its link.
    expect((await rest.delete(junctionPath)).status).toBe(400)
    expect(scalarOf(await rest.delete(`${M}/tables/${tag.id}`))).toEqual([200, TEXT_TYPE, true])
    expect((await rest.get(junctionPath)).body.error).toBe('TABLE_NOT_FOUND')
    const left = (await rest.get(`${M}/tables/${book.id}`)).body
    expect(left.columns.map(({ title }: { title: string }) => title)).not.toContain('Tags')
    expect(await titles('?includeM2M=true')).not.toContainEqual(junction)
  })
})

describe('a column', () => {
  test('has every key; those that show a system column have nothing of the database', async () => {
    const table = await createTable(shop, 'Column keys', [{ title: 'Made', uidt: 'CreatedTime' }])
    for (const one of table.columns) expect(Object.keys(one)).toEqual(COLUMN_KEYS)
    const made = column(table, 'Made')
    expect(made).toMatchObject({ column_name: null, dt: null, pk: null, rqd: null, dtx: null, system: false })
    expect(column(table, 'Id')).toMatchObject({
      dt: 'integer',
      pk: true,
      rqd: true,
      un: true,
      ai: true,
      dtxs: ' ',
    })
  })

  test('carries no meta but what was sent, and its place in the default view within a table', async () => {
    const icon = { checked: 'mdi-heart', unchecked: 'mdi-heart-outline' }
    const types = [
      'Number',
      'Decimal',
      'Currency',
      'Percent',
      'Rating',
      'Checkbox',
      'Date',
      'DateTime',
      'Email',
    ]
    const plain = types.map((uidt) => ({ title: uidt, column_name: uidt.toLowerCase(), uidt }))
    const table = await createTable(shop, 'Meta', [
      ...plain,
      { title: 'Heart', column_name: 'heart', uidt: 'Checkbox', meta: { icon } },
    ])
    for (const title of types) {
      const { id, meta } = column(table, title) as unknown as { id: string; meta: object }
      expect([title, Object.keys(meta)]).toEqual([title, ['defaultViewColOrder', 'defaultViewColVisibility']])
      expect([title, (await shop.rest.get(`${M}/columns/${id}`)).body.meta]).toEqual([title, null])
    }
    const { id } = column(table, 'Heart')
    expect((await shop.rest.get(`${M}/columns/${id}`)).body.meta).toEqual({ icon })
  })

  test('answers writes with the whole table as it is by its id', async () => {
    const { id } = await createTable(shop, 'Answers')
    const made = (
      await shop.rest.post(`${M}/tables/${id}/columns`, { title: ' N ', uidt: 'Number', cdf: '5' })
    ).body
    expect(made).toEqual((await shop.rest.get(`${M}/tables/${id}`)).body)
    const { id: columnId } = column(made, 'N')
    const renamed = await shop.rest.patch(`${M}/columns/${columnId}`, { title: 'M' })
    expect(renamed.body).toEqual((await shop.rest.get(`${M}/tables/${id}`)).body)
    expect(scalarOf(await shop.rest.post(`${M}/columns/${columnId}/primary`))).toEqual([200, TEXT_TYPE, true])
  })

  test('is refused with nothing but the message', async () => {
    const { id } = await createTable(shop, 'Refused')
    const post = async (body: object) => outcome(await shop.rest.post(`${M}/tables/${id}/columns`, body))
    const select = (uidt: string, ...titles: string[]) => ({
      title: 'S',
      uidt,
      colOptions: { options: titles.map((title) => ({ title })) },
    })
    expect(await post(select('SingleSelect', 'a', 'a'))).toEqual([
      400,
      { msg: 'Duplicates are not allowed!' },
    ])
    expect(await post(select('SingleSelect', ''))).toEqual([400, { msg: 'Empty options are not allowed!' }])
    expect(await post(select('MultiSelect', 'a,b'))).toEqual([
      400,
      { msg: "Illegal char(',') for MultiSelect" },
    ])
    expect(await post({ ...select('SingleSelect', 'a'), cdf: 'zz' })).toEqual([
      400,
      { msg: "Default value 'zz' is not a select option." },
    ])
    expect(await post({ title: 'F', uidt: 'Formula', formula_raw: 'NOPE(1)' })).toEqual([
      400,
      { msg: 'Function NOPE is not available' },
    ])
  })
})
