import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { asShown, EVERY_TYPE, STORED_VALUES } from './every-type.ts'
import { type Bench, changesNothing, createBench } from './support.ts'

let bench: Bench
beforeAll(async () => {
  bench = await createBench()
})
afterAll(() => bench.stop())

const v1 = (table: { id: string }, rest = '') => `/api/v1/db/data/noco/${bench.baseId}/${table.id}${rest}`

describe('POST /api/v2/tables/{tableId}/records', () => {
  test.each(Object.keys(EVERY_TYPE) as (keyof typeof EVERY_TYPE)[])(
    'keeps every value of a %s field as it was sent',
    async (title) => {
      const table = await bench.table(EVERY_TYPE)
      const values = STORED_VALUES[title]
      await bench.rest.post(
        table.path,
        values.map((value) => ({ [title]: value })),
      )
      const shown = (await table.list()).map((row) => row[title])
      expect(shown).toEqual(
        values.map((value) => (typeof value === 'boolean' ? bench.app.flag(value) : asShown(value))),
      )
      const fieldId = table.field(title).id
      const { rows } = await bench.trpc.records.list.query({
        query: { tableId: table.id, fieldIds: [fieldId], limit: 1000, offset: 0 },
      })
      expect(rows.map(([value]) => value)).toEqual([...values])
    },
  )

  test.each([
    [
      'Num',
      'abc',
      422,
      { error: 'INVALID_VALUE_FOR_FIELD', message: "Invalid value 'abc' for type 'Number' on column 'Num'" },
    ],
    ['Num', 1.5, 422, { error: 'INVALID_VALUE_FOR_FIELD' }],
    ['Num', '9007199254740993', 422, { error: 'INVALID_VALUE_FOR_FIELD' }],
    ['Num', true, 422, { error: 'INVALID_VALUE_FOR_FIELD' }],
    ['Num', { a: 1 }, 422, { error: 'INVALID_VALUE_FOR_FIELD' }],
    ['Num', [1], 422, { error: 'INVALID_VALUE_FOR_FIELD' }],
    [
      'Cur',
      'bad',
      422,
      {
        error: 'INVALID_VALUE_FOR_FIELD',
        message: "Invalid value 'bad' for type 'Currency' on column 'Cur'",
      },
    ],
    ['D', '2024-02-30', 422, { error: 'INVALID_VALUE_FOR_FIELD' }],
    ['D', 20240101, 422, { error: 'INVALID_VALUE_FOR_FIELD' }],
    ['Dt', 'soon', 422, { error: 'INVALID_VALUE_FOR_FIELD' }],
    ['Rat', 6, 422, { error: 'INVALID_VALUE_FOR_FIELD' }],
    ['Yr', 10_000, 422, { error: 'INVALID_VALUE_FOR_FIELD' }],
    ['Tm', '25:00', 422, { error: 'INVALID_VALUE_FOR_FIELD' }],
    ['Dur', '1:30', 422, { error: 'INVALID_VALUE_FOR_FIELD' }],
    ['Js', '', 422, { error: 'INVALID_VALUE_FOR_FIELD' }],
    ['Js', 5, 422, { error: 'INVALID_VALUE_FOR_FIELD' }],
    ['Js', '{a:1}', 422, { error: 'INVALID_VALUE_FOR_FIELD' }],
    ['Geo', '91;0', 422, { error: 'INVALID_VALUE_FOR_FIELD' }],
    ['Shape', 'POINT (1)', 422, { error: 'INVALID_VALUE_FOR_FIELD' }],
    ['Cb', 'perhaps', 422, { error: 'INVALID_VALUE_FOR_FIELD' }],
    ['Title', { a: 1 }, 422, { error: 'INVALID_VALUE_FOR_FIELD' }],
    ['Title', 'x'.repeat(20_000), 422, { error: 'INVALID_VALUE_FOR_FIELD' }],
    ['Title', 'a\u0000b', 422, { error: 'INVALID_VALUE_FOR_FIELD' }],
    [
      'Ss',
      'zz',
      400,
      { msg: 'Invalid option(s) "zz" provided for column "Ss". Valid options are "red, blue, dark red"' },
    ],
    [
      'Ms',
      ['red', 'zz'],
      400,
      { msg: 'Invalid option(s) "zz" provided for column "Ms". Valid options are "red, blue, dark red"' },
    ],
    ['Em', 'nope', 400, { msg: 'Validation failed : isEmail' }],
    ['Url', 'no pe', 400, { msg: 'Validation failed : isURL' }],
    ['Tel', 'x', 400, { msg: 'Validation failed : isMobilePhone' }],
  ] as const)('refuses %s = %j and names the field', async (title, value, status, expected) => {
    const table = await bench.table(EVERY_TYPE, [{ Title: 'first' }])
    await changesNothing(bench, async () => {
      // The good rows beside the bad one must not be written either.
      const answer = await bench.rest.post(table.path, [
        { Title: 'good' },
        { [title]: value },
        { Title: 'good' },
      ])
      expect(answer.status).toBe(status)
      expect(answer.body).toMatchObject(expected)
      if ('error' in answer.body) expect(answer.body.message).toContain(`'${title}'`)
      expect((await bench.rest.patch(table.path, { Id: 1, [title]: value })).status).toBe(status)
      expect((await bench.rest.patch(v1(table, '/1'), { [title]: value })).status).toBe(status)
    })
  })

  test('reads what programs send in other forms: "$9", arrays of options, offsets, texts of numbers', async () => {
    const table = await bench.table(EVERY_TYPE)
    const sent = {
      Cur: '$9',
      Ms: ['blue', 'red', 'blue'],
      Dt: '2024-03-05T10:20:30+02:00',
      Num: '7',
      D: '2024/03/05',
      Ss: '',
      Cb: 'true',
      Title: 12,
    }
    await bench.rest.post(table.path, sent)
    expect((await table.list())[0]).toMatchObject({
      Cur: 9,
      Ms: 'blue,red',
      Dt: '2024-03-05 08:20:30+00:00',
      Num: 7,
      D: '2024-03-05',
      Ss: null,
      Cb: bench.app.flag(true),
      Title: '12',
    })
  })

  test('ignores unknown keys and fields that the server fills, and takes column names', async () => {
    const table = await bench.table({ Title: 'SingleLineText', 'Due date': 'Date' })
    const { columnName } = table.field('Due date')
    expect(columnName).not.toBe('Due date')
    const body = {
      Title: 'a',
      nope: 1,
      CreatedAt: '2000-01-01',
      Id: 99,
      nc_order: 5,
      [columnName]: '2024-01-01',
    }
    expect((await bench.rest.post(table.path, body)).body).toEqual({ Id: 1 })
    const [row] = await table.list()
    expect(row).toMatchObject({ Title: 'a', 'Due date': '2024-01-01' })
    expect(row?.CreatedAt).not.toContain('2000')
  })

  test('fills in defaults, and refuses a record without a required value', async () => {
    const table = await bench.table({
      Title: { type: 'SingleLineText', required: true },
      Num: { type: 'Number', defaultValue: 5 },
      Must: { type: 'Number', required: true, defaultValue: 1 },
    })
    await changesNothing(bench, async () => {
      for (const body of [{}, { Title: '' }, { Title: null }, [{ Title: 'a' }, { Num: 1 }]]) {
        const answer = await bench.rest.post(table.path, body)
        expect([answer.status, answer.body.error, answer.body.message]).toEqual([
          422,
          'REQUIRED_FIELD_MISSING',
          "Field 'Title' is required",
        ])
      }
    })
    await bench.rest.post(table.path, [{ Title: 'a' }, { Title: 'b', Num: null, Must: 2 }])
    expect((await table.list()).map(({ Num, Must }) => [Num, Must])).toEqual([
      [5, 1],
      [null, 2],
    ])
    await changesNothing(bench, async () => {
      expect((await bench.rest.patch(table.path, { Id: 1, Title: '' })).body.error).toBe(
        'REQUIRED_FIELD_MISSING',
      )
    })
  })

  test('refuses a value that must be unique, within one call too, and writes none of the list', async () => {
    const table = await bench.table({ Title: { type: 'SingleLineText', unique: true }, Num: 'Number' }, [
      { Title: 'a' },
      { Title: 'b' },
    ])
    await changesNothing(bench, async () => {
      for (const call of [
        bench.rest.post(table.path, [{ Title: 'c' }, { Title: 'a' }]),
        bench.rest.post(table.path, [{ Title: 'c' }, { Title: 'c' }]),
        bench.rest.patch(table.path, { Id: 2, Title: 'a', Num: 1 }),
      ]) {
        const { status, body } = await call
        expect([status, body.error, body.details.field]).toEqual([400, 'DATABASE_ERROR', 'Title'])
        expect(body.message).toMatch(
          /^Field “Title” must be unique: “[ac]” is (already used by record 1|used by several records)$/,
        )
      }
    })
    expect((await bench.rest.post(table.path, [{ Title: null }, { Title: null }])).status).toBe(200)
  })
})
