import { afterAll, describe, expect, test } from 'bun:test'
import type { CsvFormat } from '../../src/core/csv/format.ts'
import { OWN_COLUMN } from '../../src/core/fields/field.ts'
import { fieldType } from '../../src/core/fields/index.ts'
import { parseCell } from '../../src/core/fields/notations.ts'
import type { Analysis } from '../../src/core/imports/analysis.ts'
import {
  countMisfits,
  type DraftTarget,
  draftColumns,
  IMPORTABLE_TYPES,
  isMisfit,
  problemOf,
  toStartInput,
  withMark,
  withType,
} from '../../src/core/imports/draft.ts'
import type { Field } from '../../src/core/model.ts'
import { createAnalyser } from '../../web/features/imports/analyse.ts'
import { AnalyseError } from '../../web/features/imports/analysis.ts'
import { type ImportSource, readSamples, tableTitleOf } from '../../web/features/imports/source.ts'

const analyser = createAnalyser()
afterAll(() => analyser.close())

/** Looks into a file as the import dialog does. */
async function look(file: string | Buffer, chosen: Partial<CsvFormat> = {}): Promise<Analysis> {
  const bytes = new Uint8Array(Buffer.from(file))
  const source: ImportSource = { kind: 'file', name: 'a.csv', size: bytes.length, file: new Blob([bytes]) }
  const samples = await readSamples(source, async (_, from, to) => bytes.slice(from, to).buffer)
  const analysis = await analyser.analyse(samples, chosen)
  if (!analysis) throw new Error('The server reads this kind of file')
  return analysis
}

const typesOf = ({ fields }: Analysis) => Object.fromEntries(fields.map(({ title, type }) => [title, type]))

describe('the preview of a file', () => {
  test('tells encoding, delimiter, names, types and rows', async () => {
    const found = await look('Name;Age;Note\nAnn;31;\nBen;7;"two\nlines"\n')
    expect(found.format).toEqual({
      kind: 'csv',
      encoding: 'utf-8',
      delimiter: ';',
      quote: '"',
      header: true,
      guarded: false,
      decimal: ',',
    })
    expect(typesOf(found)).toEqual({ Name: 'SingleLineText', Age: 'Number', Note: 'LongText' })
    expect(found).toMatchObject({ rowCount: 2, isExact: true, quoteProblems: 0 })
  })

  test('finds escapes by backslashes, repeated titles and texts in formulas', async () => {
    const found = await look(
      '"id","note","zip"\n1,"a \\"b\\"","=\\"0012\\""\n\ufeff"id","note","zip"\n2,\\N,"=\\"13\\""\n',
    )
    expect(found).toMatchObject({
      format: { escape: '\\', formulaTexts: true },
      rows: [
        ['1', 'a "b"', '0012'],
        ['2', '', '13'],
      ],
      quoteProblems: 0,
      repeatedTitles: 1,
    })
    expect(typesOf(found)).toEqual({ id: 'Number', note: 'SingleLineText', zip: 'SingleLineText' })
    const literal = await look('a,b\nx,\\N\n', { escape: '' })
    expect(literal.rows).toEqual([['x', '\\N']])
  })

  /** The first number of each column, as the import reads it, and whether the preview asks for its decimal mark. */
  function numbersOf({ fields, rows, format }: Analysis) {
    return fields.map(({ type, options, decimal = format.decimal, confidence }, at) => [
      parseCell(fieldType(type), rows[0]?.[at] ?? '', options, decimal),
      confidence.unclearMark ?? false,
    ])
  }

  test.each([
    ['semicolons between columns', 'Gewicht;Einwohner\n2,500;12.345\n1,250;987\n', [2.5, 12_345], true],
    ['tabs, and days with points', 'Ort\tTag\n12.345\t24.12.2024\n', [12_345], true],
    ['commas between columns', 'Weight,People\n2.500,"12,345"\n', [2.5, 12_345], true],
    ['a column that needs the point', 'Lat;Weight\n52.5200;2.500\n13.4;1.250\n', [52.52, 2.5], false],
    ['digits that are no thousands', 'kWh;Sum\n12345.678;1234,567\n', [12_345.678, 1234.567], false],
    ['amounts of countries with points', 'Price;More\n$1,500;2,500 €\n$2,250;1,250 €\n', [1500, 2.5], true],
    ['a leading zero', 'Weight\n0.500\n1.250\n', [0.5], false],
    ['spaces between thousands', 'Sum;More\n1 234;2\n', [1234, 2], false],
  ])(
    'decides the decimal mark of a column by %s, and asks where it may be either',
    async (_, file, numbers, isFirstUnclear) => {
      const found = numbersOf(await look(file)).slice(0, numbers.length)
      expect(found.map(([number]) => number)).toEqual(numbers)
      expect(found[0]?.[1]).toBe(isFirstUnclear)
    },
  )

  test('gives a column the decimal mark that a person chooses, and the type that its numbers have then', async () => {
    const found = await look('Ort;Gewicht\nA;2,500\nB;1,250\n')
    const target: DraftTarget = { kind: 'new', title: 'Orte' }
    const [ort, weight] = draftColumns(found, target)
    expect([weight?.type, found.fields[1]?.confidence.unclearMark]).toEqual(['Decimal', true])
    const changed = { ...weight!, ...withMark(weight!, '.', found, target) }
    const input = toStartInput({ baseId: 'b', uploadId: 'u', analysis: found }, [ort!, changed], target)
    expect(input.table?.fields[1]).toMatchObject({ title: 'Gewicht', type: 'Number' })
    expect(input.columns[1]).toMatchObject({ index: 1, decimal: '.' })
    const back = { ...changed, ...withMark(changed, ',', found, target) }
    expect([back.type, back.options]).toEqual([weight!.type, weight!.options])
  })

  test('takes years of two digits as the next twenty or the last eighty, and those of birth as past ones', async () => {
    const now = new Date().getUTCFullYear()
    const [near, far] = [now + 20, now + 21].map((year) => String(year % 100).padStart(2, '0'))
    const found = await look(
      [
        'DOB;Start;Born;geb.',
        `31.12.${near};31.12.${near};12-Mar-${near};12. März ${near}`,
        `31.12.${far};31.12.${far};1-Apr-${far};1. April ${far}`,
      ].join('\n'),
    )
    const days = found.fields.map(({ type, options, isPast }, at) =>
      found.rows.map((row) => parseCell(fieldType(type), row[at] ?? '', options, '.', { isPast })),
    )
    expect(days).toEqual([
      [`${now - 80}-12-31`, `${now - 79}-12-31`],
      [`${now + 20}-12-31`, `${now - 79}-12-31`],
      [`${now - 80}-03-12`, `${now - 79}-04-01`],
      [`${now - 80}-03-12`, `${now - 79}-04-01`],
    ])
    const columns = draftColumns(found, { kind: 'new', title: 'People' })
    const input = toStartInput({ baseId: 'b', uploadId: 'u', analysis: found }, columns, {
      kind: 'new',
      title: 'People',
    })
    expect(input.columns.map(({ isPast }) => isPast ?? false)).toEqual([true, false, true, true])
  })

  test.each([
    ['Mobile', ['44.1', '55.9'], 'Decimal'],
    ['Mobile', ['44', '56'], 'Number'],
    ['Mobile', ['5551234567', '5559876543'], 'PhoneNumber'],
    ['Mobile No.', ['01711234567', '01719876543'], 'PhoneNumber'],
    ['Mobile sessions', ['1500000', '2500000'], 'Number'],
    ['Cell count', ['12000000', '15000000'], 'Number'],
    ['Phones sold', ['120', '150'], 'Number'],
    ['Phone cost', ['12.50', '9.75'], 'Decimal'],
    ['Phone', ['4711', '4712'], 'SingleLineText'],
    ['Work phone', ['2025550100', '2025550101'], 'PhoneNumber'],
    ['Phone activated', ['2024-01-31', '2024-02-01'], 'Date'],
    ['Cost per year', ['1200', '1500'], 'Number'],
    ['Cost/year', ['1200', '1500'], 'Number'],
    ['Kosten pro Jahr', ['1200', '1500'], 'Number'],
    ['Year 1', ['1200', '1500'], 'Number'],
    ['Year', ['1999', '2024'], 'Year'],
    ['Model year', ['1999', '2024'], 'Year'],
    ['Year built', ['1999', '2024'], 'Year'],
    ['Product code', ['62.01.11', '62.02.30'], 'SingleLineText'],
    ['Case no.', ['62/01/11', '62/02/17'], 'SingleLineText'],
    ['Release date', ['99/12/31', '98/11/30'], 'Date'],
  ])('reads %s of %p as %s', async (title, values, type) => {
    const found = await look(`Name,${title}\nA,${values[0]}\nB,${values[1]}\n`)
    expect(found.fields[1]?.type).toBe(type as never)
  })

  test('offers the texts of a column as they are, if they look like days and are none', async () => {
    const [short, long] = ['13 मार्च 24', '13 मार्च 2024']
    const [field] = (await look(`When\n${`${short}\n${long}\n`.repeat(4)}`)).fields
    expect(field).toMatchObject({
      type: 'SingleSelect',
      options: { choices: [{ title: short }, { title: long }] },
    })
  })

  test('asks for the currency of kroner', async () => {
    const [field] = (await look('Price\n"12,50 kr"\n"3,00 kr"\n')).fields
    expect(field).toMatchObject({
      type: 'Currency',
      options: { code: 'SEK' },
      confidence: { ambiguous: true },
    })
  })

  test('reads a file as Excel writes it where decimals have commas', async () => {
    const file =
      'sep=;\r\nDatum;Betrag;Menge;Preis\r\n31.12.2023;1.234,56;1.000;12,50 €\r\n01.02.2024;-7,00;2.500;0,99 €\r\n'
    const found = await look(file)
    expect(found.format).toMatchObject({ delimiter: ';', decimal: ',' })
    expect(typesOf(found)).toEqual({ Datum: 'Date', Betrag: 'Decimal', Menge: 'Number', Preis: 'Currency' })
    const newTable: DraftTarget = { kind: 'new', title: 'T' }
    const columns = draftColumns(found, newTable)
    for (const column of columns) expect(countMisfits(found, column, newTable)).toBe(0)
    // A person who knows better has the last word.
    expect(typesOf(await look(file, { decimal: '.' })).Menge).toBe('Decimal')
  })

  test('leaves workbooks and JSON to the server', async () => {
    for (const file of ['PK\x03\x04[Content_Types].xml,\n', '[{"a": 1}]', '{"a": [1, 2']) {
      await expect(look(file)).rejects.toThrow('The server reads this kind of file')
    }
  })

  test.each([
    ['a file of another kind', '<?xml version="1.0"?><a/>', 'foreign'],
    ['a row without an end', 'x'.repeat(2_000_000), 'format'],
  ])('tells that reading %s again cannot help', async (_, text, fault) => {
    const error = await look(text).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(AnalyseError)
    expect((error as AnalyseError).fault).toBe(fault as AnalyseError['fault'])
  })

  test('takes the most readable column as the display field, or the one that is chosen', async () => {
    const analysis = await look('Id,Name,Age\na1b2c3,Ann,31\nd4e5f6,Ben,32\n')
    const target: DraftTarget = { kind: 'new', title: 'People' }
    const columns = draftColumns(analysis, target)
    const displayOf = (from: typeof columns) =>
      toStartInput({ baseId: 'p1', uploadId: 'u', analysis }, from, target)
        .table?.fields.filter(({ isDisplay }) => isDisplay)
        .map(({ title }) => title)
    expect(displayOf(columns)).toEqual(['Name'])
    expect(displayOf(columns.map((column, at) => ({ ...column, isDisplay: at === 2 })))).toEqual(['Age'])
    // Without its column the next best takes over.
    expect(displayOf(columns.map((column, at) => ({ ...column, isOn: at !== 1 })))).not.toEqual(['Name'])
  })

  test('offers only types that can be imported', () => {
    for (const refused of [
      'ForeignKey',
      'ID',
      'SpecificDBType',
      'Collaborator',
      'Password',
      'Formula',
    ] as const)
      expect(IMPORTABLE_TYPES).not.toContain(refused)
    expect(IMPORTABLE_TYPES).toContain('User')
  })

  test('keeps to what was chosen', async () => {
    const found = await look('Name;Age\nAnn;31\n', { delimiter: ',', header: false })
    expect(found.fields).toHaveLength(1)
    expect(found.rows).toEqual([['Name;Age'], ['Ann;31']])
  })

  test('finds the first umlaut of a long Latin-1 file', async () => {
    const ascii = 'Name,Age\n'.concat('Somebody,42\n'.repeat(300_000))
    const found = await look(
      Buffer.concat([Buffer.from(ascii), Buffer.from('Zo\xeb,1\n'.repeat(20_000), 'latin1')]),
    )
    expect(found.format).toMatchObject({ encoding: 'windows-1252' })
    expect(found.isExact).toBe(false)
    expect(Math.abs(found.rowCount - 320_000)).toBeLessThan(15_000)
  })

  test('sees in the midst of a long file what the beginning does not show', async () => {
    const found = await look(`Id,Code\n${'1,2\n'.repeat(400_000)}${'1,x2\n'.repeat(200_000)}`)
    expect(typesOf(found)).toMatchObject({ Id: 'Number' })
    expect(found.fields[1]!.type).not.toBe('Number')
  })

  test('reads UTF-16 without a mark, however long', async () => {
    const found = await look(Buffer.from(`Name,Age\n${'Zoë,31\n'.repeat(200_000)}`, 'utf16le'))
    expect(found.format).toMatchObject({ encoding: 'utf-16le' })
    expect(found.rows.every((row) => row[0] === 'Zoë' && row[1] === '31')).toBe(true)
  })

  test('is not misled by slices that begin inside a quoted cell', async () => {
    const note = `"${'a line, of text\n'.repeat(10_000)}"`
    const found = await look(`Id,Note\n${Array.from({ length: 30 }, (_, at) => `${at},${note}\n`).join('')}`)
    expect(typesOf(found)).toEqual({ Id: 'Number', Note: 'LongText' })
  })

  test('shows every column of a file whose rows are wider than its header', async () => {
    const found = await look('a,b\n1,2,3\n4,5,6\n7,8,9\n')
    expect(found.fields.map(({ title }) => title)).toEqual(['a', 'b', 'Field 3'])
  })

  test('shows nothing of an empty file', async () => {
    expect(await look('')).toMatchObject({ fields: [], rows: [], rowCount: 0 })
  })

  test('says so where a file is none', async () => {
    await expect(look('x'.repeat(2_000_000))).rejects.toThrow('not a CSV file')
  })
})

describe('the draft of an import', () => {
  const newTable: DraftTarget = { kind: 'new', title: 'People' }
  const field = (id: string, title: string, more: Partial<Field> = {}): Field => ({
    id,
    tableId: 'm1',
    title,
    columnName: id,
    type: 'SingleLineText',
    options: {},
    description: null,
    required: false,
    unique: false,
    defaultValue: null,
    order: 1,
    isDisplay: false,
    isPrimaryKey: false,
    isSystem: false,
    ...OWN_COLUMN,
    ...more,
  })

  test('marks what does not fit a type, and nothing in a select field that is made', async () => {
    const analysis = await look('Age\n1\nold\n\n')
    const [column] = draftColumns(analysis, newTable)
    const asNumber = withType(column!, 'Number', analysis)
    expect(countMisfits(analysis, asNumber, newTable)).toBe(1)
    expect(isMisfit('old', asNumber, newTable)).toBe(true)
    const asSelect = withType(column!, 'SingleSelect', analysis)
    expect(countMisfits(analysis, asSelect, newTable)).toBe(0)
    expect(asSelect.options).toMatchObject({ choices: [{ title: '1' }, { title: 'old' }] })
  })

  test('maps columns to the fields of a table by their names', async () => {
    const analysis = await look('first_name,AGE,Other\nAnn,1,x\n')
    const fields = [
      field('c1', 'Age', { type: 'Number' }),
      field('c2', 'First name'),
      field('c3', 'Id', { isPrimaryKey: true }),
    ]
    const target: DraftTarget = { kind: 'append', tableId: 'm1', title: 'People', fields }
    const columns = draftColumns(analysis, target)
    expect(columns.map(({ fieldId, isOn }) => [fieldId, isOn])).toEqual([
      ['c2', true],
      ['c1', true],
      [null, false],
    ])
    expect(problemOf(columns, target)).toBeNull()
    const input = toStartInput({ baseId: 'p1', uploadId: 'u', analysis }, columns, target)
    expect(input).toMatchObject({
      tableId: 'm1',
      columns: [
        { index: 0, fieldId: 'c2' },
        { index: 1, fieldId: 'c1' },
      ],
    })
    expect(input).not.toHaveProperty('table')
  })

  test('says what stands in the way', async () => {
    const analysis = await look('a,b\n1,2\n')
    const columns = draftColumns(analysis, newTable)
    expect(
      problemOf(
        columns.map((column) => ({ ...column, isOn: false })),
        newTable,
      ),
    ).toBe('none')
    expect(
      problemOf(
        columns.map((column) => ({ ...column, title: ' ' })),
        newTable,
      ),
    ).toBe('untitled')
    const target: DraftTarget = {
      kind: 'append',
      tableId: 'm1',
      title: 'People',
      fields: [field('c1', 'A'), field('c2', 'C', { required: true })],
    }
    const mapped = draftColumns(analysis, target)
    expect(problemOf(mapped, target)).toBe('required')
    const doubled = mapped.map((column) => ({ ...column, fieldId: 'c2', isOn: true }))
    expect(problemOf(doubled, target)).toBe('twice')
  })

  test('names the table after the file', () => {
    const named = (name: string) => tableTitleOf({ kind: 'upload', name, size: 0, uploadId: '' })
    expect(named('People 2024.csv')).toBe('People 2024')
    expect(named('a.b/c.tsv')).toBe('a b c')
    expect(named('.csv')).toBe('Import')
  })
})
