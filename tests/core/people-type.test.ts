import { describe, expect, test } from 'bun:test'
import { convert } from '../../src/core/fields/convert.ts'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { fieldType, readOptions } from '../../src/core/fields/index.ts'
import { withPeople } from '../../src/core/fields/traits.ts'
import { type Condition, matchesFilter } from '../../src/core/filters/index.ts'

const PEOPLE = [
  { id: 'usann', email: 'ann@example.com', displayName: 'Ann' },
  { id: 'usbob', email: 'bob@example.com', displayName: null },
  { id: 'uscy1', email: 'cy1@example.com', displayName: 'Cy' },
  { id: 'uscy2', email: 'cy2@example.com', displayName: 'Cy' },
]
const optionsOf = (multiple: boolean) => withPeople('User', readOptions('User', { multiple }), PEOPLE)

describe('User', () => {
  test.each<[string, boolean, CellValue]>([
    ['usann', false, 'usann'],
    ['ANN@example.com', false, 'usann'],
    ['ann', false, 'usann'],
    ['Ann A. <ann@example.com>', false, 'usann'],
    ['ann@example.com, bob@example.com', true, 'usann,usbob'],
    ['bob@example.com\nann@example.com;bob@example.com', true, 'usbob,usann'],
    ['ann@example.com,bob@example.com', false, null],
    ['eve@example.com', false, null],
    ['ann@example.com,eve@example.com', true, null],
    ['Cy', false, null],
    ['@me', false, '@me'],
    [' , ', true, null],
  ])('%p (several: %p) is pasted for %p', (text, multiple, value) => {
    expect(fieldType('User').parse(text, optionsOf(multiple))).toBe(value)
  })

  test.each<[unknown, boolean, CellValue]>([
    ['usann', false, 'usann'],
    [['usann', 'usbob', 'usann'], true, 'usann,usbob'],
    [[{ id: 'usann' }, { id: 'usbob' }], true, 'usann,usbob'],
    [{ id: 'usann' }, false, 'usann'],
    [[], true, null],
    [['usann', 'usbob'], false, 'refused'],
    ['eve@example.com', false, 'refused'],
    [[{ id: 7 }], false, 'refused'],
  ])('a program sends %p (several: %p) for %p', (input, multiple, value) => {
    const read = fieldType('User').read(input, readOptions('User', { multiple }))
    expect(read.ok ? read.value : 'refused').toBe(value)
  })

  test('is copied, and converted to text, by e-mail; who is not known by id', () => {
    expect(fieldType('User').format('usann,usgone', optionsOf(true))).toBe('ann@example.com,usgone')
    const text = convert('usann,usbob', 'User', optionsOf(true), 'SingleLineText', {}).value
    expect(text).toBe('ann@example.com,bob@example.com')
    expect(convert(text, 'SingleLineText', {}, 'User', optionsOf(true)).value).toBe('usann,usbob')
  })

  test('never keeps the people in its options', () => {
    expect(readOptions('User', optionsOf(true))).toEqual({ multiple: true, notify: false })
  })

  test.each<[string, Condition['value'], CellValue[]]>([
    ['anyof', ['usann'], ['usann', 'usann,usbob']],
    ['anyof', ['@me'], ['usbob', 'usann,usbob']],
    ['allof', ['usbob', 'usann'], ['usann,usbob']],
    ['nanyof', ['usann'], [null, 'usbob']],
    ['nallof', ['usann', 'usbob'], [null, 'usann', 'usbob']],
    ['eq', 'usann', ['usann']],
    ['neq', 'usann', [null, 'usbob', 'usann,usbob']],
    ['like', 'BOB@', ['usbob', 'usann,usbob']],
    ['nlike', 'ann', [null, 'usbob']],
    ['blank', null, [null]],
  ])('is found by %s %p: %p', (operator, value, expected) => {
    const field = { id: 'cW', title: 'Who', type: 'User' as const, options: optionsOf(true) }
    const moment = { now: new Date(), actorId: 'usbob', people: PEOPLE, field: () => field }
    const found = ([null, 'usann', 'usbob', 'usann,usbob'] as CellValue[]).filter((cell) =>
      matchesFilter({ fieldId: 'cW', operator, value }, { cW: cell }, moment),
    )
    expect(found).toEqual(expected)
  })
})
