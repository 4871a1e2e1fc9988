import { addDays } from '../../../../../src/core/dates.ts'
import { allOf, type Condition, type Filter } from '../../../../../src/core/filters/index.ts'
import type { DatedRange } from './ranges.ts'

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
