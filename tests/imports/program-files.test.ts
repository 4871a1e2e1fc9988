import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import * as XLSX from 'xlsx'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import type { FieldTypeName } from '../../src/core/fields/index.ts'
import type { Base } from '../../src/core/model.ts'
import type { TestApp } from '../support/app.ts'
import { analyse, type Door, importTables, openImports, typesOf, upload } from './support.ts'

let app: TestApp
let base: Base
let door: Door
beforeAll(async () => {
  ;({ app, base, door } = await openImports())
})
afterAll(() => app.stop())

/** A file as a program writes it, the types that a person would choose, and its first record. */
interface ProgramFile {
  file: string | Uint8Array
  types: Record<string, FieldTypeName>
  first: Record<string, CellValue>
}

const latin1 = (text: string) => new Uint8Array(Buffer.from(text, 'latin1'))
const utf16 = (text: string) => new Uint8Array(Buffer.from(`\ufeff${text}`, 'utf16le'))

/** A workbook with one sheet. `formats`: number formats by column, from the second row on. */
function workbook(
  rows: unknown[][],
  { formats = {}, merges = [] }: { formats?: Record<string, string>; merges?: string[] } = {},
): Uint8Array {
  const sheet = XLSX.utils.aoa_to_sheet(rows)
  for (const [column, format] of Object.entries(formats)) {
    for (let row = 2; row <= rows.length; row++) sheet[`${column}${row}`].z = format
  }
  sheet['!merges'] = merges.map((range) => XLSX.utils.decode_range(range))
  const book = XLSX.utils.book_new()
  XLSX.utils.book_append_sheet(book, sheet, 'Data')
  return new Uint8Array(XLSX.write(book, { type: 'buffer', bookType: 'xlsx' }) as Buffer)
}

const FILES: Record<string, ProgramFile> = {
  'a German bank, in Latin-1': {
    file: latin1(
      '"Auftragskonto";"Buchungstag";"Verwendungszweck";"IBAN";"Betrag";"Waehrung"\r\n"DE89370400440532013000";"30.12.24";"Müller & Söhne";"DE02120300000000202051";"-1.234,56";"EUR"\r\n"DE89370400440532013000";"02.01.25";"Gehalt";"DE75512108001245126199";"2.500,00";"EUR"\r\n',
    ),
    types: { Auftragskonto: 'SingleLineText', Buchungstag: 'Date', Betrag: 'Decimal' },
    first: { Auftragskonto: 'DE89370400440532013000', Buchungstag: '2024-12-30', Betrag: -1234.56 },
  },
  'a bank that writes account and balance above the table': {
    file: '\ufeff"Girokonto";"DE44120300001234567890"\n"Kontostand vom 02.01.2025:";"1.234,56 €"\n""\n"Buchungsdatum";"Status";"Empfänger";"Betrag (€)"\n"02.01.25";"Gebucht";"ISSUER";"-12,34 €"\n"30.12.24";"Gebucht";"Max Muster";"1.000,00 €"\n',
    types: { Buchungsdatum: 'Date', 'Betrag (€)': 'Currency' },
    first: { Buchungsdatum: '2025-01-02', Status: 'Gebucht', 'Betrag (€)': -12.34 },
  },
  'an ERP that puts the minus sign last': {
    file: 'Konto;Soll;Haben\n1000;1.000,00-;\n1200;;2.500,50\n',
    types: { Konto: 'Number', Soll: 'Decimal', Haben: 'Decimal' },
    first: { Konto: 1000, Soll: -1000, Haben: null },
  },
  'a French shop': {
    file: '\ufeffRéférence;Prix HT;TVA;Code postal;Téléphone;Créé le;Actif\r\nA001;1 234,56 €;20 %;01000;01 23 45 67 89;31/12/2024;Oui\r\nA002;0,99 €;5,5 %;75001;06 12 34 56 78;01/02/2025;Non\r\n',
    types: {
      'Prix HT': 'Currency',
      TVA: 'Percent',
      'Code postal': 'SingleLineText',
      Téléphone: 'PhoneNumber',
      'Créé le': 'Date',
      Actif: 'Checkbox',
    },
    first: { 'Prix HT': 1234.56, TVA: 20, 'Code postal': '01000', 'Créé le': '2024-12-31', Actif: true },
  },
  'an Indian invoice list': {
    file: 'Invoice No,Amount,Tax %,Date,Mobile\nINV/24-25/001,"₹1,23,456.78",18%,31-12-2024,9876543210\nINV/24-25/002,"₹12,34,567.00",12%,01-01-2025,9123456780\n',
    types: { Amount: 'Currency', 'Tax %': 'Percent', Date: 'Date', Mobile: 'PhoneNumber' },
    first: { Amount: 123456.78, 'Tax %': 18, Date: '2024-12-31', Mobile: '9876543210' },
  },
  'a list of articles, with EAN codes and ids beyond 2^53': {
    file: 'EAN,SKU,Qty,Order ID\n4006381333931,000123,5,9007199254740993\n4006381333948,000124,7,12345678901234567890\n',
    types: { EAN: 'SingleLineText', SKU: 'SingleLineText', Qty: 'Number', 'Order ID': 'SingleLineText' },
    first: { EAN: '4006381333931', SKU: '000123', Qty: 5, 'Order ID': '9007199254740993' },
  },
  'a time sheet, with durations over a day': {
    file: 'Task,Worked,Start\nA,25:30:00,08:00\nB,100:15:30,23:59\n',
    types: { Worked: 'Duration', Start: 'Time' },
    first: { Worked: 91_800, Start: '08:00:00' },
  },
  'yes and no in several languages': {
    file: 'Name;Aktiv;Attivo;Vorhanden;有効\nA;ja;sì;WAHR;はい\nB;Nein;no;FALSCH;いいえ\n',
    types: { Aktiv: 'Checkbox', Attivo: 'Checkbox', Vorhanden: 'Checkbox', 有効: 'Checkbox' },
    first: { Aktiv: true, Attivo: true, Vorhanden: true, 有効: true },
  },
  'words of one side alone, which may mean anything': {
    file: 'Name,Ground,Answer\nA,sand,ja\nB,sand,ja\nC,,ja\n',
    types: { Ground: 'SingleLineText', Answer: 'SingleSelect' },
    first: { Ground: 'sand', Answer: 'ja' },
  },
  'answers of a form of Google': {
    file: 'Timestamp,Email,"Which days?",Comment\n2024/12/31 11:59:59 PM GMT+1,ann@example.com,"Monday, Tuesday","Great\n\nThanks"\n2025/01/02 9:05:00 AM GMT+1,bob@example.org,Tuesday,\n',
    types: { Timestamp: 'DateTime', Email: 'Email', Comment: 'LongText' },
    first: { Timestamp: '2024-12-31 22:59:59+00:00', 'Which days?': 'Monday, Tuesday' },
  },
  'payments, whose amounts happen to be whole': {
    file: 'id,Amount,Captured,Metadata\nch_1,"1,200.00",true,"{""order"":""6735""}"\nch_2,5.00,false,{}\n',
    types: { Amount: 'Decimal', Captured: 'Checkbox', Metadata: 'JSON' },
    first: { Amount: 1200, Captured: true, Metadata: '{"order":"6735"}' },
  },
  'changes with plus signs': {
    file: 'Item,Growth,Phone\nA,+3%,+49301234\nB,-2.25%,+49305678\n',
    types: { Growth: 'Percent', Phone: 'PhoneNumber' },
    first: { Growth: 3, Phone: '+49301234' },
  },
  'dates in mixed orders, which stay text': {
    file: 'Name,When\nA,31/12/2024\nB,2024-12-30\nC,12/31/2024\n',
    types: { When: 'SingleLineText' },
    first: { When: '31/12/2024' },
  },
  'e-mail addresses and numbers mixed, codes that look like exponents': {
    file: 'Contact,Site,Code\nann@x.org,www.x.org,1E5\n+49 30 1234567,https://y.org/path,12E3\n',
    types: { Contact: 'SingleLineText', Site: 'SingleLineText', Code: 'SingleLineText' },
    first: { Contact: 'ann@x.org', Site: 'www.x.org', Code: '1E5' },
  },
  'tabs in UTF-16, as Excel saves Unicode text': {
    file: utf16('Name\tBetrag\r\nMüller\t1.234,5\r\nÖz\t2,25\r\n'),
    types: { Name: 'SingleLineText', Betrag: 'Decimal' },
    first: { Name: 'Müller', Betrag: 1234.5 },
  },
  'a sheet with a title above and a sum below': {
    file: workbook(
      [
        ['Umsatz 2024'],
        ['Stand: 31.12.'],
        [],
        ['Artikel', 'Menge', 'Umsatz'],
        ['Stift', 10, 12.5],
        ['Summe', 10, 12.5],
      ],
      { merges: ['A1:C1'] },
    ),
    types: { Artikel: 'SingleLineText', Menge: 'Number', Umsatz: 'Decimal' },
    first: { Artikel: 'Stift', Menge: 10, Umsatz: 12.5 },
  },
  'a sheet with groups above the titles': {
    file: workbook(
      [
        ['Name', 'Sales', null, 'Costs', null],
        [null, '2023', '2024', '2023', 2024],
        ['A', 1, 2, 3, 4],
        ['B', 5, 6, 7, 8],
      ],
      { merges: ['A1:A2', 'B1:C1', 'D1:E1'] },
    ),
    types: { Name: 'SingleLineText', 'Sales 2023': 'Number', 'Sales 2024': 'Number', 'Costs 2024': 'Number' },
    first: { Name: 'A', 'Sales 2023': 1, 'Sales 2024': 2, 'Costs 2023': 3, 'Costs 2024': 4 },
  },
  'a sheet with postal codes and times by format': {
    file: workbook(
      [
        ['PLZ', 'EAN', 'At', 'Took', 'Price', 'Rate'],
        [1067, 4006381333931, 0.5, 1.25, 1234.5, 0.125],
        [80331, 4006381333948, 0.75, 2.5, 2, 1],
      ],
      { formats: { A: '00000', B: '0', C: 'h:mm', D: '[h]:mm:ss', E: '#,##0.00 "€"', F: '0.0%' } },
    ),
    types: {
      PLZ: 'SingleLineText',
      EAN: 'SingleLineText',
      At: 'Time',
      Took: 'Duration',
      Price: 'Currency',
      Rate: 'Percent',
    },
    first: { PLZ: '01067', EAN: '4006381333931', At: '12:00:00', Took: 108_000, Price: 1234.5, Rate: 12.5 },
  },
  'JSON with ids beyond 2^53 and an object that some records lack': {
    file: '[{"id":9007199254740993,"zip":{"code":"01067"}},{"id":9007199254740995,"zip":null}]',
    types: { id: 'SingleLineText', 'zip.code': 'SingleLineText' },
    first: { id: '9007199254740993', 'zip.code': '01067' },
  },
}

describe('an import of a file that a program has written', () => {
  test.each(Object.entries(FILES))(
    '%s: types as a person would choose them, and no changed value',
    async (name, one) => {
      const uploadId = await upload(door, new Blob([one.file as Uint8Array<ArrayBuffer>]), 'file')
      const [table, ...others] = await analyse(door, uploadId)
      expect(others).toEqual([])
      expect(typesOf(table!)).toMatchObject(one.types)
      const [imported] = await importTables(door, base.id, uploadId, [{ ...table!, name }])
      expect(imported).toMatchObject({ report: [], result: { cellsRefused: 0, rowsRefused: 0 } })
      expect(imported?.rows[0]).toMatchObject(one.first)
    },
  )

  test.each<[string, string, { row: number; titles: string[] } | null]>([
    [
      'titles of other columns',
      'Name,Age\nAnn,3\n\nProduct,Price,Stock\nPen,1.5,10\n',
      { row: 4, titles: ['Product', 'Price', 'Stock'] },
    ],
    [
      'titles above values',
      'Name,Age\nAnn,3\nBen,4\n\n\nItem,Cost\nPen,5\n',
      { row: 6, titles: ['Item', 'Cost'] },
    ],
    ['an empty row', 'Name,Age\nAnn,3\n\nBen,4\nCy,5\n', null],
    ['an empty row among texts', 'Name,City\nAnn,Oslo\n\nBen,Rome\nCy,Bonn\n', null],
    ['an empty row above an incomplete one', 'Name,Age,City\nAnn,3,Oslo\n\nBen,,Rome\nCy,5,Bonn\n', null],
    ['a total', 'Name,Age\nAnn,3\n\nTotal,3\n', null],
  ])('says of %s below an empty row what it sees', async (_, text, expected) => {
    const uploadId = await upload(door, new Blob([text]), 'file.csv')
    const [fromServer] = await analyse(door, uploadId)
    expect(fromServer?.analysis?.secondTable).toEqual(expected)
    const rows = text.split('\n').map((line) => line.split(','))
    const sheetId = await upload(door, new Blob([workbook(rows) as Uint8Array<ArrayBuffer>]), 'book.xlsx')
    // On a sheet they are tables of their own.
    const [fromSheet, ...others] = await analyse(door, sheetId)
    expect(fromSheet?.analysis?.secondTable).toBeNull()
    const titles = others.map(({ analysis }) => analysis?.fields.map(({ title }) => title))
    expect(titles).toEqual(expected ? [expected.titles] : [])
  })

  test('reads two tables on one sheet apart, with types and values of their own', async () => {
    const rows = [['Name', 'Age'], ['Ann', 3], [], ['Product', 'Price', 'Stock'], ['Pen', 1.5, 10]]
    const uploadId = await upload(door, new Blob([workbook(rows) as Uint8Array<ArrayBuffer>]), 'file')
    const tables = await analyse(door, uploadId)
    expect(tables.map(typesOf)).toMatchObject([
      { Name: 'SingleLineText', Age: 'Number' },
      { Product: 'SingleLineText', Price: 'Decimal', Stock: 'Number' },
    ])
    const imported = await importTables(door, base.id, uploadId, tables)
    expect(imported.map(({ report, rows }) => [report, rows])).toMatchObject([
      [[], [{ Name: 'Ann', Age: 3 }]],
      [[], [{ Product: 'Pen', Price: 1.5, Stock: 10 }]],
    ])
  })

  test('leaves out a column for objects that are columns of their own', async () => {
    const uploadId = await upload(door, new Blob(['[{"a":{"b":1}},{"a":null}]']), 'file.json')
    const [table] = await analyse(door, uploadId)
    const [imported] = await importTables(door, base.id, uploadId, [{ ...table!, name: 'Nested' }])
    expect(Object.keys(imported?.rows[0] ?? {})).toEqual(['a.b'])
  })

  test('takes the row with the titles that a person chooses', async () => {
    const uploadId = await upload(door, 'Report\nName,Age\nAnn,3\n')
    const [table] = await analyse(door, uploadId, { chosen: { titleRow: 2 } })
    expect(typesOf(table!)).toEqual({ Name: 'SingleLineText', Age: 'Number' })
    const [imported] = await importTables(door, base.id, uploadId, [{ ...table!, name: 'Chosen' }])
    expect(imported?.rows).toEqual([{ Name: 'Ann', Age: 3 }])
  })

  test('keeps the first row of a file whose rows are just wider than its titles', async () => {
    const uploadId = await upload(door, 'Name,Age\nAnn,3,x,y,z\nBen,4,x,y,z\nBen,4\nAnn,3\n')
    const [table] = await analyse(door, uploadId)
    expect(Object.keys(typesOf(table!)).slice(0, 2)).toEqual(['Name', 'Age'])
  })
})
