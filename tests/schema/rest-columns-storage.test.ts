import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { databases, freshTitle, openWorkshop, type Workshop } from './support.ts'

const M = '/api/v1/db/meta'

// biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects of an answer
type Column = Record<string, any>

/** What of a column does not change with time. */
const lasting = ({ updated_at: _, colOptions: __, ...column }: Column): Column => column

const titlesOf = (column: Column): string[] => column.colOptions.options.map(({ title }: Column) => title)

describe.each([...databases])('how columns are stored, over REST, metadata in %s', (database) => {
  let shop: Workshop
  beforeAll(async () => {
    shop = await openWorkshop(database)
  })
  afterAll(() => shop.app.stop())

  async function createTable(columns: Column[]): Promise<Column> {
    const title = freshTitle()
    const answer = await shop.rest.post(`${M}/projects/${shop.baseId}/tables`, {
      title,
      table_name: title,
      columns,
    })
    expect([answer.status, answer.body.msg]).toEqual([200, undefined])
    return answer.body
  }
  const columnOf = (table: Column, title: string): Column =>
    table.columns.find((column: Column) => column.title === title)
  const patch = (id: string, body: Column) => shop.rest.patch(`${M}/columns/${id}`, body)

  describe('options in dtxp', () => {
    test('make the options of a new table, and records can use them', async () => {
      const table = await createTable([
        { column_name: 'title', title: 'Title', uidt: 'SingleLineText', pv: true },
        {
          column_name: 'genre',
          title: 'Genre',
          uidt: 'SingleSelect',
          dt: 'text',
          dtxp: "'Fiction','Science'",
        },
        {
          column_name: 'tags',
          title: 'Tags',
          uidt: 'MultiSelect',
          dtxp: "'it''s', 'b'",
          colOptions: { options: [] },
        },
        { column_name: 'bare', title: 'Bare', uidt: 'SingleSelect', dtxp: 'x, y' },
      ])
      expect(titlesOf(columnOf(table, 'Genre'))).toEqual(['Fiction', 'Science'])
      expect(titlesOf(columnOf(table, 'Tags'))).toEqual(["it's", 'b'])
      expect(titlesOf(columnOf(table, 'Bare'))).toEqual(['x', 'y'])
      const path = `/api/v2/tables/${table.id}/records`
      expect((await shop.rest.post(path, { Title: 'a', Genre: 'Science', Tags: "it's,b" })).status).toBe(200)
      expect((await shop.rest.get(path)).body.list).toMatchObject([{ Genre: 'Science', Tags: "it's,b" }])
    })

    test('make those of a new column, one by one and in bulk, and are refused where they are none', async () => {
      const table = await createTable([{ title: 'Title', uidt: 'SingleLineText' }])
      const path = `${M}/tables/${table.id}/columns`
      const one = await shop.rest.post(path, { title: 'One', uidt: 'SingleSelect', dtxp: "'a','b'" })
      expect(titlesOf(columnOf(one.body, 'One'))).toEqual(['a', 'b'])
      const { hash } = (await shop.rest.get(`${path}/hash`)).body
      const column = { title: 'Bulk', uidt: 'MultiSelect', dtxp: "'c'" }
      expect(
        (await shop.rest.post(`${path}/bulk`, { hash, ops: [{ op: 'add', column }] })).body.failedOps,
      ).toEqual([])
      const after = (await shop.rest.get(`${M}/tables/${table.id}`)).body
      expect(titlesOf(columnOf(after, 'Bulk'))).toEqual(['c'])
      for (const [dtxp, msg] of [
        ["'a','a'", 'Duplicates are not allowed!'],
        ["'a',''", 'Empty options are not allowed!'],
      ]) {
        const refused = await shop.rest.post(path, { title: freshTitle(), uidt: 'SingleSelect', dtxp })
        expect([refused.status, refused.body.msg]).toEqual([400, msg])
      }
    })

    test('change those of a column, which keep their ids and their records', async () => {
      const table = await createTable([
        { title: 'Title', uidt: 'SingleLineText' },
        { title: 'S', uidt: 'SingleSelect', dtxp: "'a','b'" },
      ])
      const path = `/api/v2/tables/${table.id}/records`
      await shop.rest.post(path, [{ S: 'a' }, { S: 'b' }])
      const { id, colOptions } = columnOf(table, 'S')
      const { body } = await patch(id, { dtxp: "'b','c'" })
      expect(titlesOf(columnOf(body, 'S'))).toEqual(['b', 'c'])
      expect(columnOf(body, 'S').colOptions.options[0].id).toBe(colOptions.options[1].id)
      expect((await shop.rest.get(path)).body.list).toMatchObject([{ S: null }, { S: 'b' }])
      // A client that edits `colOptions` sends the old list along.
      const renamed = columnOf(body, 'S').colOptions.options.map((option: Column) => ({
        ...option,
        title: `${option.title}!`,
      }))
      const again = await patch(id, { ...columnOf(body, 'S'), colOptions: { options: renamed } })
      expect(titlesOf(columnOf(again.body, 'S'))).toEqual(['b!', 'c!'])
      const both = await patch(id, { colOptions: { options: renamed }, dtxp: "'x'" })
      expect([both.status, both.body.msg]).toEqual([
        400,
        '"dtxp" and "colOptions" name different options: send one of them',
      ])
    })
  })

  describe('PATCH of a column', () => {
    let table: Column
    beforeAll(async () => {
      table = await createTable([
        {
          column_name: 'id',
          title: 'Id',
          uidt: 'ID',
          dt: 'int4',
          pk: true,
          ai: true,
          rqd: true,
          un: true,
          dtxp: '11',
        },
        { title: 'Title', uidt: 'SingleLineText', dt: 'varchar', dtxp: '45', clen: 45, ct: 'varchar(45)' },
        { title: 'Num', uidt: 'Number' },
        { title: 'Dec', uidt: 'Decimal', meta: { precision: 2 } },
        { title: 'When', uidt: 'DateTime' },
        { title: 'Sel', uidt: 'SingleSelect', dtxp: "'a'" },
        { title: 'Dur', uidt: 'Duration' },
        { title: 'Raw', uidt: 'SpecificDBType', dt: 'inet' },
      ])
      const sum = { title: 'Sum', uidt: 'Formula', formula_raw: '{Num} + 1' }
      table = (await shop.rest.post(`${M}/tables/${table.id}/columns`, sum)).body
    })

    test.each([
      ['Num', { un: true }, 'cannot be made unsigned'],
      ['Num', { ai: 1 }, 'only the column of the type ID counts by itself'],
      ['Id', { ai: false }, 'only the column of the type ID counts by itself'],
      ['When', { au: true }, 'LastModifiedTime'],
      ['Num', { pk: true }, 'primary key'],
      ['Num', { dt: 'varchar' }, "cannot be stored as 'varchar': the type Number is stored as"],
      ['Title', { dt: 'bigint' }, "cannot be stored as 'bigint'"],
      ['Title', { dtxp: '45' }, 'A length (dtxp) cannot be set'],
      ['Title', { clen: 45 }, 'A length (clen) cannot be set'],
      ['Title', { ct: 'varchar(45)' }, 'A full column type (ct) cannot be set'],
      ['Dec', { dtxp: '10,4' }, 'meta.precision says how many decimals are shown'],
      ['Dec', { dtxs: '4' }, 'A scale (dtxs) cannot be set'],
      ['Dec', { np: 12 }, 'A precision (np) cannot be set'],
    ] as [string, Column, string][])(
      '%s: refuses %j by name, and changes nothing',
      async (title, body, reason) => {
        const before = (await shop.rest.get(`${M}/tables/${table.id}`)).body
        const { id } = columnOf(before, title)
        const refused = await patch(id, { title: 'Other', ...body })
        expect(refused.status).toBe(400)
        expect(refused.body.msg).toContain(`column '${title}'`.slice(1))
        expect(refused.body.msg).toContain(reason)
        const { hash } = (await shop.rest.get(`${M}/tables/${table.id}/columns/hash`)).body
        expect(hash).toBe(before.columnsHash)
        const ops = [{ op: 'update', column: { ...body, id } }]
        const bulk = await shop.rest.post(`${M}/tables/${table.id}/columns/bulk`, { hash, ops })
        expect(bulk.body.failedOps).toMatchObject([{ error: expect.stringContaining(reason) }])
      },
    )

    test('takes a whole column back unchanged, whatever its type', async () => {
      for (const column of (await shop.rest.get(`${M}/tables/${table.id}`)).body.columns as Column[]) {
        if (column.system) continue
        const { status, body } = await patch(column.id, column)
        expect([column.title, status, body.msg]).toEqual([column.title, 200, undefined])
        const after = columnOf(body, column.title)
        expect(after).toMatchObject(lasting(column))
      }
    })

    test('takes other spellings of the same type, and the sizes that clients send with a new type', async () => {
      const { id } = columnOf(table, 'Num')
      expect((await patch(id, { dt: 'int8' })).status).toBe(200)
      expect((await patch(id, { dt: 'bigint(20)' })).status).toBe(200)
      const become = async (body: Column) => (await patch(id, body)).status
      expect(
        await become({ uidt: 'Decimal', dt: 'numeric', dtxp: '10', dtxs: '2', ct: 'int(11)', clen: 11 }),
      ).toBe(200)
      expect(await become({ uidt: 'SingleLineText', dt: 'character varying', dtxp: '255' })).toBe(200)
      expect(await become({ uidt: 'Number', dt: 'date' })).toBe(400)
      expect(await become({ uidt: 'SingleSelect', dt: 'text', dtxp: "'1','2'" })).toBe(200)
      const after = (await shop.rest.get(`${M}/columns/${id}`)).body
      expect([after.uidt, titlesOf(after)]).toEqual(['SingleSelect', ['1', '2']])
      expect((await patch(columnOf(table, 'Raw').id, { dt: 'macaddr' })).status).toBe(200)
      expect((await shop.rest.get(`${M}/columns/${columnOf(table, 'Raw').id}`)).body.dt).toBe('macaddr')
    })
  })

  test('POST refuses flags that a new column cannot have', async () => {
    const table = await createTable([{ title: 'Title', uidt: 'SingleLineText' }])
    for (const [body, reason] of [
      [{ uidt: 'Number', un: true }, 'unsigned'],
      [{ uidt: 'Number', ai: true }, 'type ID counts by itself'],
      [{ uidt: 'DateTime', au: 1 }, 'LastModifiedTime'],
    ] as [Column, string][]) {
      const refused = await shop.rest.post(`${M}/tables/${table.id}/columns`, { title: 'New', ...body })
      expect([refused.status, refused.body.msg]).toEqual([400, expect.stringContaining(reason)])
    }
  })
})
