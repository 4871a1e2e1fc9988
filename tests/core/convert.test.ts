import { describe, expect, test } from 'bun:test'
import { convert } from '../../src/core/fields/convert.ts'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { FIELD_TYPES, type FieldTypeName, readOptions } from '../../src/core/fields/index.ts'

const OPTIONS: Partial<Record<FieldTypeName, object>> = {
  SingleSelect: { choices: [{ title: 'red' }, { title: 'blue' }, { title: '5' }] },
  MultiSelect: { choices: [{ title: 'red' }, { title: 'blue' }, { title: '5' }] },
  Email: { validate: true },
  DateTime: { timeZone: 'UTC' },
}
const files = (...items: object[]) =>
  JSON.stringify(items.map((item) => ({ ...item, title: 'a.png', mimetype: 'image/png', size: 0 })))
const ELSEWHERE = files({ url: 'https://example.com/a.png' })
const STORED = files({ path: 'download/2026/11/20/ab/a.png' })

const optionsOf = (type: FieldTypeName) => readOptions(type, OPTIONS[type] ?? {})
const to = (value: CellValue, from: FieldTypeName, type: FieldTypeName, options = optionsOf(type)) =>
  convert(value, from, optionsOf(from), type, options)

describe('convert', () => {
  test.each<[CellValue, FieldTypeName, FieldTypeName, CellValue]>([
    ['1,234.5', 'SingleLineText', 'Decimal', 1234.5],
    ['1234', 'SingleLineText', 'Number', 1234],
    ['$ 9', 'LongText', 'Currency', 9],
    ['yes', 'SingleLineText', 'Checkbox', true],
    ['2024-03-05', 'SingleLineText', 'Date', '2024-03-05'],
    ['Mar 5 2024', 'SingleLineText', 'Date', '2024-03-05'],
    ['2024-03-05 08:20', 'SingleLineText', 'DateTime', '2024-03-05 08:20:00+00:00'],
    ['RED', 'SingleLineText', 'SingleSelect', 'red'],
    ['red, blue', 'SingleLineText', 'MultiSelect', 'red,blue'],
    ['a\nb', 'LongText', 'SingleLineText', 'a\nb'],
    [5, 'Number', 'SingleLineText', '5'],
    [5, 'Number', 'Rating', 5],
    [5, 'Number', 'SingleSelect', '5'],
    [1, 'Number', 'Checkbox', true],
    [0, 'Decimal', 'Checkbox', false],
    [2, 'Decimal', 'Number', 2],
    [1.5, 'Decimal', 'Percent', 1.5],
    [true, 'Checkbox', 'Number', 1],
    [false, 'Checkbox', 'Rating', 0],
    [true, 'Checkbox', 'SingleLineText', 'true'],
    ['red', 'SingleSelect', 'MultiSelect', 'red'],
    ['red', 'MultiSelect', 'SingleSelect', 'red'],
    ['2024-03-05', 'Date', 'DateTime', '2024-03-05 00:00:00+00:00'],
    ['2024-03-05 00:00:00+00:00', 'DateTime', 'Date', '2024-03-05'],
    ['2024-03-05 08:20:00+00:00', 'CreatedTime', 'DateTime', '2024-03-05 08:20:00+00:00'],
    ['2024-03-05 08:20:30+00:00', 'DateTime', 'SingleLineText', '2024-03-05 08:20:30'],
    ['ann@example.com', 'SingleLineText', 'Email', 'ann@example.com'],
    [null, 'Number', 'Date', null],
    [0, 'Duration', 'Checkbox', false],
    [ELSEWHERE, 'Attachment', 'URL', 'https://example.com/a.png'],
    [ELSEWHERE, 'Attachment', 'LongText', 'a.png (https://example.com/a.png)'],
    ['a.png (https://example.com/a.png)', 'LongText', 'Attachment', ELSEWHERE],
    ['https://example.com/a.png', 'URL', 'Attachment', ELSEWHERE],
    [STORED, 'Attachment', 'JSON', STORED],
    [ELSEWHERE, 'JSON', 'Attachment', ELSEWHERE],
    ['0', 'SingleLineText', 'Number', 0],
    ['0.5', 'SingleLineText', 'Decimal', 0.5],
    ['50%', 'SingleLineText', 'Decimal', 0.5],
    ['7 %', 'LongText', 'Decimal', 0.07],
    ['300%', 'SingleLineText', 'Number', 3],
    ['50%', 'SingleLineText', 'Percent', 50],
    [50, 'Percent', 'Decimal', 50],
  ])('turns %p of %s into %s as %p', (value, from, type, expected) => {
    expect(to(value, from, type)).toEqual({ value: expected, lost: false })
  })

  test.each<[CellValue, FieldTypeName, FieldTypeName]>([
    [1.9, 'Decimal', 'Number'],
    ['1.9', 'SingleLineText', 'Number'],
    ['7', 'SingleLineText', 'Rating'],
    [7, 'Number', 'Rating'],
    [-1, 'Number', 'Rating'],
    [1e300, 'Decimal', 'Number'],
    [5, 'Number', 'Checkbox'],
    [5, 'Number', 'Date'],
    ['maybe', 'SingleLineText', 'Checkbox'],
    ['green', 'SingleLineText', 'SingleSelect'],
    ['red,green', 'SingleLineText', 'MultiSelect'],
    ['red,blue', 'MultiSelect', 'SingleSelect'],
    ['2026-13-45', 'SingleLineText', 'Date'],
    ['2024-03-05 08:20', 'SingleLineText', 'Date'],
    ['ann', 'SingleLineText', 'Email'],
    ['x', 'SingleLineText', 'CreatedTime'],
    [5, 'Number', 'Time'],
    [2.25, 'Decimal', 'Time'],
    ['50%', 'SingleLineText', 'Year'],
    ['50%', 'SingleLineText', 'Number'],
    ['50%', 'SingleLineText', 'Currency'],
    ['3%', 'SingleLineText', 'Rating'],
    [STORED, 'Attachment', 'URL'],
    [files({ url: 'https://a.example' }, { url: 'https://b.example' }), 'Attachment', 'URL'],
    [STORED, 'JSON', 'Attachment'],
    ['[]', 'JSON', 'Attachment'],
  ])('loses %p of %s as %s', (value, from, type) => {
    expect(to(value, from, type)).toEqual({ value: null, lost: true })
  })

  test('keeps the day of a moment, in the field’s own zone, and says that the time is gone', () => {
    const moment = '2024-03-05 23:30:00+00:00'
    expect(to(moment, 'DateTime', 'Date')).toEqual({ value: '2024-03-05', lost: true })
    const tokyo = readOptions('DateTime', { timeZone: 'Asia/Tokyo' })
    expect(convert(moment, 'DateTime', tokyo, 'Date', optionsOf('Date'))).toEqual({
      value: '2024-03-06',
      lost: true,
    })
  })

  test('makes a day the moment at which it begins in the zone of the field, and back', () => {
    const apia = readOptions('DateTime', { timeZone: 'Pacific/Apia' })
    const { value } = convert('2024-03-05', 'Date', optionsOf('Date'), 'DateTime', apia)
    expect(value).toBe('2024-03-04 11:00:00+00:00')
    expect(convert(value, 'DateTime', apia, 'Date', optionsOf('Date')).value).toBe('2024-03-05')
    // Before the first day that can be written.
    expect(convert('0001-01-01', 'Date', optionsOf('Date'), 'DateTime', apia)).toEqual({
      value: null,
      lost: true,
    })
  })

  test('says what goes with what it keeps: zeros in front, files behind names', () => {
    expect(to('0301', 'SingleLineText', 'Number')).toEqual({ value: 301, lost: true })
    expect(to('-007', 'PhoneNumber', 'Decimal')).toEqual({ value: -7, lost: true })
    expect(to(STORED, 'Attachment', 'LongText')).toEqual({ value: 'a.png', lost: true })
  })

  test('loses nothing where there was nothing', () => {
    expect(to('', 'SingleLineText', 'Number')).toEqual({ value: null, lost: false })
  })

  test('never fails, and keeps every value of a type in the type itself', () => {
    const values: CellValue[] = [
      null,
      '',
      'abc',
      'red',
      0,
      1.5,
      -7,
      true,
      false,
      '2024-03-05',
      '2024-03-05 08:20:00+00:00',
    ]
    for (const { name: from } of FIELD_TYPES) {
      for (const { name: type } of FIELD_TYPES)
        for (const value of values) expect(to(value, from, type)).toBeDefined()
    }
    expect(to(1.25, 'Decimal', 'Decimal').value).toBe(1.25)
    expect(to('red,blue', 'MultiSelect', 'MultiSelect').value).toBe('red,blue')
  })
})
