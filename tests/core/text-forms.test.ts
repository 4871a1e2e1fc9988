import { afterAll, describe, expect, test } from 'bun:test'
import { addMonths, fromWall, setLocalZone, startOfDay, toStored } from '../../src/core/dates.ts'
import { readCheckboxWord } from '../../src/core/fields/checkbox.ts'
import { isEmail, isPhone, isUrl } from '../../src/core/fields/checked-text.ts'
import { type DateFormat, parseDay } from '../../src/core/fields/date-text.ts'
import { dateTime } from '../../src/core/fields/date-time.ts'
import type { FieldOptions } from '../../src/core/fields/field-type.ts'
import { readingOptions } from '../../src/core/fields/field-type.ts'
import { type FieldTypeName, fieldType, readOptions } from '../../src/core/fields/index.ts'
import { formatInstant, parseInstant } from '../../src/core/fields/instant-text.ts'
import { parseNumber } from '../../src/core/fields/number-text.ts'
import { time } from '../../src/core/fields/time.ts'
import { cpuTimeMs } from '../support/cpu-time.ts'

describe('parseNumber', () => {
  test.each([
    ['5', 5],
    [' 5 ', 5],
    ['1,234.5', 1234.5],
    ['1.234,5', 1234.5],
    ['1 234,5', 1234.5],
    ['1\u202f234\u00a0567', 1234567],
    ["1'234.50", 1234.5],
    ['1,234', 1234],
    ['1.234', 1.234],
    ['1,234,567', 1234567],
    ['1.234.567', 1234567],
    ['12,34,567', 1234567],
    ['1,5', 1.5],
    ['1,23', 1.23],
    ['0,125', 0.125],
    [',5', 0.5],
    ['.5', 0.5],
    ['5.', 5],
    ['€ 12', 12],
    ['-€12', -12],
    ['€-12', -12],
    ['US$ 1,000', 1000],
    ['12 €', 12],
    ['42%', 42],
    ['42 %', 42],
    ['−3', -3],
    ['- 3', -3],
    ['+3', 3],
    ['(1,200.50)', -1200.5],
    ['1e3', 1000],
    ['1.5E-3', 0.0015],
    ['-0', 0],
  ])('reads %p as %p', (text, expected) => {
    expect(parseNumber(text)).toBe(expected)
  })

  test.each([
    '',
    ' ',
    'abc',
    '12abc',
    '1.9.2024',
    '1,23,45',
    '12,3456,789',
    '1 23',
    '1..2',
    '--3',
    '€€3',
    '1e',
    '(-3)',
    '()',
    '0x1F',
    'NaN',
    'Infinity',
    '1e999',
    '9007199254740993',
    '1,234 567',
    '1/2',
    '5 CAT',
    '$',
    '%',
    '12:30',
    '２',
    '1-2',
  ])('does not read %p by halves', (text) => {
    expect(parseNumber(text)).toBeNull()
  })

  test('turns point and comma round for readers who are used to it', () => {
    expect(parseNumber('1.234', ',')).toBe(1234)
    expect(parseNumber('1,234', ',')).toBe(1.234)
    expect(parseNumber('0.5', ',')).toBe(0.5)
  })
})

describe('parse', () => {
  const parse = (type: string, text: string, options: object = {}) =>
    fieldType(type).parse(text, readOptions(type, options))

  test('of a rating refuses more than it has, and of a number a fraction', () => {
    expect(parse('Rating', '5')).toBe(5)
    expect(parse('Rating', '7')).toBeNull()
    expect(parse('Rating', '-1')).toBeNull()
    expect(parse('Rating', '4.5')).toBeNull()
    expect(parse('Number', '1.9')).toBeNull()
    expect(parse('Number', '1,250')).toBe(1250)
  })

  test('of a currency knows its own code', () => {
    expect(parse('Currency', 'EUR 12', { code: 'EUR' })).toBe(12)
    expect(parse('Currency', '12.50 EUR', { code: 'EUR' })).toBe(12.5)
    expect(parse('Currency', 'USD 12', { code: 'EUR' })).toBeNull()
  })

  test('of a currency takes its own sign alone, and of a share no amount', () => {
    const own = ['$99', '99 $', 'US$ 99', '-$ 99', '99', 'USD 99']
    expect(own.map((text) => parse('Currency', text))).toEqual([99, 99, 99, -99, 99, 99])
    expect(['€ 99', '99€', 'C$ 99', '£99', '99 %'].map((text) => parse('Currency', text))).toEqual(
      Array(5).fill(null),
    )
    expect(parse('Currency', '99 €', { code: 'EUR', locale: 'de-DE' })).toBe(99)
    expect(parse('Currency', '$ 99', { code: 'EUR', locale: 'de-DE' })).toBeNull()
    expect(parse('Currency', '￥99', { code: 'JPY', locale: 'ja-JP' })).toBe(99)
    expect(parse('Currency', 'CA$9', { code: 'CAD', locale: 'en-CA' })).toBe(9)
    expect(parse('Currency', 'R$ 9', { code: 'BRL', locale: 'pt-BR' })).toBe(9)
    expect(parse('Percent', '42 %')).toBe(42)
    expect(
      ['50%', '7 %', '12,5%'].map((text) =>
        fieldType('Decimal').parse(text, readOptions('Decimal', {}), ','),
      ),
    ).toEqual([0.5, 0.07, 0.125])
    expect(parse('Rating', '3%')).toBeNull()
    expect(parse('Percent', '$ 42')).toBeNull()
  })

  test('of a select finds the option in another case, if it is the only one', () => {
    const choices = [{ title: 'Red' }, { title: 'blue' }, { title: 'BLUE' }]
    expect(parse('SingleSelect', ' red ', { choices })).toBe('Red')
    expect(parse('SingleSelect', 'Blue', { choices })).toBeNull()
    expect(parse('MultiSelect', 'red, blue', { choices })).toBe('Red,blue')
    expect(parse('MultiSelect', 'red, green', { choices })).toBeNull()
  })

  test('of text keeps it as it is', () => {
    expect(parse('SingleLineText', '  a\nb ')).toBe('  a\nb ')
    expect(parse('Email', ' ann@example.com ', { validate: true })).toBe('ann@example.com')
    expect(parse('Email', 'ann', { validate: true })).toBeNull()
  })

  test.each([
    [true, ['yes', 'Y', 'x', '[x]', '✓', '✔', '✅', 'on', 'Enabled', 'done', 'checked', '1', 'TRUE']],
    [false, ['no', 'n', '[ ]', '✗', 'off', 'disabled', 'unchecked', '0', 'false']],
    [null, ['maybe', '2', '', 'yess', 'truefalse']],
  ])('of a checkbox takes as %p: %p', (expected, words) => {
    expect(words.map(readCheckboxWord)).toEqual(words.map(() => expected))
  })
})

describe('parseDay', () => {
  test.each<[string, DateFormat, string | null]>([
    ['2024-03-05', 'DD/MM/YYYY', '2024-03-05'],
    ['2024/3/5', 'YYYY-MM-DD', '2024-03-05'],
    ['05/03/2024', 'DD/MM/YYYY', '2024-03-05'],
    ['05/03/2024', 'MM/DD/YYYY', '2024-05-03'],
    ['05-03-2024', 'DD/MM/YYYY', '2024-03-05'],
    ['05/03/2024', 'YYYY-MM-DD', '2024-05-03'],
    ['25/12/2024', 'MM/DD/YYYY', '2024-12-25'],
    ['12/25/2024', 'DD/MM/YYYY', '2024-12-25'],
    ['5.3.2024', 'MM/DD/YYYY', '2024-03-05'],
    ['05 03 2024', 'DD MM YYYY', '2024-03-05'],
    ['2024 03 05', 'DD MM YYYY', '2024-03-05'],
    ['Jan 1 2000', 'YYYY-MM-DD', '2000-01-01'],
    ['1 January 2000', 'YYYY-MM-DD', '2000-01-01'],
    ['5-Mar-2024', 'YYYY-MM-DD', '2024-03-05'],
    ['05 Mar 24', 'DD MMM YY', '2024-03-05'],
    ['05 Mar 24', 'DD MMM YYYY', null],
    ['2024-03', 'YYYY-MM', '2024-03-01'],
    ['2024-03', 'YYYY-MM-DD', null],
    ['2026-13-45', 'YYYY-MM-DD', null],
    ['31/02/2024', 'DD/MM/YYYY', null],
    ['05/03-2024', 'DD/MM/YYYY', null],
    ['5/3/24', 'DD/MM/YYYY', '2024-03-05'],
    ['5/3/24', 'MM/DD/YYYY', '2024-05-03'],
    ['1/1/69', 'MM/DD/YYYY', '1969-01-01'],
    ['05.03.24', 'DD.MM.YYYY', '2024-03-05'],
    // The day could stand on either side.
    ['5/3/24', 'YYYY-MM-DD', null],
    ['5-3-24', 'DD-MM-YYYY', null],
    ['20240305', 'YYYY-MM-DD', null],
    ['2024-03-05x', 'YYYY-MM-DD', null],
    ['1 Foo 2024', 'YYYY-MM-DD', null],
  ])('reads %p in a field of %s as %p', (text, format, expected) => {
    expect(parseDay(text, format)).toBe(expected)
  })
})

test('two digits of a year are written only where they mean the same for ten years', () => {
  const now = new Date().getUTCFullYear()
  const years = [now - 79, now - 70, now - 69, now + 20, now + 21]
  const days = years.map((year) => `${year}-03-05`)
  const shown = days.map((day) => `05 Mar ${day.slice(2, 4)}`)
  const texts = (stored: readonly string[], short: readonly string[]) => [
    ...stored.slice(0, 2),
    ...short.slice(2, 4),
    ...stored.slice(4),
  ]
  const formatAll = (type: FieldTypeName, values: readonly string[]) =>
    values.map((value) => fieldType(type).format(value, { format: 'DD MMM YY', timeZone: 'UTC' }))
  expect(formatAll('Date', days)).toEqual(texts(days, shown))
  const stored = days.map((day) => `${day} 10:00:00+00:00`)
  expect(formatAll('DateTime', stored)).toEqual(
    texts(
      stored,
      shown.map((text) => `${text} 10:00`),
    ),
  )
})

describe('fractions of a second in connected columns', () => {
  const berlin = dateTime.options.parse({ format: 'DD/MM/YYYY', timeZone: 'Europe/Berlin' })
  const connected = <O extends FieldOptions>(options: O) =>
    readingOptions({ databaseType: 'timestamp(6)' }, options)

  test.each([
    ['2024-03-05 07:20:30.123456+00:00', '05/03/2024 08:20:30.123456'],
    ['2024-03-05 07:20:00.000001+00:00', '05/03/2024 08:20:00.000001'],
    ['2024-03-05 07:20:30.123456789+00:00', '05/03/2024 08:20:30.123456789'],
    ['2024-03-05 07:20:30.123+00:00', '05/03/2024 08:20:30.123'],
    ['2024-03-05 07:20:30+00:00', '05/03/2024 08:20:30'],
    // The hour that clocks show twice.
    ['2024-10-27 01:30:00.000001+00:00', '2024-10-27 01:30:00.000001+00:00'],
  ])('an editor opens %p as %p and reads the same back', (stored, text) => {
    expect(dateTime.format(stored, berlin)).toBe(text)
    expect(dateTime.parse(text, connected(berlin))).toBe(stored)
    expect(dateTime.read(stored, connected(berlin))).toEqual({ ok: true, value: stored })
  })

  test('a cell shows them where the field shows milliseconds', () => {
    const show = (options: object) =>
      formatInstant(
        '2024-03-05 07:20:30.123456+00:00',
        dateTime.options.parse({ timeZone: 'UTC', ...options }),
      )
    expect(show({})).toBe('2024-03-05 07:20')
    expect(show({ seconds: true })).toBe('2024-03-05 07:20:30')
    expect(show({ seconds: true, milliseconds: true })).toBe('2024-03-05 07:20:30.123456')
  })

  test.each([
    ['09:05:30.250', '9:05:30.250 AM'],
    ['21:05:00.000001', '9:05:00.000001 PM'],
    ['21:05:30', '9:05:30 PM'],
    ['21:05:00', '9:05 PM'],
  ])('a time of day %p is shown as %p and read back', (stored, text) => {
    expect(time.format(stored, { time12h: true })).toBe(text)
    expect(time.parse(text, connected({ time12h: true }))).toBe(stored)
    expect(time.read(`${stored}`, connected({ time12h: true }))).toEqual({ ok: true, value: stored })
  })

  test('are cut to milliseconds or refused where the column is our own', () => {
    expect(dateTime.parse('05/03/2024 08:20:30.123456', berlin)).toBe('2024-03-05 07:20:30.123+00:00')
    expect(dateTime.read('2024-03-05 08:20:30.123456', berlin)).toEqual({
      ok: true,
      value: '2024-03-05 08:20:30.123+00:00',
    })
    expect(time.parse('09:05:30.25', { time12h: false })).toBeNull()
    expect(time.read('09:05:30.25', { time12h: false }).ok).toBe(false)
    expect(time.parse('09:05:30.000', { time12h: false })).toBe('09:05:30')
  })
})

describe('parseInstant', () => {
  afterAll(() => setLocalZone('UTC'))
  const berlin = { format: 'DD/MM/YYYY', timeZone: 'Europe/Berlin' } as const

  test.each([
    ['05/03/2024 08:20', '2024-03-05 07:20:00+00:00'],
    ['05/07/2024 8:20 pm', '2024-07-05 18:20:00+00:00'],
    ['05/07/2024 12:00 am', '2024-07-04 22:00:00+00:00'],
    ['2024-03-05T08:20:30Z', '2024-03-05 08:20:30+00:00'],
    ['2024-03-05 08:20:30.125 +02:00', '2024-03-05 06:20:30.125+00:00'],
    ['05/03/2024', '2024-03-04 23:00:00+00:00'],
    // Clocks skip 02:30 on the last Sunday of March, and show it twice on that of October.
    ['31/03/2024 02:30', null],
    ['27/10/2024 02:30', '2024-10-27 00:30:00+00:00'],
    ['05/03/2024 24:00', null],
    ['05/03/2024 13:00 pm', null],
    ['05/03/2024 08:20 +99:00', null],
    ['08:20', null],
    ['05/03/2024 08', null],
  ])('reads %p in Berlin as %p', (text, expected) => {
    expect(parseInstant(text, berlin)).toBe(expected)
  })

  test.each([
    ['2018-11-04', 'America/Sao_Paulo', '2018-11-04 03:00:00+00:00'],
    ['2018-11-04 00:00', 'America/Sao_Paulo', '2018-11-04 03:00:00+00:00'],
    ['2024-04-26', 'Africa/Cairo', '2024-04-25 22:00:00+00:00'],
    // Other times that clocks skip do not exist, nor does a day that Samoa skipped.
    ['2018-11-04 00:30', 'America/Sao_Paulo', null],
    ['2011-12-30', 'Pacific/Apia', null],
  ])('reads %p in %s, whose clocks skip midnight, as %p', (text, timeZone, expected) => {
    expect(parseInstant(text, { format: 'YYYY-MM-DD', timeZone })).toBe(expected)
  })

  test('takes local time for UTC until a program says where it is', () => {
    const options = { format: 'YYYY-MM-DD', timeZone: 'local' } as const
    expect(parseInstant('2024-03-05 08:00', options)).toBe('2024-03-05 08:00:00+00:00')
    setLocalZone('Asia/Tokyo')
    expect(parseInstant('2024-03-05 08:00', options)).toBe('2024-03-04 23:00:00+00:00')
  })
})

describe('days and zones', () => {
  test('a month later than its last day is the last of the next', () => {
    expect(addMonths('2024-01-31', 1)).toBe('2024-02-29')
    expect(addMonths('2024-02-29', -12)).toBe('2023-02-28')
    expect(addMonths('2024-12-15', 1)).toBe('2025-01-15')
    expect(addMonths('2024-01-15', -1)).toBe('2023-12-15')
  })

  test('a day begins when its calendar does, also where midnight is skipped or comes twice', () => {
    expect(toStored(startOfDay('2024-03-05', 'Asia/Tokyo'))).toBe('2024-03-04 15:00:00+00:00')
    expect(toStored(startOfDay('2018-11-04', 'America/Sao_Paulo'))).toBe('2018-11-04 03:00:00+00:00')
    expect(toStored(startOfDay('2021-10-29', 'Asia/Amman'))).toBe('2021-10-28 21:00:00+00:00')
    expect(toStored(startOfDay('2011-12-30', 'Pacific/Apia'))).toBe('2011-12-30 10:00:00+00:00')
    expect(toStored(startOfDay('9999-12-31', 'America/New_York'))).toBe('9999-12-31 05:00:00+00:00')
  })

  test('a wall time before 1900 is found, too', () => {
    const wall = { year: 1850, month: 1, day: 1, hour: 0, minute: 0, second: 0, ms: 0 }
    expect(toStored(fromWall(wall, 'UTC') ?? 0)).toBe('1850-01-01 00:00:00+00:00')
  })
})

describe('shapes of text', () => {
  test.each(['ann@example.com', 'a.b+c@sub.example.co.uk', 'жук@почта.рф', "o'neil@example.org"])(
    '%p is an e-mail',
    (text) => {
      expect(isEmail(text)).toBe(true)
    },
  )
  test.each([
    'ann',
    'ann@',
    '@example.com',
    'ann@localhost',
    'a b@example.com',
    'ann@example..com',
    '.a@example.com',
    'a@-x.com',
    `${'a'.repeat(65)}@example.com`,
    'a@b@example.com',
    'a@1.2.3.4',
  ])('%p is no e-mail', (text) => expect(isEmail(text)).toBe(false))
  test.each([
    'https://example.com',
    'http://localhost:8080/x?y=1#z',
    'ftp://files.example.com/a.zip',
    'example.com/path',
    'HTTPS://EXAMPLE.COM',
    'https://user:secret@example.com',
    'http://192.168.0.1',
    'http://[::1]:3000/',
    'https://bücher.example',
    'http://a_b.example.com:65535',
  ])('%p is a link', (text) => expect(isUrl(text)).toBe(true))
  test.each([
    'javascript:alert(1)',
    'mailto:a@example.com',
    'ann@example.com',
    'file:///etc/passwd',
    'http://',
    'https://exa mple.com',
    'localhost',
    'http://example.com:0',
    'http://example.com:65536',
    'http://999.1.1.1',
    `http://${'a'.repeat(64)}.com`,
    `https://example.com/${'a'.repeat(2083)}`,
    '//example.com',
    'data:text/html,<script>',
    '1.5',
    'e.g',
    'https://a..b',
    'http://example.com"onclick',
  ])('%p is no link', (text) => expect(isUrl(text)).toBe(false))
  test.each(['+49 30 901820', '(030) 90-18-20', '0049.30.901820', '5551234', '+49 (0)151 23456789'])(
    '%p is a phone number',
    (text) => {
      expect(isPhone(text)).toBe(true)
    },
  )
  test.each([
    '12',
    'call me',
    '+',
    '123456',
    '1234567890123456',
    '(030 901820',
    '+49+30901820',
    '2024-03-05x',
  ])('%p is no phone number', (text) => {
    expect(isPhone(text)).toBe(false)
  })
  test('long hostile text is refused at once', () => {
    const started = cpuTimeMs()
    const texts = [
      'a.'.repeat(50_000),
      `${'a@'.repeat(50_000)}`,
      'http://'.repeat(20_000),
      '+1'.repeat(50_000),
      '('.repeat(100_000),
    ]
    for (const text of texts)
      expect([isEmail(text), isUrl(text), isPhone(text)]).toEqual([false, false, false])
    expect(cpuTimeMs() - started).toBeLessThan(5_000) // Quadratic time would be minutes.
  })
})
