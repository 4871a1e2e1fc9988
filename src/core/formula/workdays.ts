import { dayToMs, isDay } from '../dates.ts'
import { trimCharacters } from '../trim-characters.ts'
import type { ValueType } from './ast.ts'
import type { Build, Value } from './build.ts'
import { dateFormatOf, parseDate } from './date-format.ts'
import { argument, type Datum } from './functions/define.ts'
import { compileDateOrNull, compileSplit, compileToWall, wallOfDatum } from './instants.ts'
import { wholeArg } from './numbers.ts'
import { DAY_MS, dateOrNull, whole } from './semantics.ts'

/*
 * Workdays are Monday to Friday, without the given holidays. Days are numbered from 1970-01-01, workdays
 * from Monday, 1969-12-29: five in each week, so that steps and distances are plain arithmetic.
 */

const MAX_HOLIDAYS = 100
/** Larger than any possible number of workdays. */
const MAX_STEPS = 4_000_000
/** Days from Monday, 1969-12-29 to 1970-01-01. */
const SHIFT = 3

/** The numbers of the workdays in a list such as `2024-12-25, 2024-12-26`, ascending; null for anything else. */
export function readHolidays(text: string): number[] | null {
  const days = text
    .split(',')
    .map((day) => day.trim())
    .filter((day) => day !== '')
  if (days.length > MAX_HOLIDAYS || !days.every(isDay)) return null
  const numbers = days.map((day) => dayToMs(day) / DAY_MS).filter((day) => weekdayOf(day) < 5)
  return [...new Set(numbers.map(workdayOf))].sort((a, b) => a - b)
}

const weekOf = (day: number): number => Math.floor((day + SHIFT) / 7)
const weekdayOf = (day: number): number => day + SHIFT - weekOf(day) * 7
/** The number of a workday; of a weekend that of its Friday. */
const workdayOf = (day: number): number => weekOf(day) * 5 + Math.min(4, weekdayOf(day))
const dayOfWorkday = (workday: number): number => {
  const week = Math.floor(workday / 5)
  return week * 7 + (workday - week * 5) - SHIFT
}

/** The day at the start of each part of a text, which may be followed by a time. */
const HOLIDAY = dateFormatOf('YYYY-MM-DD')!
const HOLIDAY_LENGTH = 10

/** The numbers of the workdays among the days between commas, each once, ascending. What is no day is passed over. */
function holidaysOf(written: unknown): number[] {
  if (typeof written !== 'string') return []
  const days = written.split(',').flatMap((part) => {
    const ms = parseDate(trimCharacters(part, ' ').slice(0, HOLIDAY_LENGTH), HOLIDAY)
    const day = ms === null ? null : ms / DAY_MS
    return day === null || weekdayOf(day) > 4 ? [] : [workdayOf(day)]
  })
  return [...new Set(days)].sort((a, b) => a - b)
}

/** Holidays in SQL: how many of them hold a condition of their number and their place, counted from 1. */
type CountHolidays<S> = (holds: (holiday: S, place: S) => S) => S

/** Passes the holidays, which are read once, to `use`. */
function withHolidays<S>(
  holidays: Value<S> | undefined,
  build: Build<S>,
  use: (count: CountHolidays<S>) => S,
): S {
  const { words, constant } = build
  if (holidays === undefined || typeof holidays.constant === 'string') {
    const days = holidaysOf(holidays?.constant)
    return use((holds) =>
      countOf(
        days.map((day, at) => holds(constant(day), constant(at + 1))),
        build,
      ),
    )
  }
  const list = words.numbersOf(words.split(holidays.sql, words.text(',')), (part) =>
    compileHoliday(part, build),
  )
  return build.bind(list, 'numbers', (bound) => use((holds) => words.countWhere(bound, holds)))
}

/** The number of the workday in a part of a text; null for a weekend and for what is no day. */
function compileHoliday<S>(part: S, build: Build<S>): S {
  const { words, constant } = build
  const start = words.part(words.trim(part), constant(1), constant(HOLIDAY_LENGTH))
  return build.bind(words.divide(words.readDate(start, HOLIDAY), constant(DAY_MS)), 'number', (day) => {
    const workday = compileWorkday(day, build)
    return words.choose(
      [[words.compare('=', compileDayOf(workday, build), day), workday]],
      words.nothing('number'),
    )
  })
}

/** The day so many workdays later, in milliseconds; earlier for a negative number, the day itself for 0. */
export function addWorkdays(args: Datum[], type: ValueType | undefined, zone: string): number | null {
  const [date = null, count = null, written] = args
  if (date === null || count === null) return null
  const day = Math.floor(wallOfDatum(date, type, zone) / DAY_MS)
  const steps = whole(Number(count), -MAX_STEPS, MAX_STEPS)
  if (steps === 0) return day * DAY_MS
  const holidays = holidaysOf(written)
  // A step back from a weekend starts at its Monday.
  const start = workdayOf(day) + (steps < 0 && weekdayOf(day) > 4 ? 1 : 0)
  const reached = start + steps
  const passed =
    steps > 0
      ? holidays.filter((holiday, at) => {
          const before = holidays.filter((other) => other <= start).length
          return holiday > start && holiday - at + before <= reached
        }).length
      : holidays.filter((holiday, at) => {
          const before = holidays.filter((other) => other < start).length
          return holiday < start && holiday - at + before - 1 >= reached
        }).length
  return dateOrNull(dayOfWorkday(reached + Math.sign(steps) * passed) * DAY_MS)
}

/** The same as SQL. */
export function compileAddWorkdays<S>(args: Value<S>[], build: Build<S>): S {
  const { words, constant } = build
  const plus = (left: S, right: S) => words.arithmetic('+', left, right)
  const day = compileDay(argument(args, 0, build, 'date'), build)
  const count = wholeArg(argument(args, 1, build, 'number'), build, -MAX_STEPS, MAX_STEPS)
  const moved = (start: S, steps: S, isForward: boolean, countHolidays: CountHolidays<S>) => {
    const reached = plus(start, steps)
    const before = countHolidays((holiday) => words.compare(isForward ? '<=' : '<', holiday, start))
    return build.once(
      [reached, before].map((sql) => ({ sql, type: 'number' as const, isSimple: false })),
      (...bound) => {
        const [to, skipped] = bound as [S, S]
        const passed = countHolidays((holiday, place) => {
          const last = plus(words.arithmetic('-', plus(holiday, constant(isForward ? 1 : 0)), place), skipped)
          return words.and([
            words.compare(isForward ? '>' : '<', holiday, start),
            words.compare(isForward ? '<=' : '>=', last, to),
          ])
        })
        return words.arithmetic(isForward ? '+' : '-', to, passed)
      },
    )
  }
  const result = withHolidays(args[2], build, (holidays) =>
    build.once([{ sql: day, type: 'number', isSimple: false }, count], (from, steps) =>
      build.bind(compileWorkday(from, build), 'number', (start) => {
        const isWeekend = words.compare('!=', compileDayOf(start, build), from)
        const monday = words.choose([[isWeekend, plus(start, constant(1))]], start)
        const workday = words.choose(
          [[words.compare('>', steps, constant(0)), moved(start, steps, true, holidays)]],
          build.bind(monday, 'number', (first) => moved(first, steps, false, holidays)),
        )
        return words.choose(
          [
            [words.or([words.isNull(from), words.isNull(steps)]), words.nothing('number')],
            [words.compare('=', steps, constant(0)), from],
          ],
          build.bind(workday, 'number', (to) => compileDayOf(to, build)),
        )
      }),
    ),
  )
  return compileDateOrNull(words.arithmetic('*', result, constant(DAY_MS)), build)
}

/** Number of workdays from the first day to the second, both included; negative if the second is earlier. */
export function workdaysBetween(args: Datum[], types: ValueType[], zone: string): number | null {
  const [first = null, second = null, written] = args
  if (first === null || second === null) return null
  const [from, to] = [first, second].map((date, at) =>
    Math.floor(wallOfDatum(date, types[at], zone) / DAY_MS),
  ) as [number, number]
  const [low, high] = [Math.min(from, to), Math.max(from, to)]
  const [start, end] = [workdayOf(low - 1), workdayOf(high)]
  const holidays = holidaysOf(written).filter((holiday) => holiday > start && holiday <= end)
  const count = end - start - holidays.length
  return to < from ? 0 - count : count
}

/** The same as SQL. */
export function compileWorkdaysBetween<S>(args: Value<S>[], build: Build<S>): S {
  return withHolidays(args[2], build, (holidays) => compileDistance(args, holidays, build))
}

function compileDistance<S>(args: Value<S>[], countHolidays: CountHolidays<S>, build: Build<S>): S {
  const { words, constant } = build
  const days = [0, 1].map((at) => ({
    sql: compileDay(argument(args, at, build, 'date'), build),
    type: 'number' as const,
    isSimple: false,
  }))
  return build.once(days, (...bound) => {
    const [from, to] = bound as [S, S]
    const isBack = words.compare('<', to, from)
    const ends = [
      words.arithmetic('-', words.choose([[isBack, to]], from), constant(1)),
      words.choose([[isBack, from]], to),
    ]
    const workdays = ends.map((day) => ({
      sql: build.bind(day, 'number', (bound) => compileWorkday(bound, build)),
      type: 'number' as const,
      isSimple: false,
    }))
    return build.once(workdays, (...both) => {
      const [start, end] = both as [S, S]
      const passed = countHolidays((holiday) =>
        words.and([words.compare('>', holiday, start), words.compare('<=', holiday, end)]),
      )
      const count = words.arithmetic('-', words.arithmetic('-', end, start), passed)
      return words.choose([[isBack, words.arithmetic('-', constant(0), count)]], count)
    })
  })
}

const compileDay = <S>(date: Value<S>, build: Build<S>): S =>
  compileSplit(compileToWall(date, build), build).days

/** `workdayOf` as SQL; names the day three times. */
function compileWorkday<S>(day: S, { words, constant }: Build<S>): S {
  const week = words.floor(words.divide(words.arithmetic('+', day, constant(SHIFT)), constant(7)))
  const weekday = words.arithmetic(
    '-',
    words.arithmetic('+', day, constant(SHIFT)),
    words.arithmetic('*', week, constant(7)),
  )
  const capped = words.choose([[words.compare('>', weekday, constant(4)), constant(4)]], weekday)
  return words.arithmetic('+', words.arithmetic('*', week, constant(5)), capped)
}

/** `dayOfWorkday` as SQL: a week of seven days for every five workdays. */
function compileDayOf<S>(workday: S, { words, constant }: Build<S>): S {
  const week = words.floor(words.divide(workday, constant(5)))
  const weekends = words.arithmetic('*', week, constant(2))
  return words.arithmetic('-', words.arithmetic('+', workday, weekends), constant(SHIFT))
}

/** How many of the conditions hold, as SQL. */
const countOf = <S>(conditions: S[], { words, constant }: Build<S>): S =>
  conditions
    .map((condition) => words.choose([[condition, constant(1)]], constant(0)))
    .reduce((sum, one) => words.arithmetic('+', sum, one), constant(0))
