import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
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

/** Columns as programs and people of many countries write them, with the type and values that a person would expect. */
const COLUMNS: [title: string, cells: string[], type: FieldTypeName, values: CellValue[]][] = [
  ['Arabic digits', ['١٢٣', '٤٥٦'], 'Number', [123, 456]],
  ['Persian digits', ['۱۲', '۳'], 'Number', [12, 3]],
  ['Arabic amounts', ['١٬٢٣٤٫٥٠', '٥٦٧٫٨٠'], 'Decimal', [1234.5, 567.8]],
  ['Arabic days', ['٢٠٢٤/٠١/٠٥', '٢٠٢٤/١٢/٣١'], 'Date', ['2024-01-05', '2024-12-31']],
  ['Marked direction', ['\u200f12', '\u200f13'], 'Number', [12, 13]],
  ['Wide digits', ['１２３', '４５'], 'Number', [123, 45]],
  ['Wide amounts', ['￥１，２００', '￥３００'], 'Currency', [1200, 300]],
  ['Squares', ['5²', '7²'], 'SingleLineText', ['5²', '7²']],
  ['Swiss', ["1'234.50", '99.95'], 'Decimal', [1234.5, 99.95]],
  ['Dotted thousands', ['1.234', '5.678.901'], 'Number', [1234, 5678901]],
  ['Accounting', ['(1,234.50)', '2.00'], 'Decimal', [-1234.5, 2]],
  ['Trailing minus', ['12.50-', '5.00'], 'Decimal', [-12.5, 5]],
  ['Codes with a minus', ['12-', '7-'], 'SingleLineText', ['12-', '7-']],
  ['Codes with an e', ['1e5', '2E10'], 'SingleLineText', ['1e5', '2E10']],
  ['Leading zeros', ['00123', '04567'], 'SingleLineText', ['00123', '04567']],
  [
    'Card numbers',
    ['4111111111111111', '5500000000000004'],
    'SingleLineText',
    ['4111111111111111', '5500000000000004'],
  ],
  ['Long numbers', ['12345678901234567', '1'], 'SingleLineText', ['12345678901234567', '1']],
  ['Telephones', ['+49 30 123456', '(212) 555-1234'], 'PhoneNumber', ['+49 30 123456', '(212) 555-1234']],
  ['Percent', ['12 %', '3,5 %'], 'Percent', [12, 3.5]],
  ['Percent in front', ['%12', '%45'], 'Percent', [12, 45]],
  ['Euros', ['12,50 €', '1.234,00 €'], 'Currency', [12.5, 1234]],
  ['Codes of currencies', ['CHF 12.50', '3.00 CHF'], 'Currency', [12.5, 3]],
  ['Zloty', ['12,50 zł', '1 234,00 zł'], 'Currency', [12.5, 1234]],
  ['Yen', ['1,200円', '300円'], 'Currency', [1200, 300]],
  ['Yuan', ['¥12.50', '¥8.00'], 'Currency', [12.5, 8]],
  ['Two currencies', ['$12', '€13'], 'SingleLineText', ['$12', '€13']],
  ['Kroner of some country', ['99,00 kr', '12,50 kr'], 'Currency', [99, 12.5]],
  ['Short months', ['3-Jan-24', '15-Feb-24'], 'Date', ['2024-01-03', '2024-02-15']],
  [
    'Moments of Jira',
    ['01/Jun/24 10:11 AM', '12/Jun/24 9:00 PM'],
    'DateTime',
    ['2024-06-01 10:11:00+00:00', '2024-06-12 21:00:00+00:00'],
  ],
  ['Days of Outlook', ['5/17/1990', '0/0/00'], 'Date', ['1990-05-17', null]],
  ['手机', ['13812345678', '13912345678'], 'PhoneNumber', ['13812345678', '13912345678']],
  ['電話番号', ['03-1234-5678', '090-1234-5678'], 'PhoneNumber', ['03-1234-5678', '090-1234-5678']],
  ['Months alone', ['Jan-24', 'Feb-24'], 'SingleLineText', ['Jan-24', 'Feb-24']],
  ['Japanese days', ['2024年1月3日', '２０２４年１２月３１日'], 'Date', ['2024-01-03', '2024-12-31']],
  ['Korean days', ['2024년 1월 3일', '2024. 12. 31.'], 'Date', ['2024-01-03', '2024-12-31']],
  ['Korean short days', ['24.03.13.', '24.12.31.'], 'SingleLineText', ['24.03.13.', '24.12.31.']],
  ['Nepali amounts', ['१२,३४,५६७.८९', '०.२५'], 'Decimal', [1234567.89, 0.25]],
  ['French weekdays', ['mercredi 3 janvier 2024', 'mar. 31 déc. 2024'], 'Date', ['2024-01-03', '2024-12-31']],
  ['Japanese weekdays', ['2024年1月3日(水)', '2024/12/31 (火)'], 'Date', ['2024-01-03', '2024-12-31']],
  [
    'Wrong Italian weekdays',
    ['lunedì 3 gennaio 2024', 'martedì 31 dicembre 2024'],
    'SingleLineText',
    ['lunedì 3 gennaio 2024', 'martedì 31 dicembre 2024'],
  ],
  ['Nepali days', ['२४/३/१३', '२४/१२/३१'], 'Date', ['2024-03-13', '2024-12-31']],
  ['Marathi days', ['१३/३/२४', '३१/१२/२४'], 'Date', ['2024-03-13', '2024-12-31']],
  ['Basque days', ['99/3/1', '01/12/31'], 'Date', ['1999-03-01', '2001-12-31']],
  ['Hindi days', ['13 मार्च 2024', '31 दिस॰ 2024'], 'Date', ['2024-03-13', '2024-12-31']],
  ['Urdu days', ['13 مارچ، 2024', '31 دسمبر، 2024'], 'Date', ['2024-03-13', '2024-12-31']],
  ['Georgian days', ['13 მარ. 2024', '31 დეკ. 2024'], 'Date', ['2024-03-13', '2024-12-31']],
  ['Croatian months', ['13. listopada 2024.', '14. siječnja 2025.'], 'Date', ['2024-10-13', '2025-01-14']],
  ['Polish months', ['13 listopada 2024', '14 stycznia 2025'], 'Date', ['2024-11-13', '2025-01-14']],
  [
    'Months of some country',
    ['13 listopada 2024', '14. listopada 2024.'],
    'SingleLineText',
    ['13 listopada 2024', '14. listopada 2024.'],
  ],
  ['Bengali days', ['১৩/৩/২০২৪', '৩১/১২/২০২৪'], 'Date', ['2024-03-13', '2024-12-31']],
  ['Czech days', ['13. 3. 2024', '31.12. 2024'], 'Date', ['2024-03-13', '2024-12-31']],
  ['Croatian days', ['13. 03. 2024.', '31.12.2024.'], 'Date', ['2024-03-13', '2024-12-31']],
  ['Bulgarian days', ['13.03.2024 г.', '31.12.24 г.'], 'Date', ['2024-03-13', '2024-12-31']],
  ['Hungarian days', ['2024. március 13.', '2024. dec. 31.'], 'Date', ['2024-03-13', '2024-12-31']],
  [
    'Latvian days',
    ['2024. gada 13. marts', '2024. gada 31. decembris'],
    'Date',
    ['2024-03-13', '2024-12-31'],
  ],
  ['Lithuanian days', ['2024 m. kovo 13 d.', '2024 m. gruodžio 31 d.'], 'Date', ['2024-03-13', '2024-12-31']],
  ['Catalan days', ['13 de març del 2024', '14 d’abril del 2024'], 'Date', ['2024-03-13', '2024-04-14']],
  [
    'Vietnamese days',
    ['13 tháng 3, 2024', 'ngày 31 tháng 12 năm 2024'],
    'Date',
    ['2024-03-13', '2024-12-31'],
  ],
  ['Indonesian days', ['13 Maret 2024', '17 Agustus 2024'], 'Date', ['2024-03-13', '2024-08-17']],
  ['Swahili days', ['13 Machi 2024', '31 Desemba 2024'], 'Date', ['2024-03-13', '2024-12-31']],
  ['Hebrew days', ['13 במרץ 2024', '31 בדצמבר 2024'], 'Date', ['2024-03-13', '2024-12-31']],
  ['Persian days', ['1403/10/11', '1403/11/05'], 'SingleLineText', ['1403/10/11', '1403/11/05']],
  [
    'Finnish moments',
    ['13.3.2024 klo 14.35', '31.12.2024 klo 9.05'],
    'DateTime',
    ['2024-03-13 14:35:00+00:00', '2024-12-31 09:05:00+00:00'],
  ],
  [
    'Mexican moments',
    ['13/03/2024, 2:35 p.m.', '31/12/2024, 9:05 a. m.'],
    'DateTime',
    ['2024-03-13 14:35:00+00:00', '2024-12-31 09:05:00+00:00'],
  ],
  [
    'Taiwanese moments',
    ['2024/3/13 下午2:35', '2024/12/31 上午9:05'],
    'DateTime',
    ['2024-03-13 14:35:00+00:00', '2024-12-31 09:05:00+00:00'],
  ],
  ['Date of order', ['20240103', '20241231'], 'Date', ['2024-01-03', '2024-12-31']],
  ['Eight digits', ['20240103', '20241231'], 'Number', [20240103, 20241231]],
  ['Weekdays', ['Wed, 3 Jan 2024', 'Tuesday, 31 December 2024'], 'Date', ['2024-01-03', '2024-12-31']],
  [
    'Wrong weekdays',
    ['Mon, 3 Jan 2024', 'Tue, 31 Dec 2024'],
    'SingleLineText',
    ['Mon, 3 Jan 2024', 'Tue, 31 Dec 2024'],
  ],
  ['Ordinals', ['3rd January 2024', '1st February 2024'], 'Date', ['2024-01-03', '2024-02-01']],
  ['Zero dates', ['0000-00-00', '2024-12-31'], 'Date', [null, '2024-12-31']],
  ['Weeks', ['2024-W01', '2024-W52'], 'SingleLineText', ['2024-W01', '2024-W52']],
  ['Half days', ['1:30 PM', '11:05 a.m.'], 'Time', ['13:30:00', '11:05:00']],
  [
    'Japanese moments',
    ['2024年1月3日 10:30', '2024年12月31日 23:59'],
    'DateTime',
    ['2024-01-03 10:30:00+00:00', '2024-12-31 23:59:00+00:00'],
  ],
  ['Elapsed', ['1:30:00', '36:15:00'], 'Duration', [5400, 130500]],
  ['Ja', ['J', 'N'], 'Checkbox', [true, false]],
  ['PostgreSQL', ['t', 'f'], 'Checkbox', [true, false]],
  ['Vrai', ['VRAI', 'FAUX'], 'Checkbox', [true, false]],
  ['Sí', ['Sí', 'No'], 'Checkbox', [true, false]],
  ['Circles', ['○', '×'], 'Checkbox', [true, false]],
  ['Not given', ['k. A.', '3'], 'Number', [null, 3]],
  ['Formula errors', ['#DIV/0!', '1.5'], 'Decimal', [null, 1.5]],
  ['Names', ['N/A', 'NULL'], 'SingleLineText', ['N/A', 'NULL']],
  ['Infinite', ['Infinity', '1.5'], 'SingleLineText', ['Infinity', '1.5']],
  ['Exact', ['0.1234567890123456789', '1.5'], 'SingleLineText', ['0.1234567890123456789', '1.5']],
  ['😀', ['a\nb', 'c "d"'], 'LongText', ['a\nb', 'c "d"']],
]

const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`
const csvOf = (rows: string[][]): string => rows.map((cells) => cells.map(quoted).join(';')).join('\n')

async function load(text: string, name: string) {
  const uploadId = await upload(door, new Blob([text]), name)
  const tables = await analyse(door, uploadId)
  const [imported] = await importTables(door, base.id, uploadId, tables)
  return {
    fields: tables[0]?.analysis?.fields ?? [],
    rows: imported?.rows ?? [],
    report: imported?.report ?? [],
  }
}

describe('an import of values as people write them', () => {
  let found: Awaited<ReturnType<typeof load>>

  beforeAll(async () => {
    const rows = [
      COLUMNS.map(([title]) => title),
      ...[0, 1].map((at) => COLUMNS.map(([, cells]) => cells[at] ?? '')),
    ]
    found = await load(csvOf(rows), 'values.csv')
  })

  test.each(COLUMNS.map(([title, , type, values]) => [title, type, values] as const))(
    'reads %s as %s',
    (title, type, values) => {
      expect(found.fields.find((field) => field.title === title)?.type).toBe(type)
      expect(found.rows.map((row) => row[title] ?? null)).toEqual(values)
    },
  )

  test('reports nothing but the errors of formulas', () => {
    expect(found.report).toEqual(['2,Formula errors,#DIV/0!,The formula has an error instead of a value'])
  })
})

describe('versions that only rows below the sampled ones end with a zero', () => {
  const versions = Array.from({ length: 7000 }, (_, at) => `v${at},${at === 5001 ? '1.10' : '1.1'}`)
  const file = new Blob([['Name,Version', ...versions].join('\n')])

  test('are text where all rows are read', async () => {
    const [table] = await analyse(door, await upload(door, file, 'versions.csv'))
    expect(typesOf(table!)).toMatchObject({ Version: 'SingleLineText' })
  })

  test('are reported where they become numbers', async () => {
    const uploadId = await upload(door, file, 'versions.csv')
    const tables = await analyse(door, uploadId, { readAll: false })
    expect(typesOf(tables[0]!)).toMatchObject({ Version: 'Decimal' })
    const [imported] = await importTables(door, base.id, uploadId, tables)
    expect(imported?.report).toEqual([
      '5003,Version,1.10,"The last zeros were dropped, since this is a number. Import the column as text to keep them"',
    ])
  })
})

describe('a value that no sampled row has', () => {
  test.each([
    ['narrow', 1, 6000],
    ['wide', 60, 3400],
  ])('decides about the type of its column in a %s table', async (_, width, count) => {
    const rows = Array.from({ length: count }, (_, at) =>
      Array.from({ length: width }, () => (at === 2901 ? 'n. n.' : at)).join(),
    )
    const file = new Blob([[Array.from({ length: width }, (_, at) => `C${at}`).join(), ...rows].join('\n')])
    const [table] = await analyse(door, await upload(door, file, 'rows.csv'))
    expect(new Set(Object.values(typesOf(table!)))).toEqual(new Set(['SingleLineText']))
  })
})

describe('times with microseconds', () => {
  test('are cut to milliseconds, and the report says so once for the column', async () => {
    const { rows, report } = await load(
      'Name,At\na,2024-03-01 10:00:00.123456\nb,2024-03-01 10:00:00.250000\nc,2024-03-01 10:00:00.000001Z\n',
      'times.csv',
    )
    expect(rows.map(({ At }) => At)).toEqual([
      '2024-03-01 10:00:00.123+00:00',
      '2024-03-01 10:00:00.250+00:00',
      '2024-03-01 10:00:00+00:00',
    ])
    expect(report).toEqual([
      '2,At,2024-03-01 10:00:00.123456,2 times of this column have more digits of a second than the field keeps; the others were cut. Import the column as text to keep them',
    ])
  })
})
