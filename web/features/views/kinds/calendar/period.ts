import { addDays, addMonths, daysBetween, dayToMs } from '../../../../../src/core/dates.ts'
import { allOf, type Condition, type Filter } from '../../../../../src/core/filters/index.ts'
import type { CalendarScale } from '../../../../../src/core/views/index.ts'
import type { DatedRange } from './events.ts'

/** Days of a week. */
export const WEEK = 7

/** Days since Monday, 0 to 6: weeks begin on Monday (spec §1). */
export const weekdayOf = (day: string): number => (new Date(dayToMs(day)).getUTCDay() + 6) % WEEK

export const isWeekend = (day: string): boolean => weekdayOf(day) > 4

/** The Monday of a day's week. */
const startOfWeek = (day: string): string => addDays(day, -weekdayOf(day))

/** The first of a day's month. */
const startOfMonth = (day: string): string => `${day.slice(0, 8)}01`

/** Every day from one to another, both included. */
const daysFrom = (first: string, last: string): string[] =>
  Array.from({ length: Math.max(0, daysBetween(first, last) + 1) }, (_, at) => addDays(first, at))

/** The number of a day's week by ISO 8601: week 1 is the one with the year's first Thursday. */
export function isoWeek(day: string): number {
  const thursday = addDays(startOfWeek(day), 3)
  return Math.floor(daysBetween(`${thursday.slice(0, 4)}-01-01`, thursday) / WEEK) + 1
}

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

/** The period shown around a day. The day scale shows hidden weekends too, because the user navigated there. */
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

export const isSameMonth = (a: string, b: string): boolean => a.slice(0, 7) === b.slice(0, 7)

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

const compare = (fieldId: string, operator: 'gte' | 'lte', value: string): Condition => ({
  fieldId,
  operator,
  operand: 'exactDate' as const,
  value,
})

const blank = (fieldId: string): Condition => ({ fieldId, operator: 'blank', value: null })

/** Records that lie on any of the days from `first` to `last` by any of the ranges; null without ranges. */
export function periodFilter(ranges: readonly DatedRange[], first: string, last: string): Filter | null {
  const children = ranges.map(({ from, to }): Filter => {
    const inside: Filter[] = [compare(from.field.id, 'gte', first), compare(from.field.id, 'lte', last)]
    if (to === null) return { join: 'and', children: inside }
    // The server takes the days of each field in its own zone, the calendar those of the first: a day apart at most.
    const isApart = to.hasTime && from.zone !== to.zone
    const reaching: Filter[] = [
      compare(from.field.id, 'lte', last),
      compare(to.field.id, 'gte', isApart ? addDays(first, -1) : first),
    ]
    // Without an end, or with one before its start, a record lies on the day on which it begins.
    return {
      join: 'or',
      children: [
        { join: 'and', children: inside },
        { join: 'and', children: reaching },
      ],
    }
  })
  return children.length === 0 ? null : { join: 'or', children }
}

/** Records that stand nowhere on the calendar: no range of theirs begins. Null without ranges. */
export function undatedFilter(ranges: readonly DatedRange[]): Filter | null {
  const fieldIds = [...new Set(ranges.map(({ from }) => from.field.id))]
  return fieldIds.length === 0 ? null : { join: 'and', children: fieldIds.map(blank) }
}

/** Records of a filter that begin on a day or later (`asc`), or on it or earlier (`desc`), by one range. */
export const followingFilter = (
  filter: Filter | null,
  { from }: DatedRange,
  day: string,
  direction: 'asc' | 'desc',
): Filter | null => allOf([filter, compare(from.field.id, direction === 'asc' ? 'gte' : 'lte', day)])
