import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Filter } from '../../src/core/filters/index.ts'
import type { Field } from '../../src/core/model.ts'
import { createLibrary, type Library } from './library.ts'
import { type Bench, createBench, refusalOf, type TestTable } from './support.ts'

let bench: Bench
let library: Library

beforeAll(async () => {
  bench = await createBench()
  library = await createLibrary(bench)
  const { authors, books, tags, addThrough } = library
  await addThrough(books, 'Writer', 'Author', [authors, 'Title'])
  await addThrough(books, 'Tag names', 'Tags', [tags, 'Title'])
  await addThrough(authors, 'Total', 'Books', [books, 'Price'], 'sum')
})

afterAll(() => bench.stop())

const formula = (table: TestTable, title: string, text: string, display: object | null = null) =>
  library.add(table, title, 'Formula', { formula: text, display })

/** A formula's value by the record's title. */
async function valuesOf(table: TestTable, title: string): Promise<Record<string, unknown>> {
  return Object.fromEntries((await table.list()).map((row) => [String(row.Title), row[title]]))
}

const ids = async (table: TestTable, query: object): Promise<unknown[]> =>
  (await bench.trpc.records.list.query({ query: { tableId: table.id, limit: 100, offset: 0, ...query } })).ids

describe('formulas over what is computed', () => {
  test('read lookups, lists, rollups, links and other formulas', async () => {
    const { authors, books } = library
    await formula(books, 'Shout', 'UPPER({Writer})')
    await formula(books, 'Tagged', 'CONCAT("#", {Tag names})')
    await formula(books, 'Twice', 'CONCAT({Shout}, {Shout})')
    await formula(authors, 'Mean', 'IF({Books} > 0, {Total} / {Books}, 0)')
    await formula(books, 'By', 'CONCAT("by ", {Author})')
    expect(await valuesOf(books, 'Shout')).toEqual({
      Hobbit: 'TOLKIEN',
      LOTR: 'TOLKIEN',
      Foundation: 'ASIMOV',
      Anon: null,
    })
    expect(await valuesOf(books, 'Tagged')).toMatchObject({ Hobbit: '#fantasy, classic', Anon: '#' })
    expect(await valuesOf(books, 'Twice')).toMatchObject({ Hobbit: 'TOLKIENTOLKIEN' })
    expect(await valuesOf(authors, 'Mean')).toEqual({ Tolkien: 15.25, Asimov: 5, Nobody: 0 })
    expect(await valuesOf(books, 'By')).toMatchObject({ Hobbit: 'by Tolkien' })
  })

  test('skip the holidays of a lookup, a rollup or a text, and filter by the day', async () => {
    const { authors, books, addThrough } = library
    await addThrough(authors, 'Dates', 'Books', [books, 'Published'])
    await addThrough(authors, 'Last', 'Books', [books, 'Published'], 'max')
    await formula(authors, 'Dates as text', '"1937-09-22, " & {Dates}')
    const next = await formula(authors, 'Next', 'WORKDAY("1937-09-20", 1, {Dates})')
    await formula(authors, 'Later', 'WORKDAY("1937-09-20", 1, {Dates as text})')
    await formula(authors, 'Apart', 'WORKDAY_DIFF("1954-07-26", "1954-07-30", {Last})')
    expect(await valuesOf(authors, 'Next')).toEqual({
      Tolkien: '1937-09-22',
      Asimov: '1937-09-21',
      Nobody: '1937-09-21',
    })
    expect(await valuesOf(authors, 'Later')).toMatchObject({ Tolkien: '1937-09-23', Nobody: '1937-09-21' })
    expect(await valuesOf(authors, 'Apart')).toEqual({ Tolkien: 4, Asimov: 5, Nobody: 5 })
    const onDay = { fieldId: next.id, operator: 'eq', operand: 'exactDate', value: '1937-09-22' }
    expect(await ids(authors, { filter: onDay })).toEqual([1])
  })

  test('take 1,000 linked records, of which a cell lists the first ten', async () => {
    const titles = Array.from({ length: 1_001 }, (_, at) => `Part ${at + 1}`)
    const parts = await bench.table(
      { Title: 'SingleLineText' },
      titles.map((Title) => ({ Title })),
    )
    const sets = await bench.table({ Title: 'SingleLineText' }, [
      { Title: 'twelve' },
      { Title: 'all' },
      { Title: 'none' },
    ])
    const options = { kind: 'mm', relatedTableId: parts.id, createInverse: false }
    await library.add(sets, 'Parts', 'LinkToAnotherRecord', options)
    const ids = titles.map((_, at) => at + 1)
    await library.link(sets, 'Parts', 1, ids.slice(0, 12))
    await library.link(sets, 'Parts', 2, ids)
    await formula(sets, 'Listed', 'ARRAYJOIN({Parts}, ";")')
    await formula(sets, 'Has the twelfth', 'IF(SEARCH({Parts}, "Part 12") > 0, "yes", "no")')
    expect(await valuesOf(sets, 'Listed')).toEqual({
      twelve: titles.slice(0, 12).join(';'),
      all: titles.slice(0, 1_000).join(';'),
      none: null,
    })
    expect(await valuesOf(sets, 'Has the twelfth')).toEqual({ twelve: 'yes', all: 'yes', none: 'no' })
  })

  test('sort, cut and join the values of lookups and multi selects, and read JSON', async () => {
    const { authors, books, addThrough, add } = library
    await addThrough(authors, 'Prices', 'Books', [books, 'Price'])
    await addThrough(authors, 'Titles', 'Books', [books, 'Title'])
    await formula(authors, 'Dearest first', 'ARRAYJOIN(ARRAYSORT({Prices}, "desc"), " > ")')
    await formula(authors, 'Last title', 'ARRAYSLICE(ARRAYSORT({Titles}), -1)')
    await formula(authors, 'Everything', 'ARRAYFLATTEN({Titles}, {Prices}, {Title})')
    expect(await valuesOf(authors, 'Dearest first')).toEqual({
      Tolkien: '20.5 > 10',
      Asimov: '5',
      Nobody: null,
    })
    expect(await valuesOf(authors, 'Last title')).toEqual({
      Tolkien: 'LOTR',
      Asimov: 'Foundation',
      Nobody: null,
    })
    expect(await valuesOf(authors, 'Everything')).toMatchObject({
      Tolkien: 'Hobbit, LOTR, 10, 20.5, Tolkien',
      Nobody: 'Nobody',
    })
    const found = await formula(authors, 'Has LOTR', 'IF(REGEX_MATCH({Last title}, "^LOTR$"), 1, 0)')
    expect(await ids(authors, { filter: { fieldId: found.id, operator: 'eq', value: 1 } })).toEqual([1])

    const shops = await bench.table({ Title: 'SingleLineText', Payload: 'JSON' }, [
      { Title: 'a', Payload: '{"items": [{"price": 12.50, "name": "Tea \\u0026 cake"}], "open": true}' },
      { Title: 'b', Payload: '[1, 2]' },
      { Title: 'c' },
    ])
    const choices = ['red', 'green', 'blue'].map((title) => ({ title }))
    await add(shops, 'Tags', 'MultiSelect', { choices })
    await bench.rest.patch(shops.path, [{ Id: 1, Tags: 'red,green,blue' }])
    await formula(shops, 'Sorted tags', 'ARRAYSORT({Tags})')
    await formula(shops, 'Price', 'VALUE(JSON_EXTRACT({Payload}, ".items[0].price")) * 2')
    await formula(shops, 'Name', 'JSON_EXTRACT({Payload}, "$.items[0].name")')
    await formula(shops, 'Items', 'JSON_EXTRACT({Payload}, ".items")')
    expect(await valuesOf(shops, 'Sorted tags')).toEqual({ a: 'blue, green, red', b: null, c: null })
    expect(await valuesOf(shops, 'Price')).toEqual({ a: 25, b: null, c: null })
    expect(await valuesOf(shops, 'Name')).toMatchObject({ a: 'Tea & cake' })
    expect(await valuesOf(shops, 'Items')).toMatchObject({
      a: '[{"price":12.50,"name":"Tea \\u0026 cake"}]',
    })
    for (const [text, message] of [
      ['JSON_EXTRACT({Title}, ".a")', 'First parameter of JSON_EXTRACT should be a JSON field or JSON text'],
      [
        'JSON_EXTRACT({Payload}, "a[")',
        "Second parameter of JSON_EXTRACT should be a path such as '.size.width' or '.items[0]'",
      ],
      [
        'JSON_EXTRACT({Payload}, {Title})',
        "Second parameter of JSON_EXTRACT should be a path such as '.size.width' or '.items[0]'",
      ],
      ['ARRAYSORT({Tags}, "up")', "Second parameter of ARRAYSORT should be 'asc' or 'desc'"],
    ] as const) {
      expect(await refusalOf(formula(shops, 'Wrong', text))).toMatchObject({ status: 400, message })
    }
  })

  test('are looked up and summed up from other tables, and cannot lead round to themselves', async () => {
    const { authors, books, addThrough, field } = library
    const taxed = await formula(books, 'Taxed', 'ROUND({Price} * 1.19, 2)')
    await addThrough(authors, 'Taxed total', 'Books', [books, 'Taxed'], 'sum')
    expect(await valuesOf(authors, 'Taxed total')).toEqual({ Tolkien: 36.3, Asimov: 5.95, Nobody: 0 })
    await addThrough(books, 'All taxed', 'Author', [authors, 'Taxed total'])
    const change = bench.trpc.schema.updateField.mutate({
      fieldId: taxed.id,
      patch: { options: { formula: '{Price} + {All taxed}' } },
    })
    expect((await refusalOf(change)).message).toBe('Circular reference detected')
    const verdict = await bench.trpc.schema.checkFormula.query({
      tableId: books.id,
      fieldId: taxed.id,
      formula: '{Price} + {All taxed}',
    })
    expect(verdict).toMatchObject({ ok: false, problems: [{ type: 'CIRCULAR_REFERENCE' }] })
    const path = !verdict.ok && verdict.problems[0]?.path
    expect(path).toEqual(['Taxed', 'All taxed', 'Taxed total', 'Taxed'])
    expect((await field(books, 'Taxed')).options.formula).toContain('* 1.19')
  })
})

describe('formulas that read text', () => {
  test('give dates that are filtered, sorted, grouped and formatted as such, and numbers', async () => {
    const rows = await bench.table({ Title: 'SingleLineText', Amount: 'SingleLineText' }, [
      { Title: '31.12.2023', Amount: '9' },
      { Title: '01.02.2024', Amount: '10' },
      { Title: 'soon', Amount: 'x' },
      { Title: '30.02.2024' },
      { Title: '31.12.2023', Amount: '5' },
    ])
    const day = await formula(rows, 'Day', 'DATETIME_PARSE({Title}, "DD.MM.YYYY")', {
      type: 'Date',
      options: { format: 'DD MMM YYYY' },
    })
    const at = await formula(rows, 'At', 'DATETIME_PARSE({Title} & " 10:30", "DD.MM.YYYY HH:mm")')
    const half = await formula(rows, 'Half', 'VALUE({Amount}) / 2')
    const large = await formula(rows, 'Large', '{Amount} > 9.5')
    expect([day, at, half].map(({ result }) => result?.type)).toEqual(['Date', 'DateTime', 'Decimal'])
    const list = await rows.list()
    expect(list.map((row) => [row.Day, row.At, row.Half, row.Large])).toEqual([
      ['2023-12-31', '2023-12-31 10:30:00+00:00', 4.5, 0],
      ['2024-02-01', '2024-02-01 10:30:00+00:00', 5, 1],
      [null, null, null, 0],
      [null, null, null, 0],
      ['2023-12-31', '2023-12-31 10:30:00+00:00', 2.5, 0],
    ])
    const on = (fieldId: string, operator: string, value: string | null) =>
      ids(rows, { filter: { fieldId, operator, ...(value !== null && { operand: 'exactDate' }), value } })
    expect(await on(day.id, 'gt', '2023-12-31')).toEqual([2])
    expect(await on(at.id, 'eq', '2023-12-31')).toEqual([1, 5])
    expect(await on(day.id, 'blank', null)).toEqual([3, 4])
    expect(await ids(rows, { filter: { fieldId: large.id, operator: 'checked', value: null } })).toEqual([2])
    expect(await ids(rows, { sorts: [{ fieldId: day.id, direction: 'desc' }] })).toEqual([2, 1, 5, 3, 4])
    const groups = await bench.rest.get(
      `/api/v1/db/data/noco/${bench.baseId}/${rows.id}/groupby?column_name=Day&sort=Day`,
    )
    expect(groups.body.list.map((group: { count: number }) => Number(group.count)).toSorted()).toEqual([
      1, 2, 2,
    ])
  })
})

describe('formulas in filters, sorts, groups and summaries', () => {
  let books: TestTable
  const fields: Record<string, Field> = {}

  beforeAll(async () => {
    books = await bench.table({ Title: 'SingleLineText', Price: 'Decimal', Sold: 'Number', Due: 'Date' }, [
      { Title: 'a', Price: 10, Sold: 3, Due: '2024-01-31' },
      { Title: 'b', Price: 2.5, Sold: 4 },
      { Title: 'c', Price: 30, Sold: null, Due: '2024-12-01' },
    ])
    for (const [title, text] of [
      ['Earned', '{Price} * {Sold}'],
      ['Label', 'CONCAT({Title}, "-", {Sold})'],
      ['Dear', '{Price} > 5'],
      ['Next', 'DATEADD({Due}, 1, "month")'],
      ['Link', 'URL({Title})'],
    ] as const) {
      fields[title] = await formula(books, title, text)
    }
  })

  const where = (title: string, operator: string, value?: unknown): { filter: Filter } => ({
    filter: { fieldId: fields[title]?.id, operator, ...(value !== undefined && { value }) } as Filter,
  })

  test('go by the result', async () => {
    expect(await ids(books, where('Earned', 'gt', 15))).toEqual([1])
    expect(await ids(books, where('Earned', 'blank'))).toEqual([3])
    expect(await ids(books, where('Label', 'like', 'b-'))).toEqual([2])
    expect(await ids(books, where('Dear', 'checked'))).toEqual([1, 3])
    expect(await ids(books, { sorts: [{ fieldId: fields.Earned?.id, direction: 'desc' }] })).toEqual([
      1, 2, 3,
    ])
    expect(await ids(books, { search: { text: 'b-4', fieldId: null } })).toEqual([2])
    expect((await refusalOf(ids(books, where('Dear', 'gt', 1)))).status).toBe(422)
  })

  test('sum up and group by the result', async () => {
    const summaries = await bench.trpc.records.summaries.query({
      selection: { tableId: books.id },
      summaries: [
        { fieldId: fields.Earned!.id, summary: 'sum' },
        { fieldId: fields.Dear!.id, summary: 'checked' },
        { fieldId: fields.Next!.id, summary: 'latest' },
      ],
    })
    expect(Object.values(summaries)).toEqual(expect.arrayContaining([40, 2, '2025-01-01']))
    const { status, body } = await bench.rest.get(
      `/api/v1/db/data/noco/${bench.baseId}/${books.id}/groupby?column_name=Dear`,
    )
    expect(status).toBe(200)
    expect(body.list.map((row: { count: unknown }) => Number(row.count)).sort()).toEqual([1, 2])
  })

  test('stand in answers as REST clients know them', async () => {
    const [first, second] = await books.list()
    expect(first).toMatchObject({ Earned: 30, Label: 'a-3', Dear: 1, Next: '2024-02-29' })
    expect(first?.Link).toBe('URI::( a )')
    expect(second).toMatchObject({ Earned: 10, Dear: 0, Next: null })
    expect(await books.titles(`?where=${encodeURIComponent('(Earned,gt,15)')}`)).toEqual(['a'])
    expect(await books.titles('?sort=-Earned')).toEqual(['a', 'b', 'c'])
  })

  test('cannot be written, by programs or people', async () => {
    const write = bench.trpc.records.write.mutate({
      change: {
        baseId: bench.baseId,
        operations: [
          { kind: 'update', tableId: books.id, rows: [{ id: 1, values: { [fields.Earned!.id]: 1 } }] },
        ],
      },
    })
    expect((await refusalOf(write)).status).toBe(400)
    await bench.rest.patch(books.path, { Id: 1, Earned: 99, Sold: 3 })
    expect((await valuesOf(books, 'Earned')).a).toBe(30)
  })

  test('are ERR where what they read is gone', async () => {
    const gone = await library.add(books, 'Gone', 'Number', {})
    const over = await formula(books, 'Over', '{Gone} + 1')
    await bench.trpc.schema.deleteField.mutate({ fieldId: gone.id })
    expect(await valuesOf(books, 'Over')).toEqual({ a: 'ERR', b: 'ERR', c: 'ERR' })
    const query = { tableId: books.id, fieldIds: [over.id], limit: 1, offset: 0 }
    expect((await bench.trpc.records.list.query({ query })).rows).toEqual([[null]])
    const filtered = ids(books, { filter: { fieldId: over.id, operator: 'gt', value: 1 } })
    expect((await refusalOf(filtered)).status).toBe(422)
    await bench.trpc.schema.restoreField.mutate({ fieldId: gone.id })
    await bench.rest.patch(books.path, { Id: 1, Gone: 4 })
    expect((await valuesOf(books, 'Over')).a).toBe(5)
  })

  test('take the values of looked-up options and dates one by one', async () => {
    const trips = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'a' }, { Title: 'b' }])
    const choices = ['red', 'green', 'blue'].map((title) => ({ title }))
    await library.add(trips, 'Tags', 'MultiSelect', { choices })
    await library.add(trips, 'Departure', 'DateTime', { timeZone: 'Asia/Tokyo' })
    await bench.rest.patch(trips.path, [
      { Id: 1, Tags: 'red,blue', Departure: '2024-02-29 20:30:00+00:00' },
      { Id: 2, Tags: 'red', Departure: '2024-06-30 15:00:00+00:00' },
    ])
    const people = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'x' }])
    const options = { kind: 'mm', relatedTableId: trips.id, createInverse: false }
    await library.add(people, 'Trips', 'LinkToAnotherRecord', options)
    await library.link(people, 'Trips', 1, [1, 2])
    await library.addThrough(people, 'Tags', 'Trips', [trips, 'Tags'])
    await library.addThrough(people, 'Departures', 'Trips', [trips, 'Departure'])
    const written = {
      Once: ['ARRAYUNIQUE({Tags})', 'red, blue'],
      Flat: ['ARRAYJOIN(ARRAYFLATTEN({Tags}), ";")', 'red;blue;red'],
      'As text': ['"" & {Tags}', 'red,blue, red'],
      Left: ['"" & {Departures}', '2024-03-01 05:30:00, 2024-07-01 00:00:00'],
      Last: ['ARRAYSLICE({Departures}, -1)', '2024-07-01 00:00:00'],
    }
    for (const [title, [text = '', value]] of Object.entries(written)) {
      await formula(people, title, text)
      expect([title, await valuesOf(people, title)]).toEqual([title, { x: value }])
    }
  })

  test('compute in the time zone of a field that has its own', async () => {
    const table = await bench.table({ Title: 'SingleLineText', Number: 'Number' }, [{ Title: 'x' }])
    const departure = await library.add(table, 'Departure', 'DateTime', { timeZone: 'Asia/Tokyo' })
    const [row] = await table.list()
    const records = `/api/v2/tables/${table.id}/records`
    await bench.rest.patch(records, { Id: row?.Id, Departure: '2024-02-29 20:30:00+00:00' })
    const fields = [
      await formula(table, 'Hour', 'HOUR({Departure})'),
      await formula(table, 'Shown', 'DATETIME_FORMAT({Departure}, "YYYY-MM-DD HH:mm Z") & " " & {Departure}'),
      await formula(table, 'Same', '{Departure} = "2024-03-01 05:30"'),
      await formula(table, 'Paris', 'DATETIME_FORMAT(SET_TIMEZONE({Departure}, "Europe/Paris"), "HH:mm")'),
    ]
    const read = async () => {
      const query = { tableId: table.id, fieldIds: fields.map(({ id }) => id), limit: 1, offset: 0 }
      const page = await bench.trpc.records.list.query({ query: { ...query, timeZone: 'America/New_York' } })
      return page.rows[0]
    }
    expect(await read()).toEqual([5, '2024-03-01 05:30 +09:00 2024-03-01 05:30:00', true, '21:30'])
    await bench.trpc.schema.updateField.mutate({
      fieldId: departure.id,
      patch: { options: { ...departure.options, timeZone: 'local' } },
    })
    expect(await read()).toEqual([15, '2024-02-29 15:30 -05:00 2024-02-29 15:30:00', false, '21:30'])
  })

  test('know when their record was created and changed', async () => {
    const table = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'x' }])
    await formula(table, 'Age', 'DATETIME_DIFF(NOW(), CREATED_TIME(), "hours")')
    await formula(table, 'Changed', 'ISNOTBLANK(LAST_MODIFIED_TIME())')
    const [before] = await table.list()
    expect([before?.Age, before?.Changed]).toEqual([0, 0])
    await bench.rest.patch(`/api/v2/tables/${table.id}/records`, { Id: before?.Id, Title: 'renamed' })
    expect((await table.list())[0]?.Changed).toBe(1)
  })

  test('show instants in the zone of who reads, and in UTC to programs', async () => {
    const table = await bench.table({ Title: 'SingleLineText', At: 'DateTime' }, [
      { Title: 'x', At: '2024-03-05 23:30:00+00:00' },
    ])
    const text = await formula(table, 'Text', 'CONCAT("at ", {At})')
    expect((await valuesOf(table, 'Text')).x).toBe('at 2024-03-05 23:30:00')
    const query = { tableId: table.id, fieldIds: [text.id], limit: 1, offset: 0, timeZone: 'Asia/Tokyo' }
    expect((await bench.trpc.records.list.query({ query })).rows).toEqual([['at 2024-03-06 08:30:00']])
    const record = { tableId: table.id, recordId: 1 }
    const inPanel = await bench.trpc.records.get.query({ ...record, timeZone: 'Asia/Tokyo' })
    expect(inPanel.values[text.id]).toBe('at 2024-03-06 08:30:00')
    expect((await bench.trpc.records.get.query(record)).values[text.id]).toBe('at 2024-03-05 23:30:00')
    const shown = await formula(table, 'Later', 'DATEADD({At}, 1, "day")', {
      type: 'DateTime',
      options: { timeZone: 'Europe/Berlin', format: 'DD/MM/YYYY' },
    })
    expect(shown.result).toMatchObject({ type: 'DateTime', options: { timeZone: 'Europe/Berlin' } })
    expect((await valuesOf(table, 'Later')).x).toBe('2024-03-06 23:30:00+00:00')
  })
})

describe('records.previewFormula', () => {
  const preview = (input: object) =>
    bench.trpc.records.previewFormula.query({ tableId: library.books.id, formula: '', ...input })

  test('gives what a formula would give for real records, and stores nothing', async () => {
    const before = (await bench.trpc.schema.table.query({ tableId: library.books.id })).fields.length
    const tried = await preview({ formula: '{Price} * 2', limit: 2 })
    expect(tried).toMatchObject({
      ok: true,
      result: { type: 'Decimal' },
      page: {
        ids: [1, 2],
        rows: [
          ['Hobbit', 20],
          ['LOTR', 41],
        ],
      },
    })
    const chosen = await preview({ formula: 'CONCAT({Writer}, "!")', recordIds: [3] })
    expect(chosen).toMatchObject({ page: { rows: [['Foundation', 'Asimov!']] } })
    expect((await bench.trpc.schema.table.query({ tableId: library.books.id })).fields).toHaveLength(before)
  })

  test('says what is wrong, and refuses what is out of bounds', async () => {
    expect(await preview({ formula: '{Nope}' })).toMatchObject({
      ok: false,
      problems: [{ type: 'INVALID_COLUMN', from: 0, to: 6 }],
    })
    expect((await refusalOf(preview({ formula: '1', limit: 1000 }))).status).toBe(400)
    expect((await refusalOf(preview({ formula: '1', tableId: 'mnope' }))).status).toBe(404)
    const stranger = await bench.app.signUp()
    const refused = bench.app
      .trpc(stranger.token)
      .records.previewFormula.query({ tableId: library.books.id, formula: '1' })
    expect((await refusalOf(refused)).status).toBe(403)
  })
})

describe('an edit of one cell', () => {
  test('asks the database as often with thirty formulas as with none', async () => {
    const rows = [{ Title: 'a', N: 1 }]
    const plain = await bench.table({ Title: 'SingleLineText', N: 'Number' }, rows)
    const wide = await bench.table({ Title: 'SingleLineText', N: 'Number' }, rows)
    for (let at = 0; at < 30; at++) await formula(wide, `F${at}`, at === 0 ? '{N} + 1' : `{F${at - 1}} + 1`)
    const engine = await bench.app.kernel.sources.engine(bench.baseId)
    const edit = (table: TestTable, value: number) => async () => {
      const values = { [table.field('N').id]: value }
      const operations = [{ kind: 'update' as const, tableId: table.id, rows: [{ id: 1, values }] }]
      await bench.trpc.records.write.mutate({ change: { baseId: bench.baseId, operations } })
    }
    const counted = async (work: () => Promise<void>) => {
      const { writeTogether, all, values } = engine
      let count = 0
      const one = <T>(call: () => T): T => {
        count++
        return call()
      }
      engine.all = (statement, options) => one(() => all(statement, options))
      engine.values = (statement, options) => one(() => values(statement, options))
      engine.writeTogether = (run, onCommit) =>
        writeTogether(
          (tx) =>
            run({
              ...tx,
              run: (statement) => one(() => tx.run(statement)),
              runMany: (sql, list) => one(() => tx.runMany(sql, list)),
              all: (statement) => one(() => tx.all(statement)),
            }),
          onCommit,
        )
      try {
        await work()
      } finally {
        Object.assign(engine, { writeTogether, all, values })
      }
      return count
    }
    await edit(plain, 2)()
    await edit(wide, 2)()
    const [few, many] = [await counted(edit(plain, 3)), await counted(edit(wide, 3))]
    expect(few).toBeGreaterThan(0)
    expect(many).toBe(few)
    expect((await valuesOf(wide, 'F29')).a).toBe(33)
  })
})
