import { addDays } from '../../../../../src/core/dates.ts'
import { byTime, type CalendarEvent, DAY_MINUTES, liesIn } from './events.ts'

/** Segment of an event within a row of days. */
export interface LaneSegment {
  event: CalendarEvent
  /** Columns of the row, inclusive. */
  firstColumn: number
  lastColumn: number
  /** Counted from the top. */
  lane: number
  /** True if the event continues before or after the row. */
  continuesBefore: boolean
  continuesAfter: boolean
}

/**
 * Assigns events to lanes over a row of days (a week, possibly without weekend) without overlaps: earlier and longer
 * events first, each in the first free lane.
 */
export function packLanes(events: readonly CalendarEvent[], days: readonly string[]): LaneSegment[] {
  const [first, last] = [days[0], days.at(-1)]
  if (first === undefined || last === undefined) return []
  /** First free column per lane. */
  const free: number[] = []
  const segments: LaneSegment[] = []
  for (const event of events.filter((each) => liesIn(each, first, last)).sort(byTime)) {
    const firstColumn = days.findIndex((day) => day >= event.firstDay)
    const lastColumn = days.findLastIndex((day) => day <= event.lastDay)
    // Only on hidden days.
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

/** Segments that fit the lanes, and the number of hidden ones per column. */
interface FittedLanes {
  shown: LaneSegment[]
  /** Per column of the row. */
  hidden: number[]
}

/** Keeps the segments that fit a number of lanes. If some do not, the last lane is used for "+n". */
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

/** Block of an event within the hours of a day. */
interface HourBlock {
  event: CalendarEvent
  /** Minutes since midnight, at least `LEAST_MINUTES` apart. */
  from: number
  to: number
  /** Index among `columns`, from the start edge. */
  column: number
  columns: number
  /** Number of columns that it covers, including free ones next to it. */
  span: number
  continuesBefore: boolean
  continuesAfter: boolean
}

/** Minimum displayed length, so that short events are readable and clickable. */
const LEAST_MINUTES = 30

/** Blocks that do not fit next to their neighbours. */
interface HiddenBlocks {
  count: number
  /** Minutes covered by the hidden blocks. */
  from: number
  to: number
}

/** Layout of a day's hours. */
interface HourLayout {
  blocks: HourBlock[]
  /** Shown in the last of `columns`. */
  hidden: HiddenBlocks[]
  columns: number
}

/**
 * Lays out the timed events of a day. Overlapping events are side by side in up to `most` columns; the last column
 * shows the number of further ones.
 */
export function packHours(events: readonly CalendarEvent[], day: string, most: number): HourLayout {
  const blocks = events
    .filter((event) => !event.isAllDay && liesIn(event, day, day))
    .map((event) => blockOf(event, day))
    .sort((a, b) => a.from - b.from || b.to - a.to || (a.event.key < b.event.key ? -1 : 1))
  const shown: HourBlock[] = []
  const hidden: HiddenBlocks[] = []
  let cluster: HourBlock[] = []
  let end = 0
  const close = () => {
    spread(cluster)
    const isCrowd = cluster.some(({ columns }) => columns > most)
    const kept = isCrowd ? cluster.filter(({ column }) => column < most - 1) : cluster
    shown.push(...kept)
    if (!isCrowd) return
    for (const block of kept) {
      block.columns = most
      block.span = Math.min(block.span, most - 1 - block.column)
    }
    const rest = cluster.filter(({ column }) => column >= most - 1)
    const from = Math.min(...rest.map((block) => block.from))
    hidden.push({ count: rest.length, from, to: Math.max(...rest.map((block) => block.to)) })
  }
  for (const block of blocks) {
    // No earlier event overlaps: starts a new cluster.
    if (block.from >= end) {
      close()
      cluster = []
    }
    cluster.push(block)
    end = Math.max(end, block.to)
  }
  close()
  return { blocks: shown, hidden, columns: most }
}

function blockOf(event: CalendarEvent, day: string): HourBlock {
  const continuesBefore = event.firstDay < day
  const continuesAfter = event.lastDay > day
  const from = continuesBefore ? 0 : (event.startMinute ?? 0)
  const end = continuesAfter ? DAY_MINUTES : (event.endMinute ?? DAY_MINUTES)
  // Blocks shortly before midnight start earlier, to stay within the day.
  const start = Math.min(from, DAY_MINUTES - LEAST_MINUTES)
  const to = Math.max(end, start + LEAST_MINUTES)
  return { event, from: start, to, column: 0, columns: 1, span: 1, continuesBefore, continuesAfter }
}

/** Assigns a column to each block of a cluster and widens it into free columns. */
function spread(cluster: HourBlock[]): void {
  const ends: number[] = []
  for (const block of cluster) {
    const known = ends.findIndex((end) => end <= block.from)
    block.column = known === -1 ? ends.length : known
    ends[block.column] = block.to
  }
  for (const block of cluster) {
    block.columns = ends.length
    const blocking = cluster
      .filter((other) => other.column > block.column && other.from < block.to && other.to > block.from)
      .map((other) => other.column)
    block.span = Math.min(ends.length, ...blocking) - block.column
  }
}

/** Number of events per day from `first` to `last`; days without events are absent. */
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

/** Number of shades. */
const LEVELS = 4

/** Shade of a day from 0 to 4, by its share of the fullest day. */
export const densityLevel = (count: number, most: number): number =>
  count === 0 ? 0 : Math.max(1, Math.ceil((count / Math.max(most, 1)) * LEVELS))
