import { describe, expect, test } from 'bun:test'
import { filtersFromWire, parseFilterArray, toWireOperator } from '../../src/wire/filters.ts'
import { parseSort } from '../../src/wire/lists.ts'
import { byId, byTitle, FIELDS } from './filter-fields.ts'
import { short } from './filter-text.ts'

describe('filtersFromWire', () => {
  const item = (comparison_op: string, value: unknown, logical_op?: string, title = 'T') => ({
    fk_column_id: FIELDS[title]?.id,
    comparison_op,
    value,
    logical_op,
  })
  const read = (items: unknown) => short(filtersFromWire(items, byId))

  test('joins a flat list by the word of each, "and" first', () => {
    expect(read([])).toBe('all')
    expect(read([item('eq', 'a', 'or')])).toBe('T eq "a"')
    expect(read([item('eq', 'a', 'not')])).toBe('not (T eq "a")')
    expect(read([item('eq', 'a'), item('eq', 'b', 'or'), item('eq', 'c')])).toBe(
      '(T eq "a" or (T eq "b" and T eq "c"))',
    )
    expect(read([item('eq', 'a'), item('eq', 'b', 'not')])).toBe('(T eq "a" and not (T eq "b"))')
  })

  test('reads groups, lists, dates and wildcards', () => {
    const group = { is_group: true, logical_op: 'and', children: [item('eq', 'b'), item('like', 'c%', 'or')] }
    expect(read([item('eq', 'a'), group])).toBe('(T eq "a" and (T eq "b" or T pattern "c%"))')
    expect(read([item('anyof', 'red,blue', 'and', 'Ms')])).toBe('Ms anyof ["red","blue"]')
    expect(read([{ ...item('eq', 3, 'and', 'D'), comparison_sub_op: 'daysAgo' }])).toBe('D eq daysAgo 3')
    expect(toWireOperator('pattern')).toBe('like')
  })

  test('leaves out what a person has not finished', () => {
    expect(read([{}, { is_group: 1 }, { fk_column_id: null, comparison_op: 'eq' }, item('eq', 'x')])).toBe(
      'T eq "x"',
    )
  })

  test.each<[unknown, string]>([
    ['x', 'Filters must be a list'],
    [[5], 'A filter must be an object'],
    [[item('eq', { a: 1 })], 'A filter value must be text, a number or a list of these'],
    [[{ fk_column_id: 'cNope', comparison_op: 'eq', value: 1 }], "Field 'cNope' not found"],
    [[item('nope', 1)], 'nope is not supported.'],
    [[{ ...item('eq', 1, 'and', 'D'), comparison_sub_op: 'someday' }], "'someday' is not supported."],
    [
      [item('eq', 'abc', 'and', 'Num')],
      'Filter verification failed: Value abc is not supported for type Number on column Num',
    ],
    [Array.from({ length: 501 }, () => item('eq', 'x')), 'A filter can have up to 500 conditions'],
  ])('refuses %p', (items, message) => {
    expect(() => filtersFromWire(items, byId)).toThrow(expect.objectContaining({ name: 'AppError', message }))
  })

  test('refuses nesting without end', () => {
    let deep: object = item('eq', 'x')
    for (let level = 0; level < 50_000; level++) deep = { is_group: true, children: [deep] }
    expect(() => filtersFromWire([deep], byId)).toThrow('Filters can be nested up to 5 levels')
  })

  test('ignores text that is no JSON', () => {
    expect(parseFilterArray('{', byId)).toBeNull()
    expect(short(parseFilterArray(JSON.stringify([item('eq', 'x')]), byId))).toBe('T eq "x"')
  })
})

describe('parseSort', () => {
  const resolve = (name: string) => byTitle(name) ?? byId(name)
  test.each([
    [
      'T,-Num',
      [
        ['cT', 'asc'],
        ['cNum', 'desc'],
      ],
    ],
    [
      ' -T , +D,,T',
      [
        ['cT', 'desc'],
        ['cD', 'asc'],
      ],
    ],
    ['-cT', [['cT', 'desc']]],
    ['-Sp ace', [['cSp', 'desc']]],
    ['', []],
  ])('reads %p', (text, expected) => {
    expect(parseSort(text, resolve).map((sort) => [sort.fieldId, sort.direction])).toEqual(expected)
  })

  test('refuses an unknown field by its name', () => {
    const refused = { code: 'FIELD_NOT_FOUND', message: "Field 'nope' not found" }
    expect(() => parseSort('T,-nope', resolve)).toThrow(expect.objectContaining(refused))
  })
})
