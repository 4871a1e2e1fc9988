import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Base } from '../../src/core/model.ts'
import { LARGE_COLUMNS, LARGE_WORKBOOK, makeLargeFiles } from '../bench/large-files.ts'
import type { TestApp } from '../support/app.ts'
import {
  analyse,
  type Door,
  importNew,
  importTables,
  openImports,
  rowsOf,
  typesOf,
  upload,
} from './support.ts'
import { archiveOf, CONTENT, handmade, inline, rowOf } from './workbook-support.ts'

let app: TestApp
let base: Base
let door: Door
beforeAll(async () => {
  ;({ app, base, door } = await openImports())
})
afterAll(() => app.stop())

const STYLES =
  '<styleSheet><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="10"/></cellXfs></styleSheet>'
const STRINGS = '<sst><si><t>Text</t></si><si><t>Ann &amp; Ben_x000A_Cem</t></si></sst>'
const TITLES = ['A', 'B', 'C', 'D', 'E', 'F'].map((name) => `<c t="inlineStr"><is><t>${name}</t></is></c>`)

const bookOf = (rows: string) =>
  handmade(`<sheetData><row>${TITLES.join('')}</row>${rows}</sheetData>`, {
    'xl/styles.xml': STYLES,
    'xl/sharedStrings.xml': STRINGS,
  })

const ROWS =
  '<row r="2"><c r="A2"><v>1.50</v></c><c r="B2" s="1"><v>45000</v></c><c r="C2" t="s"><v>1</v></c><c r="D2" t="b"><v>1</v></c>' +
  '<c r="E2" s="0" t="inlineStr"><is><t xml:space="preserve"> 5 &lt; 6 &#65;_x0042_ </t></is></c><c r="F2" t="str"><v>&quot;x&quot;</v></c></row>' +
  '<row r="3"><c r="A3" s="1"/><c r="C3"/><c r="D3" t="e"><v>#N/A</v></c><c r="F3" t="inlineStr"><is><t></t></is></c></row>' +
  '<row r="4"><c><v>7</v></c><c s="2"><v>0.5</v></c><c r="E4" t="n" s="9"><v>-1E3</v></c><c><v>8</v></c></row>'

const VALUES = [
  ['1.50', '2023-03-15', 'Ann & Ben\nCem', 'true', ' 5 < 6 AB ', '"x"'],
  ['7', '50%', '', '', '-1000', '8'],
]

describe('an import of a workbook', () => {
  test.each<[string, (rows: string) => string]>([
    ['as most programs write them', (rows) => rows],
    ['with a prefix', (rows) => rows.replace(/<(\/?)(?=[a-z])/g, '<$1x:')],
    ['with single quotes', (rows) => rows.replaceAll('"', "'")],
    ['with spaces in tags', (rows) => rows.replaceAll('=', ' = ').replace(/([^/])>/g, '$1 >')],
    ['with further attributes', (rows) => rows.replaceAll('<c', '<c cm="1"')],
    [
      'with their attributes in another order',
      (rows) => rows.replace(/( r="\w+")((?: [st]="\w+")+)/g, '$2$1'),
    ],
    ['with comments', (rows) => rows.replaceAll('</', '<!-- <c> --></')],
  ])('reads cells %s', async (_, written) => {
    const [table] = await analyse(door, await upload(door, bookOf(written(ROWS)), 'book.xlsx'), {
      readAll: true,
    })
    expect(table?.analysis?.rows).toEqual(VALUES)
  })

  test.each(['&b;', '&toString;', '&#0;', '&'])('refuses %s in a cell', async (reference) => {
    for (const cell of [
      `<c t="inlineStr"><is><t>${reference}</t></is></c>`,
      `<c t='inlineStr'><is><t>${reference}</t></is></c>`,
    ]) {
      const uploadId = await upload(door, bookOf(`<row>${cell}</row>`), 'book.xlsx')
      await expect(analyse(door, uploadId)).rejects.toThrow('is damaged')
    }
  })

  test.each(['xl/', ''])(
    'finds its parts in “%s” by their relationships, whatever they are called',
    async (path) => {
      const relationship = (id: string, type: string, target: string) =>
        `<Relationship Target="${target}" Type="http://purl.oclc.org/ooxml/officeDocument/relationships/${type}" Id="${id}"/>`
      const related = (...all: string[]) => `${CONTENT}<Relationships>${all.join('')}</Relationships>`
      const text = (at: number) => `<c t="s" s="1"><v>${at}</v></c>`
      const day = '<c s="1"><v>45000</v></c>'
      const file = archiveOf({
        '[Content_Types].xml': `${CONTENT}<Types/>`,
        '_rels/.rels': related(relationship('a', 'officeDocument', `/${path}workbook22.xml`)),
        [`${path}workbook22.xml`]: `${CONTENT}<workbook><sheets><sheet name="People" sheetId="1" r:id="s"/><sheet name="Chart" sheetId="2" r:id="c"/></sheets></workbook>`,
        [`${path}_rels/workbook22.xml.rels`]: related(
          relationship('s', 'worksheet', 'tables/../tables/first.xml'),
          relationship('c', 'chartsheet', 'worksheets/chart.xml'),
          relationship('t', 'sharedStrings', 'texts2.xml'),
          relationship('f', 'styles', `/${path}formats2.xml`),
        ),
        [`${path}texts2.xml`]: '<sst><si><t>Name</t></si><si><t>Due</t></si><si><t>Ann</t></si></sst>',
        [`${path}formats2.xml`]: STYLES,
        [`${path}tables/first.xml`]: `${CONTENT}<worksheet><sheetData>${rowOf(text(0), text(1))}${rowOf(text(2), day)}</sheetData></worksheet>`,
        [`${path}worksheets/chart.xml`]: `${CONTENT}<chartsheet/>`,
      })
      const tables = await analyse(door, await upload(door, file, 'book.xlsx'))
      expect(tables.map(({ name }) => name)).toEqual(['People'])
      expect(tables[0]?.analysis?.fields.map(({ title }) => title)).toEqual(['Name', 'Due'])
      expect(tables[0]?.analysis?.rows).toEqual([['Ann', '2023-03-15']])
    },
  )

  test.each(['9', '1.5', 'x'])('is refused where a cell has the text %s, which is not there', async (at) => {
    const uploadId = await upload(door, bookOf(`<row><c t="s"><v>${at}</v></c></row>`), 'book.xlsx')
    await expect(analyse(door, uploadId, { readAll: true })).rejects.toThrow('is damaged')
  })

  test.each(['<v></v>', '<v/>'])('reads a text without a position (%s) as an empty cell', async (empty) => {
    const row = `<row>${inline('a')}<c t="s">${empty}</c>${inline('c')}</row>`
    const [table] = await analyse(door, await upload(door, bookOf(row), 'book.xlsx'))
    expect(table?.analysis?.rows).toEqual([['a', '', 'c']])
  })

  test('keeps every digit of whole numbers that are longer than a computer number', async () => {
    const written = ['1234567890123456789', '-12345678901234567890', '9007199254740993', '1234567890123456']
    const rows = written.map((number) => rowOf(inline(number), `<c><v>${number}</v></c>`))
    const file = handmade(`<sheetData>${rowOf(inline('Name'), inline('Number'))}${rows.join('')}</sheetData>`)
    const uploadId = await upload(door, file, 'book.xlsx')
    const [imported] = await importTables(door, base.id, uploadId, await analyse(door, uploadId))
    expect(imported?.report).toEqual([])
    expect(imported?.rows).toEqual(written.map((number) => ({ Name: number, Number: number })))
  })

  test('takes no word of a number format for a currency that is none', async () => {
    const rows = [1, 2].map((at) => rowOf(inline(`n${at}`), `<c s="1"><v>${at}</v></c>`))
    const file = handmade(
      `<sheetData>${rowOf(inline('Name'), inline('Parts'))}${rows.join('')}</sheetData>`,
      {
        'xl/styles.xml':
          '<styleSheet><numFmts><numFmt numFmtId="164" formatCode="0 &quot;constructor&quot;"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="164"/></cellXfs></styleSheet>',
      },
    )
    const [table] = await analyse(door, await upload(door, file, 'book.xlsx'))
    expect(typesOf(table!)).toEqual({ Name: 'SingleLineText', Parts: 'Number' })
  })

  describe('of formulas that whoever opens it has to calculate', () => {
    const formula = (value: string, type = '') => `<c${type}><f>A2*2</f><v>${value}</v></c>`
    const zeros = [formula('0'), formula('0.0', ' t="n"'), formula('0', ' t="str"'), '<c><v>0</v></c>']
    const asked = '<calcPr calcId="124519" fullCalcOnLoad="1"/>'

    let made = 0
    async function sums(cells: string[], calculation: string) {
      const rows = cells.map((cell, at) => rowOf(inline(`n${at}`), cell)).join('')
      const sheet = `<sheetData>${rowOf(inline('Name'), inline('Sum'))}${rows}</sheetData>`
      const file = handmade(sheet, {
        'xl/workbook.xml': `${CONTENT}<workbook><sheets><sheet name="Sums ${++made}" sheetId="1" r:id="rId1"/></sheets>${calculation}</workbook>`,
      })
      const uploadId = await upload(door, file, 'book.xlsx')
      const [imported] = await importTables(door, base.id, uploadId, await analyse(door, uploadId))
      return { sums: imported?.rows.map(({ Sum }) => Sum), report: imported?.report }
    }

    test('reports those with a zero where no formula has another number', async () => {
      const { sums: found, report } = await sums([...zeros, '<c><v>7</v></c>'], asked)
      expect(found).toEqual([null, null, null, 0, 7])
      expect(report).toEqual(['2,Sum', '3,Sum', '4,Sum'].map((cell) => expect.stringContaining(cell)))
    })

    test.each([
      formula('5'),
      formula('-0.5'),
      formula('0.25'),
      '<c><f t="shared" ref="B2:B9" si="0"/>\n <v>5</v></c>',
      '<x:c><x:f>A2</x:f><x:v>1E-5</x:v></x:c>',
    ])('reads the zeros of programs that calculate, as %s tells', async (calculated) => {
      // More rows than come at once, and as many as are read back.
      const many = Array.from({ length: 1000 }, () => formula('0'))
      const { sums: found, report } = await sums([...many, calculated], asked)
      expect(report).toEqual([])
      expect(found).toEqual(many.map(() => 0))
    })

    test('has the addresses of those for links', async () => {
      const link = (at: number, value: string) =>
        `<c><f>HYPERLINK("https://example.org/${at}","Open")</f>${value}</c>`
      const cells = [link(0, '<v>0</v>'), link(1, ''), link(2, '<v></v>')]
      expect(await sums(cells, asked)).toEqual({
        sums: [0, 1, 2].map((at) => `https://example.org/${at}`),
        report: [],
      })
    })

    test('reads the zeros of others', async () => {
      const found = await sums([...zeros.toSpliced(2, 1), formula('5')], '<calcPr calcId="124519"/>')
      expect(found).toEqual({ sums: [0, 0, 0, 5], report: [] })
    })
  })

  test('is refused where a part refers to more others than any workbook has', async () => {
    const all = Array.from({ length: 100_001 }, (_, at) => `<Relationship Id="r${at}"/>`)
    const file = handmade('<sheetData/>', {
      'xl/_rels/workbook.xml.rels': `${CONTENT}<Relationships>${all.join('')}</Relationships>`,
    })
    const uploadId = await upload(door, file, 'book.xlsx')
    await expect(analyse(door, uploadId)).rejects.toThrow('is damaged')
  })

  test('reads the whole address of a link whose place is kept apart', async () => {
    const address = 'https://example.org/?a=1&b=2#!/Zürich'
    const rows = [2, 3, 4].map((at) => rowOf(inline(`n${at}`), inline('Open')))
    const link = (row: number, location: string) => `<hyperlink ref="B${row}" r:id="rId${row}"${location}/>`
    const target = (row: number, url: string) =>
      `<Relationship Id="rId${row}" Type="x/hyperlink" TargetMode="External" Target="${url}"/>`
    const file = handmade(
      `<sheetData>${rowOf(inline('Name'), inline('Page'))}${rows.join('')}</sheetData><hyperlinks>${[
        link(2, ' location="!/Zürich&amp;x"'),
        link(3, ''),
        link(4, ' location="b"'),
      ].join('')}</hyperlinks>`,
      {
        'xl/worksheets/_rels/sheet1.xml.rels': `${CONTENT}<Relationships>${[
          target(2, 'https://example.org/?a=1&amp;b=2'),
          target(3, 'https://example.org/3'),
          target(4, 'https://example.org/4#b'),
        ].join('')}</Relationships>`,
      },
    )
    const [table] = await analyse(door, await upload(door, file, 'book.xlsx'))
    expect(table?.analysis?.rows.map(([, page]) => page)).toEqual([
      `${address}&x`,
      'https://example.org/3',
      'https://example.org/4#b',
    ])
  })

  test('gives the records of the same rows as CSV', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sheaf-same-rows-'))
    try {
      // Enough that the sheet comes in many pieces, which end anywhere.
      const { csv, xlsx } = await makeLargeFiles(folder, 1000)
      const ofCsv = await importNew(door, base.id, Bun.file(csv), { title: 'CSV', columns: LARGE_COLUMNS })
      const ofXlsx = await importNew(door, base.id, Bun.file(xlsx), {
        title: 'Workbook',
        columns: LARGE_COLUMNS,
        otherFormat: LARGE_WORKBOOK,
      })
      expect(ofXlsx).toMatchObject({ rows: 1000, cellsRefused: 0, problems: 0 })
      expect(ofCsv).toMatchObject({ rows: 1000, cellsRefused: 0, problems: 0 })
      const [expected, found] = [await rowsOf(door, ofCsv.tableId), await rowsOf(door, ofXlsx.tableId)]
      expect(expected[999]).toMatchObject({ Number: 999, Due: '2012-03-31', Done: false })
      expect(found).toEqual(expected)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
