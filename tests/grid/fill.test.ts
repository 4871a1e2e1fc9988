import { describe, expect, test } from 'bun:test'
import { continueValues, fillKind, fillTarget } from '../../web/grid/fill.ts'

describe('continueValues', () => {
  test('repeats one number, and a pattern without a step', () => {
    expect(continueValues([5], 'number', 3)).toEqual([5, 5, 5])
    expect(continueValues([1, 5, 2], 'number', 4)).toEqual([1, 5, 2, 1])
  })

  test('continues numbers at their step, without binary dust', () => {
    expect(continueValues([10, 20], 'number', 2)).toEqual([30, 40])
    expect(continueValues([0.1, 0.2], 'number', 2)).toEqual([0.3, 0.4])
    expect(continueValues([3, 1], 'number', 2)).toEqual([-1, -3])
    expect(continueValues([1e-7, 2e-7], 'number', 2)).toEqual([3e-7, 4e-7])
    expect(continueValues([2.5e-7, 5e-7], 'number', 2)).toEqual([7.5e-7, 1e-6])
    expect(continueValues([1e21, 2e21], 'number', 1)).toEqual([3e21])
  })

  test('goes on before the first value when drawn upwards', () => {
    expect(continueValues([10, 20], 'number', 2, { backwards: true })).toEqual([0, -10])
    expect(continueValues([1, 5, 2], 'number', 4, { backwards: true })).toEqual([2, 5, 1, 2])
  })

  test('does the opposite with Ctrl', () => {
    expect(continueValues([10, 20], 'number', 3, { toggled: true })).toEqual([10, 20, 10])
    expect(continueValues([5], 'number', 2, { toggled: true })).toEqual([6, 7])
    expect(continueValues(['2026-12-31'], 'date', 2, { toggled: true })).toEqual(['2027-01-01', '2027-01-02'])
  })

  test('continues dates by days, and by months where the day is the same', () => {
    expect(continueValues(['2026-01-01', '2026-01-08'], 'date', 2)).toEqual(['2026-01-15', '2026-01-22'])
    expect(continueValues(['2026-11-05', '2026-12-05'], 'date', 2)).toEqual(['2027-01-05', '2027-02-05'])
    expect(continueValues(['2026-10-31', '2026-12-31'], 'date', 1)).toEqual(['2027-02-28'])
  })

  test('continues instants in the form they are stored in', () => {
    const times = ['2026-01-01 22:00:00+00:00', '2026-01-01 23:00:00+00:00']
    expect(continueValues(times, 'datetime', 1)).toEqual(['2026-01-02 00:00:00+00:00'])
  })

  test('keeps the time of day of instants in their zone over a clock change', () => {
    const berlin = { zone: 'Europe/Berlin' }
    const monthly = ['2026-01-01 08:00:00+00:00', '2026-02-01 08:00:00+00:00']
    expect(continueValues(monthly, 'datetime', 2, berlin)).toEqual([
      '2026-03-01 08:00:00+00:00',
      '2026-04-01 07:00:00+00:00',
    ])
    const daily = ['2026-03-27 08:00:00+00:00', '2026-03-28 08:00:00+00:00']
    expect(continueValues(daily, 'datetime', 1, berlin)).toEqual(['2026-03-29 07:00:00+00:00'])
  })

  test('counts texts up that end in a number', () => {
    expect(continueValues(['Task 9'], 'text', 2)).toEqual(['Task 10', 'Task 11'])
    expect(continueValues(['A-008', 'A-010'], 'text', 1)).toEqual(['A-012'])
    expect(continueValues(['Task 1'], 'text', 1, { toggled: true })).toEqual(['Task 1'])
    expect(continueValues(['a1', 'b2'], 'text', 2)).toEqual(['a1', 'b2'])
  })

  test('repeats what has gaps, and all other types', () => {
    expect(continueValues([1, null], 'number', 2)).toEqual([1, null])
    expect(continueValues(['To do'], fillKind('SingleSelect'), 2)).toEqual(['To do', 'To do'])
  })
})

describe('fillTarget', () => {
  const source = { top: 2, bottom: 3, start: 1, end: 2 }

  test('goes along the axis that was dragged further', () => {
    expect(fillTarget(source, { row: 6, column: 3 })).toEqual({
      direction: 'down',
      bounds: { ...source, top: 4, bottom: 6 },
    })
    expect(fillTarget(source, { row: 2, column: 5 })).toMatchObject({
      direction: 'end',
      bounds: { start: 3, end: 5 },
    })
    expect(fillTarget(source, { row: 0, column: 1 })).toMatchObject({
      direction: 'up',
      bounds: { top: 0, bottom: 1 },
    })
    expect(fillTarget(source, { row: 2, column: 0 })).toMatchObject({
      direction: 'start',
      bounds: { start: 0, end: 0 },
    })
  })

  test('is none within the source', () => {
    expect(fillTarget(source, { row: 3, column: 2 })).toBeNull()
  })
})
