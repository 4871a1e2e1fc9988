import { byTime, type CalendarEvent, liesIn } from './events.ts'

/** A part of an event within one row of days. */
export interface LaneSegment {
  event: CalendarEvent
  /** Columns of the row, the last included. */
  firstColumn: number
  lastColumn: number
  /** Counted from the top. */
  lane: number
  /** True where the event goes on beyond the row, at its start or its end. */
  continuesBefore: boolean
  continuesAfter: boolean
}

/**
 * Lays events in lanes over a row of days (a week, perhaps without its weekend) so that none covers
 * another: each takes the first lane that is free, the earlier and longer ones first.
 */
export function packLanes(events: readonly CalendarEvent[], days: readonly string[]): LaneSegment[] {
  const [first, last] = [days[0], days.at(-1)]
  if (first === undefined || last === undefined) return []
  /** Per lane the first column that is free. */
  const free: number[] = []
  const segments: LaneSegment[] = []
  for (const event of events.filter((each) => liesIn(each, first, last)).sort(byTime)) {
    const firstColumn = days.findIndex((day) => day >= event.firstDay)
    const lastColumn = days.findLastIndex((day) => day <= event.lastDay)
    // It lies on hidden days alone.
    if (firstColumn === -1 || lastColumn < firstColumn) continue
    const known = free.findIndex((column) => column <= firstColumn)
    const lane = known === -1 ? free.length : known
    free[lane] = lastColumn + 1
    segments.push({
      event,
      firstColumn,
      lastColumn,
      lane,
      continuesBefore: event.firstDay < (days[firstColumn] ?? first),
      continuesAfter: event.lastDay > (days[lastColumn] ?? last),
    })
  }
  return segments
}

/** The segments that fit into some lanes, and how many do not on each column. */
export interface FittedLanes {
  shown: LaneSegment[]
  /** Per column of the row. */
  hidden: number[]
}

/** Keeps what fits into a number of lanes. Where anything does not, the last lane is left to "+n". */
export function fitLanes(segments: readonly LaneSegment[], columns: number, lanes: number): FittedLanes {
  const needed = segments.reduce((most, { lane }) => Math.max(most, lane + 1), 0)
  const limit = needed <= lanes ? lanes : Math.max(0, lanes - 1)
  const hidden = Array.from({ length: columns }, () => 0)
  const shown: LaneSegment[] = []
  for (const segment of segments) {
    if (segment.lane < limit) shown.push(segment)
    else for (let at = segment.firstColumn; at <= segment.lastColumn; at++) hidden[at] = (hidden[at] ?? 0) + 1
  }
  return { shown, hidden }
}
