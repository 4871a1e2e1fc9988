import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import Papa from 'papaparse'
import { type DetectedField, detectFields, detectType } from '../../src/core/fields/detect.ts'
import { detectDecimalMark } from '../../src/core/fields/detect-numbers.ts'
import { fieldType, readOptions } from '../../src/core/fields/index.ts'

const read = (name: string): string[][] =>
  Papa.parse<string[]>(readFileSync(`node_modules/vega-datasets/data/${name}`, 'utf8'), {
    skipEmptyLines: true,
  }).data

const repeat = (values: string[], times: number): string[] =>
  Array.from({ length: times }, () => values).flat()

const typesOf = (fields: DetectedField[]): Record<string, string> =>
  Object.fromEntries(fields.map(({ title, type }) => [title, type]))

describe('detectFields on real files', () => {
  test.each<[string, Record<string, string>]>([
    [
      'airports.csv',
      {
        iata: 'SingleLineText',
        name: 'SingleLineText',
        city: 'SingleLineText',
        state: 'SingleSelect',
        country: 'SingleSelect',
        latitude: 'Decimal',
        longitude: 'Decimal',
      },
    ],
    [
      'zipcodes.csv',
      {
        zip_code: 'SingleLineText',
        latitude: 'Decimal',
        longitude: 'Decimal',
        city: 'SingleLineText',
        state: 'SingleSelect',
        county: 'SingleLineText',
      },
    ],
    [
      'seattle-weather.csv',
      {
        date: 'Date',
        precipitation: 'Decimal',
        temp_max: 'Decimal',
        temp_min: 'Decimal',
        wind: 'Decimal',
        weather: 'SingleSelect',
      },
    ],
    [
      'birdstrikes.csv',
      {
        'Airport Name': 'SingleLineText',
        'Aircraft Make Model': 'SingleLineText',
        'Effect Amount of damage': 'SingleSelect',
        'Flight Date': 'Date',
        'Aircraft Airline Operator': 'SingleSelect',
        'Origin State': 'SingleSelect',
        'Phase of flight': 'SingleSelect',
        'Wildlife Size': 'SingleSelect',
        'Wildlife Species': 'SingleSelect',
        'Time of day': 'SingleSelect',
        'Cost Other': 'Number',
        'Cost Repair': 'Number',
        'Cost Total $': 'Number',
        'Speed IAS in knots': 'Number',
      },
    ],
    ['disasters.csv', { Entity: 'SingleSelect', Year: 'Year', Deaths: 'Number' }],
    ['stocks.csv', { symbol: 'SingleSelect', date: 'Date', price: 'Decimal' }],
    ['github.csv', { time: 'DateTime', count: 'Number' }],
    ['sp500.csv', { date: 'Date', price: 'Decimal' }],
    [
      'seattle-weather-hourly-normals.csv',
      { date: 'DateTime', pressure: 'Decimal', temperature: 'Decimal', wind: 'Decimal' },
    ],
  ])('%s', (name, expected) => {
    const [header = [], ...rows] = read(name)
    const fields = detectFields(rows, header, { maxRowsToParse: 500 })
    expect(typesOf(fields)).toEqual(expected)
    // What is chosen fits every value that was looked at.
    fields.forEach(({ type, options }, index) => {
      for (const row of rows.slice(0, 500)) {
        const value = row[index] ?? ''
        if (value !== '')
          expect({ value, fits: fieldType(type).parse(value, options) !== null }).toEqual({
            value,
            fits: true,
          })
      }
    })
  })

  test('makes no options of hashes, codes and names in species.csv', () => {
    const [header = [], ...rows] = read('species.csv')
    expect(typesOf(detectFields(rows, header, { maxRowsToParse: rows.length }))).toEqual({
      item_id: 'SingleLineText',
      common_name: 'SingleLineText',
      scientific_name: 'SingleLineText',
      gap_species_code: 'SingleLineText',
      // Many end up as numbers; the first with a zero in front comes after thousands of rows.
      county_id: 'SingleLineText',
      habitat_yearround_pct: 'Decimal',
    })
  })

  test('keeps leading zeros of zip codes', () => {
    const [header = [], ...rows] = read('zipcodes.csv')
    const [zip] = detectFields(rows, header, { maxRowsToParse: 42_000 })
    expect(zip && fieldType(zip.type).parse('00501', zip.options)).toBe('00501')
  })
})

describe('detectType', () => {
  test.each<[string, string[], string]>([
    ['nothing', [], 'SingleLineText'],
    ['text', ['Ann', 'Bob', 'Cleo'], 'SingleLineText'],
    ['a line break', ['a', 'b\nc'], 'LongText'],
    ['256 characters', ['a'.repeat(256)], 'LongText'],
    ['255 characters', ['a'.repeat(255)], 'SingleLineText'],
    ['e-mails', ['ann@example.com', ' bob@example.org'], 'Email'],
    ['one e-mail among names', ['Ann', 'ann@example.com', 'Bob'], 'SingleLineText'],
    ['links', ['https://example.com', 'ftp://example.com/a'], 'URL'],
    ['file names, which look like hosts', ['readme.md', 'index.html', 'a.txt'], 'SingleLineText'],
    ['yes and no', ['Yes', 'no', 'YES'], 'Checkbox'],
    ['ticks', ['✓', '✗'], 'Checkbox'],
    ['x where it holds', ['x', 'X'], 'Checkbox'],
    ['1 and 0', ['1', '0', '1'], 'Checkbox'],
    ['only 0, which may be a count', ['0', '0'], 'Number'],
    ['only N, which may be north', ['N', 'N', 'N'], 'SingleSelect'],
    ['words of two vocabularies', ['yes', 'off'], 'SingleLineText'],
    ['whole numbers', ['1', '-20', '3,000'], 'Number'],
    ['decimals', ['1', '2.5'], 'Decimal'],
    ['decimal commas', ['1,5', '2,25', '10,0'], 'Decimal'],
    ['decimal commas that could be thousands', ['1,5', '1,250'], 'SingleLineText'],
    ['an exponent', ['1.5e-3', '2e+5'], 'Decimal'],
    ['codes that look like exponents', ['12E4', '13E5', '77E1'], 'SingleLineText'],
    ['dollars', ['$1', '-$2.50', '$1,000'], 'Currency'],
    ['losses in brackets', ['$1.00', '($2.50)'], 'Currency'],
    ['euros behind the amount', ['12,50 €', '1.234,00 €', '-0,99 €'], 'Currency'],
    ['signs of two currencies', ['$1', '€2'], 'SingleLineText'],
    ['shares', ['12.5%', '100 %', '-3%'], 'Percent'],
    ['shares among numbers', ['12.5%', '3'], 'SingleLineText'],
    ['decimals without a zero in front', ['.097', '-.5', '1.25'], 'Decimal'],
    ['endings of files', ['.net', '.5a'], 'SingleLineText'],
    ['days with points', ['31.12.2023', '1.2.2024'], 'Date'],
    ['dollars among numbers', ['$1', '2', '3'], 'SingleLineText'],
    ['leading zeros', ['00501', '10001', '90210'], 'SingleLineText'],
    ['a lone zero', ['0', '0.5'], 'Decimal'],
    ['telephone numbers', ['+4930901820', '+12025550100'], 'PhoneNumber'],
    ['whole numbers beyond 2^53', ['9007199254740993', '1'], 'SingleLineText'],
    ['those that a double holds, but not their neighbours', ['9007199254740992', '1'], 'SingleLineText'],
    ['more digits than a double keeps', ['0.123456789012345678', '1'], 'SingleLineText'],
    ['numbers and words', ['1', 'unknown', '2'], 'SingleLineText'],
    ['versions', ['1.2.3', '1.2.4'], 'SingleLineText'],
    ['days', ['2024-01-01', '2024-12-31'], 'Date'],
    ['days and something else', ['2024-01-01', 'soon'], 'SingleLineText'],
    ['days that no calendar has', ['2026-13-45', '2024-01-01'], 'SingleLineText'],
    ['a time among days', ['2024-01-01', '2024-01-02 08:00'], 'DateTime'],
    ['times alone', ['08:00', '09:30'], 'Time'],
    ['both orders of day and month', ['25/12/2024', '12/25/2024'], 'SingleLineText'],
    ['recurring words', ['a', 'b', 'a', 'b'], 'SingleSelect'],
    ['words more than half of which differ', ['a', 'b', 'c', 'a'], 'SingleLineText'],
    ['recurring lists', ['a,b', 'b', 'b,a', 'a'], 'MultiSelect'],
    [
      'recurring lists with spaces, which a multi select would drop',
      ['a, b', 'b', 'a, b', 'a'],
      'SingleLineText',
    ],
    ['sentences', ['Well, well, well', 'No, no'], 'SingleLineText'],
    ['65 recurring words', Array.from({ length: 650 }, (_, n) => `word ${n % 65}`), 'SingleLineText'],
    ['64 recurring words', Array.from({ length: 640 }, (_, n) => `word ${n % 64}`), 'SingleSelect'],
    [
      'words that are many for the rows',
      Array.from({ length: 160 }, (_, n) => `word ${n % 64}`),
      'SingleLineText',
    ],
  ])('%s', (_, values, expected) => {
    expect(detectType(values).type).toBe(expected as never)
  })

  test.each<[string, string[], string, string?]>([
    [
      'hashes, however often they recur',
      repeat(['58fa3f0be4b0b7ea54524859', '58fa449fe4b0b7ea54524c5e'], 40),
      'SingleLineText',
    ],
    ['codes of products', repeat(['A-001', 'A-002', 'B-117'], 30), 'SingleLineText'],
    [
      'codes of letters, by the title',
      repeat(['aAMBUx', 'bAMROx'], 30),
      'SingleLineText',
      'gap_species_code',
    ],
    ['versions', repeat(['v1.2.0', 'v1.3.0', 'v2.0'], 30), 'SingleLineText'],
    ['versions of one number', repeat(['v1', 'v2'], 30), 'SingleLineText'],
    ['months with their years', repeat(['Jan 2024', 'Feb 2024'], 30), 'SingleLineText'],
    ['months as programs write them', repeat(['2024-01', '2024-02'], 30), 'SingleLineText'],
    ['names of people, by the title', repeat(['Ann Lee', 'Bo Chan'], 30), 'SingleLineText', 'customer_name'],
    ['names with a comma', repeat(['Smith, John', 'Doe, Jane', 'Doe, John'], 30), 'SingleLineText'],
    ['places with a comma', repeat(['Hong Kong, China', 'Tokyo, Japan', 'China'], 30), 'SingleLineText'],
    [
      'places with a comma and no space',
      repeat(['Hong Kong,China', 'Tokyo,Japan', 'China'], 30),
      'SingleLineText',
    ],
    ['addresses', repeat(['1 Main St, Springfield', '2 Oak Ave, Shelbyville'], 30), 'SingleLineText'],
    ['texts with a blank at the end', repeat(['open ', 'closed'], 30), 'SingleLineText'],
    [
      'notes of which most are unlike',
      [...repeat(['ok'], 30), 'call back', 'wrong size', 'left early'],
      'SingleLineText',
    ],
    ['sentences', repeat(['This is all we know.', 'Nobody has seen it.'], 30), 'SingleLineText'],
    ['phases', repeat(['To do', 'In progress', 'Done'], 30), 'SingleSelect', 'Status'],
    ['ranks', repeat(['P0', 'P1', 'P2'], 30), 'SingleSelect'],
    ['quarters', repeat(['Q1', 'Q2', 'Q3', 'Q4'], 30), 'SingleSelect'],
    ['rooms', repeat(['Room 10', 'Room 11'], 30), 'SingleSelect'],
    ['states', repeat(['NY', 'CA', 'TX'], 30), 'SingleSelect', 'state'],
    ['lists of labels', repeat(['red,blue', 'blue', 'red', 'green,red'], 30), 'MultiSelect', 'Tags'],
    ['lists of numbers', repeat(['1,2,3', '2,1,3', '2,3'], 30), 'SingleLineText'],
    ['three answers', repeat(['Yes', 'No', 'N/A'], 30), 'SingleSelect'],
    ['ticks among which some are NULL', ['true', 'NULL', 'false'], 'Checkbox'],
    ['numbers among which some are missing', ['1', 'n/a', 'NULL', '-', 'NaN', '#N/A', '2'], 'Number'],
    ['amounts among which some are missing', ['$1', 'N/A', '$2'], 'Currency'],
    ['days among which some are missing', ['2024-01-01', 'null', '2024-01-02'], 'Date'],
    ['nothing but missing values', ['n/a', 'n/a'], 'SingleLineText'],
    ['telephone numbers of America', ['(202) 555-0100', '202-555-0101', '1-202-555-0102'], 'PhoneNumber'],
    ['telephone numbers of Europe', ['030 901820', '+33 1 23 45 67 89', '089/1234567'], 'PhoneNumber'],
    ['digits, called telephone numbers', ['2025550100', '2025550101'], 'PhoneNumber', 'Phone'],
    ['postal codes with nine digits', ['12345-6789', '90210-1234'], 'SingleLineText'],
    ['postal codes without a zero in front so far', ['10001', '90210'], 'SingleLineText', 'zip_code'],
    ['numbers of books', ['978-3-16-148410-0', '978-0-306-40615-7'], 'SingleLineText'],
    ['times of half a day', ['8:30 AM', '12:05 pm'], 'Time'],
    ['times with seconds', ['08:00:15', '23:59:59'], 'Time'],
    ['hours beyond a day', ['1:30', '36:15'], 'Duration'],
    ['times, called durations', ['1:30', '0:45'], 'Duration', 'Duration'],
    ['durations in words', ['1h 30m', '45 min', '2 hours'], 'Duration'],
    ['durations with parts of a second', ['0:00:01.5', '0:01:00.25'], 'Duration', 'Lap'],
    ['clocks of two kinds', ['1:30:00', '36:15'], 'SingleLineText', 'Duration'],
    ['metres', ['5 m', '10 m', '7 m'], 'SingleLineText'],
    ['results of matches', ['2:10', '3:15'], 'SingleLineText', 'Score'],
    ['objects and lists', ['{"a": 1}', '[1, 2]'], 'JSON'],
    ['objects, some of them missing', ['{"a": 1}', 'null', 'NULL'], 'JSON'],
    ['nothing but null', ['null', 'null'], 'SingleLineText'],
    ['amounts with apostrophes', ['CHF 0.50', "CHF 1'200.00", 'CHF 1’300.00'], 'Currency'],
    ['numbers with apostrophes', ["1'200", "12'000'000", '5'], 'Number'],
    ['lengths below an hour', ['1:02:33', '0:58:10', '2:10:00'], 'Duration'],
    ['times of day with seconds', ['1:02:33', '23:58:10', '00:10:00'], 'Time'],
    ['objects of which one is broken', ['{"a": 1}', '{"a": '], 'SingleLineText'],
    ['amounts with a code behind', ['0.50 USD', '1,200.00 USD'], 'Currency'],
    ['amounts with a code in front', ['CHF 0.50', '-CHF 2.00', '(CHF 1.00)'], 'Currency'],
    ['amounts with two codes', ['0.50 USD', '1.00 EUR'], 'SingleLineText'],
    ['losses in brackets without a sign', ['(5.00)', '3.20'], 'Decimal'],
    ['footnotes', ['(1)', '(2)'], 'SingleLineText'],
    ['years, by the title', ['1999', '2024'], 'Year', 'Year'],
    ['years without a title', ['1999', '2024'], 'Number'],
    ['digits of which a double loses one', ['0.12345678901234567'], 'SingleLineText'],
    ['days with short years', ['1/1/20', '12/31/19'], 'Date'],
    ['days with points and short years', ['01.02.20', '13.02.20'], 'Date'],
    ['days with points of mixed padding', ['31.12.24', '1.1.20'], 'Date'],
    ['days with points, one of them in full', ['1.1.2024', '1.1.20'], 'Date'],
    ['days with points and times', ['1.1.20 9:05', '31.12.24 14:30'], 'DateTime'],
    ['versions that look like days', ['1.2.20', '1.3.20'], 'SingleLineText'],
    ['versions of many parts', ['1.2.20', '10.11.12'], 'SingleLineText'],
    ['versions among which one looks like a day', ['1.2.20', '31.13.24'], 'SingleLineText'],
    ['days with short years and times', ['1/1/20 14:30', '2/13/20 9:05'], 'DateTime'],
  ])('takes %s for what they are', (...[, values, expected, title]) => {
    expect(detectType(values, { title }).type).toBe(expected as never)
  })

  test.each<[string[], object]>([
    [['25/12/2024', '01/02/2024'], { type: 'Date', options: { format: 'DD/MM/YYYY' } }],
    [['12/25/2024', '01/02/2024'], { type: 'Date', options: { format: 'MM/DD/YYYY' } }],
    [['01/02/2024', '03/04/2024'], { type: 'Date', options: { format: 'DD/MM/YYYY' }, ambiguous: true }],
    [['2024/01/02', '2024-01-03', '2024/01/04'], { type: 'Date', options: { format: 'YYYY/MM/DD' } }],
    [['31.12.24', '1.1.20'], { type: 'Date', options: { format: 'DD.MM.YYYY' } }],
    [['31.12.2023', '01.02.2024'], { type: 'Date', options: { format: 'DD.MM.YYYY' } }],
    [
      ['01.02.2024 08:15', '03.04.2024 09:00'],
      { type: 'DateTime', options: { format: 'DD.MM.YYYY', seconds: false } },
    ],
    [['2024.01.31', '2024.02.01'], { type: 'Date', options: { format: 'YYYY-MM-DD' } }],
    [['£1', '-£2.50'], { type: 'Currency', options: { code: 'GBP', locale: 'en-GB', precision: 2 } }],
    [['¥1,200', '¥90'], { type: 'Currency', options: { code: 'JPY', locale: 'ja-JP', precision: 0 } }],
    [['5%', '12.5%'], { type: 'Percent', options: { precision: 1 } }],
    [['0.50 USD'], { type: 'Currency', options: { code: 'USD', locale: 'en-US', precision: 2 } }],
    [['CHF 0.50'], { type: 'Currency', options: { code: 'CHF', locale: 'de-CH', precision: 2 } }],
    [['JPY 100'], { type: 'Currency', options: { code: 'JPY', locale: 'ja-JP', precision: 0 } }],
    [['US$5', 'US$1.50'], { type: 'Currency', options: { code: 'USD', locale: 'en-US', precision: 2 } }],
    [['1/1/20', '12/31/19'], { type: 'Date', options: { format: 'MM/DD/YYYY' } }],
    [['8:30 AM', '9 pm'], { type: 'Time', options: { time12h: true } }],
    [['08:30', '21:00'], { type: 'Time', options: { time12h: false } }],
    [['36:15'], { type: 'Duration', options: { format: 'h:mm' } }],
    [['36:15:00.25'], { type: 'Duration', options: { format: 'h:mm:ss.ss' } }],
    [['Jan 1 2000', 'Feb 1 2000'], { type: 'Date', options: { format: 'DD MMM YYYY' } }],
    [['12. März 2024', '1. Mai 2024'], { type: 'Date', options: { format: 'DD MMM YYYY' } }],
    [['12 de marzo de 2024', '1 de enero de 2025'], { type: 'Date', options: { format: 'DD MMM YYYY' } }],
    [['1er août 2024', '12 févr. 2024'], { type: 'Date', options: { format: 'DD MMM YYYY' } }],
    [['5 января 2024', '7 мая 2023'], { type: 'Date', options: { format: 'DD MMM YYYY' } }],
    [['12-Mar-24', '01-Dec-99'], { type: 'Date', options: { format: 'DD MMM YY' } }],
    [
      ['31/12/24 5:30 PM', '01/02/24 8:00 AM'],
      { type: 'DateTime', options: { format: 'DD/MM/YYYY', seconds: false } },
    ],
    [['12 Angry 1957', '7 Samurai 1954'], { type: 'SingleLineText' }],
    [
      ['2024-01-01 08:00', '2024-01-02'],
      { type: 'DateTime', options: { format: 'YYYY-MM-DD', seconds: false } },
    ],
    [['2024-01-01T08:00:05Z'], { type: 'DateTime', options: { format: 'YYYY-MM-DD', seconds: true } }],
    [['2024-01-01 08:00:00'], { type: 'DateTime', options: { format: 'YYYY-MM-DD', seconds: false } }],
    [['1.5', '2.125'], { type: 'Decimal', options: { precision: 3 } }],
  ])('finds the form of %p', (values, expected) => {
    expect(detectType(values)).toEqual(expected as never)
  })

  test('reads a column that leaves the order open as its caller says', () => {
    expect(detectType(['01/02/2024'], { monthFirst: true }).options).toEqual({ format: 'MM/DD/YYYY' })
    expect(detectType(['25/12/2024'], { monthFirst: true }).options).toEqual({ format: 'DD/MM/YYYY' })
  })

  test('reads such a column as the other dates of the file', () => {
    const formats = (rows: string[][]) =>
      detectFields(rows, null).map(({ options, confidence }) => [options.format, confidence.ambiguous])
    expect(formats([['01/02/2024', '12/31/2024']])).toEqual([
      ['MM/DD/YYYY', true],
      ['MM/DD/YYYY', undefined],
    ])
    expect(formats([['01/02/2024', '12/31/2024', '31.12.2024']])[0]).toEqual(['DD/MM/YYYY', true])
    expect(formats([['01/02/2024', '31/12/2024']])[0]).toEqual(['DD/MM/YYYY', true])
  })

  test.each<[string, string[][], '.' | ',']>([
    [
      'a column of decimal commas',
      [
        ['Ann', 'Bob'],
        ['1,5', '12'],
        ['1.000', '2.500'],
      ],
      ',',
    ],
    ['thousands and a decimal comma', [['1.234,56', '7,00']], ','],
    ['amounts with a sign behind them', [['12,50 €', '1.234,00 €']], ','],
    [
      'decimal points',
      [
        ['1.5', '2.25'],
        ['1,000', '2,500'],
      ],
      '.',
    ],
    [
      'both, of which neither is certain',
      [
        ['1,5', '2,25'],
        ['0.5', '1.25'],
      ],
      '.',
    ],
    ['thousands of kroner', [['kr 1.234', 'kr 99'], ['1.000']], ','],
    ['thousands of euros', [['1.234 €', '12.500 €']], ','],
    ['decimals of dollars', [['$3.459', '$2.999']], '.'],
    ['thousands of euros beside decimal points', [['€ 1.234'], ['0.5', '12.75']], '.'],
    ['thousands of kroner with commas', [['kr 1,234']], '.'],
    ['nothing but what could be either', [['1.000', '2.500'], ['1,000']], '.'],
    [
      'lists, which are no numbers',
      [
        ['1,2,3', '4,5'],
        ['a,5', 'b'],
      ],
      '.',
    ],
    ['no numbers at all', [['Ann'], []], '.'],
  ])('tells the mark before decimals by %s', (_, columns, expected) => {
    expect(detectDecimalMark(columns)).toBe(expected)
  })

  test('takes the mark that a column requires, whatever the others have', () => {
    const rows = [
      ['1.234,5', '1.5', '1.000', '12,34,567.89', '1\u202f234,5', '1’234.5'],
      ['7,25', '2,000.25', '2.500', '1,234.5', '12,5', '12.5'],
    ]
    const fields = detectFields(rows, ['de', 'en', 'open', 'in', 'fr', 'ch'], { decimal: '.' })
    expect(fields.map(({ title, type, decimal }) => [title, type, decimal])).toEqual([
      ['de', 'Decimal', ','],
      ['en', 'Decimal', undefined],
      ['open', 'Decimal', undefined],
      ['in', 'Decimal', undefined],
      ['fr', 'Decimal', ','],
      ['ch', 'Decimal', undefined],
    ])
    expect(
      fields.map((field) =>
        fieldType(field.type).parse(rows[0]![fields.indexOf(field)]!, field.options, field.decimal),
      ),
    ).toEqual([1234.5, 1.5, 1, 1_234_567.89, 1234.5, 1234.5])
    expect(detectFields([['1.234,5'], ['1,234.5']], ['mixed'])[0]?.type).toBe('SingleLineText')
  })

  test('reads thousands where the file has decimal commas', () => {
    expect(detectType(['1.000', '12', '2.500'], { decimal: ',' })).toEqual({ type: 'Number' })
    expect(detectType(['1,5', '1,250'], { decimal: ',' })).toEqual({
      type: 'Decimal',
      options: { precision: 3 },
    })
    expect(detectType(['1.000', '12', '2.500']).type).toBe('Decimal')
  })

  test('gives options that the type takes', () => {
    const { type, options } = detectType(["it's", 'red', "it's", 'red'])
    const choices = readOptions(type, options).choices as { title: string; color: string }[]
    expect(choices.map(({ title, color }) => [title, color])).toEqual([
      ["it's", '#cfdffe'],
      ['red', '#d0f1fd'],
    ])
  })
})

describe('the display field', () => {
  const displayOf = (name: string) => {
    const [header = [], ...rows] = read(name)
    const fields = detectFields(rows, header, { maxRowsToParse: 3000 })
    return fields.toSorted((a, b) => b.readability - a.readability)[0]?.title
  }

  test.each([
    ['species.csv', 'common_name'],
    ['airports.csv', 'name'],
    ['zipcodes.csv', 'city'],
    ['birdstrikes.csv', 'Airport Name'],
    ['la-riots.csv', 'first_name'],
    ['lookup_groups.csv', 'person'],
    ['gapminder-health-income.csv', 'country'],
    ['population_engineers_hurricanes.csv', 'state'],
    ['seattle-weather.csv', 'date'],
    ['windvectors.csv', 'longitude'],
  ])('of %s is %s', (name, expected) => {
    expect(displayOf(name)).toBe(expected)
  })

  test('is what people put first to name a row, and a date or an amount only without that', () => {
    const chosen = (header: string[], rows: string[][]) =>
      detectFields(rows, header).toSorted((a, b) => b.readability - a.readability)[0]?.title
    const days = ['2024-01-01', '2024-01-02', '2024-01-03', '2024-01-04']
    const orders = days.map((day, at) => [day, `A-${at + 1}`, ['Ann', 'Ben'][at % 2] ?? '', `${at * 7}.5`])
    expect(chosen(['Date', 'No', 'Customer', 'Amount'], orders)).toBe('No')
    expect(
      chosen(
        ['Date', 'Customer', 'Amount'],
        orders.map(([day = '', , who = '', sum = '']) => [day, who, sum]),
      ),
    ).toBe('Customer')
    const lists = [
      ['A-1', 'Pen, Ink'],
      ['A-2', 'Pen'],
      ['A-3', 'Ink'],
      ['A-4', 'Pen, Paper'],
    ]
    expect(chosen(['No', 'Products'], lists)).toBe('No')
    expect(
      chosen(
        ['Order No', 'Date', 'Amount'],
        days.map((day, at) => [String(at + 1), day, '1.5']),
      ),
    ).toBe('Order No')
    expect(
      chosen(
        ['Date', 'Amount'],
        days.map((day) => [day, '1.5']),
      ),
    ).toBe('Date')
    expect(
      chosen(
        ['Code', 'Country'],
        [
          ['DE', 'Germany'],
          ['FR', 'France'],
          ['IT', 'Italy'],
        ],
      ),
    ).toBe('Country')
  })

  test('is not a note that most records lack, whatever the others are worth', () => {
    const rows = [
      ['X1', '2', '10.5', ''],
      ['Y2', '1', '99', ''],
      ['X1', '5', '10.5', 'gift\nwrapped'],
    ]
    const fields = detectFields(rows, ['sku', 'qty', 'price', 'note'])
    expect(fields.toSorted((a, b) => b.readability - a.readability)[0]?.title).toBe('sku')
  })

  test('is a name rather than an id, a long text or an e-mail', () => {
    const rows = Array.from({ length: 20 }, (_, n) => [
      `58fa3f0be4b0b7ea545248${10 + n}`,
      `A text about number ${n}. `.repeat(10),
      `person${n}@example.com`,
      `Person ${'abcdefghijklmnopqrst'[n]}`,
    ])
    const fields = detectFields(rows, ['key', 'notes', 'email', 'who'])
    expect(fields.toSorted((a, b) => b.readability - a.readability)[0]?.title).toBe('who')
  })
})

describe('titles and column names', () => {
  const names = (header: string[] | null, row: string[] = []) =>
    detectFields([row], header).map(({ title, columnName }) => [title, columnName])

  test('stay readable, and become safe for the database', () => {
    expect(names(['\ufeffCost Total $', ' Größe ', 'a\nb'])).toEqual([
      ['Cost Total $', 'Cost_Total__'],
      ['Größe', 'Gr__e'],
      ['a b', 'a_b'],
    ])
  })

  test('are made up where missing, and numbered where taken', () => {
    expect(names(['Name', '', 'name', 'Name', '***', '漢字'])).toEqual([
      ['Name', 'Name'],
      ['Field 2', 'Field_2'],
      ['name_1', 'name_1'],
      ['Name_2', 'Name_2'],
      ['***', 'field'],
      ['漢字', 'field_1'],
    ])
    expect(names(null, ['a', 'b']).map(([title]) => title)).toEqual(['Field 1', 'Field 2'])
    expect(names(['a'], ['1', '2', '3']).map(([title]) => title)).toEqual(['a', 'Field 2', 'Field 3'])
  })

  test('looks at no more rows than it is told', () => {
    const rows = [['1'], ['2'], ['x']]
    expect(detectFields(rows, null, { maxRowsToParse: 2 })[0]).toMatchObject({
      type: 'Number',
      confidence: { rows: 2, filled: 2 },
    })
    expect(detectFields(rows, null)[0]?.type).toBe('SingleLineText')
  })
})

describe('days of other eras', () => {
  const detected = (...values: string[]) => {
    const [field] = detectFields(
      values.map((value) => [value]),
      ['When'],
    )
    return [field?.type, field?.isBuddhist ?? false]
  }
  test.each<[string[], DetectedField['type'], boolean]>([
    [['31/12/2567', '29/02/2567', ''], 'Date', true],
    [['2567-12-31 10:30'], 'DateTime', true],
    [['๓๑/๑๒/๒๕๖๗'], 'Date', true],
    // Some years are certainly those of the common era.
    [['31/12/2567', '01/01/2024'], 'Date', false],
    [['01/01/2701'], 'Date', false],
    [['2567', '2568'], 'Number', false],
    [['31 ธันวาคม 2567', '1 ม.ค. 2568 08:30'], 'DateTime', false],
    [['令和元年5月1日', '平成31年4月30日'], 'Date', false],
    [['R6.12.31', 'R6.1.5'], 'Date', false],
    // Versions, and years that an era did not have.
    [['R1.2.3', 'R1.2.4'], 'SingleLineText', false],
    [['平成32年1月1日', '令和2年1月1日'], 'SingleLineText', false],
    // Two digits do not tell the era.
    [['31 ธ.ค. 67', '1 ม.ค. 68'], 'SingleLineText', false],
  ])('%p is %s, Buddhist: %p', (values, type, isBuddhist) => {
    expect(detected(...values)).toEqual([type, isBuddhist])
  })
})
