import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { FieldOptions } from '../../src/core/fields/field-type.ts'
import { type Bench, createBench, refusalOf } from '../records/support.ts'
import { connect, createForeign, type ForeignDatabase } from './support.ts'

const TABLE = [
  'create table item (id int primary key, name varchar(40), price decimal(10, 2), due date, done boolean)',
  'create table shop (code varchar(10) primary key, chief varchar(10), foreign key (chief) references shop (code))',
  `insert into shop values ('main', null), ('7', 'main'), ('7b', '7')`,
  'create table note (id int primary key, body text)',
  `insert into note values (1, repeat('a', 5000)), (2, 'xaab-aad'), (3, repeat('b', 20001)), (4, null)`,
  `insert into item values (1, 'Pen', 1.50, '2024-01-31', true), (2, 'Ink', 12.25, null, false)`,
]

describe.each(['postgres', 'mariadb'] as const)('formulas over tables of %s', (kind) => {
  let bench: Bench
  let foreign: ForeignDatabase
  let tableId: string

  beforeAll(async () => {
    bench = await createBench()
    foreign = await createForeign(kind, TABLE)
    await connect(bench, foreign.sent)
    const tables = await bench.trpc.schema.tables.query({ baseId: bench.baseId })
    tableId = tables.find((table) => table.tableName === 'item')?.id ?? ''
  })
  afterAll(async () => {
    await bench.stop()
    await foreign.stop()
  })

  const add = (title: string, formula: string, display: object | null = null) =>
    bench.trpc.schema.createField.mutate({
      tableId,
      field: { type: 'Formula', title, options: { formula, display } },
    })
  const list = async (query = '') =>
    (await bench.rest.get(`/api/v2/tables/${tableId}/records${query}`)).body.list as Record<string, unknown>[]

  test('are worked out there, and filtered and sorted by', async () => {
    await add('Twice', '{price} * 2')
    await add('Words', 'CONCAT(UPPER({name}), " ", {price})')
    await add('Next', 'DATEADD({due}, 1, "month")')
    await add('Root', 'ROUND(SQRT({price} * 6), 3)')
    await add('Open', 'AND({price} > 1, {done} = 0)', null)
    await add('Whole', '{price} * 4', { type: 'Number', options: {} })
    const [pen, ink] = await list()
    expect(pen).toMatchObject({ Twice: 3, Words: 'PEN 1.5', Next: '2024-02-29', Root: 3, Open: 0, Whole: 6 })
    expect(ink).toMatchObject({ Twice: 24.5, Words: 'INK 12.25', Next: null, Open: 1, Whole: 49 })
    expect((await list('?where=(Twice,gt,10)')).map((row) => row.name)).toEqual(['Ink'])
    expect((await list('?sort=-Words')).map((row) => row.name)).toEqual(['Pen', 'Ink'])
  })

  test('read text as numbers and dates, and change the case of any letter', async () => {
    await add('Parsed', 'DATETIME_PARSE(IF({done}, "31.01.2024", {name}), "DD.MM.YYYY")')
    await add('Half', 'VALUE({price} & "") / 2')
    await add('Cheap', '({price} & "") < 9.5')
    await add('Greek', 'UPPER(IF({done}, "Σίσυφος", "ώς"))')
    expect((await list()).map((row) => [row.Parsed, row.Half, row.Cheap, row.Greek])).toEqual([
      ['2024-01-31', 0.75, 1, 'ΣΊΣΥΦΟΣ'],
      [null, 6.125, 0, 'ΏΣ'],
    ])
    expect((await list('?where=(Parsed,gt,exactDate,2024-01-01)')).map((row) => row.name)).toEqual(['Pen'])
    await add('Line', 'VALUE({name} & "")')
    await add('Broken line', 'ISERROR(VALUE("12\\n"))')
    await add('Equal line', '"12\\n" = 12')
    expect((await list()).map((row) => [row.Line, row['Broken line'], row['Equal line']])).toEqual([
      [null, 1, 0],
      [null, 1, 0],
    ])
  })

  test('bound the time that a pattern takes on a text', async () => {
    const tables = await bench.trpc.schema.tables.query({ baseId: bench.baseId })
    const noteId = tables.find((table) => table.tableName === 'note')?.id ?? ''
    for (const [title, formula] of [
      ['Found', 'REGEX_MATCH({body}, "a*a*[bd]")'],
      ['First', 'REGEX_EXTRACT({body}, "a*a*[bd]")'],
      ['Changed', 'LEN(REGEX_REPLACE({body}, "a*a*[bd]", "#"))'],
    ]) {
      await bench.trpc.schema.createField.mutate({
        tableId: noteId,
        field: { type: 'Formula', title, options: { formula } } as never,
      })
    }
    const { list: rows } = (await bench.rest.get(`/api/v2/tables/${noteId}/records?sort=id`)).body
    // MariaDB would look at the first text for minutes, and then say that nothing fits. PostgreSQL answers at once.
    const isBounded = kind === 'mariadb'
    expect(rows.map((row: Record<string, unknown>) => [row.Found, row.First, row.Changed])).toEqual([
      isBounded ? [null, null, 0] : [0, null, 5000],
      [1, 'aab', 4],
      isBounded ? [null, null, 0] : [1, 'b', 20001],
      [0, null, 0],
    ])
  })

  test('have the functions of that database', async () => {
    for (const [title, formula] of [
      ['Day', 'DATESTR({due})'],
      ['Numbers', 'COUNT({name}, {price}, {due})'],
      ['Filled', 'COUNTA({name}, {price}, {due})'],
    ] as const) {
      expect((await add(title, formula)).error).toBeNull()
    }
    expect((await list()).map((row) => [row.Day, row.Numbers, row.Filled])).toEqual([
      ['2024-01-31', 1, 3],
      [null, 1, 2],
    ])
    const tried = await bench.trpc.records.previewFormula.query({ tableId, formula: 'MONTH({due})' })
    expect(tried).toMatchObject({ ok: true, page: { ids: [1, 2] } })
  })

  test('read keys that are texts as texts, in looked up fields as well', async () => {
    const { trpc, baseId } = bench
    const shop = (await trpc.schema.tables.query({ baseId })).find((table) => table.tableName === 'shop')
    const { fields } = await trpc.schema.table.query({ tableId: shop?.id ?? '' })
    const [key, link] = ['ForeignKey', 'LinkToAnotherRecord'].map((type) =>
      fields.find((field) => field.type === type),
    )
    const create = (type: 'Formula' | 'Lookup', title: string, options: FieldOptions) =>
      trpc.schema.createField.mutate({ tableId: shop?.id ?? '', field: { type, title, options } })
    await create('Lookup', 'Above', { relationFieldId: link?.id ?? '', targetFieldId: key?.id ?? '' })
    await create('Formula', 'Signs', { formula: '"<" & {chief} & ">" & LEN({Above})' })
    const path = `/api/v2/tables/${shop?.id}/records`
    const rows = (await bench.rest.get(`${path}?sort=code`)).body.list as Record<string, unknown>[]
    expect(rows.map((row) => [row.code, row.Above, row.Signs])).toEqual([
      ['7', null, '<main>0'],
      ['7b', 'main', '<7>4'],
      ['main', null, '<>0'],
    ])
    for (const where of ['(Above,eq,main)', '(Above,like,ai)', '(Signs,like,main)~or(Above,eq,main)']) {
      expect([where, (await bench.rest.get(`${path}?where=${where}`)).status]).toEqual([where, 200])
    }
    expect((await refusalOf(create('Formula', 'More', { formula: '{chief} + 1' }))).message).toBe(
      'Numeric type is expected',
    )
  })

  test('leave the database as it is, and are not turned into columns of it', async () => {
    const field = await add('Later', '{price} + 1')
    const turned = bench.trpc.schema.updateField.mutate({
      fieldId: field.id,
      patch: { type: 'SingleLineText' },
    })
    expect((await refusalOf(turned)).status).toBe(400)
    const preview = bench.trpc.schema.previewType.query({ fieldId: field.id, type: 'SingleLineText' })
    expect((await refusalOf(preview)).status).toBe(400)
    const columns = await foreign.ask(
      `select column_name as name from information_schema.columns where table_name = 'item'`,
    )
    expect(columns).toHaveLength(5)
  })
})
