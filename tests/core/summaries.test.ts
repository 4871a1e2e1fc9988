import { describe, expect, test } from 'bun:test'
import { decimal } from '../../src/core/fields/number.ts'
import { findSummary, SUMMARIES, summariesFor } from '../../src/core/summaries.ts'

describe('summariesFor', () => {
  const keys = (set: 'count' | 'number' | 'checkbox' | 'date') => summariesFor(set).map(({ key }) => key)
  const counts = ['count', 'empty', 'filled', 'unique', 'percentEmpty', 'percentFilled', 'percentUnique']

  test('offers what ui §6 lists for each set', () => {
    expect(keys('count')).toEqual(counts as never)
    expect(keys('number')).toEqual([
      'sum',
      'avg',
      'median',
      'min',
      'max',
      'range',
      'stddev',
      ...counts,
    ] as never)
    expect(keys('date')).toEqual(['earliest', 'latest', 'rangeDays', 'rangeMonths', ...counts] as never)
    expect(keys('checkbox')).toEqual(['checked', 'unchecked', 'percentChecked', 'percentUnchecked'])
  })

  test('knows each key once, and no other', () => {
    expect(new Set(SUMMARIES.map(({ key }) => key)).size).toBe(SUMMARIES.length)
    expect(findSummary('percentFilled')?.needs).toEqual(['count', 'filled'])
    expect(findSummary('__proto__')).toBeNull()
  })
})

describe('the summary of decimal numbers', () => {
  const shown = (value: number, precision: number | null) =>
    decimal.summaryText?.(value, { precision, thousands: false }, 'en')

  test('has all digits where the cells show all, without errors of binary fractions', () => {
    expect(shown(0.1234567891, null)).toBe('0.1234567891')
    expect(shown(1234.0000000005, null)).toBe('1,234.0000000005')
    expect(shown(12_345_678_901_234_568, null)).toBe('12,345,678,901,234,568')
    expect(shown(0.1 + 0.2, null)).toBe('0.3')
    expect(shown(-4e-12, null)).toBe('-0.000000000004')
  })

  test('has the decimals of the cells, and two for averages', () => {
    expect(shown(0.1234567891, 8)).toBe('0.12345679')
    expect(shown(4 / 3, 0)).toBe('1.33')
    expect(shown(5, 4)).toBe('5')
  })
})
