import { offsetAt } from '../dates.ts'
import { MAX_MS, MIN_MS } from './semantics.ts'

/**
 * The clock changes of a zone, as formulas know them: `offsets[0]` holds before `starts[0]`, `offsets[n]` from
 * `starts[n - 1]` on. `walls` are the same places in wall time.
 */
export interface ZoneTable {
  starts: number[]
  walls: number[]
  offsets: number[]
}

const FIRST = 0 // 1970
const LAST = 3_155_760_000_000 // 2070
const STEP = 14 * 86_400_000 // Shorter than any time between two changes, Morocco's Ramadan included.

const tables = new Map<string, ZoneTable>([['UTC', { starts: [], walls: [], offsets: [0] }]])

/** The table of a zone, from which both SQL and JavaScript take its offsets, so that they agree. */
export function zoneTable(zone: string): ZoneTable {
  const known = tables.get(zone)
  if (known) return known
  const table: ZoneTable = { starts: [], walls: [], offsets: [offsetAt(FIRST, zone)] }
  let before = table.offsets[0] ?? 0
  for (let ms = FIRST + STEP; ms <= LAST; ms += STEP) {
    const after = offsetAt(ms, zone)
    if (after === before) continue
    const start = changeBetween(ms - STEP, ms, before, zone)
    table.starts.push(start)
    // Skipped times are as much later, times shown twice are the first: both need the greater offset here.
    table.walls.push(start + Math.max(before, after))
    table.offsets.push(after)
    before = after
  }
  tables.set(zone, table)
  return table
}

/** The first minute from which `before` no longer holds. */
function changeBetween(from: number, to: number, before: number, zone: string): number {
  let [low, high] = [from / 60_000, to / 60_000]
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (offsetAt(middle * 60_000, zone) === before) low = middle
    else high = middle
  }
  return high * 60_000
}

/** The place of a time among the starts: the index of its offset. */
function place(times: number[], ms: number): number {
  let [low, high] = [0, times.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (ms < (times[middle] ?? 0)) high = middle
    else low = middle + 1
  }
  return low
}

/** What clocks in the zone show at an instant, as milliseconds within the years 1 to 9999. */
export function toWall(ms: number, zone: string): number {
  const { starts, offsets } = zoneTable(zone)
  return Math.min(MAX_MS, Math.max(MIN_MS, ms + (offsets[place(starts, ms)] ?? 0)))
}

/** The instant at which clocks in the zone show a wall time. */
export function fromWallMs(wall: number, zone: string): number {
  const { walls, offsets } = zoneTable(zone)
  return wall - (offsets[place(walls, wall)] ?? 0)
}
