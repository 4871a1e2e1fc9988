import { describe, expect, test } from 'bun:test'
import { filterSetOf, summarySetOf } from '../../src/core/fields/field.ts'
import { type FieldTypeName, fieldType, readOptions } from '../../src/core/fields/index.ts'
import { readValue } from '../../src/core/fields/read.ts'
import { operatorsFor } from '../../src/core/filters/index.ts'

const read = (type: FieldTypeName, input: unknown) => {
  const outcome = readValue({ type, options: readOptions(type, {}) }, input)
  return outcome.ok ? outcome.value : 'refused'
}

describe('JSON', () => {
  test.each<[unknown, unknown]>([
    ['{"b": 1,  "a": 1.50}', '{"b": 1,  "a": 1.50}'],
    ['12345678901234567890', '12345678901234567890'],
    [{ b: 1, a: [true, null] }, '{"b":1,"a":[true,null]}'],
    [[1, 2], '[1,2]'],
    [true, 'true'],
    ['null', 'null'],
    ['"x"', '"x"'],
    ['', 'refused'],
    [5, 'refused'],
    ['{a: 1}', 'refused'],
    ['{"a":1', 'refused'],
    ['[1,]', 'refused'],
    ['['.repeat(5000) + ']'.repeat(5000), 'refused'],
    ['["\\u0000"]', '["\\u0000"]'],
    ['["[[[["]', '["[[[["]'],
  ])('keeps %p as %p', (input, value) => expect(read('JSON', input)).toBe(value as string))
})

describe('GeoData', () => {
  test.each([
    ['48.85, 2.35', '48.85;2.35'],
    ['48.85;2.35', '48.85;2.35'],
    ['(48.850, -2.35)', '48.850;-2.35'],
    ['48.85 2.35', '48.85;2.35'],
    ['48,85; 2,35', '48.85;2.35'],
    ["48°51'N 2°21'E", '48.85;2.35'],
    [`48°51'29.6"N 2°17'40.2"E`, '48.8582222;2.2945'],
    ['33°51′S, 151°12′E', '-33.85;151.2'],
    ['40.7° N, 74° W', '40.7;-74'],
    ['40.7 N, 74 W', '40.7;-74'],
    ['−33.9, 18.4', '-33.9;18.4'],
    ['90;180', '90;180'],
    ['91;0', null],
    ['0;180.1', null],
    ['48,85, 2,35', null],
    ['48.85', null],
    ["48°61'N 2°21'E", null],
    ['here', null],
  ])('%p is typed for %p', (text, value) => {
    expect(fieldType('GeoData').parse(text, {})).toBe(value)
  })

  test.each([
    ['1.5;2.5', '1.5;2.5'],
    ['1.5, 2.5', 'refused'],
    ['91;2', 'refused'],
    ['', null],
    [[1, 2], 'refused'],
  ])('a program sends %p for %p', (input, value) => expect(read('GeoData', input)).toBe(value))
})

describe('Geometry', () => {
  test.each([
    ['POINT (30 10)', true],
    ['point(30 10)', true],
    ['POINT Z (1 2 3)', true],
    ['POINTZ(1 2 3)', true],
    ['POINT EMPTY', true],
    ['SRID=4326;POINT(1.5e1 -2)', true],
    ['LINESTRING (30 10, 10 30, 40 40)', true],
    ['POLYGON ((0 0, 1 0, 1 1, 0 0), (0.1 0.1, 0.2 0.1, 0.2 0.2, 0.1 0.1))', true],
    ['MULTIPOINT (10 40, 40 30)', true],
    ['MULTIPOINT ((10 40), (40 30))', true],
    ['MULTILINESTRING ((10 10, 20 20), (40 40, 30 30))', true],
    ['GEOMETRYCOLLECTION (POINT (40 10), LINESTRING (10 10, 20 20))', true],
    ['POINT (30)', false],
    ['POINT (30, 10)', false],
    ['POINT 30 10', false],
    ['POINT ((30 10))', false],
    ['POLYGON (0 0, 1 0)', false],
    ['POLYGON ((0 0, 1 0)', false],
    ['CIRCLE (1 2)', false],
    ['GEOMETRYCOLLECTION (4 6)', false],
    [`${'GEOMETRYCOLLECTION ('.repeat(5000)}`, false],
  ])('%p: %p', (text, isShape) => expect(read('Geometry', text) !== 'refused').toBe(isShape))
})

describe('what cannot be looked into', () => {
  test('a password is there or not, and a code is looked for in the field that it shows', () => {
    const keys = (type: FieldTypeName) =>
      operatorsFor(filterSetOf({ type, options: {} })).map(({ key }) => key)
    expect(keys('Password')).toEqual(['blank', 'notblank'])
    const result = { type: 'Number' as const, options: {}, isList: false }
    expect(filterSetOf({ type: 'QrCode', options: {}, result })).toBe('none')
    expect(summarySetOf({ type: 'Barcode', options: {}, result })).toBe('count')
  })
})
