import { type CalendarEvent, DAY_MINUTES, liesIn } from './events.ts'

/** A part of an event within the hours of one day. */
export interface HourBlock {
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

/** What is shorter is drawn, and laid out, as if it were this long: one must be able to read and hit it. */
const LEAST_MINUTES = 30

/** Blocks for which there is no room beside their neighbours. */
export interface HiddenBlocks {
  count: number
  /** Minutes from the first of them to the last. */
  from: number
  to: number
}

/** The hours of a day as they are drawn. */
export interface HourLayout {
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
