import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  addRecords,
  createTable,
  databases,
  fieldOf,
  freshTitle,
  openWorkshop,
  valuesOf,
  type Workshop,
} from './support.ts'

const M = '/api/v1/db/meta'

// biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects of an answer
type Column = Record<string, any>

describe.each([...databases])('columns over REST, metadata in %s', (database) => {
  let shop: Workshop
  let tableId: string
  beforeAll(async () => {
    shop = await openWorkshop(database)
    tableId = (await createTable(shop)).table.id
  })
  afterAll(() => shop.app.stop())

  /** Posts a column and gives it as the answer shows it. */
  async function post(column: Column): Promise<Column> {
    const answer = await shop.rest.post(`${M}/tables/${tableId}/columns`, column)
    expect(answer.body.id).toBe(tableId)
    return answer.body.columns.at(-1)
  }

  test('a select has its options, coloured in turn, and refuses what is none', async () => {
    const options = [{ title: 'Todo' }, { title: 'Done', color: '#00ff00' }, { title: "it's" }]
    const column = await post({
      title: freshTitle('S'),
      uidt: 'SingleSelect',
      colOptions: { options },
      cdf: 'Done',
    })
    expect(column).toMatchObject({ dtxp: "'Todo','Done','it''s'", cdf: 'Done', dt: 'text' })
    expect(column.colOptions.options).toMatchObject([
      { title: 'Todo', color: '#cfdffe', order: 1, fk_column_id: column.id, base_id: shop.baseId },
      { title: 'Done', color: '#00ff00', order: 2 },
      { title: "it's", color: '#c2f5e8', order: 3 },
    ])
    expect(column.colOptions.options[0].id).toMatch(/^s[a-z0-9]{14}$/)
    const bare = await post({ title: freshTitle('M'), uidt: 'MultiSelect' })
    expect(bare.colOptions).toEqual({ options: [] })
    const refused = async (body: Column) =>
      shop.rest.post(`${M}/tables/${tableId}/columns`, { title: freshTitle(), uidt: 'MultiSelect', ...body })
    const told = (options: Column[], more: Column = {}) => refused({ colOptions: { options }, ...more })
    expect(await told([{ title: 'a' }, { title: 'a' }])).toMatchObject({
      status: 400,
      body: { msg: 'Duplicates are not allowed!' },
    })
    expect(await told([{ title: '' }])).toMatchObject({
      status: 400,
      body: { msg: 'Empty options are not allowed!' },
    })
    expect(await told([{ title: 'a,b' }])).toMatchObject({
      status: 400,
      body: { msg: "Illegal char(',') for MultiSelect" },
    })
    expect(await told([{ title: 'a' }], { cdf: 'zz' })).toMatchObject({
      status: 400,
      body: { msg: "Default value 'zz' is not a select option." },
    })
  })

  test('PATCH of a select takes all options: kept by id, renamed with their cells, left out with theirs', async () => {
    const schema = await createTable(shop, [
      { type: 'SingleLineText', title: 'Title' },
      {
        type: 'SingleSelect',
        title: 'S',
        options: { choices: [{ title: 'a' }, { title: 'b' }, { title: 'c' }] },
      },
    ])
    const field = fieldOf(schema, 'S')
    await addRecords(shop, schema, [{ S: 'a' }, { S: 'b' }, { S: 'c' }])
    const { body } = await shop.rest.get(`${M}/columns/${field.id}`)
    const [a, b] = body.colOptions.options
    const options = [{ title: 'new' }, { ...b, title: 'B' }, a]
    const answer = await shop.rest.patch(`${M}/columns/${field.id}`, { ...body, colOptions: { options } })
    expect(answer.status).toBe(200)
    const column = answer.body.columnsById[field.id]
    expect(column.colOptions.options.map(({ id, title }: Column) => [id, title]).slice(1)).toEqual([
      [b.id, 'B'],
      [a.id, 'a'],
    ])
    expect(await valuesOf(shop, field)).toEqual(['a', 'B', null])
  })

  test('PATCH with the whole column back changes nothing but the title', async () => {
    for (const uidt of [
      'Number',
      'Rating',
      'Checkbox',
      'SingleSelect',
      'Currency',
      'Date',
      'CreatedBy',
      'Email',
    ]) {
      const column = await post({ title: freshTitle(), uidt })
      const title = freshTitle()
      const answer = await shop.rest.patch(`${M}/columns/${column.id}`, { ...column, title })
      expect(answer.status).toBe(200)
      const { meta, updated_at: _, ...rest } = answer.body.columnsById[column.id]
      const { meta: before, updated_at: __, ...was } = column
      expect(rest).toEqual({ ...was, title })
      expect(meta).toEqual(before)
    }
    const id = (await shop.rest.get(`${M}/tables/${tableId}`)).body.columns[0]
    const renamed = await shop.rest.patch(`${M}/columns/${id.id}`, { ...id, title: 'Nr' })
    expect(renamed.body.columns[0]).toMatchObject({ title: 'Nr', pk: true, uidt: 'ID' })
  })

  test('PATCH converts among stored types, and names those that it cannot', async () => {
    const column = await post({ title: freshTitle(), uidt: 'SingleLineText' })
    const answer = await shop.rest.patch(`${M}/columns/${column.id}`, { uidt: 'Number' })
    expect(answer.body.columnsById[column.id]).toMatchObject({
      uidt: 'Number',
      title: column.title,
      dt: database === 'postgres' ? 'bigint' : 'integer',
    })
    expect(await shop.rest.patch(`${M}/columns/${column.id}`, { uidt: 'Formula' })).toMatchObject({
      status: 501,
      body: { error: 'NOT_IMPLEMENTED', message: 'Updating Number => Formula is not implemented' },
    })
    expect((await shop.rest.patch(`${M}/columns/${column.id}`, { uidt: 'Nonsense' })).status).toBe(400)
  })

  test('refuses duplicates, unknown types and virtual ones in their words', async () => {
    const send = (body: Column) => shop.rest.post(`${M}/tables/${tableId}/columns`, body)
    const { body } = await shop.rest.get(`${M}/tables/${tableId}`)
    expect(await send({ title: 'title', uidt: 'Number' })).toMatchObject({
      status: 422,
      body: {
        error: 'DUPLICATE_ALIAS',
        message: `Duplicate column alias 'title' at table '${tableId}', base '${body.base_id}'`,
      },
    })
    expect(await send({ title: freshTitle(), uidt: 'AI' })).toMatchObject({
      status: 501,
      body: { error: 'NOT_IMPLEMENTED', message: 'The field type AI is not implemented' },
    })
    expect((await send({ title: freshTitle(), uidt: 'ForeignKey' })).status).toBe(400)
    expect((await send({ uidt: 'Number' })).body.errors[0]).toMatchObject({
      params: { missingProperty: 'title' },
    })
    expect((await send({ title: freshTitle(), uidt: 'ID' })).status).toBe(400)
    expect(await send({ title: freshTitle(), uidt: 'Number', pk: true })).toMatchObject({ status: 501 })
    expect((await send({ title: freshTitle(), uidt: 'Number', cdf: 'abc' })).status).toBe(400)
  })

  test('column_name alone is a title, and its own name in the database', async () => {
    const column = await post({ column_name: 'my col!', uidt: 'Number' })
    expect(column).toMatchObject({ title: 'my col!', column_name: 'my_col_' })
  })

  test('column_order puts the column there in that view', async () => {
    const [view] = (await shop.rest.get(`${M}/tables/${tableId}/views`)).body.list
    const column = await post({
      title: freshTitle(),
      uidt: 'Number',
      column_order: { order: 0.25, view_id: view.id },
    })
    const lines = (await shop.rest.get(`${M}/grids/${view.id}/grid-columns`)).body
    expect(lines.find((line: Column) => line.fk_column_id === column.id).order).toBe(0.25)
  })

  test('DELETE answers with the table; POST primary moves the mark; some are refused', async () => {
    const column = await post({ title: freshTitle(), uidt: 'SingleLineText' })
    const { body } = await shop.rest.get(`${M}/tables/${tableId}`)
    const shown = body.columns.find((candidate: Column) => candidate.pv)
    expect(await shop.rest.delete(`${M}/columns/${body.columns[0].id}`)).toMatchObject({
      status: 400,
      body: { msg: `The column '${body.columns[0].title}' is a system column and cannot be deleted.` },
    })
    expect((await shop.rest.delete(`${M}/columns/${shown.id}`)).status).toBe(400)
    expect((await shop.rest.post(`${M}/columns/${column.id}/primary`)).body).toBe(true)
    const after = await shop.rest.delete(`${M}/columns/${shown.id}`)
    expect(after.body.columns.map(({ id }: Column) => id)).not.toContain(shown.id)
    expect(after.body.columnsById[column.id].pv).toBe(true)
    expect(await shop.rest.get(`${M}/columns/${shown.id}`)).toMatchObject({
      status: 404,
      body: { error: 'FIELD_NOT_FOUND', message: `Field '${shown.id}' not found` },
    })
  })

  test('POST bulk carries out what it can, names what it cannot, and refuses an old hash', async () => {
    const { table } = await createTable(shop)
    const path = `${M}/tables/${table.id}/columns`
    const { hash } = (await shop.rest.get(`${path}/hash`)).body
    const ops = [
      { op: 'add', column: { title: 'A', uidt: 'Number' } },
      { op: 'add', column: { title: 'a', uidt: 'Number' } },
      { op: 'update', column: { id: 'cxxxxxxxxxxxxxx', title: 'X' } },
      { op: 'delete', column: { id: 'c' } },
    ]
    const answer = await shop.rest.post(`${path}/bulk`, { hash, ops })
    expect(answer.status).toBe(200)
    expect(answer.body.failedOps).toMatchObject([
      { op: 'add', column: { title: 'a' } },
      { op: 'update', error: "Field 'cxxxxxxxxxxxxxx' not found" },
      { op: 'delete', error: "Field 'c' not found" },
    ])
    expect(await shop.rest.post(`${path}/bulk`, { hash, ops })).toMatchObject({
      status: 409,
      body: { error: 'OUT_OF_SYNC' },
    })
    const { body } = await shop.rest.get(`${M}/tables/${table.id}`)
    expect(body.columns.at(-1).title).toBe('A')
    expect(body.columnsHash).not.toBe(hash)
  })
})
