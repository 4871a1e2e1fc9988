import { addDays, addMonths, dayIn } from '../dates.ts'
import { type DateOperand, WITHIN_OPERANDS } from './filter.ts'

/** The first and the last day of a range. */
interface DayRange {
  from: string
  last: string
}

/** Maximum of "days ago": about 270 years. */
export const MAX_DAYS = 100_000

/** The value that an operand needs: a number of days, a date, or nothing. */
export function operandNeeds(operand: DateOperand): 'days' | 'date' | 'nothing' {
  if (operand === 'exactDate') return 'date'
  const counts: DateOperand[] = ['daysAgo', 'daysFromNow', 'pastNumberOfDays', 'nextNumberOfDays']
  return counts.includes(operand) ? 'days' : 'nothing'
}

export const isWithinOperand = (operand: DateOperand): boolean =>
  (WITHIN_OPERANDS as readonly DateOperand[]).includes(operand)

/**
 * Resolves an operand to days, given the current time and zone. The ranges of `isWithin` include today and
 * both ends (wire §14.5): `pastWeek` is eight days.
 *
 * @param value the date of `exactDate`, or the number of days
 */
export function resolveDays(
  operand: DateOperand,
  value: string | number | null,
  now: Date,
  zone: string,
): DayRange {
  const today = dayIn(now.getTime(), zone)
  const days = typeof value === 'number' ? value : 0
  const one = (day: string): DayRange => ({ from: day, last: day })
  const since = (day: string): DayRange => ({ from: day, last: today })
  const until = (day: string): DayRange => ({ from: today, last: day })
  const meanings: Record<DateOperand, () => DayRange> = {
    today: () => one(today),
    tomorrow: () => one(addDays(today, 1)),
    yesterday: () => one(addDays(today, -1)),
    oneWeekAgo: () => one(addDays(today, -7)),
    oneWeekFromNow: () => one(addDays(today, 7)),
    oneMonthAgo: () => one(addMonths(today, -1)),
    oneMonthFromNow: () => one(addMonths(today, 1)),
    daysAgo: () => one(addDays(today, -days)),
    daysFromNow: () => one(addDays(today, days)),
    exactDate: () => one(String(value)),
    pastWeek: () => since(addDays(today, -7)),
    pastMonth: () => since(addMonths(today, -1)),
    pastYear: () => since(addMonths(today, -12)),
    pastNumberOfDays: () => since(addDays(today, -days)),
    nextWeek: () => until(addDays(today, 7)),
    nextMonth: () => until(addMonths(today, 1)),
    nextYear: () => until(addMonths(today, 12)),
    nextNumberOfDays: () => until(addDays(today, days)),
  }
  return meanings[operand]()
}
