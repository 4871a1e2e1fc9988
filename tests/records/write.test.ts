import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createMember } from '../support/factories.ts'
import { asShown, EVERY_TYPE, STORED_VALUES } from './every-type.ts'
import { type Bench, createBench, dump, readLog, refusalOf } from './support.ts'

let bench: Bench
beforeAll(async () => {
  bench = await createBench()
})
afterAll(() => bench.stop())

const v1 = (table: { id: string }, rest = '') => `/api/v1/db/data/noco/${bench.baseId}/${table.id}${rest}`
const v1Bulk = (table: { id: string }, rest = '') =>
  `/api/v1/db/data/bulk/noco/${bench.baseId}/${table.id}${rest}`

/** Runs a call that must be refused, and holds the base's file against what it was before. */
async function changesNothing<T>(call: () => Promise<T>): Promise<T> {
  const before = dump(bench)
  const answer = await call()
  expect(dump(bench)).toEqual(before)
  return answer
}

describe('POST /api/v2/tables/{tableId}/records', () => {
  test('says that the table is unknown before it asks who you are', async () => {
    const { status, body } = await bench.app.rest().post('/api/v2/tables/mnope/records', {})
    expect([status, body]).toEqual([404, { error: 'TABLE_NOT_FOUND', message: "Table 'mnope' not found" }])
  })

  test('refuses the anonymous, strangers and viewers; an editor may', async () => {
    const table = await bench.table()
    const stranger = await bench.app.signUp()
    const viewer = await createMember(bench.app, bench.baseId, 'viewer')
    const commenter = await createMember(bench.app, bench.baseId, 'commenter')
    const editor = await createMember(bench.app, bench.baseId, 'editor')
    const ask = async (token?: string) => {
      const { status, body } = await bench.app.rest(token).post(table.path, { Title: 'x' })
      return [status, body.error]
    }
    await changesNothing(async () => {
      expect(await ask()).toEqual([401, 'AUTHENTICATION_REQUIRED'])
      expect(await ask(stranger.token)).toEqual([403, 'FORBIDDEN'])
      expect(await ask(viewer.token)).toEqual([403, 'PERMISSION_DENIED'])
      expect(await ask(commenter.token)).toEqual([403, 'PERMISSION_DENIED'])
      const rest = bench.app.rest(viewer.token)
      for (const answer of [
        await rest.patch(table.path, { Id: 1, Title: 'x' }),
        await rest.delete(table.path, { Id: 1 }),
        await rest.post(`${table.path}/1/move`),
        await rest.delete(v1Bulk(table, '/all')),
        await rest.patch(v1Bulk(table, '/all'), { Title: 'x' }),
        await rest.post(v1Bulk(table, '/upsert'), [{ Title: 'x' }]),
      ]) {
        expect([answer.status, answer.body.error]).toEqual([403, 'PERMISSION_DENIED'])
      }
    })
    expect((await bench.app.rest(viewer.token).get(table.path)).status).toBe(200)
    expect(await ask(editor.token)).toEqual([200, undefined])
  })

  test('gives the new id, of a list the ids in its order, and an empty list for none', async () => {
    const table = await bench.table()
    expect((await bench.rest.post(table.path, { Title: 'a' })).body).toEqual({ Id: 1 })
    expect((await bench.rest.post(table.path, [{ Title: 'b' }, {}])).body).toEqual([{ Id: 2 }, { Id: 3 }])
    expect((await bench.rest.post(table.path, [])).body).toEqual([])
    expect((await bench.rest.send('POST', table.path)).body).toEqual({ Id: 4 })
    expect(await table.titles()).toEqual(['a', 'b', null, null])
  })

  test('writes no line into the log where nothing was written', async () => {
    const table = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'a' }])
    const before = readLog(bench, table).length
    await bench.rest.post(table.path, [])
    await bench.rest.patch(table.path, { Id: 1, Title: 'a' })
    await bench.rest.patch(table.path, { Id: 1 })
    expect(readLog(bench, table)).toHaveLength(before)
    expect((await table.list())[0]?.UpdatedAt).toBeNull()
  })

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
      expect(shown).toEqual(values.map(asShown))
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
    await changesNothing(async () => {
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
      ...{
        Cur: 9,
        Ms: 'blue,red',
        Dt: '2024-03-05 08:20:30+00:00',
        Num: 7,
        D: '2024-03-05',
        Ss: null,
        Cb: 1,
        Title: '12',
      },
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
    await changesNothing(async () => {
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
    await changesNothing(async () => {
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
    await changesNothing(async () => {
      for (const call of [
        bench.rest.post(table.path, [{ Title: 'c' }, { Title: 'a' }]),
        bench.rest.post(table.path, [{ Title: 'c' }, { Title: 'c' }]),
        bench.rest.patch(table.path, { Id: 2, Title: 'a', Num: 1 }),
      ]) {
        const { status, body } = await call
        expect([status, body.error, body.details.field]).toEqual([400, 'DATABASE_ERROR', 'Title'])
        expect(body.message).toStartWith('This record already exists')
      }
    })
    expect((await bench.rest.post(table.path, [{ Title: null }, { Title: null }])).status).toBe(200)
  })

  test('writes 10,000 records in one call, in their order', async () => {
    const table = await bench.table({ Title: 'SingleLineText', Num: 'Number' })
    const rows = Array.from({ length: 10_000 }, (_, index) => ({ Title: `row ${index}`, Num: index }))
    const { status, body } = await bench.rest.post(table.path, rows)
    expect(status).toBe(200)
    expect(body.map((row: { Id: number }) => row.Id)).toEqual(rows.map((_, index) => index + 1))
    expect(await table.total()).toBe(10_000)
    expect((await table.list('?limit=2&offset=9998')).map((row) => row.Num)).toEqual([9998, 9999])
    const [line] = readLog(bench, table)
      .filter(({ kind }) => kind.startsWith('records.'))
      .map(({ kind, records, detail, changes }) => ({ kind, records, detail, changes: changes.length }))
    expect(line).toEqual({
      kind: 'records.insert',
      records: 10_000,
      detail: '{"from":1,"to":10000}',
      changes: 0,
    })
    const updated = await bench.rest.patch(
      table.path,
      rows.map((_, index) => ({ Id: index + 1, Num: index + 1 })),
    )
    expect(updated.body).toHaveLength(10_000)
    const deleted = await bench.rest.delete(
      table.path,
      rows.slice(0, 9_000).map((_, index) => ({ Id: index + 1 })),
    )
    expect(deleted.body).toHaveLength(9_000)
    expect(await table.total()).toBe(1_000)
    expect((await table.list('?limit=1'))[0]).toMatchObject({ Id: 9001, Num: 9001 })
  })

  test('refuses more records than one change may write', async () => {
    const table = await bench.table()
    await changesNothing(async () => {
      const { status, body } = await bench.rest.post(
        table.path,
        Array.from({ length: 50_001 }, () => ({})),
      )
      expect([status, body]).toEqual([400, { msg: 'A call may write 50000 records at most, not 50001' }])
    })
  })

  test('refuses a list of what are no records, and files', async () => {
    const table = await bench.table()
    await changesNothing(async () => {
      for (const body of [[1], ['a'], [null], [[]], [{ Title: 'x' }, 5]]) {
        expect((await bench.rest.post(table.path, body)).status).toBe(400)
      }
      const form = new FormData()
      form.set('Title', new File(['x'], 'x.txt'))
      const answer = await fetch(`${bench.app.url}${table.path}`, {
        method: 'POST',
        body: form,
        headers: { 'xc-auth': bench.owner.token },
      })
      expect(answer.status).toBe(422)
    })
  })

  test('takes a form as the values of one record', async () => {
    const table = await bench.table()
    const answer = await bench.app
      .rest(bench.owner.token)
      .send('POST', table.path, { headers: { 'content-type': 'application/x-www-form-urlencoded' } })
    expect(answer.status).toBe(200)
    const sent = await fetch(`${bench.app.url}${table.path}`, {
      method: 'POST',
      body: new URLSearchParams({ Title: 'from a form' }),
      headers: { 'xc-auth': bench.owner.token },
    })
    expect(await sent.json()).toEqual({ Id: 2 })
    expect(await table.titles()).toEqual([null, 'from a form'])
  })

  test('never gives an id twice, not even that of a deleted record', async () => {
    const table = await bench.table({ Title: 'SingleLineText' }, [{}, {}])
    await bench.rest.delete(table.path, { Id: 2 })
    expect((await bench.rest.post(table.path, {})).body).toEqual({ Id: 3 })
  })
})

describe('PATCH /api/v2/tables/{tableId}/records', () => {
  test('changes only the values that are named, and says when and by whom', async () => {
    const table = await bench.table({ Title: 'SingleLineText', Num: 'Number', By: 'LastModifiedBy' }, [
      { Title: 'a', Num: 1 },
    ])
    expect((await bench.rest.patch(table.path, { Id: 1, Num: 2 })).body).toEqual({ Id: 1 })
    const [row] = await table.list()
    expect(row).toMatchObject({ Title: 'a', Num: 2, By: { id: bench.owner.id, email: bench.owner.email } })
    expect(row?.UpdatedAt).toMatch(/^\d{4}/)
    expect((await bench.rest.put(table.path, { Id: 1, Num: 3 })).body).toEqual({ Id: 1 })
    expect((await table.list())[0]?.Num).toBe(3)
  })

  test('takes the record twice: the last value stands', async () => {
    const table = await bench.table({ Title: 'SingleLineText', Num: 'Number' }, [{ Title: 'a', Num: 1 }])
    const { status, body } = await bench.rest.patch(table.path, [
      { Id: 1, Title: 'b' },
      { Id: 1, Title: 'c', Num: 2 },
    ])
    expect([status, body]).toEqual([200, [{ Id: 1 }, { Id: 1 }]])
    expect((await table.list())[0]).toMatchObject({ Title: 'c', Num: 2 })
    await bench.trpc.records.undo.mutate({ baseId: bench.baseId })
    expect((await table.list())[0]).toMatchObject({ Title: 'a', Num: 1 })
  })

  test('fails whole where a record is missing, its id is none, or no id is given', async () => {
    const table = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'a' }, { Title: 'b' }])
    await changesNothing(async () => {
      const ask = async (body: unknown) => {
        const answer = await bench.rest.patch(table.path, body)
        return [answer.status, answer.body.message]
      }
      expect(
        await ask([
          { Id: 1, Title: 'x' },
          { Id: 9, Title: 'y' },
        ]),
      ).toEqual([404, "Record '9' not found"])
      expect(await ask([{ Id: 8 }, { Id: 9, Title: 'y' }])).toEqual([404, "Records '8', '9' not found"])
      expect(await ask({ Title: 'x' })).toEqual([404, "Record 'unknown' not found"])
      expect(await ask({ Id: 'abc', Title: 'x' })).toEqual([
        422,
        "Primary key value 'abc' is invalid for column 'Id'",
      ])
      expect(await ask({ Id: 1.5, Title: 'x' })).toEqual([
        422,
        "Primary key value '1.5' is invalid for column 'Id'",
      ])
      expect(await ask({ Id: { a: 1 }, Title: 'x' })).toEqual([
        422,
        "Primary key value 'object' is invalid for column 'Id'",
      ])
    })
  })
})

describe('DELETE /api/v2/tables/{tableId}/records', () => {
  test('deletes one or several, one of them named twice', async () => {
    const table = await bench.table({ Title: 'SingleLineText' }, [
      { Title: 'a' },
      { Title: 'b' },
      { Title: 'c' },
    ])
    expect((await bench.rest.delete(table.path, { Id: 1 })).body).toEqual({ Id: 1 })
    expect((await bench.rest.delete(table.path, [{ Id: 2 }, { Id: 2 }])).status).toBe(200)
    expect(await table.titles()).toEqual(['c'])
    expect(await table.total()).toBe(1)
  })

  test('deletes nothing where one is missing, or a body says nothing', async () => {
    const table = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'a' }])
    await changesNothing(async () => {
      const ask = async (body?: unknown) => {
        const answer = await bench.rest.delete(table.path, body)
        return [answer.status, answer.body.error ?? answer.body.msg]
      }
      expect(await ask([{ Id: 1 }, { Id: 2 }])).toEqual([404, 'RECORD_NOT_FOUND'])
      expect(await ask()).toEqual([422, 'REQUIRED_FIELD_MISSING'])
      expect(await ask({})).toEqual([422, 'REQUIRED_FIELD_MISSING'])
      expect((await ask([1]))[0]).toBe(400)
    })
  })
})

describe('GET /api/v2/tables/{tableId}/records/{recordId}', () => {
  test('gives the record, or says that there is none', async () => {
    const table = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'a' }])
    expect((await bench.rest.get(`${table.path}/1`)).body).toMatchObject({ Id: 1, Title: 'a' })
    expect((await bench.rest.get(`${table.path}/1?fields=Title`)).body).toEqual({ Title: 'a' })
    expect((await bench.rest.get(`${table.path}/9`)).body).toEqual({
      error: 'RECORD_NOT_FOUND',
      message: "Record '9' not found",
    })
    const bad = await bench.rest.get(`${table.path}/abc`)
    expect([bad.status, bad.body]).toEqual([
      422,
      { error: 'INVALID_PK_VALUE', message: "Primary key value 'abc' is invalid for column 'Id'" },
    ])
  })
})

describe('/api/v1/db/data/{orgs}/{base}/{table}', () => {
  test('creates, reads, changes and deletes one record', async () => {
    const table = await bench.table({ Title: 'SingleLineText', Num: 'Number' })
    const created = await bench.rest.post(v1(table), { Title: 'a' })
    expect([created.status, created.body]).toMatchObject([200, { Id: 1, Title: 'a', Num: null, nc_order: 1 }])
    expect(Object.keys(created.body)).not.toContain('nc_created_by')
    expect((await bench.rest.patch(v1(table, '/1'), { Num: 2, nope: 1 })).body).toMatchObject({
      Id: 1,
      Title: 'a',
      Num: 2,
    })
    expect((await bench.rest.patch(v1(table, '/9'), { Num: 2 })).body.error).toBe('RECORD_NOT_FOUND')
    const deleted = await bench.rest.delete(v1(table, '/1'))
    expect([deleted.status, deleted.body, deleted.headers.get('content-type')]).toEqual([
      200,
      1,
      'text/html; charset=utf-8',
    ])
    expect((await bench.rest.delete(v1(table, '/1'))).status).toBe(404)
    expect((await bench.rest.post(v1(table), [{ Title: 'x' }])).status).toBe(400)
  })

  test('writes in bulk: insert, update, upsert, delete, all', async () => {
    const table = await bench.table({ Title: 'SingleLineText', Num: 'Number' })
    expect((await bench.rest.post(v1Bulk(table), [{ Title: 'a' }, { Title: 'b' }])).body).toEqual([
      { Id: 1 },
      { Id: 2 },
    ])
    expect((await bench.rest.post(v1Bulk(table), [])).body).toEqual([])
    expect((await bench.rest.post(v1Bulk(table), { Title: 'x' })).status).toBe(400)
    const patched = await bench.rest.patch(v1Bulk(table), [{ Id: 2, Num: 5 }, { Id: 99, Num: 1 }, { Num: 3 }])
    expect(patched.body).toMatchObject([{ Id: 2, Title: 'b', Num: 5 }])
    const upserted = await bench.rest.post(v1Bulk(table, '/upsert'), [
      { Id: 1, Num: 7 },
      { Title: 'c', Num: 8 },
    ])
    expect([upserted.status, upserted.body]).toMatchObject([
      201,
      [
        { Id: 1, Num: 7 },
        { Id: 3, Title: 'c', Num: 8 },
      ],
    ])
    expect((await bench.rest.patch(v1Bulk(table, '/all?where=(Num,gt,6)'), { Title: 'big' })).body).toBe(2)
    expect(await table.titles()).toEqual(['big', 'b', 'big'])
    expect((await bench.rest.delete(v1Bulk(table), [{ Id: 2 }, { Id: 77 }])).body).toEqual([{ id: 2 }])
    expect((await bench.rest.delete(v1Bulk(table), [{ Title: 'x' }])).body).toMatchObject({
      error: 'REQUIRED_FIELD_MISSING',
    })
    expect((await bench.rest.delete(v1Bulk(table, '/all?where=(Num,eq,8)'))).body).toEqual([{ id: 3 }])
    expect((await table.list()).map((row) => row.Id)).toEqual([1])
  })

  test('a bulk call over all that match does nothing where the filter cannot be read', async () => {
    const table = await bench.table({ Title: 'SingleLineText', Num: 'Number' }, [{ Num: 1 }, { Num: 2 }])
    await changesNothing(async () => {
      for (const where of [
        '(Nope,eq,1)',
        '(Num,eq',
        '(Num,nope,1)',
        '(Num,eq,abc)',
        'x',
        '(Num,gt,)',
        '(Num,gt)',
      ]) {
        const path = v1Bulk(table, `/all?where=${encodeURIComponent(where)}`)
        expect([where, (await bench.rest.delete(path)).status]).toEqual([where, 422])
        expect([where, (await bench.rest.patch(path, { Title: 'x' })).status]).toEqual([where, 422])
      }
    })
  })
})

describe('records.write', () => {
  test('writes several operations as one action: all, or none', async () => {
    const table = await bench.table({ Title: 'SingleLineText', Num: 'Number' }, [
      { Title: 'a' },
      { Title: 'b' },
      { Title: 'c' },
    ])
    const other = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'o' }])
    const operations = [
      {
        kind: 'insert' as const,
        tableId: table.id,
        rows: [{ values: table.values({ Title: 'new' }) }],
        before: 2,
      },
      { kind: 'update' as const, tableId: table.id, rows: [{ id: 1, values: table.values({ Num: 9 }) }] },
      { kind: 'delete' as const, tableId: table.id, ids: [3] },
      { kind: 'move' as const, tableId: table.id, ids: [1], before: null },
      { kind: 'update' as const, tableId: other.id, rows: [{ id: 1, values: other.values({ Title: 'O' }) }] },
    ]
    await changesNothing(async () => {
      const bad = { kind: 'update' as const, tableId: other.id, rows: [{ id: 77, values: {} }] }
      const change = { baseId: bench.baseId, operations: [...operations, bad] }
      expect((await refusalOf(bench.trpc.records.write.mutate({ change }))).code).toBe('RECORD_NOT_FOUND')
    })
    const applied = await bench.trpc.records.write.mutate({
      change: { baseId: bench.baseId, operations, clientId: 'me' },
    })
    expect(applied).toMatchObject({
      inserted: [4],
      clientId: 'me',
      actorId: bench.owner.id,
      truncated: false,
      tableIds: [table.id, other.id],
    })
    expect(await table.titles()).toEqual(['new', 'b', 'a'])
    expect(await other.titles()).toEqual(['O'])
    expect(await table.total()).toBe(3)
    const undone = await bench.trpc.records.undo.mutate({ baseId: bench.baseId })
    expect([undone.kind, undone.skipped]).toEqual(['records.change', 0])
    expect(await table.list()).toMatchObject([{ Title: 'a', Num: null }, { Title: 'b' }, { Title: 'c' }])
    expect(await other.titles()).toEqual(['o'])
    await bench.trpc.records.redo.mutate({ baseId: bench.baseId })
    expect(await table.titles()).toEqual(['new', 'b', 'a'])
    expect(await other.titles()).toEqual(['O'])
  })

  test('takes operations that meet on one record', async () => {
    const table = await bench.table({ Title: 'SingleLineText', Num: 'Number' }, [
      { Title: 'a', Num: 1 },
      { Title: 'b', Num: 2 },
    ])
    const tableId = table.id
    const write = (
      operations: Parameters<typeof bench.trpc.records.write.mutate>[0]['change']['operations'],
    ) => bench.trpc.records.write.mutate({ change: { baseId: bench.baseId, operations } })
    const before = await table.list()
    const applied = await write([
      { kind: 'update', tableId, rows: [{ id: 1, values: table.values({ Title: 'x' }) }] },
      { kind: 'update', tableId, rows: [{ id: 1, values: table.values({ Num: 5 }) }] },
      { kind: 'move', tableId, ids: [1, 1], before: null },
      { kind: 'update', tableId, rows: [{ id: 2, values: table.values({ Title: 'y' }) }] },
      { kind: 'delete', tableId, ids: [2, 2] },
      { kind: 'insert', tableId, rows: [{ values: table.values({ Title: 'new' }) }] },
      { kind: 'update', tableId, rows: [{ id: 3, values: table.values({ Num: 3 }) }] },
    ])
    expect(applied.records).toHaveLength(3)
    expect(await table.list()).toMatchObject([
      { Id: 1, Title: 'x', Num: 5 },
      { Id: 3, Title: 'new', Num: 3 },
    ])
    await bench.trpc.records.undo.mutate({ baseId: bench.baseId })
    expect((await table.list()).map(({ Id, Title, Num }) => [Id, Title, Num])).toEqual(
      before.map(({ Id, Title, Num }) => [Id, Title, Num]),
    )
    const nothing = await write([
      { kind: 'insert', tableId, rows: [{ values: table.values({ Title: 'short' }) }] },
      { kind: 'delete', tableId, ids: [4] },
    ])
    expect(nothing.records).toEqual([])
    expect(await table.total()).toBe(2)
  })

  test('names what it refuses: the field, the record, the table of another base', async () => {
    const table = await bench.table({ Title: 'SingleLineText', At: 'CreatedTime', Num: 'Number' }, [
      { Title: 'a' },
    ])
    const other = await bench.trpc.bases.create.mutate({ title: 'Other' })
    const insert = (values: object, baseId = bench.baseId, tableId = table.id) =>
      refusalOf(
        bench.trpc.records.write.mutate({
          change: { baseId, operations: [{ kind: 'insert', tableId, rows: [{ values: values as never }] }] },
        }),
      )
    await changesNothing(async () => {
      expect(await insert({ cnope: 1 })).toMatchObject({ code: 'FIELD_NOT_FOUND', status: 404 })
      expect(await insert({ [table.field('At').id]: '2024-01-01' })).toMatchObject({ code: 'BAD_REQUEST' })
      expect(await insert({ [table.field('Id').id]: 1 })).toMatchObject({ code: 'BAD_REQUEST' })
      expect(await insert({ [table.field('Num').id]: 'x' })).toMatchObject({
        code: 'INVALID_VALUE_FOR_FIELD',
      })
      expect(await insert({}, other.id)).toMatchObject({ code: 'TABLE_NOT_FOUND' })
      expect(await insert({}, 'pnope')).toMatchObject({ code: 'TABLE_NOT_FOUND' })
      expect(await insert({}, bench.baseId, 'mnope')).toMatchObject({ code: 'TABLE_NOT_FOUND', status: 404 })
    })
  })

  test('takes an id as text, and logs it as the number that it is', async () => {
    const table = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'a' }])
    const operations = [
      {
        kind: 'update' as const,
        tableId: table.id,
        rows: [{ id: '1', values: table.values({ Title: 'b' }) }],
      },
    ]
    await bench.trpc.records.write.mutate({ change: { baseId: bench.baseId, operations } })
    expect(readLog(bench, table).at(-1)?.changes[0]?.record_id).toBe(1)
    const { entries } = await bench.trpc.records.history.query({ tableId: table.id, recordId: '1' })
    expect(entries.map(({ kind }) => kind)).toEqual(['records.update', 'records.insert'])
  })
})

describe('writes that come at the same time', () => {
  test('stand or fall each alone, and undo takes back each alone', async () => {
    const table = await bench.table({ Title: { type: 'SingleLineText', unique: true }, Num: 'Number' }, [
      { Title: 'taken' },
    ])
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, index) => {
        if (index % 6 === 1)
          return bench.rest.post(table.path, [{ Title: `lost ${index}` }, { Title: 'taken' }])
        if (index % 6 === 2)
          return bench.rest.patch(table.path, [
            { Id: 1, Num: index },
            { Id: 999, Num: 1 },
          ])
        if (index % 6 === 3) return bench.rest.post(table.path, { Num: 'no number' })
        return bench.rest.post(table.path, { Title: `kept ${index}`, Num: index })
      }),
    )
    expect(answers.map(({ status }) => status)).toEqual(
      answers.map((_, index) => [200, 400, 404, 422, 200, 200][index % 6]!),
    )
    const rows = await table.list()
    expect(rows).toHaveLength(31)
    expect(new Set(rows.map((row) => row.Id)).size).toBe(31)
    expect(rows.slice(1).every((row) => row.Title === `kept ${row.Num}`)).toBe(true)
    expect(readLog(bench, table).filter(({ kind }) => kind === 'records.insert')).toHaveLength(31)
    expect(await table.total()).toBe(31)
    for (let step = 0; step < 30; step++) await bench.trpc.records.undo.mutate({ baseId: bench.baseId })
    expect(await table.titles()).toEqual(['taken'])
  })

  test('to one record follow one another: none is lost', async () => {
    const table = await bench.table({ Title: 'SingleLineText', Num: 'Number' }, [{ Num: 0 }])
    await Promise.all(
      Array.from({ length: 40 }, (_, index) => bench.rest.patch(table.path, { Id: 1, Num: index + 1 })),
    )
    const log = readLog(bench, table).filter(({ kind }) => kind === 'records.update')
    const num = table.field('Num').id
    expect(log).toHaveLength(40)
    let value: unknown = 0
    for (const { changes } of log) {
      expect(changes[0]?.before?.[num]).toBe(value)
      value = changes[0]?.after?.[num]
    }
    expect((await table.list())[0]?.Num).toBe(value)
  })
})

describe('the number of records', () => {
  test('is exact after every kind of write, and at once', async () => {
    const table = await bench.table({ Title: 'SingleLineText', Num: 'Number' })
    const { id: tableId } = table
    const { baseId } = bench
    const expectTotal = async (total: number) => {
      expect(await table.total()).toBe(total)
      expect(await bench.trpc.records.count.query({ selection: { tableId } })).toEqual({ count: total })
    }
    await expectTotal(0)
    await bench.rest.post(table.path, {})
    await expectTotal(1)
    await bench.rest.post(
      table.path,
      Array.from({ length: 150 }, (_, index) => ({ Num: index })),
    )
    await expectTotal(151)
    await bench.trpc.records.undo.mutate({ baseId })
    await expectTotal(1)
    await bench.trpc.records.redo.mutate({ baseId })
    await expectTotal(151)
    await bench.rest.delete(table.path, [{ Id: 1 }, { Id: 2 }, { Id: 2 }])
    await expectTotal(149)
    await bench.trpc.records.undo.mutate({ baseId })
    await expectTotal(151)
    await bench.trpc.records.deleteMatching.mutate({
      selection: { tableId, filter: { fieldId: table.field('Num').id, operator: 'gt', value: 99 } },
    })
    await expectTotal(101)
    await bench.trpc.records.undo.mutate({ baseId })
    await expectTotal(151)
    await bench.rest.post(v1Bulk(table, '/upsert'), [{ Id: 1, Num: 1 }, { Num: 2 }])
    await expectTotal(152)
    await bench.rest.post(table.path, [{ Num: 'refused' }])
    await expectTotal(152)
  })

  test('is exact when many write at the same time as others ask for the first time', async () => {
    const table = await bench.table()
    const { id: tableId } = table
    const writes = Array.from({ length: 40 }, () => bench.rest.post(table.path, {}))
    const asks = Array.from({ length: 40 }, () => table.total())
    await Promise.all([...writes, ...asks])
    expect(await table.total()).toBe(40)
    expect(await bench.trpc.records.count.query({ selection: { tableId } })).toEqual({ count: 40 })
  })
})
