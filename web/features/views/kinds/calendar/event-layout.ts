import { addDays } from '../../../../../src/core/dates.ts'
import { byTime, type CalendarEvent, DAY_MINUTES, liesIn } from './events.ts'

/** The part of an event that lies in one week, drawn as a bar. */
export interface BarSegment {
  event: CalendarEvent
  /** Day columns, both inclusive. */
  firstColumn: number
  lastColumn: number
  /** Position in the stack of bars, 0 at the top. */
  row: number
  /** The event starts before, or ends after, the days of the week. */
  continuesBefore: boolean
  continuesAfter: boolean
}

/**
 * Stacks the events of consecutive days (a week, perhaps without its weekend) as bars that do not overlap: sorted by
 * `byTime`, each takes the first free row.
 */
export function stackBars(events: readonly CalendarEvent[], days: readonly string[]): BarSegment[] {
  const [first, last] = [days[0], days.at(-1)]
  if (first === undefined || last === undefined) return []
  /** The first free column per row. */
  const free: number[] = []
  const segments: BarSegment[] = []
  for (const event of events.filter((each) => liesIn(each, first, last)).sort(byTime)) {
    const firstColumn = days.findIndex((day) => day >= event.firstDay)
    const lastColumn = days.findLastIndex((day) => day <= event.lastDay)
    // It lies on hidden days only.
    if (firstColumn === -1 || lastColumn < firstColumn) continue
    const found = free.findIndex((column) => column <= firstColumn)
    const row = found === -1 ? free.length : found
    free[row] = lastColumn + 1
    segments.push({
      event,
      firstColumn,
      lastColumn,
      row,
      continuesBefore: event.firstDay < (days[firstColumn] ?? first),
      continuesAfter: event.lastDay > (days[lastColumn] ?? last),
    })
  }
  return segments
}

/**
 * Splits bars into those that fit into `rows` and the number of `hidden` ones per column. If any do not fit, the last
 * row stays free for the "+n" button.
 */
export function fitRows(
  segments: readonly BarSegment[],
  columns: number,
  rows: number,
): { shown: BarSegment[]; hidden: number[] } {
  const needed = segments.reduce((most, { row }) => Math.max(most, row + 1), 0)
  const limit = needed <= rows ? rows : Math.max(0, rows - 1)
  const hidden = Array.from({ length: columns }, () => 0)
  const shown: BarSegment[] = []
  for (const segment of segments) {
    if (segment.row < limit) shown.push(segment)
    else for (let at = segment.firstColumn; at <= segment.lastColumn; at++) hidden[at] = (hidden[at] ?? 0) + 1
  }
  return { shown, hidden }
}

/** The part of a timed event that lies on one day. */
interface HourBlock {
  event: CalendarEvent
  /** Minutes since midnight, at least `MIN_BLOCK_MINUTES` apart. */
  from: number
  to: number
  /** Index among `columns` side by side, 0 at the inline start. */
  column: number
  columns: number
  /** Columns it covers: it widens into free ones beside it. */
  span: number
  continuesBefore: boolean
  continuesAfter: boolean
}

/** Shorter events are drawn at this length, so that they can be read and clicked. */
const MIN_BLOCK_MINUTES = 30

/** Blocks that do not fit beside their neighbours. */
interface HiddenBlocks {
  count: number
  /** Minutes since midnight at which the first starts and the last ends. */
  from: number
  to: number
}

/** Layout of the timed events of a day. */
interface HourLayout {
  blocks: HourBlock[]
  /** Drawn as one number each, in the last of `columns`. */
  hidden: HiddenBlocks[]
  columns: number
}

/**
 * Lays out the timed events of a day. Overlapping ones are side by side in at most `most` columns; the rest is `hidden`.
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
  const closeCluster = () => {
    assignColumns(cluster)
    const isCrowded = cluster.some(({ columns }) => columns > most)
    const visible = isCrowded ? cluster.filter(({ column }) => column < most - 1) : cluster
    shown.push(...visible)
    if (!isCrowded) return
    for (const block of visible) {
      block.columns = most
      block.span = Math.min(block.span, most - 1 - block.column)
    }
    const rest = cluster.filter(({ column }) => column >= most - 1)
    const from = Math.min(...rest.map((block) => block.from))
    hidden.push({ count: rest.length, from, to: Math.max(...rest.map((block) => block.to)) })
  }
  for (const block of blocks) {
    // No earlier block reaches this far: a new cluster of overlapping blocks starts.
    if (block.from >= end) {
      closeCluster()
      cluster = []
    }
    cluster.push(block)
    end = Math.max(end, block.to)
  }
  closeCluster()
  return { blocks: shown, hidden, columns: most }
}

function blockOf(event: CalendarEvent, day: string): HourBlock {
  const continuesBefore = event.firstDay < day
  const continuesAfter = event.lastDay > day
  const from = continuesBefore ? 0 : (event.startMinute ?? 0)
  const end = continuesAfter ? DAY_MINUTES : (event.endMinute ?? DAY_MINUTES)
  // A block in the last minutes before midnight is drawn from a little earlier, to stay within the day.
  const start = Math.min(from, DAY_MINUTES - MIN_BLOCK_MINUTES)
  const to = Math.max(end, start + MIN_BLOCK_MINUTES)
  return { event, from: start, to, column: 0, columns: 1, span: 1, continuesBefore, continuesAfter }
}

/** Assigns each block of a cluster a column, and the free columns beside it. */
function assignColumns(cluster: HourBlock[]): void {
  const ends: number[] = []
  for (const block of cluster) {
    const free = ends.findIndex((end) => end <= block.from)
    block.column = free === -1 ? ends.length : free
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

/** Number of events on each day from `first` to `last`; days without events are absent. */
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

const LEVELS = 4

/** Shade of a day from 0 (no events) to 4, relative to the day with the most events. */
export const densityLevel = (count: number, most: number): number =>
  count === 0 ? 0 : Math.max(1, Math.ceil((count / Math.max(most, 1)) * LEVELS))
