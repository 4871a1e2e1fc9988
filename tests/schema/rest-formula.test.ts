import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createTable, databases, openWorkshop, type Workshop } from './support.ts'

const M = '/api/v1/db/meta'
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\+00:00$/)

// biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects of an answer
type Column = Record<string, any>

describe.each([...databases])('formulas and buttons over REST, metadata in %s', (database) => {
  let shop: Workshop
  let tableId: string
  let made = 0

  beforeAll(async () => {
    shop = await openWorkshop(database)
  })
  afterAll(() => shop.app.stop())

  async function newTable(): Promise<Column[]> {
    const { table } = await createTable(shop, [
      { type: 'SingleLineText', title: 'Title' },
      { type: 'Decimal', title: 'Price' },
    ])
    tableId = table.id
    await shop.rest.post(`/api/v2/tables/${tableId}/records`, [
      { Title: 'a', Price: 2 },
      { Title: 'b', Price: 3.5 },
    ])
    return columns()
  }
  const columns = async (): Promise<Column[]> => (await shop.rest.get(`${M}/tables/${tableId}`)).body.columns
  const titled = (list: Column[], title: string): Column => {
    const found = list.find((column) => column.title === title)
    if (!found) throw new Error(`There is no column "${title}"`)
    return found
  }
  const post = (column: Column) =>
    shop.rest.post(`${M}/tables/${tableId}/columns`, { uidt: 'Formula', title: `F${++made}`, ...column })
  const cells = async (title: string) =>
    (await shop.rest.get(`/api/v2/tables/${tableId}/records`)).body.list.map((row: Column) => row[title])

  test('a formula has every key that clients know', async () => {
    const price = titled(await newTable(), 'Price').id
    const answer = await post({ title: 'Twice', formula_raw: "CONCAT({Price}*2+1, 'x')" })
    expect(answer.status).toBe(200)
    const column = titled(answer.body.columns, 'Twice')
    expect(column).toMatchObject({
      uidt: 'Formula',
      column_name: 'Twice',
      dt: null,
      pk: null,
      rqd: null,
      virtual: null,
      colOptions: {
        id: `f${column.id.slice(1)}`,
        fk_column_id: column.id,
        formula: `CONCAT((({{${price}}} * 2) + 1), "x")`,
        formula_raw: "CONCAT({Price}*2+1, 'x')",
        parsed_tree: { type: 'CallExpression', dataType: 'string', callee: { name: 'CONCAT' } },
        error: null,
        deleted: null,
        base_id: shop.baseId,
        created_at: TIME,
        updated_at: TIME,
      },
    })
    expect(await cells('Twice')).toEqual(['5x', '8x'])
  })

  test('`formula` may hold titles or ids, and a changed `formula_raw` goes before it', async () => {
    const price = titled(await newTable(), 'Price').id
    await post({ title: 'One', formula: `{{${price}}} + 1` })
    expect(await cells('One')).toEqual([3, 4.5])
    const one = titled(await columns(), 'One')
    const patched = await shop.rest.patch(`${M}/columns/${one.id}`, {
      ...one,
      ...one.colOptions,
      id: one.id,
      formula_raw: '{Price} > 3',
    })
    expect(patched.status).toBe(200)
    expect(titled(patched.body.columns, 'One').colOptions.formula_raw).toBe('{Price} > 3')
    expect(await cells('One')).toEqual([0, 1])
    const renamed = await shop.rest.patch(`${M}/columns/${one.id}`, { title: 'Two' })
    expect(titled(renamed.body.columns, 'Two').colOptions.formula_raw).toBe('{Price} > 3')
    await shop.rest.patch(`${M}/columns/${price}`, { title: 'Cost' })
    expect(titled(await columns(), 'Two').colOptions.formula_raw).toBe('{Cost} > 3')
  })

  test.each([
    ['NOPE(1)', 'Function NOPE is not available'],
    ['LEN()', 'Required arguments missing'],
    ['ROUND()', 'Minimum arguments required'],
    ['ROUND(1, 2, 3)', 'Maximum arguments missing'],
    ['ROUND({Price}', 'Expected ) at character 13'],
    ['1+', 'Expected expression after + at character 2'],
    ['', 'Compound statement is not supported'],
    ['!{Price}', "Unary expression '!' is not supported"],
    ['DATEADD({Price}, 1, "day")', 'First parameter of DATEADD should be a date'],
    ['{Nope}', 'Invalid column name/id Nope in formula'],
  ])('refuses %s', async (formula_raw, msg) => {
    await newTable()
    const { status, body } = await post({ formula_raw })
    expect([status, body.msg]).toEqual([400, msg])
    expect((await columns()).filter((column) => column.uidt === 'Formula')).toEqual([])
  })

  test('says what a deletion has broken', async () => {
    const price = titled(await newTable(), 'Price').id
    await post({ title: 'Sum', formula_raw: '{Price} + 1' })
    await shop.rest.delete(`${M}/columns/${price}`)
    expect(titled(await columns(), 'Sum').colOptions).toMatchObject({
      error: "Column 'Price' was deleted",
      parsed_tree: null,
      formula: `{{${price}}} + 1`,
    })
    expect(await cells('Sum')).toEqual(['ERR', 'ERR'])
    // A client that renames it sends the whole column back.
    const sum = titled(await columns(), 'Sum')
    const sent = { ...sum, ...sum.colOptions, id: sum.id, title: 'Total' }
    const renamed = await shop.rest.patch(`${M}/columns/${sum.id}`, sent)
    expect([renamed.status, titled(renamed.body.columns, 'Total').id]).toEqual([200, sum.id])
  })

  test('changing another type to a formula is not implemented', async () => {
    const price = titled(await newTable(), 'Price').id
    const to = await shop.rest.patch(`${M}/columns/${price}`, { uidt: 'Formula', formula_raw: '1' })
    expect([to.status, to.body.message]).toEqual([501, 'Updating Decimal => Formula is not implemented'])
  })

  test('a button has every key, and its cells are what it opens', async () => {
    await newTable()
    const looks = { type: 'url', label: 'Open', theme: 'light', color: 'green', icon: 'open' }
    const answer = await post({
      uidt: 'Button',
      title: 'Go',
      ...looks,
      formula_raw: 'CONCAT("https://e.com/", {Title})',
    })
    const column = titled(answer.body.columns, 'Go')
    expect(column.colOptions).toMatchObject({
      id: `btn${column.id.slice(1)}`,
      fk_column_id: column.id,
      ...looks,
      error: null,
      formula_raw: 'CONCAT("https://e.com/", {Title})',
      fk_webhook_id: null,
      fk_integration_id: null,
    })
    expect(await cells('Go')).toEqual([
      { type: 'url', label: 'Open', url: 'https://e.com/a' },
      { type: 'url', label: 'Open', url: 'https://e.com/b' },
    ])
    const bare = await post({ uidt: 'Button', title: 'Bare' })
    expect(titled(bare.body.columns, 'Bare').colOptions).toMatchObject({ formula: null, formula_raw: null })
    const hook = await post({
      uidt: 'Button',
      title: 'Hook',
      type: 'webhook',
      label: 'Run',
      fk_webhook_id: 'hk1',
    })
    expect(titled(hook.body.columns, 'Hook').colOptions).toMatchObject({
      type: 'webhook',
      fk_webhook_id: 'hk1',
    })
    expect(await cells('Hook')).toEqual([
      { type: 'webhook', label: 'Run', fk_webhook_id: 'hk1' },
      { type: 'webhook', label: 'Run', fk_webhook_id: 'hk1' },
    ])
    expect((await post({ uidt: 'Button', type: 'nope' })).status).toBe(400)
  })
})
