import { describe, expect, test } from 'bun:test'
import { type FieldTypeName, readOptions } from '../../src/core/fields/index.ts'
import { readValue, valueError } from '../../src/core/fields/read.ts'

describe('read', () => {
  const read = (type: FieldTypeName, input: unknown, options: object = {}) => {
    const outcome = readValue({ type, options: readOptions(type, options) }, input)
    return outcome.ok ? outcome.value : `refused: ${outcome.message}`
  }

  test.each([
    ['Number', '5', 5],
    ['Number', 5.0, 5],
    ['Number', '-0', 0],
    ['Number', '1e3', 1000],
    ['Number', 'abc', 'refused: Expected a number, got abc'],
    ['Number', '1.9', 'refused: Expected a whole number, got 1.9'],
    ['Number', 1.9, 'refused: Expected a whole number, got 1.9'],
    ['Number', '1,234', 'refused: Expected a number, got 1,234'],
    ['Number', '0x10', 'refused: Expected a number, got 0x10'],
    ['Number', '1e400', 'refused: Expected a number, got 1e400'],
    ['Number', 2 ** 53, 'refused: 9007199254740992 is too large'],
    ['Number', '9007199254740993', 'refused: Expected a number, got 9007199254740993'],
    ['Number', true, 'refused: Expected a number, got true'],
    ['Decimal', '1.5e-3', 0.0015],
    ['Decimal', 1e300, 1e300],
    ['Decimal', '12345678901234567.89', 'refused: Expected a number, got 12345678901234567.89'],
    ['Currency', '$9', 9],
    ['Currency', 'bad', 'refused: Expected an amount, got bad'],
    ['Percent', '42', 42],
    ['Rating', 5, 5],
    ['Rating', 6, 'refused: Enter a rating from 0 to 5'],
    ['Rating', -1, 'refused: Enter a rating from 0 to 5'],
    ['Checkbox', '1', true],
    ['Checkbox', 0, false],
    ['Checkbox', 'yes', 'refused: Expected true or false, got yes'],
    ['Checkbox', 2, 'refused: Expected true or false, got 2'],
    ['SingleLineText', 5, '5'],
    ['SingleLineText', true, 'true'],
    ['SingleLineText', '', ''],
    ['Number', '', null],
    ['Date', '2024/3/5', '2024-03-05'],
    ['Date', '03/05/2024', '2024-03-05'],
    ['Date', '2024-02-29', '2024-02-29'],
    ['Date', '2024-03-05T00:00:00.000Z', '2024-03-05'],
    ['Date', '2026-13-45', 'refused: Expected a date such as 2024-03-05, got 2026-13-45'],
    ['Date', '2023-02-29', 'refused: Expected a date such as 2024-03-05, got 2023-02-29'],
    ['Date', '2024-03-05 10:30', 'refused: Expected a date such as 2024-03-05, got 2024-03-05 10:30'],
    ['Date', 20240305, 'refused: Expected a date such as 2024-03-05, got 20240305'],
    ['DateTime', '2024-03-05T10:20:30+02:00', '2024-03-05 08:20:30+00:00'],
    ['DateTime', '2024-03-05T23:20:30.250-05:30', '2024-03-06 04:50:30.250+00:00'],
    ['DateTime', '2024-03-05 08:20', '2024-03-05 08:20:00+00:00'],
    ['DateTime', '2024-03-05', '2024-03-05 00:00:00+00:00'],
    ['DateTime', '2024-03-05 08:20:30+00:00', '2024-03-05 08:20:30+00:00'],
    ['DateTime', 1709627430, 'refused: Expected a date and time such as 2024-03-05 08:20:30, got 1709627430'],
    [
      'DateTime',
      '2024-03-05 25:00',
      'refused: Expected a date and time such as 2024-03-05 08:20:30, got 2024-03-05 25:00',
    ],
    ['CreatedTime', '2024-03-05', 'refused: This field is filled in automatically'],
  ] as const)('%s takes %p as %p', (type, input, expected) => {
    expect(read(type, input)).toBe(expected)
  })

  const red = { choices: [{ title: 'red' }, { title: 'blue' }] }
  test.each([
    ['SingleSelect', 'red', 'red'],
    ['SingleSelect', 'Red', 'refused: Invalid option(s) "Red" provided. Valid options are "red, blue"'],
    ['SingleSelect', '', null],
    ['MultiSelect', ['blue', 'red', 'blue'], 'blue,red'],
    ['MultiSelect', 'blue, red', 'blue,red'],
    ['MultiSelect', [], null],
    ['MultiSelect', 'red,zz', 'refused: Invalid option(s) "zz" provided. Valid options are "red, blue"'],
    ['MultiSelect', [['red']], 'refused: Expected option names, got a list'],
  ] as const)('%s takes %p as %p', (type, input, expected) => {
    expect(read(type, input, red)).toBe(expected)
  })

  test.each([
    ['Email', 'ann@', 'Validation failed : isEmail'],
    ['URL', 'not a link', 'Validation failed : isURL'],
    ['PhoneNumber', '12', 'Validation failed : isMobilePhone'],
  ] as const)('%s refuses %p only where the field asks for the check', (type, input, message) => {
    expect(read(type, input)).toBe(input)
    expect(read(type, input, { validate: true })).toBe(`refused: ${message}`)
    expect(read(type, '', { validate: true })).toBe('')
  })

  test('words a refusal as REST clients know it', () => {
    const refusal = (type: FieldTypeName, title: string, input: unknown, options: object = {}) => {
      const outcome = readValue({ type, options: readOptions(type, options) }, input)
      if (outcome.ok) throw new Error('It was taken')
      const { code, message, envelope } = valueError({ id: 'c1', title, type }, input, outcome)
      return [code, message, envelope]
    }
    expect(refusal('Email', 'Mail', 'x', { validate: true })).toEqual([
      'BAD_REQUEST',
      'Validation failed : isEmail',
      'msg',
    ])
    expect(refusal('Currency', 'Cur', 'bad')).toEqual([
      'INVALID_VALUE_FOR_FIELD',
      "Invalid value 'bad' for type 'Currency' on column 'Cur'",
      'typed',
    ])
    // The title is no pattern, whatever is in it.
    expect(refusal('SingleSelect', "$& $'", 'zz', { choices: [{ title: 'a' }] })[1]).toBe(
      'Invalid option(s) "zz" provided for column "$& $\'". Valid options are "a"',
    )
    expect(refusal('SingleSelect', 'Ss', 'zz', { choices: [{ title: 'a' }, { title: 'b' }] })).toEqual([
      'BAD_REQUEST',
      'Invalid option(s) "zz" provided for column "Ss". Valid options are "a, b"',
      'msg',
    ])
  })
})

describe('options of selects', () => {
  test.each([
    ['SingleSelect', ['a', 'a'], 'Duplicates are not allowed!'],
    ['MultiSelect', ['a', ' a '], 'Duplicates are not allowed!'],
    ['SingleSelect', ['a', '  '], 'Empty options are not allowed!'],
    ['MultiSelect', ['a,b'], "Illegal char(',') for MultiSelect"],
  ])('of %s refuse %p', (type, titles, message) => {
    expect(() => readOptions(type, { choices: titles.map((title) => ({ title })) })).toThrow(message)
  })

  test('fill in ids, and colours in rotation', () => {
    const { choices } = readOptions('SingleSelect', {
      choices: Array.from({ length: 11 }, (_, n) => ({ title: `o${n}` })),
    })
    const list = choices as { id: string; color: string }[]
    expect(list.map((choice) => choice.color).slice(0, 3)).toEqual(['#cfdffe', '#d0f1fd', '#c2f5e8'])
    expect(list[10]?.color).toBe('#cfdffe')
    expect(new Set(list.map((choice) => choice.id)).size).toBe(11)
  })

  test('keep ids and colours that are given, and refuse colours that are none', () => {
    const given = [{ id: 's1', title: 'a', color: '#123456' }]
    expect(readOptions('SingleSelect', { choices: given })).toEqual({ choices: given })
    const hostile = [{ title: 'a', color: 'red;background:url(//x)' }]
    expect(() => readOptions('SingleSelect', { choices: hostile })).toThrow('Invalid colour')
  })
})
