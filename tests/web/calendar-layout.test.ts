import { describe, expect, test } from 'bun:test'
import { matchesFilter } from '../../src/core/filters/index.ts'
import {
  countByDay,
  densityLevel,
  fitRows,
  packHours,
  stackBars,
} from '../../web/features/views/kinds/calendar/event-layout.ts'
import {
  type CalendarEvent,
  eventsOf,
  eventsOn,
  rangesOf,
} from '../../web/features/views/kinds/calendar/events.ts'
import {
  isoWeek,
  monthsOf,
  periodFilter,
  periodOf,
  stepPeriod,
  undatedFilter,
  weekdayOf,
} from '../../web/features/views/kinds/calendar/period.ts'
import { memoryField } from './memory-records.ts'

const FIELDS = [memoryField('from', 'Date'), memoryField('to', 'Date'), memoryField('start', 'DateTime')]
const DAYS = rangesOf([{ fromFieldId: 'from', toFieldId: 'to' }], FIELDS)

/** Events of whole days: `a: 5-7` lies from the 5th to the 7th of January 2026. */
const days = (...texts: string[]): CalendarEvent[] =>
  texts.flatMap((text) => {
    const [id = '', from, to] = text.split(/: |-/)
    const values: Record<string, string> = { from: `2026-01-${from}`, ...(to && { to: `2026-01-${to}` }) }
    return eventsOf([{ id, values: (fieldId) => values[fieldId] ?? null }], DAYS)
  })

/** Events of one day: `a: 9:00-10:30`. */
const hours = (...texts: string[]): CalendarEvent[] =>
  texts.map((text) => {
    const [id = '', from = '', to = ''] = text.split(/: |-/)
    const minute = (time: string) => Number(time.split(':')[0]) * 60 + Number(time.split(':')[1])
    const [event] = days('x: 05')
    if (!event) throw new Error('no event')
    return { ...event, key: id, isAllDay: false, startMinute: minute(from), endMinute: minute(to) }
  })

describe('a period', () => {
  test('of a month is its whole weeks from Monday, four to six of them', () => {
    const november = periodOf('month', '2026-11-20', false)
    expect([november.first, november.last, november.weeks.length]).toEqual(['2026-10-26', '2026-12-06', 6])
    expect(periodOf('month', '2027-02-10', false).weeks).toHaveLength(4)
    expect(november.weeks.every(([monday = '']) => weekdayOf(monday) === 0)).toBe(true)
  })

  test('without weekends draws five days and reads seven; a day is shown even so', () => {
    const week = periodOf('week', '2026-11-22', true)
    expect([week.first, week.last]).toEqual(['2026-11-16', '2026-11-22'])
    expect(week.weeks[0]).toHaveLength(5)
    // November 2026 begins on a Sunday: the days before it are October's.
    expect(periodOf('month', '2026-11-20', true).weeks[0]?.[0]).toBe('2026-11-02')
    expect(periodOf('day', '2026-11-22', true).weeks).toEqual([['2026-11-22']])
  })

  test('is followed by the next: the last of a month by the last of a shorter one', () => {
    expect(stepPeriod('month', '2026-01-31', 1)).toBe('2026-02-28')
    expect(stepPeriod('week', '2026-01-01', -1)).toBe('2025-12-25')
    expect(stepPeriod('year', '2024-02-29', 1)).toBe('2025-02-28')
    expect(monthsOf('2026-05-05').at(-1)).toBe('2026-12-01')
  })

  test('at the end of all years ends there', () => {
    expect(periodOf('month', '9999-12-15', false).weeks.flat()).toContain('9999-12-31')
  })

  test('numbers its weeks by ISO 8601', () => {
    expect(['2026-01-01', '2027-01-03', '2027-01-04', '2024-12-30'].map(isoWeek)).toEqual([1, 53, 1, 1])
  })
})

describe('bars of a week', () => {
  const week = periodOf('week', '2026-01-05', false).weeks[0] ?? []

  test('let no event cover another, and use a row again where it is free', () => {
    const segments = stackBars(days('long: 05-08', 'a: 05', 'b: 06', 'c: 09-11'), week)
    expect(
      segments.map(({ event, row, firstColumn, lastColumn }) => [event.row.id, row, firstColumn, lastColumn]),
    ).toEqual([
      ['long', 0, 0, 3],
      ['a', 1, 0, 0],
      ['b', 1, 1, 1],
      ['c', 0, 4, 6],
    ])
  })

  test('say where an event goes on beyond them', () => {
    const [segment] = stackBars(days('over: 01-20'), week)
    expect(segment).toMatchObject({
      firstColumn: 0,
      lastColumn: 6,
      continuesBefore: true,
      continuesAfter: true,
    })
  })

  test('leave out what lies on hidden days alone, and go across those', () => {
    const weekdays = periodOf('week', '2026-01-05', true).weeks[0] ?? []
    expect(stackBars(days('weekend: 10-11'), weekdays)).toEqual([])
    expect(stackBars(days('across: 09-13'), weekdays)[0]).toMatchObject({
      firstColumn: 4,
      continuesAfter: true,
    })
  })

  test('that do not all fit leave the last one to the number of the rest', () => {
    const segments = stackBars(days('a: 05-06', 'b: 05', 'c: 05', 'd: 06'), week)
    const { shown, hidden } = fitRows(segments, 7, 2)
    expect(shown.map(({ event }) => event.row.id)).toEqual(['a'])
    expect(hidden).toEqual([2, 1, 0, 0, 0, 0, 0])
    expect(fitRows(segments, 7, 3).hidden).toEqual([0, 0, 0, 0, 0, 0, 0])
  })
})

describe('the hours of a day', () => {
  const place = (events: CalendarEvent[]) =>
    packHours(events, '2026-01-05', 12).blocks.map(({ event, column, columns, span }) => [
      event.key,
      column,
      columns,
      span,
    ])

  test('set side by side what overlaps, and widen what has room beside it', () => {
    expect(place(hours('a: 9:00-12:00', 'b: 9:30-10:00', 'c: 9:30-10:30', 'd: 11:00-12:00'))).toEqual([
      ['a', 0, 3, 1],
      ['c', 1, 3, 1],
      ['b', 2, 3, 1],
      ['d', 1, 3, 2],
    ])
    expect(place(hours('a: 9:00-10:00', 'b: 10:00-11:00'))).toEqual([
      ['a', 0, 1, 1],
      ['b', 0, 1, 1],
    ])
  })

  test('count in the last column what cannot be read beside so many others', () => {
    const crowd = hours('a: 9:00-12:00', 'b: 9:00-11:00', 'c: 9:30-11:00', 'd: 10:00-11:30', 'e: 14:00-15:00')
    const { blocks, hidden } = packHours(crowd, '2026-01-05', 3)
    expect(blocks.map(({ event, columns }) => [event.key, columns])).toEqual([
      ['a', 3],
      ['b', 3],
      ['e', 1],
    ])
    expect(hidden).toEqual([{ count: 2, from: 570, to: 690 }])
  })

  test('draw what is short as long as one can hit it, also before midnight', () => {
    expect(place(hours('a: 9:00-9:05', 'b: 9:10-9:20'))).toEqual([
      ['a', 0, 2, 1],
      ['b', 1, 2, 1],
    ])
    expect(packHours(hours('late: 23:55-23:59'), '2026-01-05', 12).blocks[0]).toMatchObject({
      from: 1410,
      to: 1440,
    })
  })
})

describe('a day', () => {
  test('lists what lies on it, the longest first, and is counted for each of its events', () => {
    const events = days('a: 06', 'long: 04-08', 'b: 07')
    expect(eventsOn(events, '2026-01-06').map(({ row }) => row.id)).toEqual(['long', 'a'])
    const counts = countByDay(events, '2026-01-06', '2026-01-07')
    expect([...counts]).toEqual([
      ['2026-01-06', 2],
      ['2026-01-07', 2],
    ])
    expect([0, 1, 2, 8].map((count) => densityLevel(count, 8))).toEqual([0, 1, 1, 4])
  })
})

describe('the filter of a period', () => {
  const field = (id: string) => FIELDS.find((one) => one.id === id)
  const test5to7 = (from: string | null, to: string | null): boolean => {
    const filter = periodFilter(DAYS, '2026-01-05', '2026-01-07')
    return filter !== null && matchesFilter(filter, { from, to }, { field, now: new Date() })
  }

  test('finds what reaches into it, and by its beginning what has no end or one before it', () => {
    expect(test5to7('2026-01-01', '2026-01-05')).toBe(true)
    expect(test5to7('2026-01-07', '2026-02-01')).toBe(true)
    expect(test5to7('2025-01-01', '2027-01-01')).toBe(true)
    expect(test5to7('2026-01-06', null)).toBe(true)
    expect(test5to7('2026-01-06', '2020-01-01')).toBe(true)
    expect(test5to7('2026-01-01', null)).toBe(false)
    expect(test5to7('2026-01-08', '2026-01-09')).toBe(false)
    expect(test5to7(null, '2026-01-06')).toBe(false)
  })

  test('is none without dates; without date is what no range begins for', () => {
    expect(periodFilter([], '2026-01-05', '2026-01-07')).toBeNull()
    const both = rangesOf(
      [
        { fromFieldId: 'from', toFieldId: null },
        { fromFieldId: 'start', toFieldId: null },
      ],
      FIELDS,
    )
    const filter = undatedFilter(both)
    const isFound = (from: string | null, start: string | null) =>
      filter !== null && matchesFilter(filter, { from, start }, { field, now: new Date() })
    expect([
      isFound(null, null),
      isFound('2026-01-01', null),
      isFound(null, '2026-01-01 00:00:00+00:00'),
    ]).toEqual([true, false, false])
  })
})
