import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { Base } from '../../src/core/model.ts'
import type { TestApp, TestUser } from '../support/app.ts'
import {
  analyse,
  type Door,
  ended,
  importTables,
  openImports,
  resultOf,
  rowsOf,
  typesOf,
  upload,
} from './support.ts'

const DATA = join(import.meta.dir, '../../node_modules/vega-datasets/data')

let app: TestApp
let owner: TestUser
let base: Base
let door: Door

beforeAll(async () => {
  ;({ app, owner, base, door } = await openImports())
})
afterAll(() => app.stop())

type Options = Parameters<typeof analyse>[2]

const look = async (file: BodyInit, options?: Options) =>
  analyse(door, await upload(door, file, 'data.json'), options)

/** The only table of a file beside those of lists in its records: its titles and sample rows. */
async function tableOf(file: BodyInit, options?: Options) {
  const [table, ...others] = await look(file, options)
  expect(others.filter(({ parent }) => !parent)).toEqual([])
  return { titles: table?.analysis?.fields.map(({ title }) => title), rows: table?.analysis?.rows }
}

/** The types of the first table, and its rows once imported. */
async function load(file: BodyInit) {
  const uploadId = await upload(door, file, 'data.json')
  const tables = (await analyse(door, uploadId)).filter(({ isHidden }) => !isHidden)
  const imported = await importTables(door, base.id, uploadId, tables)
  return {
    tables,
    types: typesOf(tables[0]!),
    imported,
    rows: imported[0]?.rows ?? [],
    report: imported[0]?.report,
  }
}

const utf16 = (text: string) => new Uint8Array(Buffer.from(`\ufeff${text}`, 'utf16le'))

describe('a JSON file of lists', () => {
  test.each([
    ['one list', '[["Name", "Qty"], ["a", 1], ["b", null]]'],
    ['lines', '["Name", "Qty"]\n["a", 1]\n["b"]\n'],
  ])('takes titles from the first of %s', async (_, file) => {
    const { types, rows } = await load(file)
    expect(types).toEqual({ Name: 'SingleLineText', Qty: 'Number' })
    expect(rows).toEqual([
      { Name: 'a', Qty: 1 },
      { Name: 'b', Qty: null },
    ])
  })

  test.each([
    ['one list', '[["Name", "Data"], ["a", {"id": 12345678901234567890}], ["b", [1.10]], ["c"]]'],
    ['lines', '["Name", "Data"]\n["a", {"id": 12345678901234567890}]\n["b", [1.10]]\n["c"]\n'],
  ])('keeps the objects of %s in JSON fields as they are written', async (_, file) => {
    const { types, rows, report } = await load(file)
    expect([types, report]).toEqual([{ Name: 'SingleLineText', Data: 'JSON' }, []])
    expect(rows).toEqual([
      { Name: 'a', Data: '{"id": 12345678901234567890}' },
      { Name: 'b', Data: '[1.10]' },
      { Name: 'c', Data: null },
    ])
  })

  test.each([
    ['the first has numbers', '[["Name", 1], ["a", 2]]'],
    ['texts of the first are equal', '[["Name", "Name"], ["a", "b"]]'],
    ['another is longer', '[["Name", "Qty"], ["a", 1, 2]]'],
    ['it is the only one', '[["Name", "Qty"]]'],
  ])('has numbered columns where %s', async (_, file) => {
    expect((await tableOf(file)).titles?.slice(0, 2)).toEqual(['1', '2'])
  })

  test('has numbered columns where a person says so', async () => {
    const { titles, rows } = await tableOf('[["Name", "Qty"], ["a", "b"]]', { chosen: { header: false } })
    expect([titles, rows?.length]).toEqual([['1', '2'], 2])
  })
})

describe('a JSON file with lists of lists under a key', () => {
  const data = [
    ['Ann', 3],
    ['Ben', 4],
  ]
  const table = [
    { Name: 'Ann', Qty: 3 },
    { Name: 'Ben', Qty: 4 },
  ]

  test.each([
    ['in the first list, as in Google Sheets', { range: 'A1:B3', values: [['Name', 'Qty'], ...data] }],
    ['beside it, as in pandas', { columns: ['Name', 'Qty'], index: [0, 1], data1: data }],
    ['after it', { data2: data, columns: ['Name', 'Qty'] }],
    [
      'in the names of objects, as in Socrata',
      { meta: { view: { id: 'x', columns: [{ name: 'Name' }, { name: 'Qty' }] } }, data3: data },
    ],
  ])('makes a table of them with the titles %s', async (_, file) => {
    const { tables, types, rows, report } = await load(JSON.stringify(file))
    expect([tables.length, types, report]).toEqual([1, { Name: 'SingleLineText', Qty: 'Number' }, []])
    expect(rows).toEqual(table)
  })

  test('numbers the columns without titles, and leaves the first list where a person says so', async () => {
    expect((await tableOf('{"prices": [[1, 2.5], [2, 3.5]]}')).titles).toEqual(['1', '2'])
    const values = [['Name'], ['Ann'], ['Ben']]
    const chosen = { header: false }
    expect(await tableOf(JSON.stringify({ values }), { chosen })).toEqual({ titles: ['1'], rows: values })
  })

  test('keeps shapes of maps, which are lists of lists of lists, as JSON', async () => {
    const file = { type: 'Polygon', coordinates: [[[1, 2]]] }
    expect((await tableOf(JSON.stringify(file))).rows).toEqual([['Polygon', '[[[1,2]]]']])
  })

  test('reads more of them than a value beside records may be long', async () => {
    const rows = Array.from({ length: 300_000 }, (_, at) => [
      at,
      `A name of the person with the number ${at}`,
    ])
    const [found] = await look(JSON.stringify({ columns: ['id', 'name'], data: rows }))
    expect([found?.analysis?.rowCount, found?.notes]).toEqual([300_000, undefined])
  })
})

describe('a JSON file of a public service', () => {
  const weather = {
    latitude: 52.5,
    hourly_units: { time: 'iso8601', temperature_2m: '°C' },
    hourly: {
      time: ['2024-01-01T00:00', '2024-01-01T01:00', '2024-01-01T02:00'],
      temperature_2m: [1.5, null, 2.25],
    },
  }

  test('makes a table of lists of equal length, as of Open-Meteo', async () => {
    const tables = await look(JSON.stringify(weather))
    expect(tables.map(({ name, isHidden }) => [name, isHidden])).toEqual([
      ['hourly', false],
      ['', true],
    ])
    expect(tables[1]?.analysis?.rows).toEqual([['52.5', 'iso8601', '°C']])
    const { types, rows } = await load(JSON.stringify(weather))
    expect(types).toEqual({ time: 'DateTime', temperature_2m: 'Decimal' })
    expect(rows.map(({ temperature_2m }) => temperature_2m)).toEqual([1.5, null, 2.25])
  })

  test.each([1, 2, 6])('makes a table of %d columns with numbered rows, as of pandas', async (columns) => {
    const names = Array.from({ length: columns }, (_, at) => `column ${at}`)
    // More than what tells the kind of a file.
    const cells = Array.from({ length: 5000 }, (_, at) => [at, `cell ${at}`])
    const file = Object.fromEntries(names.map((name) => [name, Object.fromEntries(cells)]))
    const { tables, imported, rows } = await load(JSON.stringify(file))
    expect(tables[0]?.analysis?.fields.map(({ title }) => title)).toEqual(names)
    expect([tables.length, imported[0]?.result.rows, imported[0]?.report]).toEqual([1, 5000, []])
    expect(rows[1]).toEqual(Object.fromEntries(names.map((name) => [name, 'cell 1'])))
  })

  test('makes a table of the lists of columns of a file', async () => {
    const { types, rows } = await load('{"name": ["Ann", "Ben"], "age": [31, 7]}')
    expect(types).toEqual({ name: 'SingleLineText', age: 'Number' })
    expect(rows).toEqual([
      { name: 'Ann', age: 31 },
      { name: 'Ben', age: 7 },
    ])
  })

  test('makes a table of the records below a description, as of the World Bank', async () => {
    const file = [
      { page: 1, pages: 2 },
      [
        { id: 'DE', name: { v: 'Germany' } },
        { id: 'FR', name: { v: 'France' } },
      ],
    ]
    const { tables, rows } = await load(JSON.stringify(file))
    expect(tables).toHaveLength(1)
    expect(rows).toEqual([
      { id: 'DE', 'name.v': 'Germany' },
      { id: 'FR', 'name.v': 'France' },
    ])
    const all = await look(JSON.stringify(file))
    expect(all.map(({ isHidden, analysis }) => [isHidden, analysis?.rows])).toEqual([
      [true, [['1', '2']]],
      [
        false,
        [
          ['DE', 'Germany'],
          ['FR', 'France'],
        ],
      ],
    ])
  })

  test('makes one table of the pages of an answer', async () => {
    expect((await load('[[{"n": 1}, {"n": 2}], [{"n": 3}]]')).rows).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }])
  })

  test('keeps the keys of objects, whatever is beside them', async () => {
    const file = { columns: ['a', 'b'], data: [{ x: 1, y: 2 }] }
    expect((await look(JSON.stringify(file)))[0]?.analysis?.fields.map(({ title }) => title)).toEqual([
      'x',
      'y',
    ])
  })
})

describe('a long value beside the records of a JSON file', () => {
  test('is a cell of the record up to 8 million characters', async () => {
    const html = 'x'.repeat(2_000_000)
    expect(await tableOf(JSON.stringify({ id: 1, html }))).toEqual({
      titles: ['id', 'html'],
      rows: [['1', html]],
    })
  })

  test('is named in the preview and in the report beyond', async () => {
    const file = `{"more": {"a": "${'x'.repeat(9_000_000)}"},\n"b": [${'1,'.repeat(5_000_000)}1], "list": [{"n": 1}]}`
    const left = [
      '“more.a” at line 1 is too long and is left out',
      '“b” at line 2 is too long and is left out',
    ]
    expect((await look(file)).map(({ name, notes }) => [name, notes])).toEqual([['list', left]])
    const { rows, report, imported } = await load(file)
    expect([rows, imported[0]?.result.problems]).toEqual([[{ n: 1 }], 2])
    expect(report).toEqual([`1,more.a,,${left[0]}`, `1,b,,${left[1]}`])
  })

  test('is named where nothing else is there', async () => {
    await expect(look(`{"a": "${'x'.repeat(9_000_000)}"}`)).rejects.toThrow('“a” at line 1 is too long')
  })
})

describe('a JSON file of records by their keys', () => {
  test('makes a table of them, with the keys', async () => {
    const { types, rows } = await load(
      '{"-Nabc": {"name": "Ann", "age": 3}, "-Nabd": {"name": "Ben", "home": {"city": "Rome"}}}',
    )
    expect(types).toMatchObject({ Key: 'SingleLineText', name: 'SingleLineText', age: 'Number' })
    expect(rows).toEqual([
      { Key: '-Nabc', name: 'Ann', age: 3, 'home.city': null },
      { Key: '-Nabd', name: 'Ben', age: null, 'home.city': 'Rome' },
    ])
  })

  test('makes a table of each such object in an export of Firebase, of any length', async () => {
    const people = Object.fromEntries(
      Array.from({ length: 20_000 }, (_, at) => [`-N${at}`, { name: `Person ${at}`, tags: [{ t: at }] }]),
    )
    const file = JSON.stringify({
      users: people,
      posts: { '-P1': { text: 'a' }, '-P2': { text: 'b' } },
      v: 3,
    })
    const tables = await look(file)
    expect(tables.map(({ name, isHidden, analysis }) => [name, isHidden, analysis?.rowCount])).toEqual([
      ['users', false, 20_000],
      ['tags', true, 20_000],
      ['posts', false, 2],
      ['', true, 1],
    ])
    const { imported } = await load(file)
    expect(imported[0]?.rows[999]).toEqual({ Key: '-N999', name: 'Person 999', tags: '[{"t":999}]' })
    expect(imported.map(({ result }) => result.rows)).toEqual([20_000, 2])
  })

  test.each([
    ['few words as keys', '{"server": {"port": 1}, "client": {"port": 2}}'],
    ['different records', '{"a1": {"x": 1}, "a2": {"y": 1}, "a3": {"z": 1}}'],
    ['other values', '{"a1": {"x": 1}, "a2": {"x": 1}, "b": 3}'],
  ])('is one record where it has %s', async (_, file) => {
    expect((await tableOf(file)).rows?.length).toBe(1)
  })
})

describe('numbers of a JSON file', () => {
  test('that JSON does not have are read as in CSV', async () => {
    const { types, rows, report } = await load(
      '[{"a": NaN, "b": -Infinity, "c": "NaN {"}, {"a": 1.5, "b": 2, "c": "x"}]',
    )
    expect(types).toEqual({ a: 'Decimal', b: 'SingleLineText', c: 'SingleLineText' })
    expect(rows).toEqual([
      { a: null, b: '-Infinity', c: 'NaN {' },
      { a: 1.5, b: '2', c: 'x' },
    ])
    expect(report).toEqual([])
  })

  test('have decimal points, also where its texts have decimal commas', async () => {
    const { rows } = await load('[{"text": "1,5", "number": 1.234}, {"text": "2,25", "number": 5.678}]')
    expect(rows).toEqual([
      { text: 1.5, number: 1.234 },
      { text: 2.25, number: 5.678 },
    ])
  })
})

describe('an import of a JSON file', () => {
  test.each([
    ['a superfluous comma', '[{"a": 1},\n {"a": 2,}]', 'Line 2, column 10: the JSON is not valid at “}”'],
    ['a superfluous comma in a list', '[{"a": 1},\n]', 'Line 2, column 1: the JSON is not valid at “]”'],
    ['a missing value', '{"a": }', 'Line 1, column 7: the JSON is not valid at “}”'],
    ['a missing comma', '[{"a": 1}\n{"a": 2}]', 'Line 2, column 1: the JSON is not valid at “{"a": 2}]”'],
    ['a word', '[\n{"a": yes}\n]', 'Line 2, column 7: the JSON is not valid at “yes}”'],
    ['single quotes', "[{'a': 1}]\n", 'Line 1, column 3: the JSON is not valid'],
    ['a leading zero', '[{"zip": 01234}]', 'Line 1, column 10'],
    ['a line break in a string', '[{"a": "x\ny"}]', 'Line 1, column 8'],
    ['an end that is missing', '[{"a": 1},\n{"a": 2', 'ends at line 2, column 8'],
    ['a string without an end', '[{"a": "x', 'ends at line 1'],
    [
      'a key twice',
      '[{"a": 1},\n{"b": {"c": 1,\n"c": 2}}]',
      'Line 3, column 1: the object has the key “c” twice',
    ],
    [
      'a key twice around its lists',
      '{"a": 1, "a": [{"b": 1}]}',
      'Line 1, column 10: the object has the key “a” twice',
    ],
    [
      'nesting that is too deep',
      `[{"a": ${'['.repeat(120)}${']'.repeat(120)}}]`,
      'nested deeper than 100 levels',
    ],
    [
      'objects that are too deep',
      `${'{"a":'.repeat(150)}1${'}'.repeat(150)}`,
      'nested deeper than 100 levels',
    ],
    ['an endless key', `[{"${'k'.repeat(2_000_000)}": 1}]`, 'Line 1, column 3: the key has more than 1000'],
    ['a huge key', `[{"${'k'.repeat(2000)}": 1}]`, 'the key has more than 1000 characters'],
    ['a huge record', `[{"a": "${'x'.repeat(9_000_000)}"}]`, 'The record at line 1 has more than'],
    ['a broken line', '{"a": 1}\n{"a": 2\n{"a": 3}\n', 'Line 3, column 1'],
  ])('is refused for one with %s, and says where', async (_, file, reason) => {
    await expect(look(file)).rejects.toThrow(reason)
  })

  test('is refused for too many keys', async () => {
    const wide = Object.fromEntries(Array.from({ length: 2001 }, (_, at) => [`k${at}`, at]))
    const [table] = await look(JSON.stringify([wide]))
    expect(table).toMatchObject({
      analysis: null,
      problem: expect.stringContaining('more than 2000 columns'),
    })
  })

  test('says so of a file without rows', async () => {
    expect(await look('[]')).toEqual([])
    expect(await look('{}')).toEqual([])
  })

  test.each([
    ['a list', '[{"a": 1, "b": "x"}, {"b": "y", "c": true}]'],
    ['lines', '{"a": 1, "b": "x"}\n{"b": "y", "c": true}\n'],
    ['lines with Windows breaks and empty ones', '{"a": 1, "b": "x"}\r\n\r\n{"b": "y", "c": true}'],
    ['pretty lines', '{\n  "a": 1,\n  "b": "x"\n}\n{\n  "b": "y",\n  "c": true\n}'],
    ['lines with marks (RFC 7464)', '\x1e{"a": 1, "b": "x"}\n\x1e{"b": "y", "c": true}\n'],
    ['pretty lines with marks', '\x1e{\n  "a": 1,\n  "b": "x"\n}\n\x1e{\n  "b": "y",\n  "c": true\n}\n'],
    ['a list behind comments', '// of a shop\r\n\n// today\n[{"a": 1, "b": "x"}, {"b": "y", "c": true}]'],
    ['lines behind a comment', '// of a shop\n{"a": 1, "b": "x"}\n{"b": "y", "c": true}\n'],
    ['UTF-16 with a mark', utf16('[{"a": 1, "b": "x"}, {"b": "y", "c": true}]')],
    ['UTF-8 with a mark', '\ufeff[{"a": 1, "b": "x"}, {"b": "y", "c": true}]'],
  ])('takes the keys of all records as columns, from %s', async (_, file) => {
    expect(await tableOf(file)).toEqual({
      titles: ['a', 'b', 'c'],
      rows: [
        ['1', 'x', ''],
        ['', 'y', 'true'],
      ],
    })
  })

  test('makes a table of each list of objects, and offers what is around them', async () => {
    const file = {
      made: 'today',
      page: { of: 2 },
      people: [{ name: 'Ann' }],
      more: { pets: [{ name: 'Rex' }] },
      tags: ['a', 'b'],
    }
    const tables = await look(JSON.stringify(file))
    expect(tables.map(({ name, isHidden, analysis }) => [name, isHidden, analysis?.rows])).toEqual([
      ['people', false, [['Ann']]],
      ['pets', false, [['Rex']]],
      ['', true, [['today', '2', 'a,b']]],
    ])
  })

  test('makes one row of an object, and columns of lists in a list', async () => {
    expect(await tableOf('{"a": {"b": 1}, "c": "x"}')).toEqual({ titles: ['a.b', 'c'], rows: [['1', 'x']] })
    expect(await tableOf('[["Ann", 3], ["Ben", 4]]')).toEqual({
      titles: ['1', '2'],
      rows: [
        ['Ann', '3'],
        ['Ben', '4'],
      ],
    })
    expect(await tableOf('["Ann", "Ben"]')).toEqual({ titles: ['Value'], rows: [['Ann'], ['Ben']] })
  })

  test('reads keys that objects of JavaScript have from the beginning', async () => {
    const inner = '{"__proto__": "x", "b": 1}'
    const expected = {
      titles: ['__proto__', 'a.__proto__', 'a.b', 'constructor'],
      rows: [['5', 'x', '1', 'c']],
    }
    const object = `{"__proto__": 5, "a": ${inner}, "constructor": "c"}`
    expect(await tableOf(object)).toEqual(expected)
    expect(await tableOf(`[${object}]`)).toEqual(expected)
    expect(await tableOf(`{"__proto__": ${inner}, "c": 2}`)).toEqual({
      titles: ['__proto__.__proto__', '__proto__.b', 'c'],
      rows: [['x', '1', '2']],
    })
  })

  test('flattens nested objects, or keeps them as JSON', async () => {
    const file =
      '[{"home": {"city": "Rome", "at": {"lat": 41.9}}, "tags": ["red", "blue"], "sizes": [1, 234], "kids": [{"n": 1}]}]'
    expect(await tableOf(file)).toEqual({
      titles: ['home.city', 'home.at.lat', 'tags', 'sizes', 'kids'],
      rows: [['Rome', '41.9', 'red,blue', '[1,234]', '[{"n":1}]']],
    })
    expect(await tableOf(file, { chosen: { flatten: false } })).toMatchObject({
      titles: ['home', 'tags', 'sizes', 'kids'],
      rows: [['{"city":"Rome","at":{"lat":41.9}}', 'red,blue', '[1,234]', '[{"n":1}]']],
    })
  })

  test.each([
    ['objects', '[{"name": "a", "parts": [{"n": "x", "sizes": [1.10]}, {"n": "y", "sizes": [ 2 ]}]}]'],
    ['lists', '[["a", [{"n": "x", "sizes": [1.10]}, {"n": "y", "sizes": [ 2 ]}]], ["b", []]]'],
  ])('keeps JSON cells of the lists in %s as they are written', async (_, file) => {
    const uploadId = await upload(door, file, 'data.json')
    const inner = (await analyse(door, uploadId)).filter(({ parent }) => parent)
    expect(inner.map(typesOf)).toMatchObject([{ n: 'SingleLineText', sizes: 'JSON' }])
    const [table] = await importTables(door, base.id, uploadId, inner)
    expect(table?.rows).toMatchObject([
      { n: 'x', sizes: '[1.10]' },
      { n: 'y', sizes: '[ 2 ]' },
    ])
  })

  test('keeps every digit, and strings with quotes, brackets and escapes', async () => {
    const record = { text: 'a "b" \\ {[]} : , \u2028 é', end: '\\' }
    const file = `[{"id": 12345678901234567890, "n": 0.1, "f": 0.30000000000000004, "e": 1.5E3, "t": ${JSON.stringify(record)}}]`
    expect((await tableOf(file)).rows).toEqual([
      ['12345678901234567890', '0.1', '0.30000000000000004', '1500', record.text, record.end],
    ])
  })

  test('keeps numbers that a computer number cannot hold', async () => {
    const file = '[{"a": 1e999, "b": -1e-999, "c": 1e3, "d": 0.0, "e": 12345678901234567890.5}]'
    expect((await tableOf(file)).rows).toEqual([['1e999', '-1e-999', '1000', '0', '12345678901234567890.5']])
  })

  test('keeps the cells of JSON fields as they are written, and JSON text in strings', async () => {
    const { table } = await app.trpc(owner.token).schema.createTable.mutate({
      baseId: base.id,
      title: 'Raw',
      fields: [
        { title: 'a', type: 'JSON' },
        { title: 'b', type: 'JSON' },
      ],
    })
    const file = `[{"a": {"x": 1.50,  "y": 12345678901234567890}, "b": "[1]"}, {"a": "{}", "b": null}]`
    const answer = await fetch(`${app.url}/api/v2/tables/${table.id}/import`, {
      method: 'POST',
      headers: { 'xc-auth': owner.token, 'content-type': 'application/octet-stream' },
      body: file,
    })
    const { id } = (await answer.json()) as { id: string }
    expect(resultOf(await ended(door, id)).problems).toBe(0)
    expect(await rowsOf(door, table.id)).toMatchObject([
      { a: '{"x": 1.50,  "y": 12345678901234567890}', b: '[1]' },
      { a: '"{}"', b: null },
    ])
  })

  test('reads records that are cut anywhere by the pieces of the file', async () => {
    const records = Array.from({ length: 4000 }, (_, at) => ({
      at,
      text: `${'x'.repeat(at % 97)}\\"é😀${'\\'.repeat(at % 5)}`,
      list: ['[', ']', '{"', '}'],
    }))
    const uploadId = await upload(door, JSON.stringify(records), 'data.json')
    const tables = await analyse(door, uploadId)
    const [imported] = await importTables(door, base.id, uploadId, [{ ...tables[0]!, name: 'Cut' }])
    expect(imported?.result).toMatchObject({ rows: 4000, problems: 0 })
    expect(imported?.rows.map(({ text }) => text)).toEqual(records.slice(0, 1000).map(({ text }) => text))
  })

  test('finds the types of real files, and imports every record', async () => {
    const read = (name: string) => Bun.file(join(DATA, name)).text()
    const cars = await load(await read('cars.json'))
    expect(cars.types).toEqual({
      Name: 'SingleLineText',
      Miles_per_Gallon: 'Decimal',
      Cylinders: 'Number',
      Displacement: 'Decimal',
      Horsepower: 'Number',
      Weight_in_lbs: 'Number',
      Acceleration: 'Decimal',
      Year: 'Date',
      Origin: 'SingleSelect',
    })
    expect(cars.report).toEqual([])
    const given = JSON.parse(await read('cars.json')) as Record<string, unknown>[]
    const { Year: _, ...first } = given[0]!
    expect(cars.rows).toHaveLength(given.length)
    expect(cars.rows[0]).toMatchObject(first as Record<string, string>)
    const movies = await load(await read('movies.json'))
    expect(movies.types).toMatchObject({
      Title: 'SingleLineText',
      'US Gross': 'Number',
      'Release Date': 'Date',
      'MPAA Rating': 'SingleSelect',
      'IMDB Rating': 'Decimal',
    })
    expect(movies.imported[0]).toMatchObject({ result: { rows: 3201 }, report: [] })
    const graph = await load(await read('miserables.json'))
    expect(graph.tables.map(({ name, analysis }) => [name, analysis?.rowCount])).toEqual([
      ['nodes', 77],
      ['links', 254],
    ])
    expect(graph.imported.map(({ result }) => result.rows)).toEqual([77, 254])
  })
})

describe('an analysis that is left', () => {
  test('makes room for the next ones', async () => {
    const records = Array.from({ length: 60_000 }, (_, at) => ({ at, text: 'x'.repeat(200) }))
    const uploadId = await upload(door, JSON.stringify(records), 'data.json')
    for (let round = 0; round < 4; round++) {
      const left = fetch(`${door.url}/api/internal/uploads/${uploadId}/analysis`, {
        method: 'POST',
        headers: { 'xc-auth': door.token, 'content-type': 'application/json' },
        body: '{}',
        signal: AbortSignal.timeout(50),
      })
      await left.then((answer) => answer.text()).catch(() => null)
    }
    const [table] = await analyse(door, uploadId)
    expect(table?.analysis?.rowCount).toBe(60_000)
  })

  test('has read every row where the types change after the samples', async () => {
    const rows = Array.from({ length: 9000 }, (_, at) => ({
      code: at === 8000 ? 'x1' : at,
      day: at === 7000 ? '25/12/2024' : '01/02/2024',
      price: at === 8500 ? '1.234,5' : '1.234',
      long: at === 8999 ? 'y'.repeat(300) : `text ${at}`,
      pick: at < 8990 ? `p${at % 5}` : `q${at}`,
    }))
    const [table] = await look(JSON.stringify(rows))
    expect(typesOf(table!)).toMatchObject({
      code: 'SingleLineText',
      day: 'Date',
      price: 'Decimal',
      long: 'LongText',
    })
    const fieldOf = (title: string) => table?.analysis?.fields.find((field) => field.title === title)
    expect(fieldOf('day')).toMatchObject({ options: { format: 'DD/MM/YYYY' } })
    expect(fieldOf('day')?.confidence.ambiguous).toBeUndefined()
    expect(fieldOf('price')?.decimal ?? table?.analysis?.format.decimal).toBe(',')
    expect(fieldOf('pick')?.options.choices).toHaveLength(15)
  })
})
