import type { ValueType } from './ast.ts'
import type { Build, Value } from './build.ts'
import type { Datum } from './functions/define.ts'
import { DAY_MS, MAX_MS, MIN_MS } from './semantics.ts'
import { fromWallMs, toWall, zoneTable } from './zones.ts'

/** What clocks in the zone show at a date; a day is its own midnight. */
export const wallOfDatum = (value: Datum, type: ValueType | undefined, zone: string): number =>
  type === 'datetime' ? toWall(Number(value), zone) : Number(value)

/** The instant of a date; a day begins at midnight in the zone. */
export const instantOfDatum = (value: Datum, type: ValueType | undefined, zone: string): number =>
  type === 'date' ? fromWallMs(Number(value), zone) : Number(value)

/** The same as SQL. */
export const compileInstant = <S>(value: Value<S>, build: Build<S>): S =>
  value.type === 'date' ? compileFromWall(value.sql, build) : value.sql

/** What clocks in the zone show at an instant, as SQL; a day is its own midnight. */
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

/** The instant at which clocks in the zone show a wall time, as SQL. */
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
