import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { column, createTable, M, openShop, outcome, type Shop } from './support.ts'

// Wire §8.3 and §8.4: columns of every type are made, sent back as they were read, changed and deleted.

// biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects of an answer
type Column = Record<string, any>

let shop: Shop
let author: Column
let book: Column
/** A has-many link of the authors, and the price of their books. */
let books: string
let price: string
beforeAll(async () => {
  shop = await openShop()
  author = await createTable(shop, 'Author')
  book = await createTable(shop, 'Book', [{ title: 'Price', column_name: 'price', uidt: 'Decimal' }])
  price = column(book as never, 'Price').id
  const link = { title: 'Books', uidt: 'Links', parentId: author.id, childId: book.id, type: 'hm' }
  books = (await post(link)).id
})
afterAll(() => shop.app.stop())

let made = 0
const send = (sent: Column) => shop.rest.post(`${M}/tables/${author.id}/columns`, sent)
const get = async (): Promise<Column> => (await shop.rest.get(`${M}/tables/${author.id}`)).body
const patch = (id: string, sent: object) => shop.rest.patch(`${M}/columns/${id}`, sent)

/** Posts a column and gives it as the answer's table shows it. */
async function post(sent: Column): Promise<Column> {
  const title = sent.title ?? `f${++made}`
  const { status, body } = await send({ title, ...sent })
  if (status !== 200) throw new Error(JSON.stringify(body))
  return column(body, title)
}

/** A column as it is whenever it was last written. */
function lasting({ updated_at: _, colOptions, ...rest }: Column): Column {
  if (!colOptions) return rest
  const { updated_at: __, ...options } = colOptions
  return { ...rest, colOptions: options }
}

const pairs = { parentId: () => author.id, childId: () => book.id }
const options = { colOptions: { options: [{ title: 'a' }, { title: 'b', color: '#123456' }] } }

/** A payload of every type, with what it can carry; values that are known only later are functions. */
const PAYLOADS: Column[] = [
  ...['LongText', 'Percent', 'Date', 'Time', 'PhoneNumber', 'Email', 'URL', 'Attachment', 'JSON'].map(
    (uidt) => ({ uidt }),
  ),
  ...['GeoData', 'Geometry', 'Collaborator', 'AutoNumber', 'CreatedTime', 'LastModifiedTime'].map((uidt) => ({
    uidt,
  })),
  { uidt: 'CreatedBy' },
  { uidt: 'LastModifiedBy' },
  { uidt: 'SingleLineText', cdf: 'x', unique: true, description: 'what it is' },
  { uidt: 'Number', cdf: 5, meta: { isLocaleString: true } },
  { uidt: 'Decimal', cdf: '1.5', dtxp: '10,2', meta: { precision: 3 } },
  { uidt: 'Currency', cdf: 9.5, meta: { currency_locale: 'de-DE', currency_code: 'EUR' } },
  { uidt: 'Duration', cdf: '5400' },
  { uidt: 'Duration', cdf: '90', meta: { duration: 2 } },
  { uidt: 'Rating', cdf: 3, meta: { max: 7 } },
  { uidt: 'Checkbox', cdf: true },
  { uidt: 'Year', cdf: '2024' },
  { uidt: 'Time', cdf: '10:11:12', meta: { is12hrFormat: true } },
  { uidt: 'DateTime', cdf: '2024-01-02 10:00:00', meta: { time_format: 'HH:mm:ss' } },
  { uidt: 'SingleSelect', cdf: 'a', dtxp: "'is','ignored'", ...options },
  { uidt: 'MultiSelect', cdf: 'a,b', ...options },
  { uidt: 'User', cdf: () => shop.admin.id, meta: { is_multi: true, notify: true } },
  { uidt: 'SpecificDBType', dt: 'blob' },
  { uidt: 'Links', type: 'mm', ...pairs },
  { uidt: 'LinkToAnotherRecord', type: 'mm', ...pairs },
  { uidt: 'LinkToAnotherRecord', type: 'oo', ...pairs },
  { uidt: 'LinkToAnotherRecord', type: 'bt', parentId: () => book.id, childId: () => author.id },
  { uidt: 'Lookup', fk_relation_column_id: () => books, fk_lookup_column_id: () => price },
  {
    uidt: 'Rollup',
    fk_relation_column_id: () => books,
    fk_rollup_column_id: () => price,
    rollup_function: 'sum',
  },
  { uidt: 'Count', fk_relation_column_id: () => books },
  { uidt: 'QrCode', fk_qr_value_column_id: () => column(author as never, 'Title').id },
  {
    uidt: 'Barcode',
    fk_barcode_value_column_id: () => column(author as never, 'Title').id,
    meta: { barcodeFormat: 'CODE39' },
  },
]

const known = (payload: Column): Column =>
  Object.fromEntries(
    Object.entries(payload).map(([key, value]) => [key, typeof value === 'function' ? value() : value]),
  )
const nameOf = ({ uidt, type }: Column): string => (type ? `${uidt} (${type})` : uidt)

describe('a column', () => {
  test.each(PAYLOADS.map((payload): [string, Column] => [nameOf(payload), payload]))(
    'of the type %s stays as it is when a client sends it back',
    async (_, payload) => {
      const column = await post(known(payload))
      const { id } = column
      const sent: Column[] = [
        column,
        // Clients of computed columns lay the options beside the rest.
        { ...column, ...column.colOptions, id, title: column.title, meta: JSON.stringify(column.meta) },
        { colOptions: column.colOptions },
      ]
      for (const body of sent) {
        const answer = await patch(id, body)
        expect([answer.status, answer.body.msg]).toEqual([200, undefined])
        expect(lasting(answer.body.columnsById[id])).toEqual(lasting(column))
        expect(answer.body.columns.find((one: Column) => one.id === id)).toEqual(answer.body.columnsById[id])
      }
    },
  )

  test.each([
    ['Duration', {}, '5400', '5400'],
    ['DateTime', { timezone: 'Asia/Tokyo' }, '2024-03-05 08:20', '2024-03-05 08:20:00+00:00'],
  ])(
    'of the type %s has the default value that was sent, however it is shown',
    async (uidt, meta, sent, kept) => {
      const { id, cdf } = await post({ uidt, meta, cdf: sent })
      expect(cdf).toBe(kept)
      await patch(id, { cdf: null })
      const { body } = await patch(id, { cdf: sent })
      expect(body.columnsById[id].cdf).toBe(kept)
    },
  )

  test('keeps a text as its default value that names the present elsewhere', async () => {
    const field = { title: 'Call', type: 'SingleLineText' as const, defaultValue: 'now()' }
    const { id } = await shop.app
      .trpc(shop.admin.token)
      .schema.createField.mutate({ tableId: author.id, field })
    const { body: column } = await shop.rest.get(`${M}/columns/${id}`)
    const { status, body } = await patch(id, { ...column, title: 'Function' })
    expect([status, body.columnsById?.[id]]).toMatchObject([200, { title: 'Function', cdf: 'now()' }])
  })

  test('is made of its column_name alone, which loses what no column can be called', async () => {
    const found = column((await send({ column_name: 'first name!' })).body, 'first name!')
    expect(found).toMatchObject({ column_name: 'first_name_', uidt: 'SingleLineText' })
    expect(await post({ title: 'other', column_name: 'first_name_' })).toMatchObject({
      column_name: 'first_name__1',
    })
  })

  test('has options of different ids, whatever ids they are sent with', async () => {
    const sent = [
      { id: 'same', title: 'a' },
      { id: 'same', title: 'b' },
    ]
    const { colOptions } = await post({ uidt: 'SingleSelect', colOptions: { options: sent } })
    expect(colOptions.options.map(({ title }: Column) => title)).toEqual(['a', 'b'])
    expect(new Set(colOptions.options.map(({ id }: Column) => id)).size).toBe(2)
  })
})

describe('PATCH M/columns/{c}', () => {
  test.each([
    [
      { uidt: 'SpecificDBType', dt: 'blob' },
      { dt: 'blob', meta: null },
    ],
    [{ uidt: 'Rating', meta: { max: 7 } }, { meta: null }],
    [{ uidt: 'SingleSelect', ...options }, { dtxp: "'a','b'" }],
  ])('replaces the meta and nothing else of %p', async (sent, back) => {
    const { id } = await post(sent)
    expect((await patch(id, { meta: null })).status).toBe(200)
    expect((await shop.rest.get(`${M}/columns/${id}`)).body).toMatchObject(back)
  })

  test('takes the format of a bar code from the meta alone', async () => {
    const value = { uidt: 'Barcode', fk_barcode_value_column_id: column(author as never, 'Title').id }
    const { id } = await post({ ...value, meta: { barcodeFormat: 'EAN13', mine: 1 } })
    const metaAfter = async (meta: unknown) => {
      await patch(id, { meta })
      return (await shop.rest.get(`${M}/columns/${id}`)).body.meta
    }
    expect(await metaAfter('{"barcodeFormat":"CODE39"}')).toEqual({ barcodeFormat: 'CODE39' })
    expect(await metaAfter({})).toBe(null)
  })

  test.each(['Links', 'Lookup', 'Rollup', 'Formula', 'QrCode', 'Button', 'CreatedTime', 'AI'])(
    'refuses to make a stored column a %s',
    async (uidt) => {
      const { id } = await post({ uidt: 'Number' })
      expect(outcome(await patch(id, { uidt }))).toEqual([
        501,
        { error: 'NOT_IMPLEMENTED', message: `Updating Number => ${uidt} is not implemented` },
      ])
    },
  )

  test('of a link changes its words, and not what it connects', async () => {
    const answer = await patch(books, {
      title: 'Books',
      type: 'mm',
      parentId: book.id,
      meta: { plural: 'Works' },
    })
    expect(answer.body.columnsById[books]).toMatchObject({
      meta: { plural: 'Works' },
      colOptions: { type: 'hm', fk_related_model_id: book.id },
    })
  })
})

describe('DELETE M/columns/{c}', () => {
  test('keeps what the table or a link needs', async () => {
    const refused = async (id: string) => outcome(await shop.rest.delete(`${M}/columns/${id}`))
    const whole = await get()
    expect(await refused(column(whole as never, 'Id').id)).toEqual([
      400,
      { msg: "The column 'Id' is a system column and cannot be deleted." },
    ])
    const key = (await shop.rest.get(`${M}/tables/${book.id}`)).body.columns.find(
      ({ uidt }: Column) => uidt === 'ForeignKey',
    )
    expect(await refused(key.id)).toMatchObject([
      400,
      { msg: expect.stringContaining('belongs to the link') },
    ])
    expect(await refused('cnope')).toEqual([
      404,
      { error: 'FIELD_NOT_FOUND', message: "Field 'cnope' not found" },
    ])
    expect((await get()).columnsHash).toBe(whole.columnsHash)
  })
})

describe('POST M/tables/{t}/columns/bulk', () => {
  const bulk = async (ops: unknown, hash?: string) =>
    shop.rest.post(`${M}/tables/${author.id}/columns/bulk`, { hash: hash ?? (await get()).columnsHash, ops })

  test('adds, changes and deletes, links too, and says why what failed has failed', async () => {
    const first = await post({ uidt: 'Number' })
    const second = await post({ uidt: 'Number' })
    const bad = { title: 'bad', uidt: 'Links' }
    const { status, body } = await bulk([
      { op: 'add', column: { title: 'Friends', uidt: 'Links', type: 'mm', ...known(pairs) } },
      { op: 'update', column: { id: first.id, title: 'First' } },
      { op: 'delete', column: { id: second.id } },
      { op: 'add', column: bad },
      { op: 'add', column: { uidt: 'Number' } },
      { op: 'add', column: { title: 'what', uidt: 'Nope' } },
      { op: 'update', column: { id: price, title: 'of another table' } },
      { op: 'delete', column: { id: 'c' } },
      { op: 'delete', column: { id: { toString: 1 } } },
    ])
    expect(status).toBe(200)
    expect(body.failedOps.map(({ op, error }: Column) => [op, error])).toEqual([
      ['add', "Missing 'parentId' property in request body"],
      ['add', "must have required property 'title'"],
      ['add', expect.stringContaining('must be equal to one of the allowed values: Attachment')],
      ['update', `Field '${price}' not found`],
      ['delete', "Field 'c' not found"],
      ['delete', `Field '{"toString":1}' not found`],
    ])
    expect(body.failedOps[0].column).toEqual(bad)
    const titles = (await get()).columns.map(({ title }: Column) => title)
    expect(titles).toEqual(expect.arrayContaining(['Friends', 'First']))
    expect(titles).not.toContain(second.title)
  })

  test('refuses what was made of columns that have changed since', async () => {
    const { columnsHash } = await get()
    await post({ uidt: 'Number' })
    const refused = await bulk([{ op: 'add', column: { title: 'late', uidt: 'Number' } }], columnsHash)
    expect([refused.status, refused.body.error]).toEqual([409, 'OUT_OF_SYNC'])
    expect((await get()).columns.some(({ title }: Column) => title === 'late')).toBe(false)
  })

  test.each([[null], [[null]], [[{ op: 'add' }]], [[{ op: 'drop', column: {} }]], ['x']])(
    'refuses %j as a list of operations',
    async (ops) => {
      const { columnsHash } = await get()
      expect((await bulk(ops)).status).toBe(400)
      expect((await get()).columnsHash).toBe(columnsHash)
    },
  )
})

test('POST M/projects/{b}/tables takes a name that is no text for none', async () => {
  const columns = [{ title: 'Made', uidt: 'CreatedTime', system: true, column_name: { toString: 1 } }]
  const { status, body } = await shop.rest.post(`${M}/projects/${shop.baseId}/tables`, {
    title: 'Odd',
    columns,
  })
  expect([status, body.columns?.at(-1).title]).toEqual([200, 'Made'])
})
