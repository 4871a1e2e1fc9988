import { describe, expect, test } from 'bun:test'
import { convert } from '../../src/core/fields/convert.ts'
import { showDuration } from '../../src/core/fields/duration.ts'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { type FieldTypeName, fieldType, readOptions } from '../../src/core/fields/index.ts'
import { readValue } from '../../src/core/fields/read.ts'
import { type Condition, matchesFilter } from '../../src/core/filters/index.ts'

const parse = (type: FieldTypeName, text: string, options: object = {}) =>
  fieldType(type).parse(text, readOptions(type, options))
const read = (type: FieldTypeName, input: unknown) => {
  const outcome = readValue({ type, options: readOptions(type, {}) }, input)
  return outcome.ok ? outcome.value : `refused: ${outcome.message}`
}

describe('Year', () => {
  test.each([
    ['2024', 2024],
    [' 0 ', 0],
    ['0098', 98],
    ['9999', 9999],
    ['10000', null],
    ['-5', null],
    ['20.5', null],
    ['98 BC', null],
  ])('%p is typed for %p', (text, value) => expect(parse('Year', text)).toBe(value))

  test.each([
    [2024, 2024],
    ['1998', 1998],
    [10_000, 'refused: Expected a year from 0 to 9999, got 10000'],
    [-1, 'refused: Expected a year from 0 to 9999, got -1'],
    [1.5, 'refused: Expected a whole number, got 1.5'],
    ['', null],
  ])('a program sends %p for %p', (input, value) => expect(read('Year', input)).toBe(value))
})

describe('Time', () => {
  test.each([
    ['9:5pm', '21:05:00'],
    ['0905', '09:05:00'],
    ['905', '09:05:00'],
    ['090507', '09:05:07'],
    ['9', '09:00:00'],
    ['12am', '00:00:00'],
    ['12:30 p.m.', '12:30:00'],
    ['9h30', '09:30:00'],
    ['23.59', '23:59:00'],
    ['7:08:09 AM', '07:08:09'],
    ['24:00', null],
    ['13pm', null],
    ['9:60', null],
    ['9:05:00.250', null],
    ['noon', null],
  ])('%p is typed for %p', (text, value) => expect(parse('Time', text)).toBe(value))

  test.each([
    ['12:34:56', '12:34:56'],
    ['9:05', '09:05:00'],
    ['12:34:56.000', '12:34:56'],
    ['12:34:56.5', 'refused: Expected a time such as 09:30 or 09:30:15, got 12:34:56.5'],
    ['9pm', 'refused: Expected a time such as 09:30 or 09:30:15, got 9pm'],
    [905, 'refused: Expected a time such as 09:30 or 09:30:15, got 905'],
  ])('a program sends %p for %p', (input, value) => expect(read('Time', input)).toBe(value))

  test('is shown by the clock that the field asks for, with seconds where it has some', () => {
    const shown = (value: string, time12h: boolean) => fieldType('Time').format(value, { time12h })
    expect(shown('00:05:00', true)).toBe('12:05 AM')
    expect(shown('21:05:07', true)).toBe('9:05:07 PM')
    expect(shown('21:05:00', false)).toBe('21:05')
  })

  test.each<[string, Condition['value'], CellValue[]]>([
    ['eq', '9:05', ['09:05:00']],
    ['neq', '9:05', [null, '08:59:59', '21:00:00']],
    ['gt', '9am', ['09:05:00', '21:00:00']],
    ['lte', '9:05', ['08:59:59', '09:05:00']],
    ['btw', ['9', '21:00'], ['09:05:00', '21:00:00']],
    ['anyof', ['21:00', '0905'], ['09:05:00', '21:00:00']],
    ['blank', null, [null]],
  ])('is filtered in the order of the day: %s %p finds %p', (operator, value, expected) => {
    const field = { id: 'cT', title: 'T', type: 'Time' as const, options: readOptions('Time', {}) }
    const found = ([null, '08:59:59', '09:05:00', '21:00:00'] as CellValue[]).filter((cell) =>
      matchesFilter(
        { fieldId: 'cT', operator, value },
        { cT: cell },
        { now: new Date(), field: () => field },
      ),
    )
    expect(found).toEqual(expected)
  })
})

describe('Duration', () => {
  test.each<[string, string, number | null]>([
    ['90', 'h:mm', 5400],
    ['90', 'h:mm:ss', 90],
    ['1:30', 'h:mm', 5400],
    ['1:30', 'h:mm:ss', 90],
    ['1:30:15', 'h:mm', 5415],
    ['1h 30m', 'h:mm', 5400],
    ['1.5 hours', 'h:mm:ss', 5400],
    ['1.1h', 'h:mm:ss', 3960],
    ['2d 3h', 'h:mm', 183_600],
    ['250 ms', 'h:mm:ss.sss', 0.25],
    ['-0:30', 'h:mm', -1800],
    ['− 1h', 'h:mm', -3600],
    ['0:00:01,5', 'h:mm:ss.s', 1.5],
    ['12.5', 'h:mm:ss', 12.5],
    ['100:00', 'h:mm', 360_000],
    ['1:60', 'h:mm', null],
    ['1m 2h', 'h:mm', null],
    ['1h 1h', 'h:mm', null],
    ['1h x', 'h:mm', null],
    ['soon', 'h:mm', null],
  ])('%p typed into %s is %p seconds', (text, format, seconds) => {
    expect(parse('Duration', text, { format })).toBe(seconds)
  })

  test.each<[number, string, string]>([
    [5400, 'h:mm', '1:30'],
    [5429, 'h:mm', '1:30'],
    [5430, 'h:mm', '1:31'],
    [-1800, 'h:mm', '-0:30'],
    [-1, 'h:mm', '0:00'],
    [59.999, 'h:mm:ss', '0:01:00'],
    [59.994, 'h:mm:ss.ss', '0:00:59.99'],
    [3_600_000, 'h:mm:ss', '1000:00:00'],
    [1.5, 'h:mm:ss.sss', '0:00:01.500'],
  ])('%p seconds show in %s as %p', (seconds, format, shown) => {
    expect(showDuration(seconds, format as 'h:mm')).toBe(shown)
  })

  test('is copied with all that it has, also where the cell shows less', () => {
    const copied = (seconds: number) => fieldType('Duration').format(seconds, { format: 'h:mm' })
    expect([5400, 5430, 0.25, 1 / 3].map(copied)).toEqual(
      ['1:30', '1:30:30', '0:00:00.3', '0.3333333333333333s'].with(2, '0:00:00.25'),
    )
  })
})

describe('convert', () => {
  test.each<[CellValue, FieldTypeName, FieldTypeName, CellValue, boolean]>([
    ['2024-03-05', 'Date', 'Year', 2024, true],
    ['2024-03-05 08:20:30+00:00', 'DateTime', 'Year', 2024, true],
    ['2024-03-05 08:20:30+00:00', 'DateTime', 'Time', '08:20:30', true],
    ['01:30:00', 'Time', 'Duration', 5400, false],
    [5400, 'Duration', 'Time', '01:30:00', false],
    [-5400, 'Duration', 'Time', null, true],
    [90_000, 'Duration', 'Time', null, true],
    [90, 'Number', 'Duration', 90, false],
    [90.5, 'Duration', 'Decimal', 90.5, false],
    [90.5, 'Duration', 'Number', null, true],
    ['1:30', 'SingleLineText', 'Duration', 5400, false],
    [5400, 'Duration', 'SingleLineText', '1:30', false],
    [2024, 'Year', 'Number', 2024, false],
    [20_240, 'Number', 'Year', null, true],
    [2024, 'Year', 'Date', null, true],
    [7, 'AutoNumber', 'Number', 7, false],
    [7, 'Number', 'AutoNumber', null, true],
    ['9:05 pm', 'SingleLineText', 'Time', '21:05:00', false],
    ['$argon2id$x', 'Password', 'SingleLineText', null, true],
    ['secret', 'SingleLineText', 'Password', null, true],
    ['{"a": 1}', 'LongText', 'JSON', '{"a": 1}', false],
    ['{a: 1}', 'LongText', 'JSON', null, true],
    ['48.85, 2.35', 'SingleLineText', 'GeoData', '48.85;2.35', false],
    ['POINT(1 2)', 'LongText', 'Geometry', 'POINT(1 2)', false],
  ])('turns %p of %s into %s as %p', (value, from, to, expected, lost) => {
    const converted = convert(value, from, readOptions(from, {}), to, readOptions(to, {}))
    expect(converted).toEqual({ value: expected, lost })
  })
})
