import { addDays, daysBetween, dayToMs } from '../../../../../src/core/dates.ts'

/** Days of a week. */
export const WEEK = 7

/** Days since Monday, 0 to 6: weeks begin on Monday (spec §1). */
export const weekdayOf = (day: string): number => (new Date(dayToMs(day)).getUTCDay() + 6) % WEEK

export const isWeekend = (day: string): boolean => weekdayOf(day) > 4

/** The Monday of a day's week. */
export const startOfWeek = (day: string): string => addDays(day, -weekdayOf(day))

/** The first of a day's month. */
export const startOfMonth = (day: string): string => `${day.slice(0, 8)}01`

/** Every day from one to another, both included. */
export const daysFrom = (first: string, last: string): string[] =>
  Array.from({ length: Math.max(0, daysBetween(first, last) + 1) }, (_, at) => addDays(first, at))

/** The number of a day's week by ISO 8601: week 1 is the one with the year's first Thursday. */
export function isoWeek(day: string): number {
  const thursday = addDays(startOfWeek(day), 3)
  return Math.floor(daysBetween(`${thursday.slice(0, 4)}-01-01`, thursday) / WEEK) + 1
}
