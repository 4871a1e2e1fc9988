import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Bench, createBench, refusalOf } from '../records/support.ts'
import { NASTY_MARIADB } from './nasty-mariadb.ts'
import { LONGEST_NAME, NASTY_POSTGRES } from './nasty-postgres.ts'
import { connect, createForeign, type ForeignDatabase } from './support.ts'

const STATEMENTS = { postgres: [NASTY_POSTGRES], mariadb: NASTY_MARIADB }

describe.each(['postgres', 'mariadb'] as const)('records of %s', (kind) => {
  let bench: Bench
  let foreign: ForeignDatabase
  let sourceId: string
  const ids = new Map<string, string>()
  const quote = (name: string) => (kind === 'postgres' ? `"${name}"` : `\`${name}\``)

  beforeAll(async () => {
    bench = await createBench()
    foreign = await createForeign(kind, STATEMENTS[kind])
    sourceId = await connect(bench, foreign.sent)
    for (const table of await bench.trpc.schema.tables.query({ baseId: bench.baseId })) {
      ids.set(table.tableName, table.id)
    }
  })
  afterAll(async () => {
    await bench.stop()
    await foreign.stop()
  })

  const path = (table: string) => `/api/v2/tables/${ids.get(table)}/records`
  const list = async (table: string, query = '?limit=100') => {
    const { status, body } = await bench.rest.get(path(table) + query)
    if (status !== 200) throw new Error(`${table}${query}: ${status} ${JSON.stringify(body)}`)
    return body.list as Record<string, unknown>[]
  }
  const fieldOf = async (table: string, title: string) => {
    const { fields } = await bench.trpc.schema.table.query({ tableId: ids.get(table) ?? '' })
    return fields.find((field) => field.title === title)!
  }

  test('are added with keys and defaults that the database gives, and are there as it shows them', async () => {
    const { status, body } = await bench.rest.post(path('author'), { name: 'Ann', email: 'ann@example.com' })
    expect([status, body]).toEqual([200, { id: 1 }])
    expect(await foreign.ask('select name, email from author')).toEqual([
      { name: 'Ann', email: 'ann@example.com' },
    ])
    const made = await bench.rest.post(path('every_type'), { whole: 7, short: 'abc' })
    expect(made.status).toBe(200)
    const [row] = await list('every_type')
    expect(row).toMatchObject({ whole: 7, doubled: 14, short: 'abc', feeling: 'sad' })
    expect(row?.key).toMatch(/^[0-9a-f-]{36}$/)
    expect(Boolean(row?.yes)).toBe(true)
  })

  test('hold every type exactly, as the database itself shows it', async () => {
    const values = {
      small: -5,
      whole: 12,
      big: 9007199254740991,
      exact: 12345678.91,
      round_number: 123456789,
      long_exact: '1234567890123456789012345678.1234567891',
      double_number: 0.1,
      single: 1.5,
      fixed: 'abc',
      short: 'ÄÖ🎉',
      body: 'it\'s\n"quoted" \\ text',
      feeling: "it's ok",
      day: '2024-02-29',
      at: '2024-02-29 12:34:56+00:00',
      hour: '23:59:58',
      doc: '{"a": [1, "ü"]}',
    }
    const made = await bench.rest.post(path('every_type'), values)
    expect([made.status, made.body.error]).toEqual([200, undefined])
    const [row] = await list('every_type', `?where=(id,eq,${made.body.id})`)
    const { doc, ...rest } = values
    expect(row).toMatchObject({ ...rest, at: '2024-02-29 12:34:56+00:00' })
    expect(JSON.parse(typeof row?.doc === 'string' ? row.doc : JSON.stringify(row?.doc))).toEqual(
      JSON.parse(doc),
    )
    const text = kind === 'postgres' ? '::text' : ''
    const [direct] = await foreign.ask(
      `select long_exact${text} as long_exact, body, feeling${text} as feeling from every_type
        where id = ${made.body.id}`,
    )
    expect(direct).toEqual({
      long_exact: values.long_exact,
      body: values.body,
      feeling: values.feeling,
    })
  })

  test('refuse what does not fit in words, before or by the database, and change nothing', async () => {
    const before = await foreign.ask('select count(*) as n from every_type')
    const refusal = async (body: object) => {
      const answer = await bench.rest.post(path('every_type'), body)
      expect(answer.status).toBeGreaterThanOrEqual(400)
      expect(answer.status).toBeLessThan(500)
      return JSON.stringify(answer.body)
    }
    expect(await refusal({ short: 'too long' })).toContain('up to 5 characters')
    expect(await refusal({ whole: 1.5 })).toContain('whole')
    expect(await refusal({ feeling: 'angry' })).toContain('angry')
    expect(await refusal({ small: 99_999_999 })).toContain('small')
    expect(await refusal({ long_exact: 'no number' })).toContain('no number')
    expect(await refusal({ day: '2024-02-31' })).toContain('day')
    expect((await bench.rest.post(path('author'), { email: 'x@example.com' })).body.error).toBe(
      'REQUIRED_FIELD_MISSING',
    )
    const twice = await bench.rest.post(path('author'), { name: 'Bob', email: 'ann@example.com' })
    expect([twice.status, JSON.stringify(twice.body).includes('ann@example.com')]).toEqual([400, true])
    expect(await foreign.ask('select count(*) as n from every_type')).toEqual(before)
  })

  test('refuse values for columns that nobody writes, and take back what was read', async () => {
    const made = await bench.rest.post(path('every_type'), { whole: 3 })
    const { id } = made.body
    const tableId = ids.get('every_type')
    const v1 = `/api/v1/db/data/noco/${bench.baseId}/${tableId}`
    const bulk = `/api/v1/db/data/bulk/noco/${bench.baseId}/${tableId}`
    const columns: Record<string, unknown> = {
      raw: '0x1234',
      bits: '0101',
      doubled: 99,
      ...(kind === 'postgres' ? { numbers: '{1,2}', words: ['a'] } : { place: 'POINT(1 2)' }),
    }
    const row = async () => foreign.ask(`select * from every_type where id = ${id}`)
    const before = await row()
    for (const [title, value] of Object.entries(columns)) {
      const answers = [
        await bench.rest.patch(path('every_type'), { id, [title]: value, whole: 4 }),
        await bench.rest.post(path('every_type'), { [title]: value }),
        await bench.rest.patch(`${v1}/${id}`, { [title]: value }),
        await bench.rest.post(v1, { [title]: value }),
        await bench.rest.patch(bulk, [{ id, [title]: value }]),
        await bench.rest.post(bulk, [{ [title]: value }]),
        await bench.rest.patch(`${bulk}/all?where=(id,eq,${id})`, { [title]: value }),
        await bench.rest.post(`${bulk}/upsert`, [{ id, [title]: value }]),
      ]
      for (const [index, { status, body }] of answers.entries()) {
        expect([title, index, status]).toEqual([title, index, 400])
        expect(JSON.stringify(body)).toContain(`Field “${title}” is read-only`)
      }
    }
    expect(await row()).toEqual(before)
    const read = (await bench.rest.get(`${path('every_type')}/${id}`)).body
    expect((await bench.rest.patch(path('every_type'), { ...read, whole: 5 })).status).toBe(200)
    expect((await bench.rest.get(`${path('every_type')}/${id}`)).body).toMatchObject({
      whole: 5,
      doubled: 10,
    })
    await bench.rest.delete(path('every_type'), { id })
  })

  test('are changed and deleted, undone and done again, in the database itself', async () => {
    const { baseId, trpc } = bench
    const { body } = await bench.rest.post(path('author'), { name: 'Carl', email: 'carl@example.com' })
    const row = () => foreign.ask(`select name, email from author where id = ${body.id}`)
    const carl = { name: 'Carl', email: 'carl@example.com' }
    await bench.rest.patch(path('author'), { id: body.id, name: 'Karl' })
    expect(await row()).toEqual([{ ...carl, name: 'Karl' }])
    await trpc.records.undo.mutate({ baseId })
    expect(await row()).toEqual([carl])
    await trpc.records.redo.mutate({ baseId })
    expect(await row()).toEqual([{ ...carl, name: 'Karl' }])
    const deleted = await bench.rest.delete(path('author'), { id: body.id })
    expect(deleted.status).toBe(200)
    expect(await row()).toEqual([])
    await trpc.records.undo.mutate({ baseId })
    expect(await row()).toEqual([{ ...carl, name: 'Karl' }])
    await bench.rest.delete(path('author'), { id: body.id })
  })

  test('are filtered, sorted, searched and summed up', async () => {
    for (const [name, email] of [
      ['Dora', 'dora@example.com'],
      ['emil', 'emil@example.com'],
    ]) {
      await bench.rest.post(path('author'), { name, email })
    }
    const names = async (query: string) => (await list('author', query)).map((row) => row.name)
    expect(await names('?sort=-name')).toContain('Dora')
    expect(await names('?where=(name,like,%25MIL%25)')).toEqual(['emil'])
    expect((await names('?shuffle=1')).toSorted()).toEqual((await names('?limit=100')).toSorted())
    expect(await names('?where=(name,eq,Dora)~or(email,eq,emil@example.com)&sort=name')).toHaveLength(2)
    const { fields } = await bench.trpc.schema.table.query({ tableId: ids.get('every_type') ?? '' })
    const whole = fields.find((field) => field.title === 'whole')!
    const sums = await bench.trpc.records.summaries.query({
      selection: { tableId: ids.get('every_type') ?? '' },
      summaries: [{ fieldId: whole.id, summary: 'sum' }],
    })
    expect(Number(sums[whole.id])).toBe(19)
    expect((await bench.rest.get(`${path('author')}/count`)).body.count).toBe(3)
  })

  test('are changed and deleted all at once, by a filter, and come back by undo', async () => {
    const { baseId, trpc } = bench
    const tableId = ids.get('tag') ?? ''
    for (const label of ['one', 'two', 'three']) await bench.rest.post(path('tag'), { label })
    const label = await fieldOf('tag', 'label')
    const labels = async () =>
      (await foreign.ask<{ label: string }>('select label from tag order by id')).map((row) => row.label)
    await trpc.records.updateMatching.mutate({ selection: { tableId }, values: { [label.id]: 'same' } })
    expect(await labels()).toEqual(['same', 'same', 'same'])
    await trpc.records.undo.mutate({ baseId })
    expect(await labels()).toEqual(['one', 'two', 'three'])
    await trpc.records.deleteMatching.mutate({ selection: { tableId } })
    expect(await labels()).toEqual([])
    await trpc.records.undo.mutate({ baseId })
    expect(await labels()).toEqual(['one', 'two', 'three'])
    await trpc.records.deleteMatching.mutate({ selection: { tableId } })
  })

  test('with a key of several columns have an id of its parts', async () => {
    expect((await bench.rest.post(path('pairs'), { region: 'north', number: 1, note: 'a' })).status).toBe(200)
    await bench.rest.post(path('pairs'), { region: 'south', number: 1, note: 'b' })
    const one = await bench.rest.get(`${path('pairs')}/south___1`)
    expect(one.body).toMatchObject({ region: 'south', number: 1, note: 'b' })
    const tableId = ids.get('pairs') ?? ''
    const note = await fieldOf('pairs', 'note')
    const operations = [
      { kind: 'update' as const, tableId, rows: [{ id: 'south___1', values: { [note.id]: 'c' } }] },
    ]
    await bench.trpc.records.write.mutate({ change: { baseId: bench.baseId, operations } })
    expect(await foreign.ask('select note from pairs order by region')).toEqual([
      { note: 'a' },
      { note: 'c' },
    ])
    await bench.trpc.records.undo.mutate({ baseId: bench.baseId })
    expect(await foreign.ask('select note from pairs order by region')).toEqual([
      { note: 'a' },
      { note: 'b' },
    ])
    const all = `/api/v1/db/data/bulk/noco/${bench.baseId}/${tableId}/all`
    expect((await bench.rest.patch(`${all}?skipPks=south___1,west___1`, { note: 'd' })).body).toBe(1)
    expect(await foreign.ask('select note from pairs order by region')).toEqual([
      { note: 'd' },
      { note: 'b' },
    ])
    expect((await bench.rest.delete(`${all}?skipPks=south___1,north___1`)).body).toEqual([])
    expect((await bench.rest.delete(`${all}?skipPks=south`)).status).toBe(404)
    const west = { region: 'west', number: 7, note: 'w' }
    const both = [{ region: 'south', number: 1, note: 'b' }, west]
    const upserted = await bench.rest.post(all.replace(/all$/, 'upsert'), both)
    expect([upserted.status, upserted.body]).toMatchObject([201, both])
    await bench.rest.delete(path('pairs'), west)
  })

  test('with odd names are read and written like others', async () => {
    const row = { select: 'x', 'First Name': 'Ünï 🎉' }
    const { status, body } = await bench.rest.post(path('Order'), row)
    expect([status, body]).toEqual([200, { ID: 1 }])
    expect(await list('Order')).toMatchObject([{ ...row, ID: 1 }])
    await bench.rest.patch(path('Order'), { ID: 1, select: 'y' })
    expect(await foreign.ask(`select ${quote('select')} as s from ${quote('Order')}`)).toEqual([{ s: 'y' }])
    if (kind === 'postgres') {
      expect((await bench.rest.post(path(LONGEST_NAME), { id: 5, [LONGEST_NAME]: 'z' })).body).toEqual({
        id: 5,
      })
    }
  })

  test('of views and of tables without a key are shown and refused to every writer, with the reason', async () => {
    await foreign.ask(`insert into no_key (a, b) values (1, 'x'), (1, 'x'), (2, 'y')`)
    expect(await list('no_key')).toHaveLength(3)
    const keyless = await bench.rest.post(path('no_key'), { a: 3 })
    expect([keyless.status, JSON.stringify(keyless.body).includes('no primary key')]).toEqual([403, true])
    const view = await bench.rest.post(path('book_list'), { title: 'x' })
    expect([view.status, JSON.stringify(view.body).includes('database view')]).toEqual([403, true])
    const { readOnlyReason } = await bench.trpc.schema.table.query({ tableId: ids.get('book_list') ?? '' })
    expect(readOnlyReason).toContain('view')
    const { list: read } = (await bench.rest.get(path('book_list'))).body
    expect(read).toEqual([])
  })

  test('are linked by their foreign keys, from either side', async () => {
    const [author] = await list('author', '?where=(name,eq,Ann)')
    const made = await bench.rest.post(path('book'), { title: 'One', author_id: author?.id })
    expect(made.status).toBe(200)
    const [book] = await list('book')
    expect(book).toMatchObject({ title: 'One', author: { id: author?.id, name: 'Ann' } })
    const [withBooks] = await list('author', '?where=(name,eq,Ann)')
    expect(withBooks?.book).toBe(1)
    const { id: tagId } = (await bench.rest.post(path('tag'), { label: 'red' })).body
    const tags = await fieldOf('book', 'tag')
    const links = `/api/v2/tables/${ids.get('book')}/links/${tags.id}/records/${book?.id}`
    expect((await bench.rest.post(links, [{ id: tagId }])).status).toBe(201)
    expect(await foreign.ask('select tag_id from book_tag')).toEqual([{ tag_id: tagId }])
    await bench.trpc.records.undo.mutate({ baseId: bench.baseId })
    expect(await foreign.ask('select tag_id from book_tag')).toEqual([])
    const wrong = await bench.rest.post(path('book'), { title: 'Two', author_id: 999 })
    expect(wrong.status).toBeGreaterThanOrEqual(400)
    expect(wrong.status).toBeLessThan(500)
  })

  test('are refused while the source is read only, and fields are while its structure is', async () => {
    const { baseId, trpc } = bench
    await trpc.sources.update.mutate({ baseId, sourceId, isDataReadonly: true, isSchemaReadonly: true })
    const refused = await bench.rest.post(path('author'), { name: 'Zoe' })
    expect([refused.status, JSON.stringify(refused.body).includes('doesn’t allow editing records')]).toEqual([
      403,
      true,
    ])
    const tableId = ids.get('author') ?? ''
    const field = await refusalOf(
      trpc.schema.createField.mutate({ tableId, field: { title: 'Born', type: 'Date' } }),
    )
    expect(field.message).toContain('doesn’t allow changing fields')
    const name = await fieldOf('author', 'name')
    expect(
      (await refusalOf(trpc.schema.deleteField.mutate({ fieldId: (await fieldOf('author', 'email')).id })))
        .message,
    ).toContain('doesn’t allow changing fields')
    await trpc.schema.updateField.mutate({ fieldId: name.id, patch: { title: 'Full name' } })
    await trpc.schema.updateField.mutate({ fieldId: name.id, patch: { title: 'name' } })
    await trpc.sources.update.mutate({ baseId, sourceId, isDataReadonly: false, isSchemaReadonly: false })
  })

  test('get new columns by new fields; a deleted field leaves its column there', async () => {
    const { trpc } = bench
    const tableId = ids.get('tag') ?? ''
    const field = await trpc.schema.createField.mutate({
      tableId,
      field: { title: 'Weight', type: 'Decimal' },
    })
    expect(field.databaseType).not.toBeNull()
    await bench.rest.post(path('tag'), { label: 'heavy', Weight: 2.5 })
    const read = async () =>
      Number(
        (await foreign.ask<{ Weight: number }>(`select ${quote('Weight')} from tag where label = 'heavy'`))[0]
          ?.Weight,
      )
    expect(await read()).toBe(2.5)
    await trpc.schema.deleteField.mutate({ fieldId: field.id })
    expect(await read()).toBe(2.5)
    await trpc.schema.restoreField.mutate({ fieldId: field.id })
    const label = await fieldOf('tag', 'label')
    const refused = await refusalOf(
      trpc.schema.updateField.mutate({ fieldId: label.id, patch: { type: 'Number' } }),
    )
    expect(refused.message).toContain('can’t be shown as Number')
    const shown = await trpc.schema.updateField.mutate({ fieldId: label.id, patch: { type: 'URL' } })
    expect(shown).toMatchObject({ type: 'URL', columnName: 'label' })
  })
})
