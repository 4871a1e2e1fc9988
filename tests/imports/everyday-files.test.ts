import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import * as XLSX from 'xlsx'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import type { FieldTypeName } from '../../src/core/fields/index.ts'
import type { Base } from '../../src/core/model.ts'
import type { TestApp, TestUser } from '../support/app.ts'
import { analyse, type Door, ended, importTables, openImports, rowsOf, typesOf, upload } from './support.ts'

let app: TestApp
let owner: TestUser
let base: Base
let door: Door
beforeAll(async () => {
  ;({ app, owner, base, door } = await openImports())
})
afterAll(() => app.stop())

/** A file as people have it, the types that a person would choose, and its first record. */
interface EverydayFile {
  file: string | Uint8Array<ArrayBuffer>
  types: Record<string, FieldTypeName>
  first: Record<string, CellValue>
}

interface SheetOptions {
  /** Number formats by column, below the titles. */
  formats?: Record<string, string>
  /** Number formats by cell. */
  cells?: Record<string, string>
  merges?: string[]
}

function workbook(
  rows: unknown[][],
  { formats = {}, cells = {}, merges = [] }: SheetOptions = {},
): Uint8Array<ArrayBuffer> {
  const sheet = XLSX.utils.aoa_to_sheet(rows, { cellDates: true })
  for (const [column, format] of Object.entries(formats)) {
    for (let row = 2; row <= rows.length; row++) {
      const cell = sheet[`${column}${row}`]
      if (cell?.t === 'n') cell.z = format
    }
  }
  for (const [cell, format] of Object.entries(cells)) sheet[cell].z = format
  sheet['!merges'] = merges.map((range) => XLSX.utils.decode_range(range))
  const book = XLSX.utils.book_new()
  XLSX.utils.book_append_sheet(book, sheet, 'Data')
  return new Uint8Array(XLSX.write(book, { type: 'buffer', bookType: 'xlsx' }) as Buffer)
}

const FILES: Record<string, EverydayFile> = {
  'a bookkeeper’s accounts, with brackets for negative amounts': {
    file: 'Account,Debit,Balance,Change\n0100,"1,200.00","(3,450.10)",(1.5%)\n0120,"(75.25)","12,000.00",12.25%\n',
    types: { Account: 'SingleLineText', Debit: 'Decimal', Balance: 'Decimal', Change: 'Percent' },
    first: { Account: '0100', Debit: 1200, Balance: -3450.1, Change: -1.5 },
  },
  'a bookkeeper’s ledger of a mainframe, with minus signs last and IBANs': {
    file: 'IBAN;Soll;Datum\nDE89370400440532013000;1.234,50-;311224\nGB29NWBK60161331926819;0,75;010125\n',
    types: { IBAN: 'SingleLineText', Soll: 'Decimal', Datum: 'SingleLineText' },
    first: { IBAN: 'DE89370400440532013000', Soll: -1234.5, Datum: '311224' },
  },
  'a bookkeeper’s sheet with notes above, groups over the titles and a total': {
    file: workbook(
      [
        ['Budget of the club'],
        ['All amounts in euros'],
        [],
        ['Item', 'First half', null, 'Second half', null],
        [null, 'Plan', 'Actual', 'Plan', 'Actual'],
        ['Rent', 1200, 1180.5, 1200, -3],
        ['Power', 300, 310.25, 300, 2],
        ['Total', 1500, 1490.75, 1500, -1],
      ],
      { merges: ['A1:E1', 'A4:A5', 'B4:C4', 'D4:E4'] },
    ),
    types: {
      Item: 'SingleLineText',
      'First half Plan': 'Number',
      'First half Actual': 'Decimal',
      'Second half Actual': 'Number',
    },
    first: { Item: 'Rent', 'First half Plan': 1200, 'First half Actual': 1180.5, 'Second half Actual': -3 },
  },
  'a Swiss invoice list': {
    file: "Nr.;Betrag;MwSt;Fällig\nR-0001;CHF 1'234.50;7.7 %;31.1.2024\nR-0002;CHF 12.00;8.1 %;1.2.2024\n",
    types: { 'Nr.': 'SingleLineText', Betrag: 'Currency', MwSt: 'Percent', Fällig: 'Date' },
    first: { 'Nr.': 'R-0001', Betrag: 1234.5, MwSt: 7.7, Fällig: '2024-01-31' },
  },
  'amounts with non-breaking and narrow spaces between thousands': {
    file: 'Poste;Montant;Total\nA;1\u00a0234,50;12\u202f345\u00a0€\nB;99,00;1\u202f000\u00a0€\n',
    types: { Montant: 'Decimal', Total: 'Currency' },
    first: { Montant: 1234.5, Total: 12_345 },
  },
  'amounts of an Indian shop in lakhs': {
    file: 'Shop,Sales,Cost\nA,"12,34,567.50","₹ 1,00,000"\nB,"99,999.00","₹ 5,000"\n',
    types: { Sales: 'Decimal', Cost: 'Currency' },
    first: { Sales: 1_234_567.5, Cost: 100_000 },
  },
  'a teacher’s marks, with absences and commas': {
    file: 'Schüler;Note;Punkte;Bestanden;Prozent\nÄnne;1,7;18;ja;90%\nBjörn;n/a;-;nein;45,5%\nÇem;4,0;7;ja;-\n',
    types: {
      Schüler: 'SingleLineText',
      Note: 'Decimal',
      Punkte: 'Number',
      Bestanden: 'Checkbox',
      Prozent: 'Percent',
    },
    first: { Schüler: 'Änne', Note: 1.7, Punkte: 18, Bestanden: true, Prozent: 90 },
  },
  'a teacher’s attendance, with check marks': {
    file: 'Pupil,Mon,Tue,Wed\nAnn,✓,✗,☑\nBen,✗,✓,☐\nCy,✓,✓,☑\n',
    types: { Pupil: 'SingleLineText', Mon: 'Checkbox', Tue: 'Checkbox', Wed: 'Checkbox' },
    first: { Pupil: 'Ann', Mon: true, Tue: false, Wed: true },
  },
  'grades with letters and signs, and pupils with emojis': {
    file: 'Pupil,Grade,Mood\n👩🏽‍🎓 Ann,A+,😀\nBen 🇩🇪,B-,😐\nCy,A+,😀\nDee,B-,😀\nEve,A+,😐\nFay,A+,😀\nGus,B-,😀\nHal,A+,😐\n',
    types: { Pupil: 'SingleLineText', Grade: 'SingleSelect' },
    first: { Pupil: '👩🏽‍🎓 Ann', Grade: 'A+', Mood: '😀' },
  },
  'days of birth and others with two digits of their years': {
    file: 'Name,Birthday,geb.,Since,Due\nAnn,05/14/45,14.05.45,11/30/71,12/31/45\nBen,11/30/71,31.12.71,05/14/62,05/14/27\n',
    types: { Birthday: 'Date', 'geb.': 'Date', Since: 'Date', Due: 'Date' },
    first: { Birthday: '1945-05-14', 'geb.': '1945-05-14', Since: '1971-11-30', Due: '2045-12-31' },
  },
  'days with the names of months in twelve languages': {
    file: [
      'de;fr;es;it;pt;nl;pl;sv;ru;tr;cs;fi',
      '12. März 2024;12 février 2024;12 de marzo de 2024;12 marzo 2024;12 de março de 2024;12 maart 2024;12 marca 2024;12 mars 2024;12 марта 2024;12 Mart 2024;12. března 2024;12. maaliskuuta 2024',
      '1. Dezember 2023;1 août 2023;1 de enero de 2023;1 agosto 2023;1 de dezembro de 2023;1 mei 2023;1 maja 2023;1 maj 2023;1 мая 2023;1 Ağustos 2023;1. srpna 2023;1. elokuuta 2023',
    ].join('\n'),
    types: Object.fromEntries(
      ['de', 'fr', 'es', 'it', 'pt', 'nl', 'pl', 'sv', 'ru', 'tr', 'cs', 'fi'].map((code) => [
        code,
        'Date' as const,
      ]),
    ),
    first: {
      de: '2024-03-12',
      fr: '2024-02-12',
      es: '2024-03-12',
      it: '2024-03-12',
      pt: '2024-03-12',
      nl: '2024-03-12',
      pl: '2024-03-12',
      sv: '2024-03-12',
      ru: '2024-03-12',
      tr: '2024-03-12',
      cs: '2024-03-12',
      fi: '2024-03-12',
    },
  },
  'days with two-digit years, in several notations': {
    file: 'A,B,C,D\n31.12.99,12/31/98,3-Feb-24,24-12-31\n01.01.24,01/13/24,15-Mar-23,23-01-02\n',
    types: { A: 'Date', B: 'Date', C: 'Date', D: 'SingleLineText' },
    first: { A: '1999-12-31', B: '1998-12-31', C: '2024-02-03', D: '24-12-31' },
  },
  'working hours beyond a day, and times of day': {
    file: 'Who,Hours,Begin,End\nAnn,38:30,08:00,16:45\nBen,112:05,9:30,23:59\n',
    types: { Hours: 'Duration', Begin: 'Time', End: 'Time' },
    first: { Hours: 138_600, Begin: '08:00:00', End: '16:45:00' },
  },
  'a shop’s articles, with codes, weights and sizes': {
    file: 'SKU,EAN,Weight,Size,Price,Stock\n00042,0012345678905,0.250,40/42,"£1,299.00",1000\n00043,0012345678912,1.500,44/46,£0.99,0\n',
    types: {
      SKU: 'SingleLineText',
      EAN: 'SingleLineText',
      Weight: 'Decimal',
      Size: 'SingleLineText',
      Price: 'Currency',
      Stock: 'Number',
    },
    first: { SKU: '00042', EAN: '0012345678905', Weight: 0.25, Size: '40/42', Price: 1299, Stock: 1000 },
  },
  'a shop’s orders in JSON, with ids beyond 2^53 and lists': {
    file: JSON.stringify([
      {
        id: '#1',
        no: '900719925474099312',
        total: '12.50',
        paid: true,
        tags: ['a', 'b'],
        at: '2024-03-01T10:00:00Z',
      },
      {
        id: '#2',
        no: '900719925474099313',
        total: '7.00',
        paid: false,
        tags: [],
        at: '2024-03-02T11:30:00Z',
      },
    ]),
    types: { no: 'SingleLineText', total: 'Decimal', paid: 'Checkbox', at: 'DateTime' },
    first: { id: '#1', no: '900719925474099312', total: 12.5, paid: true, at: '2024-03-01 10:00:00+00:00' },
  },
  'customers with telephone numbers and postcodes': {
    file: 'Name,Phone,Tel,Postcode,Zip\nAnn,+44 20 7946 0958,(030) 123456,SW1A 1AA,02134\nBen,+1 (415) 555-2671,(089) 998877,EC2A 4NE,90210\n',
    types: { Phone: 'PhoneNumber', Tel: 'PhoneNumber', Postcode: 'SingleLineText', Zip: 'SingleLineText' },
    first: { Phone: '+44 20 7946 0958', Tel: '(030) 123456', Postcode: 'SW1A 1AA', Zip: '02134' },
  },
  'telephone numbers with a leading zero, under a title that says nothing': {
    file: 'Kontakt;Nummer\nAnna;0151 23456789\nBernd;0176 98765432\n',
    types: { Nummer: 'PhoneNumber' },
    first: { Nummer: '0151 23456789' },
  },
  'a scientist’s measurements with exponents and gaps': {
    file: 'Sample,Mass,Charge,Ratio,Count\nS1,1.5e-3,-1.602E-19,NaN,6.022e+23\nS2,2.25e+4,3.2e-20,0.5,1.5e+20\n',
    types: {
      Sample: 'SingleLineText',
      Mass: 'Decimal',
      Charge: 'Decimal',
      Ratio: 'Decimal',
      Count: 'Decimal',
    },
    first: { Sample: 'S1', Mass: 0.0015, Charge: -1.602e-19, Ratio: null, Count: 6.022e23 },
  },
  'a scientist’s values with limits and units, which stay text': {
    file: 'Analyte,Value,Limit\nPb,<0.01,5 mg/l\nCd,0.25,10 mg/l\n',
    types: { Value: 'SingleLineText', Limit: 'SingleLineText' },
    first: { Value: '<0.01', Limit: '5 mg/l' },
  },
  'genes that look like dates and numbers': {
    file: 'Gene,Chr,Pos\nSEPT2,1,12345678\n1E5,X,87654321\nMARCH1,2,11111111\n',
    types: { Gene: 'SingleLineText', Chr: 'SingleLineText', Pos: 'Number' },
    first: { Gene: 'SEPT2', Chr: '1', Pos: 12_345_678 },
  },
  'coordinates, with directions and as decimals': {
    file: 'Place,Lat,Lon,DMS\nBerlin,52.520008,13.404954,"52°31\'12""N"\nQuito,-0.180653,-78.467834,"0°10\'50""S"\n',
    types: { Lat: 'Decimal', Lon: 'Decimal', DMS: 'SingleLineText' },
    first: { Lat: 52.520008, Lon: 13.404954, DMS: '52°31\'12"N' },
  },
  'timestamps of a logger, with fractions and zones': {
    file: 'At,Epoch,Temp\n2024-03-01T10:00:00.123Z,1709287200,"-3.5"\n2024-03-01T10:00:01.500Z,1709287201,"4.0"\n',
    types: { At: 'DateTime', Epoch: 'Number', Temp: 'Decimal' },
    first: { Epoch: 1_709_287_200, Temp: -3.5 },
  },
  'a public office’s keys, with leading zeros': {
    file: 'AGS;Gemeinde;Einwohner;Fläche\n01001000;Flensburg;92.550;56,73\n05315000;Köln;1.084.831;405,01\n',
    types: { AGS: 'SingleLineText', Einwohner: 'Number', Fläche: 'Decimal' },
    first: { AGS: '01001000', Einwohner: 92_550, Fläche: 56.73 },
  },
  'a public office’s quarters, years and shares': {
    file: 'Jahr;Quartal;Monat;Anteil\n2023;Q1;2023-01;12,5 %\n2024;Q2;2024-04;-3,0 %\n',
    types: { Jahr: 'Year', Quartal: 'SingleLineText', Monat: 'SingleLineText', Anteil: 'Percent' },
    first: { Jahr: 2023, Monat: '2023-01', Anteil: 12.5 },
  },
  'an office’s sheet with merged districts': {
    file: workbook(
      [
        ['District', 'Street', 'Houses'],
        ['North', 'Elm', 12],
        [null, 'Oak', 7],
        ['South', 'Ash', 3],
      ],
      { merges: ['A2:A3'] },
    ),
    types: { District: 'SingleLineText', Houses: 'Number' },
    first: { District: 'North', Street: 'Elm', Houses: 12 },
  },
  'an office’s answers in several languages': {
    file: 'Q1;Q2;Q3;Q4;Q5\nOui;Ja;Sí;Tak;Evet\nNon;Nein;No;Nie;Hayır\n',
    types: { Q1: 'Checkbox', Q2: 'Checkbox', Q3: 'Checkbox', Q4: 'Checkbox', Q5: 'Checkbox' },
    first: { Q1: true, Q2: true, Q3: true, Q4: true, Q5: true },
  },
  'names and amounts from right to left': {
    file: 'שם,סכום,תאריך\nדנה,"₪1,234.50",31/12/2024\nיוסי,₪99.00,01/02/2025\n',
    types: { שם: 'SingleLineText', סכום: 'Currency', תאריך: 'Date' },
    first: { שם: 'דנה', סכום: 1234.5, תאריך: '2024-12-31' },
  },
  'Arabic digits with marks for the direction': {
    file: 'الاسم,المبلغ\nأحمد,\u200f١٬٢٣٤٫٥٠\nسارة,\u200f٩٩٫٢٥\n',
    types: { الاسم: 'SingleLineText', المبلغ: 'Decimal' },
    first: { الاسم: 'أحمد', المبلغ: 1234.5 },
  },
  'cells with spaces around them': {
    file: 'Name , Amount , Day \n Ann , 12.50 , 2024-01-31 \n\u00a0Ben\u00a0,\u00a03.00\u00a0,\u00a02024-02-01\n',
    types: { Name: 'SingleLineText', Amount: 'Decimal', Day: 'Date' },
    first: { Amount: 12.5, Day: '2024-01-31' },
  },
  'a workbook with formats of spreadsheets': {
    file: workbook(
      [
        ['Id', 'Price', 'Share', 'Day', 'Took', 'Sci', 'Big'],
        [7, 1234.5, 0.075, 45_352, 1.5, 0.000_000_12, 123_456_789_012],
        [8, -3, 1, 45_353, 0.25, 1500.25, 1],
      ],
      {
        formats: {
          A: '0000',
          B: '#,##0.00 [$kr-41D]',
          C: '0.0%',
          D: 'dd.mm.yyyy',
          E: '[h]:mm',
          F: '0.00E+00',
          G: '#,##0',
        },
      },
    ),
    types: {
      Id: 'SingleLineText',
      Price: 'Currency',
      Share: 'Percent',
      Day: 'Date',
      Took: 'Duration',
      Sci: 'Decimal',
      Big: 'Number',
    },
    first: {
      Id: '0007',
      Price: 1234.5,
      Share: 7.5,
      Day: '2024-03-01',
      Took: 129_600,
      Sci: 1.2e-7,
      Big: 123_456_789_012,
    },
  },
  'numbers that a workbook stores as text': {
    file: workbook([
      ['Code', 'Amount', 'Account'],
      ['0042', '1.234,50', '123456789012345678'],
      ['0043', '2,00', '123456789012345679'],
    ]),
    types: { Code: 'SingleLineText', Amount: 'Decimal', Account: 'SingleLineText' },
    first: { Code: '0042', Amount: 1234.5, Account: '123456789012345678' },
  },
  'codes that a workbook shows with zeros, hyphens and texts': {
    file: workbook(
      [
        ['Person', 'SSN', 'ZIP4', 'Invoice', 'Phone', 'Heat', 'Long'],
        ['Ann', 12_345_678, 21_341_234, 12, 5_551_234_567, 7, 1234],
        ['Ben', 987_654_321, 902_101_234, 34_567, 5_559_876_543, 12, 5],
      ],
      {
        formats: {
          B: '000-00-0000',
          C: '00000\\-0000',
          D: '"INV-"0000',
          E: '(000) 000-0000',
          F: '00"°C"',
          G: '000',
        },
      },
    ),
    types: {
      SSN: 'SingleLineText',
      ZIP4: 'SingleLineText',
      Invoice: 'SingleLineText',
      Phone: 'PhoneNumber',
      Heat: 'Number',
      Long: 'SingleLineText',
    },
    first: {
      SSN: '012-34-5678',
      ZIP4: '02134-1234',
      Invoice: 'INV-0012',
      Phone: '(555) 123-4567',
      Heat: 7,
      Long: '1234',
    },
  },
  'travel expenses of a workbook in several currencies': {
    file: workbook(
      [
        ['Trip', 'Paid', 'Share'],
        ['Oslo', 120, 5],
        ['Rome', 80.5, 7],
        ['Bern', 99, 9],
      ],
      { cells: { B2: '#,##0.00 [$kr-414]', B3: '#,##0.00 €', B4: '[$CHF] #,##0.00', C2: '"$"0', C4: '0 €' } },
    ),
    types: { Paid: 'SingleLineText', Share: 'SingleLineText' },
    first: { Trip: 'Oslo', Paid: '120 NOK', Share: '5 $' },
  },
  'chapters and releases, of which the tenth is not the first': {
    file: 'Chapter,Release,Price\n1.1,2.10,1.5\n1.10,2.2,1.50\n',
    types: { Chapter: 'SingleLineText', Release: 'SingleLineText', Price: 'Decimal' },
    first: { Chapter: '1.1', Release: '2.10', Price: 1.5 },
  },
  'laps with leading zeros, which are no codes': {
    file: 'Runner,Total\nAnn,01:30:15\nBen,100:00:00\n',
    types: { Total: 'Duration' },
    first: { Total: 5415 },
  },
  'plus signs before amounts of a bank': {
    file: 'Date,Amount,Balance\n2024-01-31,"+1,250.00","+3,000.00"\n2024-02-01,-20.50,"+2,979.50"\n',
    types: { Date: 'Date', Amount: 'Decimal', Balance: 'Decimal' },
    first: { Amount: 1250, Balance: 3000 },
  },
  'versions, fractions, ranges and scores, which stay text': {
    file: 'Version,Fraction,Range,Score,IP\n1.10,1/2,1-5,3:1,10.0.0.1\n1.9.2,3/4,6-10,0:0,192.168.1.20\n',
    types: {
      Version: 'SingleLineText',
      Fraction: 'SingleLineText',
      Range: 'SingleLineText',
      Score: 'SingleLineText',
      IP: 'SingleLineText',
    },
    first: { Version: '1.10', Fraction: '1/2', Range: '1-5', Score: '3:1', IP: '10.0.0.1' },
  },
}

const FORMATS = ['csv', 'xlsx', 'json'] as const

/** The rows of a table after it was exported and imported again. */
async function exportedAgain(
  tableId: string,
  format: (typeof FORMATS)[number],
  name: string,
): Promise<Record<string, CellValue>[]> {
  const trpc = app.trpc(owner.token)
  const { views } = await trpc.schema.table.query({ tableId })
  const { jobId } = await trpc.records.export.mutate({
    tableId,
    viewId: views[0]?.id ?? '',
    format,
    timeZone: 'UTC',
  })
  const { result } = await ended(door, jobId)
  const file = await (await fetch(`${app.url}/${(result as { url: string }).url}`)).bytes()
  const uploadId = await upload(door, file, 'exported')
  const [table] = await analyse(door, uploadId)
  const [imported] = await importTables(door, base.id, uploadId, [{ ...table!, name: `${name} ${format}` }])
  expect(imported?.report).toEqual([])
  return imported?.rows ?? []
}

describe('an import of a file as people have it', () => {
  // Each in one of the formats: export-again.test.ts has every type in each.
  const cases = Object.entries(FILES).map(
    ([name, one], at) => [name, FORMATS[at % FORMATS.length] ?? 'csv', one] as const,
  )
  test.each(cases)(
    '%s: types as a person would choose them, and an export as %s gives the values back',
    async (name, format, one) => {
      const uploadId = await upload(door, new Blob([one.file]), 'file')
      const [table] = await analyse(door, uploadId)
      expect(typesOf(table!)).toMatchObject(one.types)
      const title = name.slice(0, 60)
      const [imported] = await importTables(door, base.id, uploadId, [{ ...table!, name: title }])
      expect(imported).toMatchObject({ report: [], result: { cellsRefused: 0, rowsRefused: 0 } })
      expect(imported?.rows[0]).toMatchObject(one.first)
      const rows = await rowsOf(door, imported?.result.tableId ?? '')
      expect(await exportedAgain(imported?.result.tableId ?? '', format, title)).toEqual(rows)
    },
  )
})
