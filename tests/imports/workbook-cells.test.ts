import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Base } from '../../src/core/model.ts'
import { LARGE_COLUMNS, LARGE_WORKBOOK, makeLargeFiles } from '../bench/large-files.ts'
import type { TestApp } from '../support/app.ts'
import { analyse, type Door, importNew, openImports, rowsOf, upload } from './support.ts'
import { handmade } from './workbook-support.ts'

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
