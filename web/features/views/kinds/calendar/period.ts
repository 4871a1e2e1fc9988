import { addDays, addMonths, daysBetween, dayToMs } from '../../../../../src/core/dates.ts'
import { allOf, type Condition, type Filter } from '../../../../../src/core/filters/index.ts'
import type { CalendarScale } from '../../../../../src/core/views/index.ts'
import type { DatedRange } from './events.ts'

export const WEEK = 7

/** Days since Monday, 0 to 6: weeks begin on Monday (spec §1). */
export const weekdayOf = (day: string): number => (new Date(dayToMs(day)).getUTCDay() + 6) % WEEK

export const isWeekend = (day: string): boolean => weekdayOf(day) > 4

/** The Monday of a day's week. */
const startOfWeek = (day: string): string => addDays(day, -weekdayOf(day))

/** The first of a day's month. */
const startOfMonth = (day: string): string => `${day.slice(0, 8)}01`

/** All days from one to another, both inclusive. */
const daysFrom = (first: string, last: string): string[] =>
  Array.from({ length: Math.max(0, daysBetween(first, last) + 1) }, (_, at) => addDays(first, at))

/** ISO 8601 week number of a day: week 1 contains the first Thursday of the year. */
export function isoWeek(day: string): number {
  const thursday = addDays(startOfWeek(day), 3)
  return Math.floor(daysBetween(`${thursday.slice(0, 4)}-01-01`, thursday) / WEEK) + 1
}

/** The days that a calendar shows at once. */
export interface Period {
  scale: CalendarScale
  /** The selected day, which determines the month or year. */
  day: string
  /** First and last day read; with weekends hidden they may not be drawn. */
  first: string
  last: string
  /** Rows of days: the weeks of a month, or one row for a week or day. Empty for a year. */
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
  // If a month starts on a hidden Sunday, its first week contains none of its days.
  const shownWeeks = weeks.filter((week) => scale === 'week' || week.some((each) => isSameMonth(each, day)))
  return { scale, day, first, last, weeks: shownWeeks }
}

export const isSameMonth = (a: string, b: string): boolean => a.slice(0, 7) === b.slice(0, 7)

/** The selected day of the next (1) or previous (-1) period. */
export function stepPeriod(scale: CalendarScale, day: string, by: 1 | -1): string {
  if (scale === 'day') return addDays(day, by)
  if (scale === 'week') return addDays(day, by * WEEK)
  return addMonths(day, scale === 'month' ? by : by * 12)
}

/** The full weeks of a month, including days of the adjacent months. */
export const monthWeeks = (month: string): string[][] => periodOf('month', month, false).weeks

/** The first day of each month of a day's year. */
export const monthsOf = (day: string): string[] =>
  Array.from({ length: 12 }, (_, at) => addMonths(`${day.slice(0, 4)}-01-01`, at))

const compare = (fieldId: string, operator: 'gte' | 'lte', value: string): Condition => ({
  fieldId,
  operator,
  operand: 'exactDate' as const,
  value,
})

const blank = (fieldId: string): Condition => ({ fieldId, operator: 'blank', value: null })

/** Filter of records with an event on the days from `first` to `last` by any range; null without ranges. */
export function periodFilter(ranges: readonly DatedRange[], first: string, last: string): Filter | null {
  const children = ranges.map(({ from, to }): Filter => {
    const inside: Filter[] = [compare(from.field.id, 'gte', first), compare(from.field.id, 'lte', last)]
    if (to === null) return { join: 'and', children: inside }
    // The server uses each field's own zone, the calendar the zone of the first: they differ by a day at most.
    const isApart = to.hasTime && from.zone !== to.zone
    const reaching: Filter[] = [
      compare(from.field.id, 'lte', last),
      compare(to.field.id, 'gte', isApart ? addDays(first, -1) : first),
    ]
    // Without an end, or with an end before the start, only the start counts.
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

/** Filter of records without a start date in any range; null without ranges. */
export function undatedFilter(ranges: readonly DatedRange[]): Filter | null {
  const fieldIds = [...new Set(ranges.map(({ from }) => from.field.id))]
  return fieldIds.length === 0 ? null : { join: 'and', children: fieldIds.map(blank) }
}

/** Narrows a filter to records that start on a day or later (`asc`), or on it or earlier (`desc`), by one range. */
export const followingFilter = (
  filter: Filter | null,
  { from }: DatedRange,
  day: string,
  direction: 'asc' | 'desc',
): Filter | null => allOf([filter, compare(from.field.id, direction === 'asc' ? 'gte' : 'lte', day)])
