import { addDays } from '../../../../../src/core/dates.ts'
import { byTime, type CalendarEvent, DAY_MINUTES, liesIn } from './events.ts'

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
interface FittedLanes {
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

/** A part of an event within the hours of one day. */
interface HourBlock {
  event: CalendarEvent
  /** Minutes since midnight, at least `LEAST_MINUTES` apart. */
  from: number
  to: number
  /** Of `columns` that stand side by side, from the start of the line. */
  column: number
  columns: number
  /** How many columns it covers: it widens into those that are free beside it. */
  span: number
  continuesBefore: boolean
  continuesAfter: boolean
}

/** Shorter events are drawn at this length, so that they can be read and clicked. */
const LEAST_MINUTES = 30

/** Blocks for which there is no room beside their neighbours. */
interface HiddenBlocks {
  count: number
  /** Minutes from the first of them to the last. */
  from: number
  to: number
}

/** The hours of a day as they are drawn. */
interface HourLayout {
  blocks: HourBlock[]
  /** They stand in the last of `columns`. */
  hidden: HiddenBlocks[]
  columns: number
}

/**
 * Lays the timed events of a day over its hours; those that overlap stand side by side, in so many columns
 * at most that they can be read. What more there is stands in the last column as a number.
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
    // Nothing that stands before reaches this far: a new group of neighbours begins.
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
  // Kept within the day: the last minutes before midnight begin a little early.
  const start = Math.min(from, DAY_MINUTES - LEAST_MINUTES)
  const to = Math.max(end, start + LEAST_MINUTES)
  return { event, from: start, to, column: 0, columns: 1, span: 1, continuesBefore, continuesAfter }
}

/** Gives each block of a group a column, and as much room beside it as is free. */
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
