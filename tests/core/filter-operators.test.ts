import { describe, expect, test } from 'bun:test'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import {
  type Condition,
  checkFilter,
  type Filter,
  matchesFilter,
  OPERATORS,
  operatorsFor,
} from '../../src/core/filters/index.ts'
import { fitsPattern } from '../../src/core/filters/memory-primitives.ts'
import { cpuTimeMs } from '../support/cpu-time.ts'
import { context, on } from './filter-condition.ts'

/** Which of the cells meet the condition. */
const matching = (condition: Condition, cells: readonly CellValue[]): CellValue[] =>
  cells.filter((cell) => matchesFilter(condition, { [condition.fieldId]: cell }, context))

const TEXTS = [null, '', 'abc', 'ABC', 'abcd', '50%', '500', 'x']
const NUMBERS = [null, -1, 0, 1, 1.5, 5, 10]
const MULTI = [null, 'red', 'blue', 'red,blue', 'dark red', 'blue,dark red']
const CHECKS = [null, false, true]

describe('operators on text', () => {
  test.each<[string, Condition['value'], CellValue[]]>([
    ['eq', 'abc', ['abc']],
    ['eq', '', ['']],
    ['neq', 'abc', [null, '', 'ABC', 'abcd', '50%', '500', 'x']],
    ['not', '', [null, 'abc', 'ABC', 'abcd', '50%', '500', 'x']],
    ['like', 'bc', ['abc', 'ABC', 'abcd']],
    ['like', '0%', ['50%']],
    ['like', '_', []],
    ['nlike', 'B', [null, '', '50%', '500', 'x']],
    ['startsWith', '50', ['50%', '500']],
    ['endsWith', 'C', ['abc', 'ABC']],
    ['pattern', '50%', ['50%', '500']],
    ['pattern', 'a_c', ['abc', 'ABC', 'abcd']],
    ['npattern', '%c', [null, '', 'abcd', '50%', '500', 'x']],
    ['gt', 'abc', ['abcd', 'x']],
    ['lte', '5', ['']],
    ['in', ['abc', 'x'], ['abc', 'x']],
    ['anyof', 'abc,x', ['abc', 'x']],
    ['nanyof', ['abc', 'x'], [null, '', 'ABC', 'abcd', '50%', '500']],
    ['allof', ['abc'], ['abc']],
    ['allof', ['abc', 'x'], []],
    ['nallof', ['abc', 'x'], TEXTS],
    ['null', null, [null]],
    ['notnull', null, TEXTS.slice(1)],
    ['empty', null, ['']],
    ['notempty', null, TEXTS.slice(2)],
    ['blank', null, [null, '']],
    ['isblank', null, [null, '']],
    ['notblank', null, TEXTS.slice(2)],
    ['isnotblank', null, TEXTS.slice(2)],
    ['is', 'blank', [null, '']],
    ['isnot', 'null', TEXTS.slice(1)],
    ['btw', ['abc', 'abcd'], ['abc', 'abcd']],
  ])('%s %p matches %p', (operator, value, expected) => {
    expect(matching(on('T', operator, value), TEXTS)).toEqual(expected)
  })
})

describe('operators on numbers', () => {
  test.each<[string, Condition['value'], CellValue[]]>([
    ['eq', '1', [1]],
    ['eq', 0, [0]],
    ['neq', 1, [null, -1, 0, 1.5, 5, 10]],
    ['gt', '1', [1.5, 5, 10]],
    ['ge', 5, [5, 10]],
    ['gte', 5, [5, 10]],
    ['lt', 0, [-1]],
    ['le', 0, [-1, 0]],
    ['lte', 0.5, [-1, 0]],
    ['btw', [1, 5], [1, 1.5, 5]],
    ['nbtw', ['1', '5'], [null, -1, 0, 10]],
    ['in', '1,10', [1, 10]],
    ['nanyof', [1, 10], [null, -1, 0, 1.5, 5]],
    ['like', '1', [-1, 1, 1.5, 10]],
    ['blank', null, [null]],
    ['empty', null, [null]],
    ['notempty', null, NUMBERS.slice(1)],
  ])('%s %p matches %p', (operator, value, expected) => {
    expect(matching(on('Num', operator, value), NUMBERS)).toEqual(expected)
  })
})

describe('operators on choices', () => {
  test.each<[string, string, Condition['value'], CellValue[]]>([
    ['Ms', 'anyof', ['red'], ['red', 'red,blue']],
    ['Ms', 'anyof', 'red,dark red', ['red', 'red,blue', 'dark red', 'blue,dark red']],
    ['Ms', 'allof', ['blue', 'red'], ['red,blue']],
    ['Ms', 'nanyof', ['red'], [null, 'blue', 'dark red', 'blue,dark red']],
    ['Ms', 'nallof', ['blue', 'red'], [null, 'red', 'blue', 'dark red', 'blue,dark red']],
    ['Ms', 'anyof', ['Red'], []],
    ['Ms', 'eq', 'red,blue', ['red,blue']],
    ['Ms', 'like', 'DARK', ['dark red', 'blue,dark red']],
    ['Ms', 'blank', null, [null]],
    ['Ss', 'eq', 'red', ['red']],
    ['Ss', 'neq', 'red', [null, 'blue', 'red,blue', 'dark red', 'blue,dark red']],
    ['Ss', 'anyof', ['red', 'blue'], ['red', 'blue']],
    ['Ss', 'nanyof', ['red', 'blue'], [null, 'red,blue', 'dark red', 'blue,dark red']],
  ])('%s %s %p matches %p', (title, operator, value, expected) => {
    expect(matching(on(title, operator, value), MULTI)).toEqual(expected)
  })

  test.each<[string, Condition['value'], CellValue[]]>([
    ['checked', null, [true]],
    ['notchecked', null, [null, false]],
    ['eq', '1', [true]],
    ['eq', true, [true]],
    ['eq', 0, [false]],
    ['neq', 'true', [null, false]],
    ['is', 'true', [true]],
    ['is', 'false', [null, false]],
    ['isnot', 'true', [null, false]],
    ['notnull', null, [false, true]],
  ])('checkbox %s %p matches %p', (operator, value, expected) => {
    expect(matching(on('Cb', operator, value), CHECKS)).toEqual(expected)
  })

  test('people are found by id, by "me" and by a part of their e-mail or name', () => {
    const cells = [null, 'usann', 'usbob']
    expect(matching(on('Who', 'eq', 'usbob'), cells)).toEqual(['usbob'])
    expect(matching(on('Who', 'anyof', ['@me']), cells)).toEqual(['usann'])
    expect(matching(on('Who', 'like', 'EXAMPLE.org'), cells)).toEqual(['usbob'])
    expect(matching(on('Who', 'nlike', 'ann'), cells)).toEqual([null, 'usbob'])
    expect(matching(on('Who', 'like', 'nobody'), cells)).toEqual([])
    expect(matching(on('Who', 'nlike', 'nobody'), cells)).toEqual(cells)
  })
})

describe('operators on dates', () => {
  const days = [
    null,
    '2023-02-28',
    '2024-01-29',
    '2024-02-21',
    '2024-02-22',
    '2024-02-28',
    '2024-02-29',
    '2024-03-01',
    '2024-03-29',
    '2025-02-28',
  ]

  test.each<[string, string, Condition['value'], CellValue[]]>([
    ['eq', 'today', null, ['2024-02-29']],
    ['eq', 'tomorrow', null, ['2024-03-01']],
    ['eq', 'yesterday', null, ['2024-02-28']],
    ['eq', 'oneWeekAgo', null, ['2024-02-22']],
    ['eq', 'oneMonthAgo', null, ['2024-01-29']],
    ['eq', 'oneMonthFromNow', null, ['2024-03-29']],
    ['eq', 'daysAgo', '8', ['2024-02-21']],
    ['eq', 'daysFromNow', 1, ['2024-03-01']],
    ['eq', 'exactDate', '2024-02-29', ['2024-02-29']],
    ['neq', 'exactDate', '2024-02-29', days.filter((day) => day !== '2024-02-29')],
    ['gt', 'today', null, ['2024-03-01', '2024-03-29', '2025-02-28']],
    ['gte', 'today', null, ['2024-02-29', '2024-03-01', '2024-03-29', '2025-02-28']],
    ['lt', 'oneWeekAgo', null, ['2023-02-28', '2024-01-29', '2024-02-21']],
    ['le', 'oneWeekAgo', null, ['2023-02-28', '2024-01-29', '2024-02-21', '2024-02-22']],
    ['isWithin', 'pastWeek', null, ['2024-02-22', '2024-02-28', '2024-02-29']],
    ['isWithin', 'pastMonth', null, ['2024-01-29', '2024-02-21', '2024-02-22', '2024-02-28', '2024-02-29']],
    ['isWithin', 'pastYear', null, days.slice(1, 7)],
    ['isWithin', 'nextWeek', null, ['2024-02-29', '2024-03-01']],
    ['isWithin', 'nextMonth', null, ['2024-02-29', '2024-03-01', '2024-03-29']],
    ['isWithin', 'nextYear', null, ['2024-02-29', '2024-03-01', '2024-03-29', '2025-02-28']],
    ['isWithin', 'pastNumberOfDays', '1', ['2024-02-28', '2024-02-29']],
    ['isWithin', 'nextNumberOfDays', 0, ['2024-02-29']],
  ])('%s %s %p matches %p', (operator, operand, value, expected) => {
    expect(matching(on('D', operator, value, operand), days)).toEqual(expected)
  })

  const instants = [
    null,
    '2024-02-28 23:59:59+00:00',
    '2024-02-29 00:00:00+00:00',
    '2024-02-29 23:59:59.999+00:00',
    '2024-03-01 00:00:00+00:00',
  ]
  test.each<[string, CellValue[]]>([
    ['eq', instants.slice(2, 4)],
    ['neq', [null, '2024-02-28 23:59:59+00:00', '2024-03-01 00:00:00+00:00']],
    ['gt', instants.slice(4)],
    ['gte', instants.slice(2)],
    ['lt', instants.slice(1, 2)],
    ['lte', instants.slice(1, 4)],
  ])('%s today takes the day of a moment whole', (operator, expected) => {
    expect(matching(on('Dt', operator, null, 'today'), instants)).toEqual(expected)
  })

  test.each<[string, string[], string[]]>([
    ['eq', ['9999-12-31'], ['9999-12-31 00:00:00+00:00', '9999-12-31 23:59:59+00:00']],
    ['neq', ['9999-12-30'], ['9999-12-30 23:59:59+00:00']],
    ['gt', [], []],
    ['gte', ['9999-12-31'], ['9999-12-31 00:00:00+00:00', '9999-12-31 23:59:59+00:00']],
    ['lt', ['9999-12-30'], ['9999-12-30 23:59:59+00:00']],
    [
      'lte',
      ['9999-12-30', '9999-12-31'],
      ['9999-12-30 23:59:59+00:00', '9999-12-31 00:00:00+00:00', '9999-12-31 23:59:59+00:00'],
    ],
  ])('%s takes the last day of the calendar like any other', (operator, days, instants) => {
    const last = '9999-12-31'
    expect(matching(on('D', operator, last, 'exactDate'), ['9999-12-30', last])).toEqual(days)
    const moments = ['9999-12-30 23:59:59+00:00', '9999-12-31 00:00:00+00:00', '9999-12-31 23:59:59+00:00']
    expect(matching(on('Dt', operator, last, 'exactDate'), moments)).toEqual(instants)
  })

  test('during takes stored values of the field, and both ends', () => {
    expect(matching(on('D', 'during', ['2024-02-22', '2024-02-29']), days)).toEqual(days.slice(4, 7))
    const ends = ['2024-02-29 00:00:00+00:00', '2024-02-29 23:59:59.999+00:00']
    expect(matching(on('Dt', 'during', ends), instants)).toEqual(instants.slice(2, 4))
    const problems = [on('D', 'during', ends), on('Dt', 'during', ['2024-02-29', 'x'])].map(
      (condition) => checkFilter(condition, context.field)[0]?.code,
    )
    expect(problems).toEqual(['FILTER_VERIFICATION_FAILED', 'FILTER_VERIFICATION_FAILED'])
  })

  test('today is that of the reader, or of the field where it names a zone', () => {
    const row = { cDt: '2024-02-28 13:00:00+00:00' } // 29 February in Auckland
    const condition = on('Dt', 'eq', null, 'yesterday')
    const evening = new Date('2024-02-29T12:30:00Z') // 1 March there
    expect(matchesFilter(condition, row, { ...context, now: evening })).toBe(true)
    expect(matchesFilter(condition, row, { ...context, now: evening, timeZone: 'Pacific/Auckland' })).toBe(
      true,
    )
    expect(matchesFilter(condition, row, { ...context, now: evening, timeZone: 'Asia/Tokyo' })).toBe(true)
    const before = { cDt: '2024-02-28 10:30:00+00:00' } // still 28 February in Auckland
    expect(matchesFilter(condition, before, { ...context, now: evening, timeZone: 'Pacific/Auckland' })).toBe(
      false,
    )
  })
})

describe('groups', () => {
  const row = { cT: 'abc', cNum: null }
  const matches = (filter: Filter) => matchesFilter(filter, row, context)

  test('of "and" need all, of "or" need any, and none of their own has no effect', () => {
    const [yes, no] = [on('T', 'eq', 'abc'), on('T', 'eq', 'x')]
    expect(matches({ join: 'and', children: [yes, no] })).toBe(false)
    expect(matches({ join: 'or', children: [yes, no] })).toBe(true)
    expect(matches({ join: 'and', not: true, children: [no] })).toBe(true)
    expect(matches({ join: 'or', children: [] })).toBe(true)
    expect(matches({ join: 'and', not: true, children: [] })).toBe(true)
  })

  test('negated drop a record whose value is not known, as SQL does', () => {
    expect(matches({ join: 'and', not: true, children: [on('Num', 'gt', 1)] })).toBe(false)
    expect(matches({ join: 'and', not: true, children: [on('Num', 'neq', 1)] })).toBe(false)
    expect(matches({ join: 'or', not: true, children: [on('Num', 'gt', 1), on('T', 'eq', 'x')] })).toBe(false)
    expect(matches({ join: 'and', not: true, children: [on('Num', 'gt', 1), on('T', 'eq', 'x')] })).toBe(true)
  })

  test('leave out what is incomplete or on a field that is gone', () => {
    const gone: Condition = { fieldId: 'cGone', operator: 'eq', value: 'x' }
    expect(matches({ join: 'and', children: [on('Num', 'gt'), on('T', 'like', ''), gone] })).toBe(true)
    expect(matches(on('D', 'eq', null, 'daysAgo'))).toBe(true)
  })
})

describe('the registry', () => {
  test('offers only what it accepts, and each name once', () => {
    const names = OPERATORS.flatMap((operator) => [operator.key, ...operator.aliases])
    expect(new Set(names).size).toBe(names.length)
    for (const { key, offers, accepts } of OPERATORS) {
      expect({
        key,
        offers: Object.keys(offers).filter((set) => !accepts.some((known) => known === set)),
      }).toEqual({ key, offers: [] })
    }
  })

  test('knows every operator of the wire', () => {
    const wire =
      'allof anyof blank btw checked empty eq ge gt gte in is isWithin isnot le like lt lte nallof nanyof nbtw neq nlike not notblank notchecked notempty notnull null isblank isnotblank'
    const names = new Set(OPERATORS.flatMap((operator) => [operator.key, ...operator.aliases]))
    expect(wire.split(' ').filter((name) => !names.has(name))).toEqual([])
  })

  test('gives menus in plain words', () => {
    expect(operatorsFor('text').map(({ label }) => label)).toEqual([
      'is equal to',
      'is not equal to',
      'contains',
      'does not contain',
      'starts with',
      'ends with',
      'is blank',
      'is not blank',
    ])
    expect(operatorsFor('checkbox').map(({ key }) => key)).toEqual(['checked', 'notchecked'])
    expect(operatorsFor('number').map(({ label }) => label)).toEqual([
      '=',
      '≠',
      '>',
      '<',
      '≥',
      '≤',
      'is between',
      'is not between',
      'is blank',
      'is not blank',
    ])
  })
})

describe('fitsPattern', () => {
  test.each([
    ['', '%', true],
    ['', '_', false],
    ['abc', 'a%c', true],
    ['abc', '%b%', true],
    ['abc', 'a_', false],
    ['a%c', 'a\\%c', true],
    ['abc', 'a\\%c', false],
    ['🙂x', '_x', true],
    ['aXbXc', '%x%x%', true],
    ['mississippi', '%iss%ip%', true],
  ])('%p fits %p: %p', (text, pattern, expected) => {
    expect(fitsPattern(text, pattern)).toBe(expected)
  })

  test('takes no more than text × pattern steps', () => {
    const started = cpuTimeMs()
    expect(fitsPattern('a'.repeat(5000), `${'%a'.repeat(500)}%b`)).toBe(false)
    expect(cpuTimeMs() - started).toBeLessThan(5_000) // Exponential time would never end.
  })
})
