import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type DraftTarget, draftColumns, toStartInput } from '../../src/core/imports/draft.ts'
import { fileKind } from '../../src/core/imports/file-kind.ts'
import type { Base } from '../../src/core/model.ts'
import type { TestApp, TestUser } from '../support/app.ts'
import { createMember } from '../support/factories.ts'
import {
  analyse,
  type Door,
  ended,
  type importNew,
  type NewTableImport,
  openImports,
  reportOf,
  rowsOf,
  startImport,
  upload,
} from './support.ts'

let app: TestApp
let owner: TestUser
let base: Base
let door: Door

beforeAll(async () => {
  ;({ app, owner, base, door } = await openImports())
})
afterAll(() => app.stop())

const ZIP = 'PK\x03\x04\x14\0'
const latin1 = (text: string): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.from(text, 'latin1'))
function utf32(text: string, isLittle: boolean): Uint8Array<ArrayBuffer> {
  const characters = [...text]
  const view = new DataView(new ArrayBuffer(characters.length * 4))
  for (const [at, character] of characters.entries())
    view.setUint32(at * 4, character.codePointAt(0) ?? 0, isLittle)
  return new Uint8Array(view.buffer)
}
/** Files of other kinds that can be imported, by what is said of them where CSV is asked for. */
const OTHER_KINDS: Record<string, string | Uint8Array<ArrayBuffer>> = {
  'This is a workbook, not': `${ZIP}xl/workbook.xml\nx`,
  'This is a workbook': latin1(`\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1${'\0'.repeat(100)}W\0o\0r\0k\0b\0o\0o\0k`),
  'is a workbook': `${ZIP}mimetypeapplication/vnd.oasis.opendocument.spreadsheetPK`,
  'This is a JSON file, not': '[\n  {"Name": "Ann", "Age": 31},\n  {"Name": "Ben"}\n]\n',
  'This is a JSON file': '\ufeff  {"type": "FeatureCollection", "features": [',
  'is a JSON file': '{"a": 1}\n{"a": 2}\n{"a": 3}\n',
  'a JSON file': new Uint8Array(Buffer.from('\ufeff{"Name": "Ann"}', 'utf16le')),
}

/** Files that cannot be imported, by what is said of them. */
const FOREIGN_FILES: Record<string, string | Uint8Array<ArrayBuffer>> = {
  'This is a Numbers spreadsheet': `${ZIP}Index/Document.iwa`,
  'This is a Word document': `${ZIP}[Content_Types].xml PK word/document.xml`,
  'This is a ZIP archive': `${ZIP}readme.txt\nx`,
  'This is a PDF': '%PDF-1.7\nx',
  'This is a Parquet file': `PAR1${'\x00\x01\x02'.repeat(100)}`,
  'This is an SQLite database': `SQLite format 3\0${'\0'.repeat(100)}`,
  'This is a compressed file': latin1('\x1f\x8b\x08\0\0'),
  'This is a picture': latin1('\x89PNG\r\n'),
  'This is an XML file': '<?xml version="1.0"?>\n<rows><row/></rows>',
  'is an XML file': '<rows>\n  <row a="1"/>\n</rows>',
  'This is an HTML page. Only CSV, Excel, OpenDocument and JSON files can be imported.':
    '\n<!DOCTYPE html>\n<html><body>Sign in</body></html>',
  'This is an SQL script': '-- a dump\n\nCREATE TABLE people (id int);\n',
  'This is a file of contacts': 'BEGIN:VCARD\nVERSION:3.0\n',
  'This is a SYLK worksheet': 'ID;PWXL;N;E\r\nP;PGeneral\r\nC;Y1;X1;K"Name"\r\nE\r\n',
  'This is a worksheet in the Data Interchange Format': 'TABLE\r\n0,1\r\n"x"\r\nVECTORS\r\n0,2\r\n""\r\n',
  'This is a Lotus 1-2-3 worksheet': latin1('\0\0\x02\0\x06\x04\x06\0'),
  'This is a dBase table': latin1(`\x03\x7e\x0b\x1b\x01\0\0\0\x41\0\x0b\0${'\0'.repeat(52)}\r`),
  'This is a web page or e-mail in one file (MHTML)':
    'From: <Saved by a browser>\r\nContent-Type: multipart/related;\r\n\tboundary="x"\r\nMIME-Version: 1.0\r\n\r\n--x\r\n',
  'is a web page or e-mail': 'MIME-Version: 1.0\nX-Document-Type: Workbook\n\n--x\n<table>',
  'The text is encoded in UTF-32': utf32('\ufeffName,Age\nJosé,3\n', true),
  'is encoded in UTF-32': utf32('\ufeffName,Age\n', false),
  'encoded in UTF-32, which': utf32('Name,Age\n😀,3\n', true),
  'encoded in UTF-32': utf32('[{"a": 1}]', false),
  'This is an RTF document': '{\\rtf1\\ansi Name}',
  'This is not a text file: it contains binary data': new Uint8Array(
    Array.from({ length: 5000 }, (_, at) => (at * 7 + (at >> 4)) % 256),
  ),
}

let made = 0
const freshTitle = () => `Import ${++made}`
const two: NewTableImport['columns'] = [{ title: 'Name' }, { title: 'Age', type: 'Number' }]

/** Imports a file of two columns, `Name` and `Age`, and gives the result, the rows and the report. */
async function load(file: string | Uint8Array<ArrayBuffer>, how: Partial<NewTableImport> = {}) {
  const jobId = await startImport(door, base.id, file, { title: freshTitle(), columns: two, ...how })
  const job = await ended(door, jobId)
  if (job.status !== 'completed') throw new Error(`${job.status}: ${job.error}`)
  const result = job.result as Awaited<ReturnType<typeof importNew>>
  return { jobId, result, rows: await rowsOf(door, result.tableId), report: await reportOf(door, jobId) }
}

/** Imports a file that is refused, and gives the reason. */
async function refused(
  file: string | Uint8Array<ArrayBuffer>,
  how: Partial<NewTableImport> = {},
): Promise<string> {
  const title = freshTitle()
  const jobId = await startImport(door, base.id, file, { title, columns: two, ...how })
  const job = await ended(door, jobId)
  expect(job.status).toBe('failed')
  const tables = await app.trpc(owner.token).schema.tables.query({ baseId: base.id })
  expect(tables.map((table) => table.title)).not.toContain(title)
  return job.error ?? ''
}

describe('an import of a file that is not as it should be', () => {
  test('leaves cells empty that do not fit, and reports each with its row and column', async () => {
    const { result, rows, report } = await load('Name,Age\nAnn,31\nBen,old\n"C,y",1.5\n')
    expect(rows.map((row) => row.Age)).toEqual([31, null, null])
    expect(result).toMatchObject({ rows: 3, cellsRefused: 2, problems: 2 })
    expect(report).toEqual(['3,Age,old,Not a valid Number value', '4,Age,1.5,Not a valid Number value'])
  })

  test('shows the report to nobody but the one who imported', async () => {
    const { jobId } = await load('Name,Age\nBen,old\n')
    const creator = await createMember(app, base.id, 'creator')
    const answer = await app.rest(creator.token).get(`/api/internal/jobs/${jobId}/report`)
    expect(answer.status).toBe(404)
  })

  test('fills short rows up, and reports the cells beyond the last column', async () => {
    const { result, rows, report } = await load('Name,Age\nAnn\nBen,2,x,,y\n')
    expect(rows).toEqual([
      { Name: 'Ann', Age: null },
      { Name: 'Ben', Age: 2 },
    ])
    expect(result.cellsRefused).toBe(2)
    expect(report.map((line) => line.split(',').slice(0, 3))).toEqual([
      ['3', 'Cell 3', 'x'],
      ['3', 'Cell 5', 'y'],
    ])
  })

  test('skips empty lines, and counts them in the numbers of rows', async () => {
    const { rows, report } = await load('Name,Age\n\nAnn,1\n,\n\nBen,x\n')
    expect(rows.map((row) => row.Name)).toEqual(['Ann', 'Ben'])
    expect(report[0]).toStartWith('6,Age,x')
  })

  test('reports malformed quotes with their row', async () => {
    const { rows, report } = await load('Name,Age\n"An"n",1\nBen,2\n"Cy,3\nDot,4\n')
    expect(rows.map((row) => row.Name)).toEqual(['An"n', 'Ben', '"Cy', 'Dot'])
    expect(report).toEqual([
      '2,,,Quotes: A quoted cell contains an unescaped quote',
      '4,,,Quotes: Unclosed quote',
    ])
  })

  test('reads a mix of line ends', async () => {
    const { rows } = await load('Name,Age\r\nAnn,1\rBen,2\n"Cy\r\nII",3\r\n')
    expect(rows.map((row) => row.Name)).toEqual(['Ann', 'Ben', 'Cy\r\nII'])
  })

  test.each([
    ['semicolons', ';'],
    ['tabs', '\t'],
    ['pipes', '|'],
  ])('reads %s', async (_, delimiter) => {
    const { rows } = await load(`Name${delimiter}Age\nAnn, the first${delimiter}1\n`, {
      format: { delimiter },
    })
    expect(rows).toEqual([{ Name: 'Ann, the first', Age: 1 }])
  })

  test('refuses cells with NUL bytes, and keeps what is around them', async () => {
    const { rows, report } = await load('Name,Age\nA\0nn,1\nBen,2\n')
    expect(rows).toEqual([
      { Name: null, Age: 1 },
      { Name: 'Ben', Age: 2 },
    ])
    expect(report).toHaveLength(1)
  })

  test('takes a cell of a million characters, and refuses a longer one', async () => {
    const long = 'x'.repeat(1_000_000)
    const { rows, report } = await load(`Text\n"${long}"\n${long}y\n`, {
      columns: [{ title: 'Text', type: 'LongText' }],
    })
    expect(rows.map((row) => String(row.Text).length)).toEqual([1_000_000, 4])
    expect(report).toHaveLength(1)
    expect(report[0]!.length).toBeLessThan(1000)
  })

  test('is refused with a reason where the file is no CSV file', async () => {
    expect(await refused('x'.repeat(9_000_000))).toContain('This is not a CSV file')
    expect(await refused(`Name,Age\n${'"abc"x\n'.repeat(200_000)}`)).toContain('an unclosed quote')
  })

  test('is refused where it is a file of another kind, whatever it is called', async () => {
    for (const [reason, file] of Object.entries(FOREIGN_FILES)) {
      expect(() => fileKind(new Uint8Array(Buffer.from(file as string)), true)).toThrow(reason)
    }
    for (const [reason, file] of Object.entries({ ...FOREIGN_FILES, ...OTHER_KINDS })) {
      const start = startImport(door, base.id, file, { title: freshTitle(), columns: two })
      await expect(start).rejects.toThrow(reason)
    }
    expect(await app.trpc(owner.token).jobs.unfinished.query()).toEqual([])
  })

  test.each([
    ['with ticks in brackets', '[x] Name,Age\n[ ] a,1\n'],
    ['of nothing but ticks in brackets', '[ ]\n[x]\n[ ]\n'],
    ['with JSON in its first cells', '{"a":1},1\n{"a":2},2\n'],
    ['with JSON in quotes', '"{""a"":1}",1\n'],
    ['with headings like tags', '<id>,<name>\n1,a\n'],
    ['with the headings of a statement', 'Name,create table\na,1\n'],
    ['that begins like a SYLK worksheet', 'ID;Price;Name\nC;1;a\n'],
    ['that begins like a DIF worksheet', 'TABLE\n0,1\n2,3\n'],
    ['that begins like an e-mail', 'From: x\nMIME-Version,1.0\nMIME-Version: 1.0\n'],
    ['that begins like an archive', 'Rar!,PAR1\nGIF89a,1\n'],
    ['of digits in UTF-16 without a mark', Buffer.from('1\n2\n3\n4\n', 'utf16le')],
  ])('is taken for CSV where it is one %s', (_, text) => {
    const bytes = typeof text === 'string' ? Buffer.from(text) : text
    for (const isWhole of [true, false]) expect(fileKind(bytes, isWhole)).toBe('csv')
  })

  test('is refused among more than can be imported at a time, and says so', async () => {
    const uploadId = await upload(door, 'Name\na\n')
    const analysis = (await analyse(door, uploadId))[0]!.analysis!
    const target: DraftTarget = { kind: 'new', title: freshTitle() }
    const input = toStartInput(
      { baseId: base.id, uploadId, analysis },
      draftColumns(analysis, target),
      target,
    )
    const many = Array.from({ length: 201 }, () => ({ ...input, timeZone: 'UTC' }))
    await expect(app.trpc(owner.token).imports.startAll.mutate(many)).rejects.toThrow(
      'Up to 200 tables can be imported at a time',
    )
  })

  test('makes an empty table of a header without rows', async () => {
    const { result, rows } = await load('Name,Age\n')
    expect(result.rows).toBe(0)
    expect(rows).toEqual([])
  })
})

describe('an import of a file in another encoding', () => {
  const text = 'Name,Age\nZoë Müller – €,1\n'
  const utf16 = Buffer.from(text, 'utf16le')
  const western = new Uint8Array([...Buffer.from('Name,Age\nZo\xeb M\xfcller \x96 \x80,1\n', 'latin1')])

  test.each([
    ['UTF-8 with a mark', Buffer.from(`\ufeff${text}`)],
    ['UTF-16 LE with a mark', Buffer.from(`\ufeff${text}`, 'utf16le')],
    ['UTF-16 BE with a mark', Buffer.from(`\ufeff${text}`, 'utf16le').swap16()],
    ['UTF-16 LE without a mark', utf16],
    ['UTF-16 BE without a mark', Buffer.from(utf16).swap16()],
    ['Windows-1252', western],
  ])('reads %s, whatever the browser took it for', async (_, bytes) => {
    const file = new Uint8Array(bytes)
    for (const encoding of ['utf-8', undefined] as const) {
      const { rows } = await load(file, { format: encoding && { encoding } })
      expect(rows).toEqual([{ Name: 'Zoë Müller – €', Age: 1 }])
    }
  })

  test('finds out at the end of a long file that it was no UTF-8', async () => {
    const file = new Uint8Array(
      Buffer.concat([
        Buffer.from('Name,Age\n'),
        Buffer.alloc(600_000, 'Ann,1\n'),
        Buffer.from('Zo\xeb,2\n', 'latin1'),
      ]),
    )
    const { result, jobId } = await load(file, { format: { encoding: 'utf-8' } })
    expect(result).toMatchObject({ encoding: 'windows-1252', rows: 100_001 })
    expect(await reportOf(door, jobId)).toEqual([])
  })

  test('keeps UTF-8 where only a byte is spoilt, and reports the row', async () => {
    const good = Buffer.from('Zoë Müller,1\n'.repeat(20))
    const file = new Uint8Array(
      Buffer.concat([Buffer.from('Name,Age\n'), good, Buffer.from([0xff, 0x2c, 0x31, 0x0a])]),
    )
    const { rows, report } = await load(file, { format: { encoding: 'utf-8' } })
    expect(rows[0]!.Name).toBe('Zoë Müller')
    expect(rows).toHaveLength(21)
    expect(report).toHaveLength(1)
    expect(report[0]).toStartWith('22,,,Invalid UTF-8 bytes')
  })

  test('reads the encoding that was chosen', async () => {
    const { rows } = await load(new Uint8Array([...Buffer.from('Name,Age\n'), 0xe9, 0xf6, 0x2c, 0x31]), {
      format: { encoding: 'windows-1251' },
    })
    expect(rows).toEqual([{ Name: 'йц', Age: 1 }])
  })
})
