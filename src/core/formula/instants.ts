import { offsetAt } from '../dates.ts'
import type { ValueType } from './ast.ts'
import type { Build, Value } from './build.ts'
import type { Datum } from './functions/define.ts'
import { DAY_MS, MAX_MS, MIN_MS } from './semantics.ts'

/**
 * The clock changes of a zone, as formulas know them: `offsets[0]` holds before `starts[0]`, `offsets[n]` from
 * `starts[n - 1]` on. `walls` are the same places in wall time.
 */
interface ZoneTable {
  starts: number[]
  walls: number[]
  offsets: number[]
}

const FIRST = 0 // 1970
const LAST = 3_155_760_000_000 // 2070
const STEP = 14 * 86_400_000 // Shorter than any time between two changes, Morocco's Ramadan included.

const tables = new Map<string, ZoneTable>([['UTC', { starts: [], walls: [], offsets: [0] }]])

/** The table of a zone, from which both SQL and JavaScript take its offsets, so that they agree. */
function zoneTable(zone: string): ZoneTable {
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

/** The index of the offset that holds at a time. */
function indexOfChange(times: number[], ms: number): number {
  let [low, high] = [0, times.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (ms < (times[middle] ?? 0)) high = middle
    else low = middle + 1
  }
  return low
}

/** The wall time of an instant in the zone, in milliseconds, clamped to the years 1 to 9999. */
export function toWall(ms: number, zone: string): number {
  const { starts, offsets } = zoneTable(zone)
  return Math.min(MAX_MS, Math.max(MIN_MS, ms + (offsets[indexOfChange(starts, ms)] ?? 0)))
}

/** The instant of a wall time in the zone. */
export function fromWallMs(wall: number, zone: string): number {
  const { walls, offsets } = zoneTable(zone)
  return wall - (offsets[indexOfChange(walls, wall)] ?? 0)
}

/** The wall time of a date in the zone; of a day its midnight. */
export const wallOfDatum = (value: Datum, type: ValueType | undefined, zone: string): number =>
  type === 'datetime' ? toWall(Number(value), zone) : Number(value)

/** The instant of a date; a day begins at midnight in the zone. */
export const instantOfDatum = (value: Datum, type: ValueType | undefined, zone: string): number =>
  type === 'date' ? fromWallMs(Number(value), zone) : Number(value)

/** `instantOfDatum` as SQL. */
export const compileInstant = <S>(value: Value<S>, build: Build<S>): S =>
  value.type === 'date' ? compileFromWall(value.sql, build) : value.sql

/** `wallOfDatum` as SQL. */
export function compileToWall<S>(value: Value<S>, build: Build<S>): S {
  const { starts, offsets } = zoneTable(build.zone)
  if (value.type !== 'datetime' || isUtc(offsets)) return value.sql
  const { words, constant } = build
  const wall = build.once([value], (ms) => words.arithmetic('+', ms, offsetOf(ms, starts, offsets, build)))
  return build.bind(wall, 'datetime', (ms) =>
    words.choose(
      [
        [words.compare('>', ms, constant(MAX_MS)), constant(MAX_MS)],
        [words.compare('<', ms, constant(MIN_MS)), constant(MIN_MS)],
      ],
      ms,
    ),
  )
}

/** `fromWallMs` as SQL. */
export function compileFromWall<S>(wall: S, build: Build<S>): S {
  const { walls, offsets } = zoneTable(build.zone)
  if (isUtc(offsets)) return wall
  return build.bind(wall, 'datetime', (ms) =>
    build.words.arithmetic('-', ms, offsetOf(ms, walls, offsets, build)),
  )
}

const isUtc = (offsets: number[]): boolean => offsets.every((offset) => offset === 0)

/** Halves the list of changes at each step, so that a row asks eight times and not two hundred. */
function offsetOf<S>(ms: S, times: number[], offsets: number[], build: Build<S>): S {
  const { words, constant } = build
  if (times.length === 0) return constant(offsets[0] ?? 0)
  const middle = times.length >> 1
  const before = offsetOf(ms, times.slice(0, middle), offsets.slice(0, middle + 1), build)
  const after = offsetOf(ms, times.slice(middle + 1), offsets.slice(middle + 1), build)
  return words.choose([[words.compare('<', ms, constant(times[middle] ?? 0)), before]], after)
}

/** Milliseconds, or null outside the years 1 to 9999, as SQL. */
export function compileDateOrNull<S>(ms: S, build: Build<S>): S {
  const { words, constant } = build
  return build.bind(ms, 'datetime', (value) =>
    words.choose(
      [
        [
          words.and([
            words.compare('>=', value, constant(MIN_MS)),
            words.compare('<=', value, constant(MAX_MS)),
          ]),
          value,
        ],
      ],
      words.nothing('datetime'),
    ),
  )
}

/** How many whole days a wall time lies behind 1970, and the milliseconds since its midnight, as SQL. */
export function compileSplit<S>(wall: S, { words, constant }: Build<S>): { days: S; time: S } {
  const days = words.floor(words.divide(wall, constant(DAY_MS)))
  const time = words.arithmetic('-', wall, words.arithmetic('*', days, constant(DAY_MS)))
  return { days, time }
}
