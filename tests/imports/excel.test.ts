import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { strFromU8, strToU8, unzipSync, zipSync } from 'fflate'
import * as XLSX from 'xlsx'
import {
  countMisfits,
  type DraftTarget,
  draftColumns,
  refusedCurrencies,
  toStartInput,
  withType,
} from '../../src/core/imports/draft.ts'
import type { Base } from '../../src/core/model.ts'
import type { TestApp, TestUser } from '../support/app.ts'
import { cpuTimeMs } from '../support/cpu-time.ts'
import {
  analyse,
  type Door,
  doorOf,
  ended,
  importTables,
  openImports,
  postAnalysis,
  reportOf,
  resultOf,
  rowsOf,
  startImport,
  typesOf,
  upload,
} from './support.ts'
import { type Bytes, handmade, inline, rowOf } from './workbook-support.ts'

let app: TestApp
let owner: TestUser
let base: Base
let door: Door

beforeAll(async () => {
  ;({ app, owner, base, door } = await openImports())
})
afterAll(() => app.stop())

const date = (year: number, month: number, day: number, hour = 0, minute = 0, second = 0) =>
  new Date(Date.UTC(year, month - 1, day, hour, minute, second))

const sheetOf = (rows: unknown[][]): XLSX.WorkSheet => XLSX.utils.aoa_to_sheet(rows, { UTC: true })

function workbook(
  sheets: Record<string, XLSX.WorkSheet>,
  type: XLSX.BookType = 'xlsx',
  hidden: string[] = [],
): Bytes {
  const book = XLSX.utils.book_new()
  for (const [name, sheet] of Object.entries(sheets)) XLSX.utils.book_append_sheet(book, sheet, name)
  book.Workbook = { Sheets: Object.keys(sheets).map((name) => ({ Hidden: hidden.includes(name) ? 1 : 0 })) }
  return new Uint8Array(XLSX.write(book, { type: 'buffer', bookType: type }))
}

async function look(file: Bytes, options: Parameters<typeof analyse>[2] = {}, name = 'book.xlsx') {
  return analyse(door, await upload(door, file, name), options)
}

/** Analyses a workbook and imports the tables that the dialog preselects. */
async function load(file: Bytes) {
  const uploadId = await upload(door, file, 'book.xlsx')
  const tables = await analyse(door, uploadId)
  const shown = tables.filter(({ analysis, isHidden }) => analysis && !isHidden)
  return { tables, imported: await importTables(door, base.id, uploadId, shown) }
}

/** An OpenDocument spreadsheet of hand-made rows; `before` stands before the root. */
function openDocument(rows: string, before = ''): Bytes {
  const parts = unzipSync(workbook({ A: sheetOf([['Name'], ['Ann']]) }, 'ods'))
  const content = strFromU8(parts['content.xml'] ?? new Uint8Array())
  const changed = content
    .replace('<office:document-content', `${before}<office:document-content`)
    .replace(/<table:table-row.*<\/table:table-row>/s, rows)
  return new Uint8Array(zipSync({ ...parts, 'content.xml': strToU8(changed) }))
}

/** The same without an archive. */
function flatDocument(rows: string): Bytes {
  const text = Buffer.from(workbook({ A: sheetOf([['Name'], ['Ann']]) }, 'fods')).toString()
  return new Uint8Array(Buffer.from(text.replace(/<table:table-row.*<\/table:table-row>/s, rows)))
}

const repeated = (text: string, { rows = 1, columns = 1 }: { rows?: number; columns?: number }) =>
  `<table:table-row table:number-rows-repeated="${rows}"><table:table-cell office:value-type="string"
    table:number-columns-repeated="${columns}"><text:p>${text}</text:p></table:table-cell></table:table-row>`

/** A cell that fills a whole sheet. */
const SHEETFUL = repeated('x', { rows: 1_048_576, columns: 16_384 })

/** A ZIP archive in which a file is larger than it says, everywhere. */
function lying(archive: Bytes, name: string, size: number): Bytes {
  const bytes = Buffer.from(archive)
  for (const [mark, sizeAt, nameAt] of [
    ['PK\x03\x04', 22, 30],
    ['PK\x01\x02', 24, 46],
  ] as const) {
    for (let at = bytes.indexOf(mark, 0, 'latin1'); at >= 0; at = bytes.indexOf(mark, at + 4, 'latin1'))
      if (bytes.toString('latin1', at + nameAt, at + nameAt + name.length) === name)
        bytes.writeUInt32LE(size, at + sizeAt)
  }
  return new Uint8Array(bytes)
}

/** A workbook of the old kind whose stream says that it is encrypted: a FilePass record after the first one ([MS-XLS] 2.4.117). */
function withFilePass(method: number): Bytes {
  const file = XLSX.CFB.read(workbook({ A: sheetOf([['a'], [1]]) }, 'biff8'), { type: 'buffer' })
  const stream = Buffer.from(XLSX.CFB.find(file, '/Workbook')?.content ?? [])
  const first = 4 + stream.readUInt16LE(2)
  const filePass = Buffer.alloc(4 + 54)
  filePass.writeUInt16LE(0x2f, 0)
  filePass.writeUInt16LE(method === 0 ? 6 : 54, 2)
  filePass.writeUInt16LE(method, 4)
  filePass.writeUInt16LE(1, 6)
  filePass.writeUInt16LE(1, 8)
  const record = method === 0 ? filePass.subarray(0, 10) : filePass
  const changed = Buffer.concat([stream.subarray(0, first), record, stream.subarray(first)])
  XLSX.CFB.utils.cfb_add(file, '/Workbook', changed)
  return new Uint8Array(XLSX.CFB.write(file, { type: 'buffer' }) as Buffer)
}

const SHEET_2003 = (cell: string) =>
  `<?xml version="1.0"?><Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet" xmlns:ss="urn:schemas-microsoft-com:office:spreadsheet">
  <Worksheet ss:Name="A"><Table><Row><Cell><Data ss:Type="String">Name</Data></Cell></Row>${cell}</Table></Worksheet></Workbook>`

describe('an import of a workbook', () => {
  const OFFICE = Buffer.from('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1', 'latin1')
  /** A file of 120 MB that takes little room in an archive. */
  const padded = () => {
    bomb ??= openDocument(repeated(' '.repeat(120_000_000), {}))
    return bomb
  }
  let bomb: Bytes | null = null
  const doctype = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;">]>'

  test.each<[string, () => Bytes, string]>([
    [
      'with a password',
      () =>
        new Uint8Array(
          Buffer.concat([OFFICE, Buffer.alloc(2000), Buffer.from('EncryptedPackage', 'utf16le')]),
        ),
      'protected with a password',
    ],
    [
      'in the OpenDocument format with a password',
      () => {
        const parts = unzipSync(workbook({ A: sheetOf([['a'], [1]]) }, 'ods'))
        const manifest = strToU8('<manifest:manifest><manifest:encryption-data/></manifest:manifest>')
        return new Uint8Array(zipSync({ ...parts, 'META-INF/manifest.xml': manifest }))
      },
      'protected with a password',
    ],
    ['that is cut off', () => workbook({ A: sheetOf([['a'], [1]]) }).slice(0, -300), 'damaged'],
    [
      'of damaged bytes',
      () =>
        workbook({ A: sheetOf([['a'], [1]]) }).map((byte, at) => (at > 100 && at < 400 ? 7 : byte)) as Bytes,
      'damaged',
    ],
    [
      'in the old format that is cut off',
      () => workbook({ A: sheetOf([['a'], [1]]) }, 'biff8').slice(0, 700),
      'damaged',
    ],
    [
      'with too many sheets',
      () =>
        handmade('', {
          'xl/workbook.xml': `<workbook><sheets>${'<sheet name="P" r:id="rId1"/>'.repeat(1001)}</sheets></workbook>`,
        }),
      'more than 1000 sheets',
    ],
    [
      'with too many formats',
      () =>
        handmade('', {
          'xl/styles.xml': `<styleSheet><cellXfs>${'<xf/>'.repeat(100_001)}</cellXfs></styleSheet>`,
        }),
      'is damaged',
    ],
    ['without sheets', () => handmade('', { 'xl/workbook.xml': '<workbook/>' }), 'no sheets with cells'],
    [
      'with entities',
      () => handmade('', { 'xl/worksheets/sheet1.xml': `${doctype}<worksheet>&b;</worksheet>` }),
      'document type definition',
    ],
    [
      'with unknown entities',
      () => handmade('<sheetData><row><c t="str"><v>&lol;</v></c></row></sheetData>'),
      'is damaged',
    ],
    ['with an unclosed tag', () => handmade('<sheetData><row><c><v>1</v>'), 'is damaged'],
    ['in the old format with a password', () => withFilePass(1), 'protected with a password'],
    ['in the old format with an obfuscated password', () => withFilePass(0), 'protected with a password'],
    ['with a cell repeated over a whole sheet', () => openDocument(SHEETFUL), 'more than 5000000 cells'],
    [
      'with rows repeated less than once before such a cell',
      () => openDocument(repeated('x', { rows: -1e15 }) + SHEETFUL),
      'more than 5000000 cells',
    ],
    [
      'with a number of columns that ends with a letter',
      () => openDocument(SHEETFUL.replace('"16384"', '"16384x"')),
      'more than 5000000 cells',
    ],
    [
      'with a row in a repeated one',
      () => openDocument(SHEETFUL.replace('</table:table-row>', '<table:table-row/></table:table-row>')),
      'more than 5000000 cells',
    ],
    [
      'with a repeated cell in a cell',
      () => openDocument(SHEETFUL.replace('</table:table-cell>', '<table:table-cell/></table:table-cell>')),
      'more than 5000000 cells',
    ],
    [
      'with a repeated cell under the names of UOF',
      () => openDocument(SHEETFUL.replaceAll('table-row', '行').replaceAll('table-cell', '数据')),
      'more than 5000000 cells',
    ],
    [
      'with names in other letters',
      () => openDocument(SHEETFUL.replaceAll('-repeated', '-Repeated')),
      'more than 5000000 cells',
    ],
    ['with rows in CDATA', () => openDocument(repeated(`<![CDATA[${SHEETFUL}]]>`, {})), 'is damaged'],
    [
      'with rows in an attribute',
      () => openDocument(`<table:table-row table:style-name='${SHEETFUL}'/>${repeated('x', {})}`),
      'is damaged',
    ],
    [
      'with rows in an instruction',
      () => openDocument(`<?rows ${SHEETFUL}?>${repeated('x', {})}`),
      'is damaged',
    ],
    [
      'with a cell repeated in billions of columns',
      () => openDocument(repeated('x', { columns: 2_000_000_000 })),
      'more than 5000000 cells',
    ],
    [
      'with a row repeated billions of times',
      () => openDocument(repeated('x', { rows: 4_000_000_000 })),
      'more than 5000000 cells',
    ],
    [
      'without an archive and with a repeated cell',
      () => flatDocument(repeated('x', { rows: 1_048_576, columns: 16_384 })),
      'more than 5000000 cells',
    ],
    [
      'with a billion spaces',
      () => openDocument(repeated('a<text:s text:c="1000000000"/>b', {})),
      'more than 5000000 cells',
    ],
    [
      'in the OpenDocument format with entities',
      () => openDocument(repeated('&b;', {}), doctype),
      'document type definition',
    ],
    [
      'with spans a million deep',
      () => openDocument(repeated(`${'<text:span>'.repeat(1e6)}x${'</text:span>'.repeat(1e6)}`, {})),
      'is damaged',
    ],
    ['in the OpenDocument format that is a bomb', padded, 'when unpacked'],
    ['with a file larger than it says', () => lying(padded(), 'content.xml', 10_000), 'damaged'],
    [
      'with two files of the same name',
      () => {
        const parts = unzipSync(openDocument(repeated('x', {})))
        return new Uint8Array(zipSync({ ...parts, 'Content.xml': parts['content.xml'] ?? new Uint8Array() }))
      },
      'damaged',
    ],
    [
      'of 2003 with a row beyond every sheet',
      () =>
        new Uint8Array(
          Buffer.from(
            SHEET_2003('<Row ss:Index="4000000000"><Cell><Data ss:Type="String">x</Data></Cell></Row>'),
          ),
        ),
      'damaged',
    ],
    [
      'of 2003 with a column beyond every sheet',
      () =>
        new Uint8Array(
          Buffer.from(
            SHEET_2003('<Row><Cell ss:Index="4000000000"><Data ss:Type="String">x</Data></Cell></Row>'),
          ),
        ),
      'damaged',
    ],
    ['that is a bomb', () => handmade(`<sheetData>${' '.repeat(120_000_000)}</sheetData>`), 'when unpacked'],
  ])('is refused for one %s, and says what to do', async (_, file, reason) => {
    const bytes = file()
    await expect(look(bytes)).rejects.toThrow(reason)
    const format = { kind: 'excel' as const, sheet: 0, titleRow: 1, firstRow: 2, firstColumn: 0 }
    const uploadId = await upload(door, bytes, 'book.xlsx')
    const trpc = app.trpc(owner.token)
    const { jobId } = await trpc.imports.start.mutate({
      baseId: base.id,
      uploadId,
      format,
      width: 1,
      columns: [{ index: 0 }],
      table: { title: 'Refused', fields: [{ title: 'a', type: 'SingleLineText' }] },
    })
    const job = await waitFor(jobId)
    expect(job.status).toBe('failed')
    expect(job.error).toMatch(/try|no sheet/)
    expect(await trpc.schema.tables.query({ baseId: base.id })).toEqual([])
  })

  async function waitFor(jobId: string) {
    for (;;) {
      const job = await app.trpc(owner.token).jobs.get.query({ jobId })
      if (job.status === 'failed' || job.status === 'completed') return job
      await Bun.sleep(10)
    }
  }

  test('is refused for a sheet with 16,384 columns', async () => {
    const wide = sheetOf([Array.from({ length: 16_384 }, (_, at) => `c${at}`), [1]])
    const [table] = await look(workbook({ Wide: wide }))
    expect(table).toMatchObject({
      analysis: null,
      problem: expect.stringContaining('16384 columns, and up to 2000'),
    })
  })

  test('reads text by its content where the file is called a workbook', async () => {
    const [table] = await look(new Uint8Array(Buffer.from('Name;Age\nAnn;31\n')), {}, 'people.xlsx')
    expect(table?.analysis?.rows).toEqual([['Ann', '31']])
    const old = workbook(
      {
        A: sheetOf([
          ['Name', 'Age'],
          ['Ann', 31],
        ]),
      },
      'biff8',
    )
    expect((await look(old, {}, 'people.csv'))[0]?.analysis?.rows).toEqual([['Ann', '31']])
    await expect(
      look(new Uint8Array(Buffer.from('<html><table><tr><td>1</td></tr></table></html>')), {}, 'a.xls'),
    ).rejects.toThrow('This is an HTML page. Only CSV, Excel')
    await expect(
      startImport(door, base.id, workbook({ A: sheetOf([['a'], [1]]) }), { columns: [{ title: 'a' }] }),
    ).rejects.toThrow('This is a workbook')
  })

  const rows = [
    ['Name', 'Price', 'Share', 'Born', 'Met', 'Zip', 'OK', 'Count', 'Wage'],
    ['Ann', 12.5, 0.07, date(1990, 1, 31), date(2024, 2, 3, 12, 30), '01234', true, 3, 1234.5],
    ['Ben', 1200, 0.125, date(1900, 3, 1), date(2024, 12, 31, 8, 0, 5), '10115', false, 12, 7.25],
  ]

  function typed(): XLSX.WorkSheet {
    const sheet = sheetOf(rows)
    const formats = {
      B: '"$"#,##0.00',
      C: '0.0%',
      D: 'dd/mm/yyyy',
      E: 'dd/mm/yyyy\\ hh:mm:ss',
      I: '#,##0.00\\ [$€-407]',
    }
    for (const [column, format] of Object.entries(formats)) {
      for (const row of [2, 3]) sheet[`${column}${row}`].z = format
    }
    return sheet
  }

  const WITHOUT_SYMBOLS = new Set(['ods', 'fods', 'biff5', 'biff4', 'biff3', 'biff2'])

  test.each(['xlsx', 'xlsm', 'xlsb', 'biff8', 'biff5', 'biff4', 'biff3', 'biff2', 'xlml', 'ods', 'fods'])(
    'finds the types of a %s file',
    async (type) => {
      const name = `T ${type}`
      // The library writes more formats than its types say. The oldest have one sheet, without a name.
      const file = workbook({ [name]: typed() }, type as XLSX.BookType)
      const uploadId = await upload(door, file)
      const tables = (await analyse(door, uploadId)).map((table) => ({ ...table, name }))
      const imported = await importTables(door, base.id, uploadId, tables)
      expect(typesOf(tables[0]!)).toEqual({
        Name: 'SingleLineText',
        Price: 'Currency',
        Share: 'Percent',
        Born: 'Date',
        Met: 'DateTime',
        Zip: 'SingleLineText',
        OK: 'Checkbox',
        Count: 'Number',
        Wage: WITHOUT_SYMBOLS.has(type) ? 'Decimal' : 'Currency',
      })
      expect(imported[0]).toMatchObject({
        report: [],
        rows: [
          {
            Name: 'Ann',
            Price: 12.5,
            Share: 7,
            Born: '1990-01-31',
            Zip: '01234',
            OK: true,
            Count: 3,
            Wage: 1234.5,
          },
          {
            Name: 'Ben',
            Price: 1200,
            Share: 12.5,
            Born: '1900-03-01',
            Zip: '10115',
            OK: false,
            Count: 12,
            Wage: 7.25,
          },
        ],
      })
      expect(imported[0]?.rows.map(({ Met }) => String(Met).slice(0, 19))).toEqual([
        '2024-02-03 12:30:00',
        '2024-12-31 08:00:05',
      ])
    },
  )

  test.each(['windows-1252', 'utf-16'])('reads an XML workbook in %s', async (encoding) => {
    const text = new TextDecoder()
      .decode(workbook({ S: sheetOf([['Name'], ['Änne']]) }, 'xlml'))
      .replace(/^<\?xml[^>]*\?>/, `<?xml version="1.0" encoding="${encoding}"?>`)
    const bytes =
      encoding === 'utf-16' ? Buffer.from(`\ufeff${text}`, 'utf16le') : Buffer.from(text, 'latin1')
    expect((await look(new Uint8Array(bytes)))[0]?.analysis?.rows).toEqual([['Änne']])
  })

  test('offers each sheet as a table, hidden ones last of all, and no empty one', async () => {
    const file = workbook(
      {
        Cities: sheetOf([
          ['City', 'Since'],
          ['Rome', 753],
        ]),
        Empty: sheetOf([]),
        Notes: sheetOf([['Note'], ['hello']]),
        Old: sheetOf([['a'], ['b']]),
      },
      'xlsx',
      ['Old'],
    )
    const { tables, imported } = await load(file)
    expect(
      tables.map(({ name, isHidden, analysis }) => [name, isHidden, analysis?.rowCount ?? null]),
    ).toEqual([
      ['Cities', false, 1],
      ['Empty', false, null],
      ['Notes', false, 1],
      ['Old', true, 1],
    ])
    expect(imported.map(({ result, rows }) => [result.title, rows])).toEqual([
      ['Cities', [{ City: 'Rome', Since: 753 }]],
      ['Notes', [{ Note: 'hello' }]],
    ])
  })

  test('finds the table below a heading and right of empty columns, and the row that is chosen', async () => {
    const sheet = sheetOf([
      [],
      ['', 'Sales 2024'],
      [],
      ['', 'Name', 'Sold'],
      ['', 'Ann', 3],
      [],
      ['', 'Ben', 4],
      [],
    ])
    const file = workbook({ S: sheet })
    const [found] = await look(file)
    expect(found?.analysis).toMatchObject({
      rowCount: 2,
      rows: [
        ['Ann', '3'],
        ['Ben', '4'],
      ],
    })
    expect(typesOf(found!)).toEqual({ Name: 'SingleLineText', Sold: 'Number' })
    const [chosen] = await look(file, { chosen: { sheet: 0, titleRow: 5 } })
    expect(typesOf(chosen!)).toEqual({ Ann: 'SingleLineText', '3': 'Number' })
    const [none] = await look(file, { chosen: { sheet: 0, titleRow: 0 } })
    expect(none?.analysis?.fields.map(({ title }) => title)).toEqual(['Field 1', 'Field 2'])
  })

  test('takes years and months as titles, and numbers and days without titles as rows', async () => {
    const [years] = await look(
      workbook({
        Y: sheetOf([
          ['Country', 2021, 2022, 2023],
          ['FR', 1, 2, 3],
          ['DE', 4, 5, 6],
        ]),
      }),
    )
    expect(years?.analysis?.fields.map(({ title }) => title)).toEqual(['Country', '2021', '2022', '2023'])
    const [months] = await look(
      workbook({
        M: sheetOf([
          ['Account', date(2024, 1, 1), date(2024, 2, 1), date(2024, 3, 1)],
          ['Rent', 1, 2, 3],
        ]),
      }),
    )
    expect(months?.analysis?.fields.map(({ title }) => title)).toEqual([
      'Account',
      '2024-01-01',
      '2024-02-01',
      '2024-03-01',
    ])
    const [days] = await look(
      workbook({
        D: sheetOf([
          ['Ann', date(2000, 1, 1), 2020],
          ['Ben', date(2001, 2, 1), 12],
        ]),
      }),
    )
    expect(days?.analysis?.rowCount).toBe(2)
    const [numbers] = await look(
      workbook({
        N: sheetOf([
          [1, 2.5],
          [3, 4.5],
        ]),
      }),
    )
    expect(numbers?.analysis?.rowCount).toBe(2)
  })

  test('repeats the value of a merged range in each of its rows, not to the right', async () => {
    const sheet = sheetOf([
      ['Team', 'Name', 'Note'],
      ['Red', 'Ann', 'a'],
      [null, 'Ben', 'b'],
      ['Blue', 'Cem', 'c'],
      ['All', null, 'd'],
    ])
    sheet['!merges'] = [XLSX.utils.decode_range('A2:A3'), XLSX.utils.decode_range('A5:B5')]
    for (const type of ['xlsx', 'biff8'] as const) {
      const [table] = await look(workbook({ M: sheet }, type))
      expect(table?.analysis?.rows).toEqual([
        ['Red', 'Ann', 'a'],
        ['Red', 'Ben', 'b'],
        ['Blue', 'Cem', 'c'],
        ['All', '', 'd'],
      ])
    }
  })

  test('reads overlapping ranges without effort', async () => {
    const ranges = Array.from({ length: 90_000 }, (_, at) => `<mergeCell ref="A${1 + (at % 5)}:A1048576"/>`)
    const cells = Array.from({ length: 5000 }, () => rowOf(inline('a'), inline('b')))
    const startedAt = cpuTimeMs()
    const [table] = await look(
      handmade(`<sheetData>${cells.join('')}</sheetData><mergeCells>${ranges.join('')}</mergeCells>`),
    )
    expect(table?.analysis?.rowCount).toBe(4999)
    expect(cpuTimeMs() - startedAt).toBeLessThan(5000)
  })

  test('reads dates of the 1904 system', async () => {
    const book = XLSX.utils.book_new()
    const sheet = XLSX.utils.aoa_to_sheet([['Day'], [1], [43_864]])
    for (const cell of ['A2', 'A3']) sheet[cell].z = 'yyyy-mm-dd'
    XLSX.utils.book_append_sheet(book, sheet, 'D')
    book.Workbook = { WBProps: { date1904: true } }
    const file = new Uint8Array(XLSX.write(book, { type: 'buffer', bookType: 'xlsx' }))
    expect((await look(file))[0]?.analysis?.rows).toEqual([['1904-01-02'], ['2024-02-04']])
  })

  test('reads days before 1900 of programs that have them', async () => {
    const sheet = sheetOf([
      ['Name', 'Born'],
      ['Ann', -18136],
    ])
    sheet.B2.z = 'yyyy-mm-dd'
    const cell = (type: string, value: string, text: string) =>
      `<table:table-cell office:value-type="${type}"${value}><text:p>${text}</text:p></table:table-cell>`
    const row = (...cells: string[]) => `<table:table-row>${cells.join('')}</table:table-row>`
    const names = ['office', 'table', 'text'].map(
      (name) => `xmlns:${name}="urn:oasis:names:tc:opendocument:xmlns:${name}:1.0"`,
    )
    const flat = `<?xml version="1.0" encoding="UTF-8"?><office:document ${names.join(' ')}
      office:mimetype="application/vnd.oasis.opendocument.spreadsheet"><office:body><office:spreadsheet><table:table table:name="A">
      ${row(cell('string', '', 'Name'), cell('string', '', 'Born'))}
      ${row(cell('string', '', 'Ann'), cell('date', ' office:date-value="1850-05-05"', '5 May 1850'))}
      </table:table></office:spreadsheet></office:body></office:document>`
    for (const file of [workbook({ A: sheet }), workbook({ A: sheet }, 'biff8'), flat]) {
      const [table] = await analyse(door, await upload(door, file, 'old'))
      expect([typesOf(table!).Born, table?.analysis?.rows]).toEqual(['Date', [['Ann', '1850-05-05']]])
    }
  })

  test('leaves errors and formulas without a result empty, and reports them with their column', async () => {
    const file = handmade(
      `<sheetData>${rowOf(inline('Name'), inline('Sum'))}${rowOf(inline('Ann'), '<c><f>1+1</f><v>2</v></c>')}` +
        `${rowOf(inline('Ben'), '<c t="e"><f>1/0</f><v>#DIV/0!</v></c>')}${rowOf(inline('Cem'), '<c><f>1+2</f></c>')}</sheetData>`,
    )
    const { tables, imported } = await load(file)
    expect(typesOf(tables[0]!)).toEqual({ Name: 'SingleLineText', Sum: 'Number' })
    expect(imported[0]?.rows.map(({ Sum }) => Sum)).toEqual([2, null, null])
    expect(imported[0]?.report).toEqual([
      '3,Sum,#DIV/0!,The formula has an error instead of a value',
      '4,Sum,,"The formula has no stored result. Open the file in a spreadsheet program, save it and import it again"',
    ])
  })

  test('joins rich text without phonetic guides, and reads escaped characters', async () => {
    const strings =
      '<sst><si><r><t>Bold</t></r><r><t xml:space="preserve"> and plain</t></r></si><si><t>東京</t><rPh><t>とうきょう</t></rPh></si><si><t>a_x000A_b_x005F_x0041_</t></si></sst>'
    const cells = [0, 1, 2].map((at) => `<row r="${at + 2}"><c r="A${at + 2}" t="s"><v>${at}</v></c></row>`)
    const file = handmade(`<sheetData><row r="1">${inline('Text')}</row>${cells.join('')}</sheetData>`, {
      'xl/sharedStrings.xml': strings,
    })
    expect((await look(file))[0]?.analysis?.rows).toEqual([['Bold and plain'], ['東京'], ['a\nb_x0041_']])
  })

  test('gives the numbers of several currencies to a number field', async () => {
    const sheet = sheetOf([
      ['Trip', 'Paid'],
      ['Oslo', 1.5],
      ['Rome', 2],
    ])
    sheet.B2.z = '"$"0.00'
    sheet.B3.z = '0.00 €'
    const uploadId = await upload(door, workbook({ P: sheet }), 'book.xlsx')
    const [table] = await analyse(door, uploadId)
    const { analysis } = table!
    const target: DraftTarget = { kind: 'new', title: 'Paid amounts' }
    const columns = draftColumns(analysis!, target).map((column) =>
      column.title === 'Paid' ? withType(column, 'Decimal', analysis!) : column,
    )
    expect(analysis?.rows[0]).toEqual(['Oslo', '1.5 $'])
    expect(columns.map((column) => countMisfits(analysis!, column, target))).toEqual([0, 0])
    const input = toStartInput({ baseId: base.id, uploadId, analysis: analysis! }, columns, target)
    const [job] = await app.trpc(owner.token).imports.startAll.mutate([{ ...input, timeZone: 'UTC' }])
    const { tableId } = resultOf(await ended(door, job?.jobId ?? ''))
    expect(await rowsOf(door, tableId)).toEqual([
      { Trip: 'Oslo', Paid: 1.5 },
      { Trip: 'Rome', Paid: 2 },
    ])
  })

  test('keeps several currencies as text where some numbers have none', async () => {
    const sheet = sheetOf([
      ['Trip', 'Paid'],
      ['Oslo', 1.5],
      ['Rome', 2],
      ['Home', 3],
    ])
    sheet.B2.z = '"$"0.00'
    sheet.B3.z = '0.00 €'
    const [table] = await look(workbook({ P: sheet }))
    expect(typesOf(table!)).toMatchObject({ Paid: 'SingleLineText' })
    expect(table?.analysis?.rows.map(([, paid]) => paid)).toEqual(['1.5 $', '2 €', '3'])
  })

  test('leaves amounts of another currency than the field’s empty, in the preview and in the report', async () => {
    const trpc = app.trpc(owner.token)
    const { table, fields } = await trpc.schema.createTable.mutate({
      baseId: base.id,
      title: 'Dollars',
      fields: [
        { title: 'Trip', type: 'SingleLineText' },
        { title: 'Paid', type: 'Currency', options: { code: 'USD' } },
      ],
    })
    const sheet = sheetOf([
      ['Trip', 'Paid'],
      ['Rome', 2],
      ['Oslo', 1.5],
    ])
    for (const cell of ['B2', 'B3']) sheet[cell].z = '0.00 €'
    const mixed = structuredClone(sheet)
    mixed.B3.z = '"$"0.00'
    const some = structuredClone(sheet)
    some.B3.z = '0.00'
    const uploadId = await upload(door, workbook({ Euros: sheet, Mixed: mixed, Some: some }), 'book.xlsx')
    const tables = await analyse(door, uploadId)
    const target: DraftTarget = { kind: 'append', tableId: table.id, title: 'Kept', fields }
    const refused = tables.map(({ analysis }) => {
      const columns = draftColumns(analysis!, target)
      return {
        misfits: countMisfits(analysis!, columns[1]!, target),
        refused: refusedCurrencies(analysis!, columns[1]!, target)?.currencies,
      }
    })
    expect(refused).toEqual([
      { misfits: 2, refused: ['€'] },
      { misfits: 1, refused: undefined },
      { misfits: 0, refused: ['€'] },
    ])
    const inputs = tables.map(({ analysis }) =>
      toStartInput(
        { baseId: base.id, uploadId, analysis: analysis! },
        draftColumns(analysis!, target),
        target,
      ),
    )
    const jobs = await trpc.imports.startAll.mutate(inputs)
    const reason = '"The amount is in EUR, but the field is in USD"'
    const reports: string[][] = []
    for (const { jobId } of jobs) {
      await ended(door, jobId)
      reports.push(await reportOf(door, jobId))
    }
    expect(reports).toEqual([
      [`2,Paid,2 €,${reason}`, `3,Paid,1.5 €,${reason}`],
      [`2,Paid,2 €,${reason}`],
      [`2,Paid,2 €,${reason}`],
    ])
    expect((await rowsOf(door, table.id)).map(({ Paid }) => Paid)).toEqual([null, null, null, 1.5, null, 1.5])
  })

  test('leaves amounts empty whose currency appears below the sampled rows only', async () => {
    const amounts = Array.from({ length: 4000 }, (_, at) => [`T${at}`, at])
    const sheet = sheetOf([['Trip', 'Paid'], ...amounts])
    for (let row = 2; row <= 4001; row++) sheet[`B${row}`].z = '0.00 €'
    sheet.B3900.z = '"$"0.00'
    const uploadId = await upload(door, workbook({ Far: sheet }), 'book.xlsx')
    const tables = await analyse(door, uploadId, { readAll: false })
    expect(typesOf(tables[0]!)).toEqual({ Trip: 'SingleLineText', Paid: 'Currency' })
    const [imported] = await importTables(door, base.id, uploadId, tables)
    expect(imported?.report).toEqual(['3900,Paid,3898 $,"The amount is in USD, but the field is in EUR"'])
    expect(imported?.result).toMatchObject({ rows: 4000, cellsRefused: 1 })
  })

  test('reads the points of numbers as decimal ones in a sheet whose texts have decimal commas', async () => {
    const sheet = sheetOf([
      ['Text', 'Number', 'Euro', 'Share', 'Mixed'],
      ['1,5', 1.234, 2.345, 0.12345, 1.234],
      ['12,25', 5.678, -7.125, 0.01125, 'n. n.'],
    ])
    for (const cell of ['C2', 'C3']) sheet[cell].z = '0.00 €'
    for (const cell of ['D2', 'D3']) sheet[cell].z = '0.00%'
    const { tables, imported } = await load(workbook({ Commas: sheet }))
    expect(imported[0]?.rows).toEqual([
      { Text: 1.5, Number: 1.234, Euro: 2.345, Share: 12.345, Mixed: '1.234' },
      { Text: 12.25, Number: 5.678, Euro: -7.125, Share: 1.125, Mixed: 'n. n.' },
    ])
    expect(tables[0]?.analysis?.fields.map(({ decimal }) => decimal).at(-1)).toBe('.')
  })

  test('names hidden rows and columns, in the preview and in the report', async () => {
    const columns = '<cols><col min="2" max="2" hidden="1"/><col min="4" max="16384" hidden="1"/></cols>'
    const hidden = (...cells: string[]) => `<row hidden="1">${cells.join('')}</row>`
    const file = handmade(
      `${columns}<sheetData>${rowOf(inline('Name'), inline('Salary'), inline('Town'))}` +
        `${rowOf(inline('Ann'), '<c><v>1</v></c>', inline('Rome'))}${hidden(inline('Ben'), '<c><v>2</v></c>', inline('Oslo'))}` +
        `${hidden(inline('Cem'))}</sheetData>`,
    )
    const uploadId = await upload(door, file, 'book.xlsx')
    const tables = await analyse(door, uploadId)
    // Another test has imported a sheet of the same name.
    const named = tables.map((table) => ({ ...table, name: 'With hidden rows' }))
    const imported = await importTables(door, base.id, uploadId, named)
    const rows = '2 rows are hidden in the sheet and imported as well'
    expect(tables[0]?.notes).toEqual([
      rows,
      'The column “Salary” is hidden in the sheet and imported as well',
    ])
    expect(imported[0]?.rows).toHaveLength(3)
    expect(imported[0]?.report).toEqual([
      `3,,,${rows}`,
      '2,Salary,,The column is hidden in the sheet and imported as well',
    ])
  })

  describe('with links and comments', () => {
    function annotated(): XLSX.WorkSheet {
      const sheet = sheetOf([
        ['Name', 'Site', 'Open'],
        ['Ann', 'Home', 'Link'],
        ['Ben', 'www.example.org', 'Link'],
        ['Cem', 'none', 'Link'],
      ])
      sheet.B2.l = { Target: 'https://example.org/?a=1&b=2', Tooltip: 'x'.repeat(250) }
      sheet.B3.l = { Target: 'http://www.example.org/' }
      for (const row of [2, 3, 4]) sheet[`C${row}`].l = { Target: `https://example.org/${row}` }
      sheet.A3.c = [{ a: 'Dee', t: 'Away until May' }]
      return sheet
    }
    const lost =
      'The text of a cell was imported without its link. Import the column as URL to get the address instead'
    const report = [
      `2,Site,https://example.org/?a=1&b=2,${lost}`,
      '3,Name,Away until May,The comment of this cell was left out',
    ]

    test.each(['xlsx', 'xlsb', 'biff8', 'ods'] as const)(
      'reports those of a %s file, and reads addresses where all cells have the same text',
      async (type) => {
        const { tables, imported } = await load(workbook({ [`Links ${type}`]: annotated() }, type))
        expect(typesOf(tables[0]!)).toEqual({ Name: 'SingleLineText', Site: 'SingleLineText', Open: 'URL' })
        expect(tables[0]?.analysis?.fields.map(({ links }) => links)).toEqual([undefined, 1, undefined])
        expect(imported[0]?.rows.map(({ Open }) => Open)).toEqual(
          [2, 3, 4].map((row) => `https://example.org/${row}`),
        )
        expect(imported[0]?.report).toEqual(report)
      },
    )

    test('gives the addresses to a URL field, and none for columns that are left out', async () => {
      const uploadId = await upload(door, workbook({ L: annotated() }), 'book.xlsx')
      const [table] = await analyse(door, uploadId)
      const target: DraftTarget = { kind: 'new', title: 'Sites' }
      const [name, site, open] = draftColumns(table!.analysis!, target)
      const columns = [name!, withType(site!, 'URL', table!.analysis!), { ...open!, isOn: false }]
      expect(countMisfits(table!.analysis!, columns[1]!, target)).toBe(0)
      const input = toStartInput({ baseId: base.id, uploadId, analysis: table!.analysis! }, columns, target)
      const [job] = await app.trpc(owner.token).imports.startAll.mutate([{ ...input, timeZone: 'UTC' }])
      const { tableId } = resultOf(await ended(door, job?.jobId ?? ''))
      expect((await rowsOf(door, tableId)).map(({ Site }) => Site)).toEqual([
        'https://example.org/?a=1&b=2',
        'www.example.org',
        'none',
      ])
      expect(await reportOf(door, job?.jobId ?? '')).toEqual([
        '2,Site,Home,"The text of 1 link is left out, its address is imported"',
        ...report.slice(1),
      ])
    })

    test('reads addresses of formulas', async () => {
      const formula = (target: string, text: string) =>
        `<c t="str"><f>HYPERLINK("${target}","x")</f><v>${text}</v></c>`
      const rows = [1, 2].map((at) =>
        rowOf(inline(`N${at}`), formula(`https://example.org/?a=1&amp;b=${at}`, 'Go')),
      )
      const [table] = await look(
        handmade(`<sheetData>${rowOf(inline('Name'), inline('Page'))}${rows.join('')}</sheetData>`),
      )
      expect(typesOf(table!)).toMatchObject({ Page: 'URL' })
      expect(table?.analysis?.rows.map(([, page]) => page)).toEqual(
        [1, 2].map((at) => `https://example.org/?a=1&b=${at}`),
      )
    })
  })

  test('keeps leading zeros of codes, durations, and every digit of numbers', async () => {
    const sheet = sheetOf([
      ['Zip', 'Took', 'Exact', 'Text'],
      [1234, 1.5, 0.1 + 0.2, '1.234,5'],
      [98765, 0.25, 1e-7, '12,5'],
    ])
    for (const cell of ['A2', 'A3']) sheet[cell].z = '00000'
    for (const cell of ['B2', 'B3']) sheet[cell].z = '[h]:mm:ss'
    const [table] = await look(workbook({ C: sheet }))
    expect(table?.analysis?.rows).toEqual([
      ['01234', '36:00:00', '0.30000000000000004', '1.234,5'],
      ['98765', '6:00:00', '1e-7', '12,5'],
    ])
    expect(typesOf(table!)).toEqual({
      Zip: 'SingleLineText',
      Took: 'Duration',
      Exact: 'Decimal',
      Text: 'Decimal',
    })
  })

  test('reads minutes and seconds as durations, not as times of day', async () => {
    const sheet = sheetOf([
      ['Lap', 'Start'],
      [205 / 86_400, 0.5],
      [3725 / 86_400, 0.75],
    ])
    for (const cell of ['A2', 'A3']) sheet[cell].z = 'mm:ss'
    for (const cell of ['B2', 'B3']) sheet[cell].z = 'h:mm'
    const { tables, imported } = await load(workbook({ Laps: sheet }))
    expect(typesOf(tables[0]!)).toEqual({ Lap: 'Duration', Start: 'Time' })
    expect(imported[0]?.rows.map(({ Lap }) => Lap)).toEqual([205, 3725])
  })

  test('reads hours that a format of times cuts at midnight as durations, and those of `[h]:mm` as well', async () => {
    const sheet = sheetOf([
      ['Worked', 'Start', 'Seen', 'Shift', 'Pause'],
      [26.5 / 24, 0.5, 45_443.5, 7.5 / 24, 0.5 / 24],
      [-1.5 / 24, 0.75, 0.25, 8 / 24, 1 / 24],
      [8 / 24, 0, 0.5, 7 / 24, 1 / 24],
    ])
    for (const column of ['A', 'B', 'C', 'D', 'E'])
      for (const row of [2, 3, 4]) sheet[`${column}${row}`].z = column === 'D' ? '[h]:mm' : 'h:mm'
    const [table] = await look(workbook({ Hours: sheet }))
    expect(table?.analysis?.rows).toEqual([
      ['26:30:00', '12:00:00', '2024-05-31 12:00:00', '7:30:00', '00:30:00'],
      ['-1:30:00', '18:00:00', '06:00:00', '8:00:00', '01:00:00'],
      ['08:00:00', '00:00:00', '12:00:00', '7:00:00', '01:00:00'],
    ])
    expect(typesOf(table!)).toEqual({
      Worked: 'Duration',
      Start: 'Time',
      Seen: 'SingleLineText',
      Shift: 'Duration',
      Pause: 'Time',
    })
  })

  test('gives shares of one to plain number fields, and percentages to Percent fields', async () => {
    const trpc = app.trpc(owner.token)
    const titles = ['Decimal', 'Percent', 'Number']
    const { table, fields } = await trpc.schema.createTable.mutate({
      baseId: base.id,
      title: 'Shares',
      fields: titles.map((type) => ({ title: type, type: type as 'Decimal' })),
    })
    const sheet = sheetOf([titles, [0.5, 0.5, 1], [0.07, 0.07, 0.5]])
    for (const row of [2, 3]) for (const column of ['A', 'B', 'C']) sheet[`${column}${row}`].z = '0%'
    const uploadId = await upload(door, workbook({ S: sheet }), 'book.xlsx')
    const [found] = await analyse(door, uploadId)
    const { jobId } = await trpc.imports.start.mutate({
      baseId: base.id,
      uploadId,
      tableId: table.id,
      format: found!.analysis!.format,
      width: 3,
      columns: titles.map((title, index) => ({
        index,
        fieldId: fields.find((field) => field.title === title)?.id ?? '',
      })),
    })
    expect(await waitFor(jobId)).toMatchObject({ status: 'completed', result: { cellsRefused: 1 } })
    expect(await rowsOf(door, table.id)).toEqual([
      { Decimal: 0.5, Percent: 50, Number: 1 },
      { Decimal: 0.07, Percent: 7, Number: null },
    ])
    expect(await reportOf(door, jobId)).toEqual(['3,Number,50%,Not a valid Number value'])
  })

  test('adds the rows of a sheet to a table by its titles', async () => {
    const trpc = app.trpc(owner.token)
    const { table, fields } = await trpc.schema.createTable.mutate({
      baseId: base.id,
      title: 'Existing',
      fields: [
        { title: 'Name', type: 'SingleLineText' },
        { title: 'Born', type: 'Date' },
      ],
    })
    const uploadId = await upload(door, workbook({ T: typed() }), 'book.xlsx')
    const [found] = await analyse(door, uploadId)
    const fieldId = (title: string) => fields.find((field) => field.title === title)?.id ?? ''
    const { jobId } = await trpc.imports.start.mutate({
      baseId: base.id,
      uploadId,
      tableId: table.id,
      format: found!.analysis!.format,
      width: 9,
      columns: [
        { index: 0, fieldId: fieldId('Name') },
        { index: 3, fieldId: fieldId('Born') },
      ],
    })
    expect(await waitFor(jobId)).toMatchObject({ status: 'completed', result: { rows: 2, problems: 0 } })
  })

  test('checks the types against rows beyond the samples', async () => {
    const many = Array.from({ length: 6000 }, (_, at) => [
      at + 1,
      date(2024, 1, 1 + (at % 12)),
      at === 5001 ? 'n. n.' : at,
    ])
    const sheet = sheetOf([['Id', 'Day', 'Value'], ...many])
    const [all] = await look(workbook({ L: sheet }))
    expect(typesOf(all!)).toMatchObject({ Id: 'Number', Value: 'SingleLineText' })
    expect(all?.analysis).toMatchObject({ rowCount: 6000, isExact: true, isComplete: true })
    const [some] = await look(workbook({ L: sheet }), { readAll: false })
    expect(some?.analysis).toMatchObject({ isExact: false, isComplete: false })
  })

  test('shows an upload to nobody but its owner', async () => {
    const uploadId = await upload(door, workbook({ A: sheetOf([['a'], [1]]) }), 'book.xlsx')
    const other = await app.signUp()
    await expect(analyse(doorOf(app, other), uploadId)).rejects.toThrow('404')
  })
})

describe('an OpenDocument spreadsheet', () => {
  const parts = (type: string) => {
    const files = unzipSync(workbook({ A: sheetOf([['Name'], ['Ann']]) }, 'ods'))
    return { ...files, mimetype: strToU8(`application/vnd.oasis.opendocument.${type}`) }
  }

  test('is refused where it is a text document', async () => {
    const { mimetype, ...others } = parts('text')
    await expect(look(new Uint8Array(zipSync({ mimetype, ...others })))).rejects.toThrow('no workbook')
  })

  test('is read where rows and cells repeat, and empty ones fill the sheet', async () => {
    const cell = (text: string, columns = 1) =>
      `<table:table-cell office:value-type="string" table:number-columns-repeated="${columns}"><text:p>${text}</text:p></table:table-cell>`
    const empty = '<table:table-cell table:number-columns-repeated="16382"/>'
    const rows = [
      `<table:table-row>${cell('Name')}${cell('Kind')}${empty}</table:table-row>`,
      `<table:table-row table:number-rows-repeated="3">${cell('a<text:s text:c="2"/>b', 2)}${empty}</table:table-row>`,
      '<table:table-row table:number-rows-repeated="1048572"><table:table-cell table:number-columns-repeated="16384"/></table:table-row>',
    ].join('')
    for (const file of [openDocument(rows), flatDocument(rows)]) {
      const [table] = await look(file, {}, 'repeated.ods')
      expect(table?.analysis?.fields.map(({ title }) => title)).toEqual(['Name', 'Kind'])
      expect(table?.analysis?.rows).toEqual(Array.from({ length: 3 }, () => ['a  b', 'a  b']))
    }
  })

  test('keeps signs and fractions of times, and days whose format has another one for texts', async () => {
    const cell = (type: string, value: string, shown: string, style = 'lost') =>
      `<table:table-cell table:style-name="${style}" office:value-type="${type}" office:${type === 'float' ? '' : `${type}-`}value="${value}"><text:p>${shown}</text:p></table:table-cell>`
    const title = (text: string) =>
      `<table:table-cell office:value-type="string"><text:p>${text}</text:p></table:table-cell>`
    const row = (cells: string[]) => `<table:table-row>${cells.join('')}</table:table-row>`
    const columns = {
      Took: [
        cell('time', '-PT01H30M00S', '-1:30:00', 'took'),
        cell('time', 'PT36H00M00.25S', '36:00:00.25', 'took'),
      ],
      Due: [cell('date', '2024-05-31', '31/05/2024'), cell('date', '2024-06-01', 'Samstag, 1. Juni 24')],
      At: [
        cell('date', '2024-05-31T18:00:00', '31.05.2024 06:00 PM'),
        cell('date', '2024-06-01T00:00:07.500', '01.06.2024 00:00:07.500'),
      ],
      Month: [cell('date', '2024-05-31', 'Mai', 'month'), cell('date', '2024-06-01', 'Juni', 'month')],
      Start: [cell('time', 'PT14H30M00S', '14:30'), cell('time', 'PT00H05M00S', '00:05')],
      Worked: [cell('time', 'PT36H00M00S', '36:00'), cell('time', '-PT00H30M00S', '-0:30')],
      Weight: [cell('float', '3.14159', '3.14 kg'), cell('float', '100', '100 kg')],
      Count: [cell('float', '1905', '1905'), cell('float', '45443', '45443')],
      Price: [cell('float', '12000', '12,000'), cell('float', '12345', '12')],
      Late: [
        cell('float', '-0.0625', '-1:30:00', 'took'),
        cell('float', '0.0000028935', '0:00:00.25', 'took'),
      ],
    }
    const map = (name: string) =>
      `<number:text-style style:name="${name}"><number:text-content/></number:text-style>`
    const month = `<number:date-style style:name="N3P0"><number:month number:style="long" number:textual="true"/></number:date-style><number:text-style style:name="N3"><number:text-content/><style:map style:condition="value()&gt;=0" style:apply-style-name="N3P0"/></number:text-style>`
    const style = (name: string, format: string) =>
      `<style:style style:name="${name}" style:family="table-cell" style:data-style-name="${format}"/>`
    const file = `<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" office:version="1.3" office:mimetype="application/vnd.oasis.opendocument.spreadsheet"><office:automatic-styles>${map(
      'N1',
    )}${month}<number:time-style style:name="N2" number:truncate-on-overflow="false"><number:hours/><number:text>:</number:text><number:minutes number:style="long"/><number:text>:</number:text><number:seconds number:style="long"/></number:time-style>${style(
      'lost',
      'N1',
    )}${style('took', 'N2')}${style('month', 'N3')}</office:automatic-styles><office:body><office:spreadsheet><table:table table:name="Days">${[
      Object.keys(columns).map(title),
      ...[0, 1].map((at) => Object.values(columns).map((cells) => cells[at]!)),
    ]
      .map(row)
      .join('')}</table:table></office:spreadsheet></office:body></office:document>`
    const [table] = await look(new TextEncoder().encode(file))
    const titles = Object.keys(columns)
    expect(
      table?.analysis?.rows.map((cells) => Object.fromEntries(cells.map((text, at) => [titles[at], text]))),
    ).toEqual([
      {
        Took: '-1:30:00',
        Due: '2024-05-31',
        At: '2024-05-31 18:00:00',
        Month: '2024-05-31',
        Start: '14:30:00',
        Worked: '36:00:00',
        Weight: '3.14159',
        Count: '1905',
        Price: '12000',
        Late: '-1:30:00',
      },
      {
        Took: '36:00:00.250',
        Due: '2024-06-01',
        At: '2024-06-01 00:00:07.500',
        Month: '2024-06-01',
        Start: '00:05:00',
        Worked: '-0:30:00',
        Weight: '100',
        Count: '45443',
        Price: '12345',
        Late: '0:00:00.250',
      },
    ])
    expect(typesOf(table!)).toEqual({
      Took: 'Duration',
      Due: 'Date',
      At: 'DateTime',
      Month: 'Date',
      Start: 'Time',
      Worked: 'Duration',
      Weight: 'Decimal',
      Count: 'Number',
      Price: 'Number',
      Late: 'Duration',
    })
  })

  test('keeps the spaces around its texts, and which sheets are hidden', async () => {
    const cell = (content: string, repeats = '') =>
      `<table:table-cell office:value-type="string"${repeats}><text:p>${content}</text:p></table:table-cell>`
    const row = (...cells: string[]) => `<table:table-row>${cells.join('')}</table:table-row>`
    const comment = '<office:annotation><text:p>Note </text:p></office:annotation>'
    const rows = [
      row(cell('Name'), cell('Kind'), cell('More'), cell('Amount')),
      row(
        cell('<text:s text:c="2"/>Ann <text:s/>B '),
        cell('a &amp; b </text:p><text:p>\u00a0c&#13;<text:tab/>', ' table:number-columns-repeated="2"'),
        '<table:table-cell office:value-type="float" office:value="1234.5"><text:p>1,234.50 € </text:p></table:table-cell>',
      ),
      row(
        cell('\n  Ben<text:s text:c="-1"/>\n  '),
        '<table:covered-table-cell/>',
        `<table:table-cell office:value-type="string">${comment}<text:p>x <text:span>y</text:span> </text:p></table:table-cell>`,
        '<table:table-cell office:value-type="float" office:value="2"><text:p>2.00 €</text:p></table:table-cell>',
      ),
    ].join('')
    const style =
      '<style:style style:name="off" style:family="table"><style:table-properties table:display="false"/></style:style>'
    const other = `<table:table table:name="Lists" table:style-name="off">${row(cell('A '))}${row(cell('b '))}</table:table>`
    for (const [file, root] of [
      [openDocument(rows), 'content.xml'],
      [flatDocument(rows), null],
    ] as const) {
      const edit = (text: string) =>
        text
          .replace(
            '<office:body>',
            `<office:automatic-styles>${style}</office:automatic-styles><office:body>`,
          )
          .replace('</table:table>', `</table:table>${other}`)
      const parts = root === null ? {} : unzipSync(file)
      const edited =
        root === null
          ? strToU8(edit(strFromU8(file)))
          : zipSync({ ...parts, [root]: strToU8(edit(strFromU8(parts[root]!))) })
      const tables = await look(new Uint8Array(edited), {}, 'spaces.ods')
      expect(tables.map(({ isHidden, analysis }) => [isHidden, analysis?.rows])).toEqual([
        [
          false,
          [
            ['  Ann  B ', 'a & b \n\u00a0c\r\t', 'a & b \n\u00a0c\r\t', '1234.5'],
            ['Ben', '', 'x y ', '2'],
          ],
        ],
        [true, [['b ']]],
      ])
      expect(typesOf(tables[0]!)).toMatchObject({ Amount: 'Currency' })
    }
  })

  test('takes the currencies of amounts that are shown with a word of several', async () => {
    const amount = (code: string, value: number) =>
      `<table:table-cell office:value-type="currency" office:currency="${code}" office:value="${value}"><text:p>kr ${value}</text:p></table:table-cell>`
    const text = (content: string) =>
      `<table:table-cell office:value-type="string"><text:p>${content}</text:p></table:table-cell>`
    const rows = [
      text('Paid') + text('Due'),
      amount('NOK', 12) + amount('ISK', 4),
      amount('NOK', 7.5) + amount('ISK', 30),
    ]
      .map((cells) => `<table:table-row>${cells}</table:table-row>`)
      .join('')
    for (const file of [openDocument(rows), flatDocument(rows)]) {
      const [table] = await look(file, {}, 'amounts.ods')
      const fields = table?.analysis?.fields.map(({ title, type, options }) => [title, type, options.code])
      expect(fields).toEqual([
        ['Paid', 'Currency', 'NOK'],
        ['Due', 'Currency', 'ISK'],
      ])
    }
  })

  test('keeps days before March 1900', async () => {
    const days = [
      '1850-05-05',
      '1899-12-30',
      '1899-12-31',
      '1900-01-01',
      '1900-02-28',
      '1900-03-01',
      '2024-01-31',
    ]
    const rows = ['Day', ...days].map((day, at) => {
      const value = at === 0 ? '"string"' : `"date" office:date-value="${day}"`
      return `<table:table-row><table:table-cell office:value-type=${value}><text:p>${day}</text:p></table:table-cell></table:table-row>`
    })
    const cells = days.map(
      (day) => `<Row><Cell ss:StyleID="d"><Data ss:Type="DateTime">${day}T00:00:00.000</Data></Cell></Row>`,
    )
    const style = '<Styles><Style ss:ID="d"><NumberFormat ss:Format="Short Date"/></Style></Styles>'
    const old = SHEET_2003(cells.join('')).replace('<Worksheet', `${style}<Worksheet`)
    for (const file of [openDocument(rows.join('')), new Uint8Array(Buffer.from(old))]) {
      const [table] = await look(file, {}, 'days.ods')
      expect(table?.analysis?.rows.flat()).toEqual(days)
    }
    const mac = openDocument(rows.join(''))
    const parts = unzipSync(mac)
    const content = strFromU8(parts['content.xml']!).replace(
      '<office:spreadsheet>',
      '<office:spreadsheet><table:calculation-settings><table:null-date table:date-value="1904-01-01"/></table:calculation-settings>',
    )
    const [table] = await look(new Uint8Array(zipSync({ ...parts, 'content.xml': strToU8(content) })))
    expect(table?.analysis?.rows.flat()).toEqual(days)
  })

  test('is read where its media type is compressed or not the first file', async () => {
    const { mimetype, ...others } = parts('spreadsheet')
    for (const files of [
      { mimetype, ...others },
      { ...others, mimetype },
    ]) {
      const [table] = await look(new Uint8Array(zipSync(files)), {}, 'repacked.ods')
      expect(table?.analysis?.rows).toEqual([['Ann']])
    }
  })
})

/** A second where nothing else runs, where it takes 40 seconds to parse the workbook. */
const CANCELLED_WITHIN_MS = 25_000

describe('cancelling while a workbook is parsed in one go', () => {
  /** A sheet with 500,000 rows. */
  function slow(): Bytes {
    const files = unzipSync(workbook({ A: sheetOf([['a', 'b', 'c', 'd']]) }, 'ods'))
    const content = strFromU8(files['content.xml'] ?? new Uint8Array())
    const repeated = content.replace(/<table:table-row>.*<\/table:table-row>/s, (row) => row.repeat(500_000))
    return new Uint8Array(zipSync({ ...files, 'content.xml': strToU8(repeated) }, { level: 1 }))
  }

  test('frees the thread of a preview that is left, and of an import', async () => {
    const [uploadId, small] = await Promise.all([
      upload(door, slow(), 'slow.ods'),
      upload(door, workbook({ A: sheetOf([['a'], [1]]) }), 'small.xlsx'),
    ])
    const left = new AbortController()
    // Two previews run at a time: the third waits for one of them.
    const previews = Promise.allSettled(
      [1, 2].map(async () => (await postAnalysis(door, uploadId, {}, left.signal)).text()),
    )
    await Bun.sleep(300)
    const leftAt = performance.now()
    left.abort()
    expect(await analyse(door, small)).toHaveLength(1)
    expect(performance.now() - leftAt).toBeLessThan(CANCELLED_WITHIN_MS)
    for (const { status } of await previews) expect(status).toBe('rejected')

    const { jobId } = await app.trpc(owner.token).imports.start.mutate({
      baseId: base.id,
      uploadId,
      format: { kind: 'excel', sheet: 0, titleRow: 1, firstRow: 2, firstColumn: 0 },
      width: 1,
      columns: [{ index: 0 }],
      table: { title: 'Cancelled', fields: [{ title: 'a', type: 'SingleLineText' }] },
    })
    await Bun.sleep(300)
    const cancelledAt = performance.now()
    await app.trpc(owner.token).jobs.cancel.mutate({ jobId })
    expect(await ended(door, jobId)).toMatchObject({ status: 'cancelled' })
    expect(performance.now() - cancelledAt).toBeLessThan(CANCELLED_WITHIN_MS)
    const tables = await app.trpc(owner.token).schema.tables.query({ baseId: base.id })
    expect(tables.map(({ title }) => title)).not.toContain('Cancelled')
  })
})
