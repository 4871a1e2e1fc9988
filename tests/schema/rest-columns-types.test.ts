import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createTable, databases, freshTitle, openWorkshop, type Workshop } from './support.ts'

const M = '/api/v1/db/meta'

// biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects of an answer
type Column = Record<string, any>

describe.each([...databases])('types of columns over REST, metadata in %s', (database) => {
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

  test('the record id and a plain column have every key', async () => {
    const { body } = await shop.rest.get(`${M}/tables/${tableId}`)
    const [id] = body.columns
    expect(id).toMatchObject({
      uidt: 'ID',
      dt: 'integer',
      pk: true,
      rqd: true,
      un: true,
      ai: true,
      dtxp: '',
      dtxs: ' ',
    })
    const title = body.columns.at(-1)
    const keys = [
      ...[
        'id',
        'source_id',
        'base_id',
        'fk_model_id',
        'title',
        'column_name',
        'uidt',
        'dt',
        'np',
        'ns',
        'clen',
      ],
      ...[
        'cop',
        'pk',
        'pv',
        'rqd',
        'un',
        'ct',
        'ai',
        'unique',
        'cdf',
        'cc',
        'csn',
        'dtx',
        'dtxp',
        'dtxs',
        'au',
      ],
      ...[
        'validate',
        'virtual',
        'deleted',
        'system',
        'order',
        'created_at',
        'updated_at',
        'meta',
        'description',
      ],
      ...['readonly', 'custom_index_name'],
    ]
    expect(Object.keys(title).sort()).toEqual(keys.sort())
    expect(title).toMatchObject({
      uidt: 'SingleLineText',
      pv: true,
      dtx: 'specificType',
      meta: { defaultViewColVisibility: true },
    })
    expect(body.columnsById[title.id]).toEqual(title)
    const alone = await shop.rest.get(`${M}/columns/${title.id}`)
    expect(alone.body).toEqual({ ...title, meta: null })
  })

  // What is sent, and what of it comes back.
  const cases: [uidt: string, sent: Column, back: Column][] = [
    ['LongText', { meta: { richMode: true } }, { dt: 'text', dtxs: ' ', meta: { richMode: true } }],
    [
      'Number',
      { cdf: 5, meta: { isLocaleString: true } },
      { dt: 'integer', cdf: '5', dtxs: ' ', meta: { isLocaleString: true } },
    ],
    ['Decimal', { meta: { precision: 4 } }, { dt: 'decimal', meta: { precision: 4 } }],
    [
      'Currency',
      { meta: { currency_locale: 'de-DE', currency_code: 'EUR', precision: 0 } },
      {
        validate: '{"func":["isCurrency"],"args":[""],"msg":["Validation failed : isCurrency"]}',
        meta: { currency_locale: 'de-DE', currency_code: 'EUR', precision: 0 },
      },
    ],
    ['Percent', { meta: { is_progress: true } }, { dt: 'double', meta: { is_progress: true } }],
    [
      'Rating',
      { meta: { icon: { full: 'mdi-heart', empty: 'mdi-heart-outline' }, color: '#ff0000', max: 7 } },
      {
        cdf: '0',
        meta: { icon: { full: 'mdi-heart', empty: 'mdi-heart-outline' }, color: '#ff0000', max: 7 },
      },
    ],
    [
      'Checkbox',
      { cdf: true, meta: { color: '#123456' } },
      { dt: 'boolean', cdf: '1', meta: { color: '#123456' } },
    ],
    ['Date', { meta: { date_format: 'DD/MM/YYYY' } }, { dt: 'date', meta: { date_format: 'DD/MM/YYYY' } }],
    [
      'DateTime',
      { meta: { date_format: 'YYYY/MM/DD', time_format: 'HH:mm:ss', is12hrFormat: true } },
      { dt: 'datetime', meta: { date_format: 'YYYY/MM/DD', time_format: 'HH:mm:ss', is12hrFormat: true } },
    ],
    [
      'Email',
      { meta: { validate: true } },
      {
        validate: '{"func":["isEmail"],"args":[""],"msg":["Validation failed : isEmail"]}',
        meta: { validate: true },
      },
    ],
    [
      'PhoneNumber',
      {},
      { validate: '{"func":["isMobilePhone"],"args":[""],"msg":["Validation failed : isMobilePhone"]}' },
    ],
    ['URL', {}, { dt: 'varchar' }],
    ['CreatedTime', {}, { column_name: null, dt: null, pk: null, system: false }],
    ['LastModifiedBy', {}, { column_name: null, dt: null, system: false }],
  ]

  test.each(cases)('POST a column of the type %s', async (uidt, sent, back) => {
    const title = freshTitle(uidt)
    const column = await post({ title, uidt, ...sent })
    expect(column).toMatchObject({ title, uidt, fk_model_id: tableId, ...back })
    const alone = (await shop.rest.get(`${M}/columns/${column.id}`)).body
    // What a client sends comes back letter by letter, its own keys too.
    if (sent.meta) expect(alone.meta).toMatchObject(sent.meta)
  })

  test('keys of meta that mean nothing to us are kept for the client', async () => {
    const meta = { isLocaleString: false, mine: { deep: [1, 'two'] } }
    const { id } = await post({ title: freshTitle(), uidt: 'Number', meta })
    expect((await shop.rest.get(`${M}/columns/${id}`)).body.meta).toEqual(meta)
    await shop.api.schema.updateField.mutate({ fieldId: id, patch: { options: { thousands: true } } })
    expect((await shop.rest.get(`${M}/columns/${id}`)).body.meta).toEqual({ ...meta, isLocaleString: true })
    await shop.rest.patch(`${M}/columns/${id}`, { meta: { other: 1 } })
    // Replaced, not merged; the default that this leaves is not put into words.
    expect((await shop.rest.get(`${M}/columns/${id}`)).body.meta).toEqual({ other: 1 })
  })
})
