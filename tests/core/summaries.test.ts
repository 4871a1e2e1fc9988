import { describe, expect, test } from 'bun:test'
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
