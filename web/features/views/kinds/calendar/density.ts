import { addDays } from '../../../../../src/core/dates.ts'
import { type CalendarEvent, liesIn } from './events.ts'

/** How many events lie on each day from `first` to `last`; days without any are absent. */
export function countByDay(
  events: readonly CalendarEvent[],
  first: string,
  last: string,
): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const event of events) {
    if (!liesIn(event, first, last)) continue
    const end = event.lastDay < last ? event.lastDay : last
    for (let day = event.firstDay > first ? event.firstDay : first; day <= end; day = addDays(day, 1)) {
      counts.set(day, (counts.get(day) ?? 0) + 1)
      if (day === end) break
    }
  }
  return counts
}

/** Steps of the shade of a day. */
const LEVELS = 4

/** How dark a day is drawn, 0 (none) to 4, by its share of the fullest day shown. */
export const densityLevel = (count: number, most: number): number =>
  count === 0 ? 0 : Math.max(1, Math.ceil((count / Math.max(most, 1)) * LEVELS))
