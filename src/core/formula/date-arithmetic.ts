import { daysInMonth, utcOf, wallOf } from '../dates.ts'
import type { ValueType } from './ast.ts'
import type { Build, Value } from './build.ts'
import { argument, type Datum } from './functions/define.ts'
import {
  compileDateOrNull,
  compileFromWall,
  compileInstant,
  compileSplit,
  compileToWall,
  fromWallMs,
  instantOfDatum,
  wallOfDatum,
} from './instants.ts'
import { wholeArg } from './numbers.ts'
import { DAY_MS, dateOrNull, whole } from './semantics.ts'

/** A unit of DATEADD: days on the wall, calendar months, or exact time in milliseconds. */
type Step = { days: number } | { months: number } | { exact: number }

const HOUR = 3_600_000

/** Units of DATETIME_DIFF: exact time in milliseconds, time on the wall in milliseconds, or calendar months. */
type DifferenceUnit = { exact: number } | { wall: number } | { months: number }

const UNITS: [names: string[], unit: DifferenceUnit][] = [
  [['milliseconds', 'ms'], { exact: 1 }],
  [['seconds', 's'], { exact: 1000 }],
  [['minutes', 'm'], { exact: 60_000 }],
  [['hours', 'h'], { exact: HOUR }],
  [['days', 'd'], { wall: 24 * HOUR }],
  [['weeks', 'w'], { wall: 7 * 24 * HOUR }],
  [['months', 'M'], { months: 1 }],
  [['quarters', 'Q'], { months: 3 }],
  [['years', 'y'], { months: 12 }],
]

const DAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']

/** Step of a DATEADD unit, by the names of DATETIME_DIFF's; null for an unknown unit. Days and weeks are those on the wall. */
function stepOf(unit: Datum | undefined): Step | null {
  const found = differenceUnit(unit)
  return found && 'wall' in found ? { days: found.wall / DAY_MS } : found
}

/** True for a unit of DATEADD that is shorter than a day, so that the result has a time of day. */
export function isTimeUnit(unit: Datum | undefined): boolean {
  const step = stepOf(unit)
  return step !== null && 'exact' in step
}

/** A unit by its name: `days`, `day` or `d`. Of the short ones M and Q are capitals. */
export function differenceUnit(name: Datum | undefined): DifferenceUnit | null {
  const text = String(name)
  const long = text.toLowerCase()
  const found = UNITS.find(([[full = '', short]]) => text === short || long === full || `${long}s` === full)
  return found?.[1] ?? null
}

/** The names of the units of DATETIME_DIFF, long and short. */
export const DIFFERENCE_UNITS: readonly string[] = UNITS.flatMap(([names]) => names)
/** The names of the units of DATEADD in spec §8; those of DATETIME_DIFF are accepted as well. */
export const STEP_UNITS: readonly string[] = ['day', 'week', 'month', 'year', 'hour', 'minute', 'second']

/** True for an accepted name of a unit, such as `days`, `day` or `d`. */
export const isUnit = (name: string): boolean => differenceUnit(name) !== null

/** Days from Monday to the named weekday; 0 without a name, -1 for an unknown one. */
export const firstDay = (name: Datum | undefined): number =>
  name === undefined || name === null ? 0 : DAYS.indexOf(String(name).toLowerCase())

/** More days than there are. */
const MAX_STEPS = 4_000_000
/** The number of steps that is counted at most. As time it is the same for all units below a month. */
const mostSteps = (step: Step): number => ('exact' in step ? (MAX_STEPS * DAY_MS) / step.exact : MAX_STEPS)
/** Months since year 0 of the first and of the last month. */
const FIRST_MONTH = 12
const LAST_MONTH = 119_999

/** A date so many units later. */
export function addToDate(args: Datum[], type: ValueType | undefined, zone: string): number | null {
  const [date = null, count = null, unit] = args
  const step = stepOf(unit)
  if (date === null || count === null || step === null) return null
  const steps = whole(Number(count), -mostSteps(step), mostSteps(step))
  if ('exact' in step) return dateOrNull(instantOfDatum(date, type, zone) + steps * step.exact)
  const wall = wallOfDatum(date, type, zone)
  const moved = 'days' in step ? wall + steps * step.days * DAY_MS : addMonths(wall, steps * step.months)
  if (moved === null) return null
  return dateOrNull(type === 'datetime' ? fromWallMs(moved, zone) : moved)
}

function addMonths(ms: number, months: number): number | null {
  const wall = wallOf(ms)
  const index = wall.year * 12 + wall.month - 1 + months
  if (index < FIRST_MONTH || index > LAST_MONTH) return null
  const [year, month] = [Math.floor(index / 12), (index % 12) + 1]
  return utcOf({ ...wall, year, month, day: Math.min(wall.day, daysInMonth(year, month)) })
}

/** The same as SQL. */
export function compileDateAdd<S>(args: Value<S>[], build: Build<S>): S {
  const { words, constant } = build
  const step = stepOf(args[2]?.constant)
  const date = argument(args, 0, build, 'date')
  if (step === null) return words.nothing(date.type)
  const count = wholeArg(argument(args, 1, build, 'number'), build, -mostSteps(step), mostSteps(step))
  if ('exact' in step) {
    const time = words.arithmetic('*', count.sql, constant(step.exact))
    return compileDateOrNull(words.arithmetic('+', compileInstant(date, build), time), build)
  }
  const wall = { ...date, sql: compileToWall(date, build), isSimple: date.isSimple && date.type === 'date' }
  const moved =
    'days' in step
      ? words.arithmetic('+', wall.sql, words.arithmetic('*', count.sql, constant(step.days * DAY_MS)))
      : build.once([wall, count], (ms, steps) =>
          build.bind(words.arithmetic('*', steps, constant(step.months)), 'number', (months) =>
            compileAddMonths(ms, months, build),
          ),
        )
  return compileDateOrNull(date.type === 'datetime' ? compileFromWall(moved, build) : moved, build)
}

function compileAddMonths<S>(ms: S, months: S, { words, constant }: Build<S>): S {
  const years = words.arithmetic('*', words.datePart('year', ms), constant(12))
  const month = words.arithmetic('-', words.datePart('month', ms), constant(1))
  const index = words.arithmetic('+', words.arithmetic('+', years, month), months)
  const isInside = words.and([
    words.compare('>=', index, constant(FIRST_MONTH)),
    words.compare('<=', index, constant(LAST_MONTH)),
  ])
  return words.choose([[isInside, words.addMonths(ms, months)]], words.nothing('datetime'))
}

/** Number of whole units from the second date to the first. */
export function difference(args: Datum[], types: ValueType[], zone: string): number | null {
  const [first = null, second = null, name = 'seconds'] = args
  const unit = differenceUnit(name)
  if (first === null || second === null || unit === null) return null
  if ('exact' in unit) {
    const apart = instantOfDatum(first, types[0], zone) - instantOfDatum(second, types[1], zone)
    return Math.trunc(apart / unit.exact)
  }
  const [a, b] = [wallOfDatum(first, types[0], zone), wallOfDatum(second, types[1], zone)]
  return 'wall' in unit ? Math.trunc((a - b) / unit.wall) : Math.trunc(monthsBetween(a, b) / unit.months)
}

function monthsBetween(a: number, b: number): number {
  const [first, second] = [wallOf(a), wallOf(b)]
  const months = (first.year - second.year) * 12 + first.month - second.month
  const order = sinceMonth(a, first.day) - sinceMonth(b, second.day)
  if (months > 0 && order < 0) return months - 1
  return months < 0 && order > 0 ? months + 1 : months
}

const sinceMonth = (ms: number, day: number): number =>
  (day - 1) * DAY_MS + ms - Math.floor(ms / DAY_MS) * DAY_MS

/** The same as SQL. */
export function compileDifference<S>(args: Value<S>[], build: Build<S>): S {
  const { words, constant } = build
  const unit = differenceUnit(args[2]?.constant ?? 'seconds')
  const [first, second] = [argument(args, 0, build, 'date'), argument(args, 1, build, 'date')]
  if (unit === null) return words.nothing('number')
  if ('exact' in unit) {
    const apart = words.arithmetic('-', compileInstant(first, build), compileInstant(second, build))
    return truncate(words.divide(apart, constant(unit.exact)), build)
  }
  const [a, b] = [compileToWall(first, build), compileToWall(second, build)]
  if ('wall' in unit) return truncate(words.divide(words.arithmetic('-', a, b), constant(unit.wall)), build)
  const walls = [
    { ...first, sql: a, isSimple: first.isSimple && first.type === 'date' },
    { ...second, sql: b, isSimple: second.isSimple && second.type === 'date' },
  ]
  return build.once(walls, (...bound) => {
    const [one, other] = bound as [S, S]
    return truncate(words.divide(compileMonths(one, other, build), constant(unit.months)), build)
  })
}

function compileMonths<S>(a: S, b: S, build: Build<S>): S {
  const { words, constant } = build
  const minus = (left: S, right: S) => words.arithmetic('-', left, right)
  const years = minus(words.datePart('year', a), words.datePart('year', b))
  const rest = minus(words.datePart('month', a), words.datePart('month', b))
  const total = words.arithmetic('+', words.arithmetic('*', years, constant(12)), rest)
  const since = (ms: S) =>
    words.arithmetic(
      '+',
      words.arithmetic('*', minus(words.datePart('day', ms), constant(1)), constant(DAY_MS)),
      compileSplit(ms, build).time,
    )
  const values = [total, minus(since(a), since(b))].map((sql) => ({
    sql,
    type: 'number' as const,
    isSimple: false,
  }))
  return build.once(values, (...bound) => {
    const [months, order] = bound as [S, S]
    const [zero, one] = [constant(0), constant(1)]
    const isEarly = words.and([words.compare('>', months, zero), words.compare('<', order, zero)])
    const isLate = words.and([words.compare('<', months, zero), words.compare('>', order, zero)])
    return words.choose(
      [
        [isEarly, minus(months, one)],
        [isLate, words.arithmetic('+', months, one)],
      ],
      months,
    )
  })
}

const truncate = <S>(value: S, build: Build<S>): S =>
  build.bind(value, 'number', (number) =>
    build.words.choose(
      [[build.words.compare('<', number, build.constant(0)), build.words.ceil(number)]],
      build.words.floor(number),
    ),
  )

/** The start of the unit that an instant lies in: an instant or a wall time of the zone, or a count of months. */
function startOfUnit(value: Datum, type: ValueType | undefined, unit: DifferenceUnit, zone: string): number {
  const wall = wallOfDatum(value, type, zone)
  if ('exact' in unit) {
    // From the instant: an hour that clocks show twice is two hours.
    return instantOfDatum(value, type, zone) - (wall - Math.floor(wall / unit.exact) * unit.exact)
  }
  if ('wall' in unit) return Math.floor((wall + WEEK_SHIFT) / unit.wall)
  const { year, month } = wallOf(wall)
  return Math.floor((year * 12 + month - 1) / unit.months)
}

/** 1970-01-01 was a Thursday; weeks start on Monday. */
const WEEK_SHIFT = 3 * DAY_MS

/** True if both dates lie in the same unit, or without one are the same instant; false if one is empty. */
export function isSameUnit(args: Datum[], types: ValueType[], zone: string): boolean {
  const [first = null, second = null, name = 'milliseconds'] = args
  const unit = differenceUnit(name)
  if (first === null || second === null || unit === null) return false
  return startOfUnit(first, types[0], unit, zone) === startOfUnit(second, types[1], unit, zone)
}

/** The same as SQL. */
export function compileSameUnit<S>(args: Value<S>[], build: Build<S>): S {
  const { words, constant } = build
  const unit = differenceUnit(args[2]?.constant ?? 'milliseconds')
  if (unit === null) return words.truth(false)
  const floored = (value: S, size: number) => words.floor(words.divide(value, constant(size)))
  const startOf = (value: Value<S>): S =>
    build.once([value], (sql) => {
      const bound = { ...value, sql, isSimple: true }
      return build.bind(compileToWall(bound, build), 'datetime', (wall) => {
        if ('exact' in unit) {
          const start = words.arithmetic('*', floored(wall, unit.exact), constant(unit.exact))
          return words.arithmetic('-', compileInstant(bound, build), words.arithmetic('-', wall, start))
        }
        if ('wall' in unit) return floored(words.arithmetic('+', wall, constant(WEEK_SHIFT)), unit.wall)
        const years = words.arithmetic('*', words.datePart('year', wall), constant(12))
        const month = words.arithmetic('-', words.datePart('month', wall), constant(1))
        return floored(words.arithmetic('+', years, month), unit.months)
      })
    })
  const [first, second] = [argument(args, 0, build, 'date'), argument(args, 1, build, 'date')]
  return words.coalesce(words.compare('=', startOf(first), startOf(second)), words.truth(false))
}
