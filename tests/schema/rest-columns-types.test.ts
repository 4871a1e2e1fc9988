import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { AnyFieldType } from '../../src/core/fields/field-type.ts'
import { FIELD_TYPES, type FieldTypeName } from '../../src/core/fields/index.ts'
import { COLUMN_KEYS } from '../support/wire-keys.ts'
import { createTable, databases, freshTitle, openWorkshop, type Workshop } from './support.ts'

const M = '/api/v1/db/meta'

// biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects of an answer
type Column = Record<string, any>

/** What a file and a PostgreSQL call the type of a new column (wire §8.3). */
const COLUMN_TYPES: Partial<Record<FieldTypeName, [sqlite: string, postgres: string]>> = {
  SingleLineText: ['varchar', 'text'],
  LongText: ['text', 'text'],
  Number: ['integer', 'bigint'],
  Decimal: ['decimal', 'decimal'],
  Currency: ['double precision', 'decimal'],
  Percent: ['double', 'double precision'],
  Duration: ['decimal', 'decimal'],
  Rating: ['integer', 'smallint'],
  Checkbox: ['boolean', 'bool'],
  SingleSelect: ['text', 'text'],
  MultiSelect: ['text', 'text'],
  Date: ['date', 'date'],
  DateTime: ['datetime', 'timestamp'],
  Time: ['time', 'time'],
  Year: ['year', 'int'],
  PhoneNumber: ['varchar', 'character varying'],
  Email: ['varchar', 'character varying'],
  URL: ['varchar', 'text'],
  Attachment: ['text', 'text'],
  JSON: ['text', 'json'],
  GeoData: ['text', 'text'],
  Geometry: ['varchar', 'character varying'],
  User: ['varchar', 'character varying'],
  Collaborator: ['varchar', 'character varying'],
  AutoNumber: ['integer', 'int'],
  SpecificDBType: ['varchar', 'character varying'],
}

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
      dt: database === 'postgres' ? 'int4' : 'integer',
      pk: true,
      rqd: true,
      un: true,
      ai: true,
      dtxp: '',
      dtxs: ' ',
    })
    const title = body.columns.at(-1)
    expect(Object.keys(title).sort()).toEqual(COLUMN_KEYS.toSorted())
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
    ['LongText', { meta: { richMode: true } }, { dtxs: ' ', meta: { richMode: true } }],
    [
      'Number',
      { cdf: 5, meta: { isLocaleString: true } },
      { cdf: '5', dtxs: ' ', meta: { isLocaleString: true } },
    ],
    [
      'Decimal',
      { meta: { precision: 4 } },
      { dtxs: database === 'postgres' ? '2' : null, meta: { precision: 4 } },
    ],
    // As many digits as the value has.
    ['Decimal', { meta: { precision: null } }, { meta: { precision: null } }],
    [
      'Currency',
      { meta: { currency_locale: 'de-DE', currency_code: 'EUR', precision: 0 } },
      {
        validate: '{"func":["isCurrency"],"args":[""],"msg":["Validation failed : isCurrency"]}',
        meta: { currency_locale: 'de-DE', currency_code: 'EUR', precision: 0 },
      },
    ],
    ['Percent', { meta: { is_progress: true } }, { meta: { is_progress: true } }],
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
      { cdf: database === 'postgres' ? 'true' : '1', meta: { color: '#123456' } },
    ],
    ['Date', { meta: { date_format: 'DD/MM/YYYY' } }, { meta: { date_format: 'DD/MM/YYYY' } }],
    [
      'DateTime',
      { meta: { date_format: 'YYYY/MM/DD', time_format: 'HH:mm:ss', is12hrFormat: true } },
      { meta: { date_format: 'YYYY/MM/DD', time_format: 'HH:mm:ss', is12hrFormat: true } },
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
    ['Duration', { meta: { duration: 3 } }, { dtxp: '20', dtxs: '4', meta: { duration: 3 } }],
    ['Time', { meta: { is12hrFormat: true } }, { meta: { is12hrFormat: true } }],
    ['User', { meta: { is_multi: true, notify: true } }, { meta: { is_multi: true, notify: true } }],
    ['Collaborator', { meta: { is_multi: true } }, {}],
    ['SpecificDBType', { dt: 'blob' }, { dt: 'blob' }],
    ['SpecificDBType', { dt: 'text); drop table users; --' }, {}],
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

  // Passwords are unknown to REST clients (wire §8.3).
  const stored = FIELD_TYPES.filter(
    ({ databaseTypes, internal, name }: AnyFieldType) =>
      databaseTypes && !internal && !['ID', 'Password'].includes(name) && !/^(Created|LastMod)/.test(name),
  )

  test.each(stored.map(({ name }) => name))(
    'the column of a %s field has the type of the engine',
    async (uidt) => {
      const column = await post({ title: freshTitle(uidt), uidt })
      expect(column.dt).toBe(COLUMN_TYPES[uidt]?.[database === 'postgres' ? 1 : 0])
    },
  )

  test('a multi select is text, whatever the number of its options', async () => {
    const options = Array.from({ length: 65 }, (_, index) => ({ title: `t${index}` }))
    const column = await post({ title: freshTitle(), uidt: 'MultiSelect', colOptions: { options } })
    expect([column.dt, column.colOptions.options.length]).toEqual(['text', 65])
  })

  test('a code names the field that it shows, which must be there', async () => {
    const { id } = await post({ title: freshTitle(), uidt: 'Number' })
    const qr = await post({ title: freshTitle('Qr'), uidt: 'QrCode', fk_qr_value_column_id: id })
    expect(qr).toMatchObject({ dt: null, colOptions: { fk_column_id: qr.id, fk_qr_value_column_id: id } })
    expect(qr.column_name).toBe(qr.title)
    const meta = { barcodeFormat: 'EAN13' }
    const bar = await post({
      title: freshTitle('Bar'),
      uidt: 'Barcode',
      fk_barcode_value_column_id: id,
      meta,
    })
    expect(bar).toMatchObject({ meta, colOptions: { fk_barcode_value_column_id: id, barcode_format: null } })
    const refused = async (column: Column) => {
      const { status, body } = await shop.rest.post(`${M}/tables/${tableId}/columns`, {
        title: freshTitle(),
        ...column,
      })
      return [status, body.msg]
    }
    expect(await refused({ uidt: 'QrCode' })).toEqual([
      400,
      "Missing 'fk_qr_value_column_id' property in request body",
    ])
    expect(await refused({ uidt: 'Barcode', fk_barcode_value_column_id: 'cnope' })).toEqual([
      400,
      'Value column not found',
    ])
    expect(await refused({ uidt: 'QrCode', fk_qr_value_column_id: bar.id })).toEqual([
      400,
      'A “Barcode” field can’t be shown as a code',
    ])
    await shop.rest.delete(`${M}/columns/${id}`)
    const { colOptions, title } = (await shop.rest.get(`${M}/columns/${qr.id}`)).body
    expect(colOptions.error).toMatch(/^Column '.+' was deleted$/)
    const { body } = await shop.rest.get(`/api/v2/tables/${tableId}/records?fields=${title}`)
    expect(body.list ?? []).toEqual([])
  })

  test.each(['JSON', 'GeoData', 'Geometry'])(
    'a %s column cannot have a default value (spec §5)',
    async (uidt) => {
      const cdf = uidt === 'JSON' ? '{}' : uidt === 'GeoData' ? '1;2' : 'POINT (1 2)'
      const answer = await shop.rest.post(`${M}/tables/${tableId}/columns`, {
        title: freshTitle(),
        uidt,
        cdf,
      })
      expect([answer.status, answer.body.msg]).toEqual([
        400,
        expect.stringContaining('can’t have a default value'),
      ])
    },
  )

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
