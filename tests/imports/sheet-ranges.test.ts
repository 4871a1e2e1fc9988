import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import * as XLSX from 'xlsx'
import type { Base } from '../../src/core/model.ts'
import type { TestApp } from '../support/app.ts'
import { analyse, type Door, ended, importTables, openImports, resultOf, typesOf, upload } from './support.ts'

let app: TestApp
let base: Base
let door: Door

beforeAll(async () => {
  ;({ app, base, door } = await openImports())
})
afterAll(() => app.stop())

type Cell = string | number | boolean | null

function workbook(rows: Cell[][]): Uint8Array<ArrayBuffer> {
  const book = XLSX.utils.book_new()
  XLSX.utils.book_append_sheet(book, XLSX.utils.aoa_to_sheet(rows), 'Sheet')
  return new Uint8Array(XLSX.write(book, { type: 'buffer', bookType: 'xlsx' }))
}

async function look(rows: Cell[][], chosen = {}) {
  const uploadId = await upload(door, workbook(rows), 'book.xlsx')
  const tables = await analyse(door, uploadId, { chosen })
  return { uploadId, tables }
}

const people: Cell[][] = [
  ['Name', 'Age'],
  ['Ann', 31],
  ['Ben', 7],
  ['Cem', 40],
]
const costs: Cell[][] = [
  ['Item', 'Price', 'Paid'],
  ['Ink', 2.5, true],
  ['Pen', 1.5, false],
]
const gap: Cell[] = []

/** Tables beside each other, with an empty column between them. */
const beside = (left: Cell[][], right: Cell[][], width = 2): Cell[][] =>
  Array.from({ length: Math.max(left.length, right.length) }, (_, at) => [
    ...Array.from({ length: width }, (_, column) => left[at]?.[column] ?? null),
    null,
    ...(right[at] ?? []),
  ])

describe('a sheet with several tables', () => {
  test.each([
    ['below each other', [...people, gap, ...costs], ['Sheet', 'Sheet 2']],
    [
      'with captions and totals',
      [['People'], ...people, ['Sum', 78], gap, gap, ['Costs'], ...costs],
      ['Sheet', 'Costs'],
    ],
    ['beside each other', beside([...people, ['Dan', 50]], costs), ['Sheet', 'Sheet 2']],
  ] as [string, Cell[][], string[]][])('offers them as tables, %s', async (_, rows, names) => {
    const { uploadId, tables } = await look(rows)
    expect(tables.map(({ name, isHidden }) => [name, isHidden])).toEqual(names.map((name) => [name, false]))
    expect(tables.map(typesOf)).toEqual([
      { Name: 'SingleLineText', Age: 'Number' },
      { Item: 'SingleLineText', Price: 'Decimal', Paid: 'Checkbox' },
    ])
    const imported = await importTables(
      door,
      base.id,
      uploadId,
      tables.map((table) => ({ ...table, name: '' })),
    )
    expect(imported.map((each) => each.rows.slice(0, 3))).toEqual([
      [
        { Name: 'Ann', Age: 31 },
        { Name: 'Ben', Age: 7 },
        { Name: 'Cem', Age: 40 },
      ],
      [
        { Item: 'Ink', Price: 2.5, Paid: true },
        { Item: 'Pen', Price: 1.5, Paid: false },
      ],
    ])
  })

  test('finds tables of texts by their other columns', async () => {
    const { tables } = await look([
      ['City', 'Country', 'Mayor'],
      ['Rome', 'Italy', 'Ada'],
      gap,
      ['Code', 'Meaning'],
      ['R', 'red'],
      ['G', 'green'],
    ])
    expect(tables.map(({ analysis }) => analysis?.rows)).toEqual([
      [['Rome', 'Italy', 'Ada']],
      [
        ['R', 'red'],
        ['G', 'green'],
      ],
    ])
  })

  test('finds tables in both directions', async () => {
    const { tables } = await look(beside([...people, gap, ...people], costs))
    expect(tables.map(({ analysis }) => [analysis?.fields.length, analysis?.rowCount])).toEqual([
      [2, 3],
      [2, 3],
      [3, 2],
    ])
  })

  test('reads one of them again, and the whole sheet where a person says so', async () => {
    const rows = [...people, gap, ...costs]
    const { tables } = await look(rows)
    const format = tables[0]?.analysis?.format
    const range = format?.kind === 'excel' ? format.range : undefined
    expect(range).toEqual({ firstRow: 1, lastRow: 5, firstColumn: 0 })
    const again = await look(rows, { sheet: 0, range })
    expect(again.tables.map(({ analysis }) => analysis?.rowCount)).toEqual([3])
    const whole = await look(rows, { sheet: 0, range: null })
    expect(whole.tables.map(({ analysis }) => analysis?.rowCount)).toEqual([6])
  })

  test('gives the whole sheet to an import over REST', async () => {
    const { table } = await app.trpc(door.token).schema.createTable.mutate({
      baseId: base.id,
      title: 'Over REST',
      fields: [{ title: 'Name', type: 'SingleLineText' }],
    })
    const answer = await fetch(`${door.url}/api/v2/tables/${table.id}/import`, {
      method: 'POST',
      headers: { 'xc-auth': door.token, 'content-type': 'application/octet-stream' },
      body: workbook([...people, gap, ...costs]),
    })
    const { id } = (await answer.json()) as { id: string }
    expect(resultOf(await ended(door, id))).toMatchObject({ rows: 6 })
  })
})

describe('a sheet with one table', () => {
  test.each([
    ['an empty row', [...people, gap, ['Dan', 50], ['Eve', 60]]],
    ['a total below an empty row', [...people, gap, ['Total', 78]]],
    ['remarks below', [...people, gap, ['Source: the register'], ['Printed', 'today']]],
    [
      'details above it',
      [['Client', 'Acme'], ['Date', '2024-01-31'], gap, ['A', 'B', 'C', 'D'], ['x', 1, 2, 3]],
    ],
    [
      'an empty column between groups of columns',
      beside(people, [
        ['Mon', 'Tue'],
        [1, 2],
        [3, 4],
        [5, 6],
      ]),
    ],
    ['a column of remarks far right', beside(people, [['see below'], [null], ['checked']])],
    ['sections of one word', [...people, gap, ['Others'], ['Dan', 50]]],
  ] as [string, Cell[][]][])('stays one with %s', async (_, rows) => {
    const { tables } = await look(rows)
    expect(tables).toHaveLength(1)
    expect(tables[0]?.analysis?.format).not.toHaveProperty('range')
  })
})
