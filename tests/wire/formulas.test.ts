import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { column, createTable, M, openShop, type Shop } from './support.ts'

// Wire §8.1 and §8.3 for formulas and buttons: what is kept of them, and how they are refused.

// biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects of an answer
type Column = Record<string, any>

let shop: Shop
let table: Column
beforeAll(async () => {
  shop = await openShop()
  table = await createTable(shop, 'Formulas', [
    { title: 'N', column_name: 'n', uidt: 'Number' },
    { title: 'D', column_name: 'd', uidt: 'Date' },
    { title: 'T', column_name: 't', uidt: 'SingleLineText' },
  ])
})
afterAll(() => shop.app.stop())

let made = 0
const send = (sent: Column) =>
  shop.rest.post(`${M}/tables/${table.id}/columns`, { uidt: 'Formula', title: `f${++made}`, ...sent })
async function post(sent: Column): Promise<Column> {
  const title = sent.title ?? `x${++made}`
  const { status, body } = await send({ ...sent, title })
  if (status !== 200) throw new Error(JSON.stringify(body))
  return column(body, title)
}
const idOf = (title: string) => column(table as never, title).id
const read = async (query = '') => (await shop.rest.get(`/api/v2/tables/${table.id}/records${query}`)).body

describe('a formula column', () => {
  test('has every key, and nothing of a database', async () => {
    const { colOptions, ...rest } = await post({ formula_raw: "concat({T}, 'x') & 1" })
    expect(rest).toMatchObject({
      uidt: 'Formula',
      column_name: rest.title,
      dt: null,
      virtual: null,
      pk: null,
    })
    expect(Object.keys(colOptions)).toEqual([
      'id',
      'fk_column_id',
      'formula',
      'formula_raw',
      'parsed_tree',
      'error',
      'deleted',
      'order',
      'created_at',
      'updated_at',
      'base_id',
    ])
    expect(colOptions).toMatchObject({
      id: expect.stringMatching(/^f[a-z0-9]{14}$/),
      fk_column_id: rest.id,
      error: null,
      formula: `(CONCAT({{${idOf('T')}}}, "x") & 1)`,
      formula_raw: "concat({T}, 'x') & 1",
      parsed_tree: { type: 'BinaryExpression', dataType: 'string', left: { type: 'CallExpression' } },
    })
  })

  test('may begin with a minus', async () => {
    const { id, title, colOptions } = await post({ formula_raw: '2 * -({N} + 1) - -{N}' })
    const named = `{{${idOf('N')}}}`
    expect(colOptions.formula).toBe(`((2 * (-(${named} + 1))) - (-${named}))`)
    expect(colOptions.formula_raw).toBe('2 * -({N} + 1) - -{N}')
    expect(colOptions.parsed_tree.right).toMatchObject({
      type: 'UnaryExpression',
      operator: '-',
      prefix: true,
      dataType: 'numeric',
      argument: { type: 'Identifier', name: idOf('N') },
    })
    // What clients are given can be sent back, and means the same.
    const again = await shop.rest.patch(`${M}/columns/${id}`, {
      formula: colOptions.formula,
      formula_raw: null,
    })
    expect(again.body.columnsById[id].colOptions.formula).toBe(colOptions.formula)
    const row = await shop.rest.post(`/api/v2/tables/${table.id}/records`, { N: 4 })
    expect((await read(`/${row.body.Id}?fields=${title}`))[title]).toBe(-6)
    await shop.rest.delete(`/api/v2/tables/${table.id}/records`, { Id: row.body.Id })
  })

  test('that is no more than a reference says so at the root of its tree', async () => {
    const { colOptions } = await post({ formula_raw: '{N}' })
    expect(colOptions.parsed_tree).toEqual({
      type: 'Identifier',
      name: idOf('N'),
      raw: `{{${idOf('N')}}}`,
      dataType: 'numeric',
      referencedColumn: { id: idOf('N'), uidt: 'Number' },
      uidtCandidates: ['Number'],
      invalidForReferenceColumn: false,
    })
  })

  test('is taken by the ids of its columns too, and follows a column that is renamed', async () => {
    const { id, colOptions } = await post({ formula: `{{${idOf('D')}}}` })
    expect(colOptions.formula_raw).toBe('{D}')
    const { body } = await shop.rest.patch(`${M}/columns/${idOf('D')}`, { title: 'Due on' })
    expect(body.columnsById[id].colOptions.formula_raw).toBe('{Due on}')
    await shop.rest.patch(`${M}/columns/${idOf('D')}`, { title: 'D' })
  })

  test('is changed by its formula alone', async () => {
    const { id, title } = await post({ formula_raw: '{N} + 1' })
    const { status, body } = await shop.rest.patch(`${M}/columns/${id}`, { formula_raw: '{N} * 2' })
    expect([status, body.columnsById[id].colOptions.formula_raw]).toEqual([200, '{N} * 2'])
    await shop.rest.post(`/api/v2/tables/${table.id}/records`, { N: 21 })
    expect((await read(`?fields=${title}`)).list).toEqual([{ [title]: 42 }])
  })
})

describe('a formula', () => {
  test.each<[unknown, string]>([
    ['NOPE(1)', 'Function NOPE is not available'],
    ['ROUND()', 'Minimum arguments required'],
    ['ROUND(1, 2, 3)', 'Maximum arguments missing'],
    ['LEFT(1)', 'Required arguments missing'],
    ['UPPER(', 'Expected ) at character 6'],
    ['1 +', 'Expected expression after + at character 3'],
    ['', 'Compound statement is not supported'],
    [undefined, 'Compound statement is not supported'],
    ['{N} {T}', 'Compound statement is not supported'],
    ['!1', "Unary expression '!' is not supported"],
    ['-{T}', 'Numeric type is expected'],
    ['ROUND("a")', 'ROUND requires a numeric at position 1'],
    ['ROUND({T})', 'Field T with string type is found but numeric type is expected'],
    ['DATEADD(1, 1, "day")', 'First parameter of DATEADD should be a date'],
    ['DATEADD({D}, "x", "day")', 'Second parameter of DATEADD should be a number'],
    [
      'DATEADD({D}, 1, "x")',
      "Third parameter of DATEADD should be one of 'day', 'week', 'month', 'year', 'hour', 'minute', 'second'",
    ],
    ['WEEKDAY({D}, "x")', 'Second parameter of WEEKDAY should be day of week string'],
    ['{Nope} + 1', 'Invalid column name/id Nope in formula'],
  ])('%j is refused', async (formula_raw, msg) => {
    const { status, body } = await send({ formula_raw })
    expect([status, body]).toEqual([400, { msg }])
  })

  test('that reads itself is refused, over another one too', async () => {
    const first = await post({ formula_raw: '{N}' })
    const second = await post({ formula_raw: `{${first.title}} + 1` })
    for (const { title } of [first, second]) {
      const { status, body } = await shop.rest.patch(`${M}/columns/${first.id}`, {
        formula_raw: `{${title}}`,
      })
      expect([status, body.msg]).toEqual([400, 'Circular reference detected'])
    }
    const { colOptions } = (await shop.rest.get(`${M}/columns/${first.id}`)).body
    expect(colOptions.formula_raw).toBe('{N}')
  })

  test('whose column is deleted says so, and reads ERR', async () => {
    const gone = await post({ uidt: 'Number', title: 'Price' })
    const { id, title } = await post({ formula_raw: '{Price} + 1' })
    const { body } = await shop.rest.delete(`${M}/columns/${gone.id}`)
    expect(body.columnsById[id].colOptions.error).toBe("Column 'Price' was deleted")
    expect((await read(`?fields=${title}&limit=1`)).list).toEqual([{ [title]: 'ERR' }])
    // The table is read as before, and the column can be sent back, mended or deleted.
    expect((await read()).list).not.toHaveLength(0)
    const mended = await shop.rest.patch(`${M}/columns/${id}`, { formula_raw: '{N}' })
    expect(mended.body.columnsById[id].colOptions.error).toBeNull()
  })
})

describe('a button', () => {
  test('has every key, whatever of it was sent', async () => {
    const bare = await post({ uidt: 'Button' })
    expect(bare.colOptions).toMatchObject({
      id: expect.stringMatching(/^btn[a-z0-9]{14}$/),
      type: 'url',
      label: null,
      icon: null,
      formula: null,
      formula_raw: null,
      parsed_tree: null,
      error: null,
      fk_webhook_id: null,
      fk_integration_id: null,
      model: null,
      output_column_ids: null,
      fk_workspace_id: null,
    })
    const sent = { type: 'url', label: 'Open', theme: 'light', color: 'red', icon: 'link' }
    const { title, colOptions } = await post({
      uidt: 'Button',
      ...sent,
      formula_raw: 'CONCAT("https://e.com/", {T})',
    })
    expect(colOptions).toMatchObject({ ...sent, formula: `CONCAT("https://e.com/", {{${idOf('T')}}})` })
    const { Id } = (await shop.rest.post(`/api/v2/tables/${table.id}/records`, { T: 'Hobbit' })).body
    expect((await shop.rest.get(`/api/v2/tables/${table.id}/records/${Id}`)).body[title]).toEqual({
      type: 'url',
      label: 'Open',
      url: 'https://e.com/Hobbit',
    })
  })

  test('is sent back as it is, and changed in part', async () => {
    const { id, ...rest } = await post({ uidt: 'Button', label: 'Go', formula_raw: '"http://a"' })
    const patch = async (sent: Column) =>
      (await shop.rest.patch(`${M}/columns/${id}`, sent)).body.columnsById[id].colOptions
    const { updated_at: _, ...before } = rest.colOptions
    expect(await patch({ ...rest, ...rest.colOptions, id, title: rest.title })).toMatchObject(before)
    expect(await patch({ label: 'Come' })).toMatchObject({ label: 'Come', formula_raw: '"http://a"' })
  })

  test.each([
    [{ type: 'script' }, 'The type of a button must be one of: url, webhook, update'],
    [{ theme: 'loud' }, 'The theme of a button must be one of: solid, light, text'],
    [{ formula_raw: 'NOPE(1)' }, 'Function NOPE is not available'],
  ])('refuses %p', async (sent, msg) => {
    const { status, body } = await send({ uidt: 'Button', ...sent })
    expect([status, body.msg]).toEqual([400, msg])
  })
})
