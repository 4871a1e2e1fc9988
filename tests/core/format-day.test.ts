import { describe, expect, test } from 'bun:test'
import { formatDay } from '../../src/core/fields/date-text.ts'

describe('formatDay', () => {
  test.each([
    ['2024-03-05', 'DD/MM/YYYY', '05/03/2024'],
    ['2024-03-05', 'DD MMM YYYY', '05 Mar 2024'],
    ['infinity', 'YYYY-MM-DD', 'infinity'],
    ['-infinity', 'DD/MM/YYYY', '-infinity'],
    ['0044-03-15 BC', 'DD/MM/YYYY', '0044-03-15 BC'],
  ] as const)('shows %p in a field of %s as %p', (day, format, shown) => {
    expect(formatDay(day, format)).toBe(shown)
  })
})
