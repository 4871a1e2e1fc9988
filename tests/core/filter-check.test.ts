import { describe, expect, test } from 'bun:test'
import {
  type Condition,
  checkCondition,
  checkFilter,
  compileFilter,
  type Filter,
  type FilterPrimitives,
  isComplete,
  readFilter,
} from '../../src/core/filters/index.ts'
import { context, on } from './filter-condition.ts'
import { byId, FIELDS } from './filter-fields.ts'

describe('isComplete', () => {
  test.each<[string, string, Condition['value'], string | undefined, boolean]>([
    ['T', 'eq', null, undefined, false],
    ['T', 'eq', '', undefined, true],
    ['T', 'like', '', undefined, false],
    ['T', 'blank', null, undefined, true],
    ['Num', 'eq', '', undefined, false],
    ['Num', 'eq', 0, undefined, true],
    ['Num', 'btw', [1], undefined, false],
    ['Num', 'btw', [1, 2], undefined, true],
    ['Ms', 'anyof', [], undefined, false],
    ['Ms', 'anyof', [''], undefined, false],
    ['D', 'eq', null, 'today', true],
    ['D', 'eq', null, 'daysAgo', false],
    ['D', 'eq', null, undefined, false],
    ['D', 'eq', '2024-01-01', undefined, true],
    ['T', 'nope', 'x', undefined, false],
  ])('%s %s %p %p: %p', (title, operator, value, operand, expected) => {
    const field = FIELDS[title]
    expect(field && isComplete(on(title, operator, value, operand), field)).toBe(expected)
  })
})

describe('checkFilter', () => {
  const problems = (filter: Filter, depth?: number) =>
    checkFilter(filter, byId, depth).map((error) => [error.code, error.message])

  test.each<[Condition, string]>([
    [on('Num', 'eq', 'abc'), 'Value abc is not supported for type Number on column Num'],
    [on('Num', 'in', ['1', 'x']), 'Value x is not supported for type Number on column Num'],
    [on('Num', 'eq', [1, 2]), 'Value 1,2 is not supported for type Number on column Num'],
    [on('Num', 'checked'), 'Operation checked is not supported for type Number on column Num'],
    [on('T', 'nope', 'x'), 'Operation nope is not supported for type SingleLineText on column T'],
    [on('T', '__proto__', 'x'), 'Operation __proto__ is not supported for type SingleLineText on column T'],
    [
      on('D', 'btw', ['2024-01-01', '2024-01-02']),
      'Operation btw is not supported for type Date on column D',
    ],
    [on('D', 'eq', 'soon', 'exactDate'), 'Value soon is not supported for type Date on column D'],
    [on('D', 'eq', '2024-13-01'), 'Value 2024-13-01 is not supported for type Date on column D'],
    [on('D', 'eq', '1.5', 'daysAgo'), 'Value 1.5 is not supported for type Date on column D'],
    [on('D', 'eq', 1e9, 'daysAgo'), 'Value 1000000000 is not supported for type Date on column D'],
    [on('D', 'eq', null, 'pastWeek'), 'Value pastWeek is not supported for type Date on column D'],
    [on('D', 'isWithin', null, 'today'), 'Value today is not supported for type Date on column D'],
    [on('Cb', 'eq', 'maybe'), 'Value maybe is not supported for type Checkbox on column Cb'],
    [on('T', 'is', 'true'), 'Value true is not supported for type SingleLineText on column T'],
    [on('T', 'is', 'red'), 'Value red is not supported for type SingleLineText on column T'],
  ])('refuses %p', (condition, message) => {
    expect(problems(condition)).toEqual([
      ['FILTER_VERIFICATION_FAILED', `Filter verification failed: ${message}`],
    ])
    const field = byId(condition.fieldId)
    expect(field && checkCondition(condition, field)).toBe(message)
  })

  test('names every problem, and each unknown field', () => {
    const unknown: Condition = { fieldId: 'cNope', operator: 'eq', value: 1 }
    const filter: Filter = { join: 'or', children: [on('Num', 'eq', 'a'), unknown, on('T', 'eq', 'fine')] }
    expect(problems(filter).map(([code]) => code)).toEqual(['FILTER_VERIFICATION_FAILED', 'FIELD_NOT_FOUND'])
  })

  test('refuses too deep, too many and too long', () => {
    const deep = (levels: number): Filter =>
      levels === 0 ? on('T', 'eq', 'x') : { join: 'and', children: [deep(levels - 1)] }
    expect(problems(deep(5), 5)).toEqual([])
    expect(problems(deep(6), 5).map(([code]) => code)).toEqual(['INVALID_FILTER'])
    expect(problems(deep(2000)).map(([code]) => code)).toEqual(['INVALID_FILTER'])
    const many: Filter = { join: 'or', children: Array.from({ length: 501 }, () => on('T', 'eq', 'x')) }
    expect(problems(many).map(([code]) => code)).toEqual(['INVALID_FILTER'])
    expect(
      problems(
        on(
          'T',
          'in',
          Array.from({ length: 1001 }, () => 'x'),
        ),
      ).length,
    ).toBe(1)
  })
})

describe('readFilter', () => {
  test('keeps what a filter consists of, and nothing else', () => {
    const input = { join: 'or', extra: 1, children: [{ fieldId: 'c1', operator: 'eq', value: 1, extra: 2 }] }
    expect(readFilter(input)).toEqual({ join: 'or', children: [{ fieldId: 'c1', operator: 'eq', value: 1 }] })
    expect(readFilter({ fieldId: 'c1', operator: 'blank' })).toEqual({
      fieldId: 'c1',
      operator: 'blank',
      value: null,
    })
  })

  test('refuses every other shape with INVALID_FILTER, however deep', () => {
    let deep: unknown = { fieldId: 'c1', operator: 'blank' }
    for (let level = 0; level < 100_000; level++) deep = { join: 'and', children: [deep] }
    const nan = { fieldId: 'c1', operator: 'eq', value: Number.NaN }
    for (const input of [
      null,
      5,
      'x',
      [],
      {},
      { children: 5 },
      { join: 'xor', children: [] },
      deep,
      nan,
      { fieldId: {}, operator: 'eq' },
      { fieldId: 'c', operator: 'eq', value: { $ne: 1 } },
    ]) {
      expect(() => readFilter(input)).toThrow(expect.objectContaining({ code: 'INVALID_FILTER' }))
    }
  })
})

/** A dialect that writes its words down: what a database is asked for. */
const spelled: FilterPrimitives<string> = {
  isNull: (column) => `${column} is null`,
  eq: (column, value) => `${column} = ${JSON.stringify(value)}`,
  compare: (column, sign, value) => `${column} ${sign} ${JSON.stringify(value)}`,
  inList: (column, values) => `${column} in ${JSON.stringify(values)}`,
  like: (column, pattern) => `${column} like ${JSON.stringify(pattern)}`,
  fileNames: (column) => `names of ${column}`,
  hasOption: (column, title) => `${column} has ${JSON.stringify(title)}`,
  and: (conditions) => `(${conditions.join(' and ')})`,
  or: (conditions) => `(${conditions.join(' or ')})`,
  not: (condition) => `not ${condition}`,
  constant: String,
}

describe('compileFilter', () => {
  test.each<[Filter, string | null]>([
    [on('T', 'like', '5%_\\'), 'T like "%5\\\\%\\\\_\\\\\\\\%"'],
    [on('T', 'pattern', 'a%\\'), 'T like "a%\\\\\\\\"'],
    [on('Num', 'neq', '5'), '(Num is null or not Num = 5)'],
    [on('Cb', 'eq', '1'), 'Cb = true'],
    [on('Ms', 'nanyof', ['red', 'blue']), '(Ms is null or not (Ms has "red" or Ms has "blue"))'],
    [on('D', 'eq', null, 'today'), '(D >= "2024-02-29" and D < "2024-03-01")'],
    [on('Dt', 'gt', null, 'today'), 'Dt >= "2024-03-01 00:00:00+00:00"'],
    [on('Num', 'gt', null), null],
    [{ join: 'and', children: [on('Num', 'gt', null), on('T', 'blank')] }, '(T is null or T = "")'],
    [
      { join: 'or', not: true, children: [on('Num', 'gt', 1), on('T', 'null')] },
      'not (Num > 1 or T is null)',
    ],
  ])('writes %p as %p', (filter, expected) => {
    const compiled = compileFilter(filter, { ...context, column: (field) => field.title }, spelled)
    expect(compiled).toBe(expected)
  })

  test('uses the reader’s midnights on moments', () => {
    const condition = on('Dt', 'eq', '2024-03-31', 'exactDate')
    const berlin = { ...context, timeZone: 'Europe/Berlin', column: () => 'Dt' }
    expect(compileFilter(condition, berlin, spelled)).toBe(
      '(Dt >= "2024-03-30 23:00:00+00:00" and Dt < "2024-03-31 22:00:00+00:00")',
    )
  })
})
