import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import type { FieldTypeName } from '../../src/core/fields/index.ts'
import type { Analysis } from '../../src/core/imports/analysis.ts'
import type { ChosenFormat } from '../../src/core/imports/format.ts'
import type { Base } from '../../src/core/model.ts'
import type { TestApp } from '../support/app.ts'
import { createTrpcClient } from '../support/client.ts'
import { analyse, type Door, ended, importTables, openImports, rowsOf, typesOf, upload } from './support.ts'

let app: TestApp
let base: Base
let door: Door
beforeAll(async () => {
  ;({ app, base, door } = await openImports())
})
afterAll(() => app.stop())

/** A file, the types that a person would choose, and the values that it has. */
interface DialectFile {
  file: string
  chosen?: ChosenFormat
  /** What the preview says of the file. */
  analysis?: Partial<Analysis> | { format: Record<string, unknown> }
  types?: Record<string, FieldTypeName>
  rows: Record<string, CellValue>[]
  report?: string[]
}

const FILES: Record<string, DialectFile> = {
  'MySQL’s CSV, with escaped quotes, backslashes and line breaks, and \\N': {
    file: '"id","note","path","n"\n"1","say \\"hi\\", all","C:\\\\new","5"\n"2",\\N,"a\\\nb",\\N\n',
    analysis: { format: { escape: '\\' }, quoteProblems: 0 },
    types: { id: 'Number', n: 'Number' },
    rows: [
      { id: 1, note: 'say "hi", all', path: 'C:\\new', n: 5 },
      { id: 2, note: null, path: 'a\nb', n: null },
    ],
  },
  'Hive’s table as text, with \\N and without quotes': {
    file: 'id\tname\tcity\n1\tAnn\\tLee\t\\N\n2\t\\N\tA\\\\B\n',
    analysis: { format: { escape: '\\', delimiter: '\t' } },
    rows: [
      { id: 1, name: 'Ann\tLee', city: null },
      { id: 2, name: null, city: 'A\\B' },
    ],
  },
  'paths with backslashes before quotes, which escape nothing': {
    file: 'a,b\n"C:\\new\\","x ""y"""\n"D:\\",\\d+\n',
    analysis: { quoteProblems: 0 },
    rows: [
      { a: 'C:\\new\\', b: 'x "y"' },
      { a: 'D:\\', b: '\\d+' },
    ],
  },
  'PostgreSQL’s CSV with \\N, where quotes are doubled': {
    file: 'a,n,path\n"x ""y""",\\N,C:\\new\nz,2,D:\\x\n',
    types: { n: 'Number' },
    rows: [
      { a: 'x "y"', n: null, path: 'C:\\new' },
      { a: 'z', n: 2, path: 'D:\\x' },
    ],
  },
  'backslashes that a person says escape nothing': {
    file: 'a,b\nx\\ty,\\N\n',
    chosen: { escape: '' },
    rows: [{ a: 'x\\ty', b: '\\N' }],
  },
  'JSON with a comma after each line’s object': {
    file: '{"a":1,"b":"x, {y}"},\n{"a":2,"b":"z"},\n',
    types: { a: 'Number', b: 'SingleLineText' },
    rows: [
      { a: 1, b: 'x, {y}' },
      { a: 2, b: 'z' },
    ],
  },
  'one JSON object with a comma after it': {
    file: '{"a":1,"b":{"c":"y, z"}},\n',
    types: { a: 'Number' },
    rows: [{ a: 1, 'b.c': 'y, z' }],
  },
  'lines of JSON, the second longer than what tells the kind of a file': {
    file: `{"a":"x"}\n{"a":"${'y'.repeat(300_000)}"}\n`,
    types: { a: 'LongText' },
    rows: [{ a: 'x' }, { a: 'y'.repeat(300_000) }],
  },
  'a JSON list with a comma after it': {
    file: '[{"a":1},{"a":2}],',
    rows: [{ a: 1 }, { a: 2 }],
  },
  'JSON objects with nothing between them': {
    file: '{"a":1}{"a":2}{"a":3}',
    rows: [{ a: 1 }, { a: 2 }, { a: 3 }],
  },
  'two files in one, the second with a byte order mark and its titles': {
    file: '\ufeffid,name\r\n1,Ann\r\n\ufeffid,name\r\n2,Ben\r\n',
    analysis: { repeatedTitles: 1 },
    types: { id: 'Number' },
    rows: [
      { id: 1, name: 'Ann' },
      { id: 2, name: 'Ben' },
    ],
    report: ['3,,,This row repeats the field names and was left out'],
  },
  'two files in one, the first without a line break at its end': {
    file: '\ufeff"id","name"\n1,Ann\ufeff"id","name"\n2,"Ben, jr."\n',
    analysis: { repeatedTitles: 1, quoteProblems: 0 },
    rows: [
      { id: 1, name: 'Ann' },
      { id: 2, name: 'Ben, jr.' },
    ],
    report: ['3,,,This row repeats the field names and was left out'],
  },
  'a mark inside a quoted cell, which stays': {
    file: 'id,name\n1,"a\n\ufeffb"\n',
    rows: [{ id: 1, name: 'a\n\ufeffb' }],
  },
  'a value that is the title of its column': {
    file: 'name,age\nname,3\nAnn,4\n',
    analysis: { repeatedTitles: 0 },
    rows: [
      { name: 'name', age: 3 },
      { name: 'Ann', age: 4 },
    ],
  },
  'colons between the columns': {
    file: 'user:id:home\nroot:0:/root\nann:1000:/home/ann\n',
    types: { id: 'Number' },
    rows: [
      { user: 'root', id: 0, home: '/root' },
      { user: 'ann', id: 1000, home: '/home/ann' },
    ],
  },
  'circumflexes between the columns, and commas in the texts': {
    file: 'name^born^n\nDoe, Ann^2001-02-03^1\nRay, Ben^1999-12-31^2\n',
    types: { born: 'Date', n: 'Number' },
    rows: [
      { name: 'Doe, Ann', born: '2001-02-03', n: 1 },
      { name: 'Ray, Ben', born: '1999-12-31', n: 2 },
    ],
  },
  'tildes between the columns': {
    file: 'name~n\nAnn~1\nBen~2\n',
    rows: [
      { name: 'Ann', n: 1 },
      { name: 'Ben', n: 2 },
    ],
  },
  'a column of times': {
    file: 'Start\n12:30\n13:45\n',
    types: { Start: 'Time' },
    rows: [{ Start: '12:30:00' }, { Start: '13:45:00' }],
  },
  'addresses of pages': {
    file: 'https://example.com/a\nhttps://example.com/b\n',
    chosen: { header: false },
    types: { 'Field 1': 'URL' },
    rows: [{ 'Field 1': 'https://example.com/a' }, { 'Field 1': 'https://example.com/b' }],
  },
  'texts in formulas for Excel': {
    file: 'id,zip,name\n="12",="0012","=""b """"c"""""""\n="13",="0450",d\n',
    analysis: { format: { formulaTexts: true } },
    types: { id: 'SingleLineText', zip: 'SingleLineText' },
    rows: [
      { id: '12', zip: '0012', name: 'b "c"' },
      { id: '13', zip: '0450', name: 'd' },
    ],
  },
  'texts in formulas that a person wants as they are': {
    file: 'id,zip\n1,="0012"\n',
    chosen: { formulaTexts: false },
    rows: [{ id: 1, zip: '="0012"' }],
  },
  'comments above the titles': {
    file: '# Sensor 7, hall 2, north\n# firmware 1.2\n\nTime,Value\n08:00,1.5\n09:15,2.25\n',
    types: { Time: 'Time', Value: 'Decimal' },
    rows: [
      { Time: '08:00:00', Value: 1.5 },
      { Time: '09:15:00', Value: 2.25 },
    ],
  },
  'a number sign before the titles': {
    file: '# made today\n# id,name\n1,a\n2,b\n',
    types: { '# id': 'Number', name: 'SingleLineText' },
    rows: [
      { '# id': 1, name: 'a' },
      { '# id': 2, name: 'b' },
    ],
  },
  'a number sign as title': {
    file: '#,Name,City\n1,Ann,Rome\n2,Ben,Oslo\n',
    types: { '#': 'Number', Name: 'SingleLineText' },
    rows: [
      { '#': 1, Name: 'Ann', City: 'Rome' },
      { '#': 2, Name: 'Ben', City: 'Oslo' },
    ],
  },
  'amounts in kroner and kronor': {
    file: 'A;B;C;D\n1 234,50 kr;kr 99;12,50 kr.;1.000,-\n-5 kr;-kr 1.200,00;(3,00 kr.);2,-\n',
    types: { A: 'Currency', B: 'Currency', C: 'Currency', D: 'SingleLineText' },
    rows: [
      { A: 1234.5, B: 99, C: 12.5, D: '1.000,-' },
      { A: -5, B: -1200, C: -3, D: '2,-' },
    ],
  },
  'amounts in kroner without decimals': {
    file: 'A;B\nkr 1.234;1.500\nkr 99;2.000\n',
    types: { A: 'Currency', B: 'Number' },
    rows: [
      { A: 1234, B: 1500 },
      { A: 99, B: 2000 },
    ],
  },
  'amounts with the words of other currencies': {
    file: 'Rupee,Lei,Rouble,Rupiah,Franc,Euro\n"Rs. 1,23,456.50",12 lei,5 руб.,"Rp 1,500",Fr. 12.–,3 Euro\nRs.500/-,-3 lei,7.50 руб.,"Rp 20,000",Fr. 3.50,1 euro\n',
    types: {
      Rupee: 'Currency',
      Lei: 'Currency',
      Rouble: 'Currency',
      Rupiah: 'Currency',
      Franc: 'Currency',
      Euro: 'Currency',
    },
    rows: [
      { Rupee: 123_456.5, Lei: 12, Rouble: 5, Rupiah: 1500, Franc: 12, Euro: 3 },
      { Rupee: 500, Lei: -3, Rouble: 7.5, Rupiah: 20_000, Franc: 3.5, Euro: 1 },
    ],
  },
  'codes that begin like currencies': {
    file: 'A,B,C\nRM100,TL 5,kr\nRM101,TL 6,kr\n',
    types: { A: 'SingleLineText', B: 'SingleLineText' },
    rows: [
      { A: 'RM100', B: 'TL 5', C: 'kr' },
      { A: 'RM101', B: 'TL 6', C: 'kr' },
    ],
  },
  'amounts of two currencies, which stay texts': {
    file: 'A\n5 kr\nRs. 5\n',
    types: { A: 'SingleLineText' },
    rows: [{ A: '5 kr' }, { A: 'Rs. 5' }],
  },
  'durations of ISO 8601': {
    file: 'A,B,C,D\nPT1H30M,PT90S,P1DT2H,P1Y\nPT45M,PT1.5S,PT0S,P2M\n',
    types: { A: 'Duration', B: 'Duration', C: 'Duration', D: 'SingleLineText' },
    rows: [
      { A: 5400, B: 90, C: 93_600, D: 'P1Y' },
      { A: 2700, B: 1.5, C: 0, D: 'P2M' },
    ],
  },
}

describe('an import of a file in a dialect', () => {
  test.each(Object.entries(FILES))('reads %s', async (name, one) => {
    const uploadId = await upload(door, one.file, 'file.csv')
    const [table, ...others] = await analyse(door, uploadId, { chosen: one.chosen })
    expect(others).toEqual([])
    expect(table?.analysis).toMatchObject((one.analysis ?? {}) as Partial<Analysis>)
    expect(typesOf(table!)).toMatchObject(one.types ?? {})
    const [imported] = await importTables(door, base.id, uploadId, [{ ...table!, name: name.slice(0, 50) }])
    expect(imported?.rows).toEqual(one.rows)
    expect(imported?.report).toEqual(one.report ?? [])
  })
})

describe('POST /api/v2/tables/{tableId}/import', () => {
  const FILE = 'Code,Note\n"=""0012""","say \\"hi\\""\n'

  /** The values of the imported row, or the refusal. */
  async function imported(query: string): Promise<Record<string, CellValue> | string> {
    const { schema } = createTrpcClient(app.url, door.token)
    const fields = ['Code', 'Note'].map((title) => ({ title, type: 'SingleLineText' as const }))
    const { table } = await schema.createTable.mutate({ baseId: base.id, title: `Rest ${query}`, fields })
    const answer = await fetch(`${app.url}/api/v2/tables/${table.id}/import?${query}`, {
      method: 'POST',
      headers: { 'xc-auth': door.token, 'content-type': 'application/octet-stream' },
      body: FILE,
    })
    if (!answer.ok) return `${answer.status} ${await answer.text()}`
    const { id } = (await answer.json()) as { id: string }
    await ended(door, id)
    const [{ Code = null, Note = null } = {}] = await rowsOf(door, table.id)
    return { Code, Note }
  }

  test('refuses unknown ways to escape', async () => {
    expect(await imported('escape=slash')).toStartWith('400 ')
  })

  test('reads escaped quotes and texts in formulas as the file suggests, or as the request says', async () => {
    expect(await imported('')).toEqual({ Code: '0012', Note: 'say "hi"' })
    expect(await imported('escape=backslash&formulaTexts=false')).toEqual({
      Code: '="0012"',
      Note: 'say "hi"',
    })
    expect(await imported('escape=none')).not.toMatchObject({ Note: 'say "hi"' })
  })
})
