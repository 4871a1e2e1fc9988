import { addDays, addMonths } from '../../../../../src/core/dates.ts'
import type { CalendarScale } from '../../../../../src/core/views/index.ts'
import { daysFrom, isWeekend, startOfMonth, startOfWeek, WEEK } from './days.ts'

/** The days that a calendar shows at one time. */
export interface Period {
  scale: CalendarScale
  /** The day that it was opened for: it decides which month or year is meant. */
  day: string
  /** First and last day read; with weekends hidden they may not be drawn. */
  first: string
  last: string
  /** The days that are drawn, in rows of a week; a week or a day is one row. A year has none: its months do. */
  weeks: string[][]
}

/** What is shown around a day. A single day is shown even on a hidden weekend: one has gone there. */
export function periodOf(scale: CalendarScale, day: string, hideWeekends: boolean): Period {
  if (scale === 'day') return { scale, day, first: day, last: day, weeks: [[day]] }
  if (scale === 'year') {
    const year = day.slice(0, 4)
    return { scale, day, first: `${year}-01-01`, last: `${year}-12-31`, weeks: [] }
  }
  const first = startOfWeek(scale === 'week' ? day : startOfMonth(day))
  const lastOfMonth = addDays(addMonths(startOfMonth(day), 1), -1)
  const last = addDays(startOfWeek(scale === 'week' ? day : lastOfMonth), WEEK - 1)
  const weeks: string[][] = []
  for (let monday = first; monday <= last && weeks.length < 6; monday = addDays(monday, WEEK)) {
    const days = daysFrom(monday, addDays(monday, WEEK - 1))
    weeks.push(hideWeekends ? days.filter((each) => !isWeekend(each)) : days)
  }
  // A month that begins on a hidden Sunday has a first week that is none of its own.
  const drawn = weeks.filter((week) => scale === 'week' || week.some((each) => isSameMonth(each, day)))
  return { scale, day, first, last, weeks: drawn }
}

const isSameMonth = (a: string, b: string): boolean => a.slice(0, 7) === b.slice(0, 7)

/** The day around which the next period lies, or the one before (-1). */
export function stepPeriod(scale: CalendarScale, day: string, by: 1 | -1): string {
  if (scale === 'day') return addDays(day, by)
  if (scale === 'week') return addDays(day, by * WEEK)
  return addMonths(day, scale === 'month' ? by : by * 12)
}

/** The weeks of a month as a small calendar draws them: whole weeks, days of other months included. */
export const monthWeeks = (month: string): string[][] => periodOf('month', month, false).weeks

/** The twelve months of a day's year, each by its first day. */
export const monthsOf = (day: string): string[] =>
  Array.from({ length: 12 }, (_, at) => addMonths(`${day.slice(0, 4)}-01-01`, at))
