import type { ValueType } from './ast.ts'
import type { Build, Value } from './build.ts'
import { argument, type Datum } from './functions/define.ts'
import { compileInstant, compileSplit, compileToWall, instantOfDatum, wallOfDatum } from './instants.ts'
import { DAY_MS } from './semantics.ts'

/** Months in English, each padded to the longest name. */
const MONTHS =
  'January  February March    April    May      June     July     August   SeptemberOctober  November December '
/** Weekdays from Monday, in the same way. */
const DAYS = 'Monday   Tuesday  WednesdayThursday Friday   Saturday Sunday   '
const NAME_WIDTH = 9
const SHORT_NAME = 3
/** The endings of the days of a month as ordinal numbers, in the same way. */
const ORDINALS = Array.from({ length: 31 }, (_, at) => {
  const [day, isTeen] = [at + 1, at >= 10 && at < 20]
  return ((!isTeen && ['', 'st', 'nd', 'rd'][day % 10]) || 'th').padEnd(NAME_WIDTH)
}).join('')

/** Whole numbers of a date from which tokens are written. */
interface Numbers<N> {
  year: N
  month: N
  day: N
  /** From Monday, counted from 0. */
  weekday: N
  hour: N
  minute: N
  second: N
  ms: N
  /** Minutes ahead of UTC. */
  offset: N
  /** Milliseconds since 1970. */
  instant: N
}

/** How the pieces of a format are computed: in JavaScript, or as SQL. */
interface Writer<N, T> {
  text(value: string): T
  join(texts: T[]): T
  /** The number in digits, padded with zeros to a number of digits above 0. */
  digits(value: N, length: number): T
  /** A name from a padded list, whole or abbreviated to its first letters. */
  name(names: string, index: N, length: number): T
  plus(value: N, by: number): N
  times(value: N, by: number): N
  add(left: N, right: N): N
  subtract(left: N, right: N): N
  /** `floor(value / by)` */
  over(value: N, by: number): N
  /** The remainder of `value / by`. */
  rest(value: N, by: number): N
  abs(value: N): N
  /** The first text where the number is below the limit, otherwise the second. */
  below(value: N, limit: number, yes: T, no: T): T
}

type Token = <N, T>(date: Numbers<N>, writer: Writer<N, T>) => T

const twelve = <N, T>({ hour }: Numbers<N>, { plus, rest }: Writer<N, T>): N =>
  plus(rest(plus(hour, 11), 12), 1)

/** 1 where a whole number from 0 to `most` is 0, otherwise 0. */
const isZero = <N, T>(value: N, most: number, { plus, times, over }: Writer<N, T>): N =>
  plus(times(over(plus(value, most), most + 1), -1), 1)

/** 1 in a leap year, otherwise 0. */
function leapDay<N, T>(year: N, writer: Writer<N, T>): N {
  const { rest, add, subtract } = writer
  const [fourth, century, fourthCentury] = [4, 100, 400].map((by) => isZero(rest(year, by), by - 1, writer))
  return add(subtract(fourth as N, century as N), fourthCentury as N)
}

/** The day of the year, from 1. */
function yearDay<N, T>({ year, month, day }: Numbers<N>, writer: Writer<N, T>): N {
  const { plus, times, over, add, subtract, rest } = writer
  // Days before the month in a year whose February has 30 days; from March on, one or two fewer.
  const before = plus(over(times(month, 275), 9), -30)
  const isAfterFebruary = over(plus(month, 9), 12)
  const isAfterInLeapYear = over(add(isAfterFebruary, rest(leapDay(year, writer), 2)), 2)
  return add(add(subtract(before, times(isAfterFebruary, 2)), isAfterInLeapYear), day)
}

/** The day of the week from Sunday, counted from 0. */
const sundayBased = <N, T>({ weekday }: Numbers<N>, { plus, rest }: Writer<N, T>): N =>
  rest(plus(weekday, 1), 7)

/** 1 where a year has 53 weeks by ISO 8601, otherwise 0: it ends on a Thursday, or the year before ends on a Wednesday. */
function longYear<N, T>(year: N, writer: Writer<N, T>): N {
  const { plus, over, rest, add, subtract } = writer
  const lastWeekday = (of: N) => add(subtract(add(of, over(of, 4)), over(of, 100)), over(of, 400))
  const endsOn = (of: N, weekday: number) => isZero(rest(plus(lastWeekday(of), 7 - weekday), 7), 6, writer)
  return over(plus(add(endsOn(year, 4), endsOn(plus(year, -1), 3)), 1), 2)
}

/** The week by ISO 8601. */
function isoWeek<N, T>(date: Numbers<N>, writer: Writer<N, T>, length: number): T {
  const { plus, over, subtract, below, digits, text } = writer
  const week = over(plus(subtract(yearDay(date, writer), date.weekday), 9), 7)
  const isTooLate = subtract(plus(week, -52), longYear(date.year, writer))
  return below(
    week,
    1,
    digits(plus(longYear(plus(date.year, -1), writer), 52), length),
    below(isTooLate, 1, digits(week, length), text('1'.padStart(length, '0'))),
  )
}

/** The week from Sunday; the first one has 1 January. */
function usWeek<N, T>(date: Numbers<N>, writer: Writer<N, T>, length: number): T {
  const { plus, over, subtract, below, digits, text } = writer
  const weekday = sundayBased(date, writer)
  const dayOfYear = yearDay(date, writer)
  const saturday = plus(subtract(dayOfYear, weekday), 6)
  const isTooLate = subtract(plus(saturday, -365), leapDay(date.year, writer))
  const week = over(plus(saturday, 6), 7)
  return below(isTooLate, 1, digits(week, length), text('1'.padStart(length, '0')))
}

const zoneOffset =
  (separator: string): Token =>
  ({ offset }, { join, below, digits, over, rest, abs, text }) =>
    join([
      below(offset, 0, text('-'), text('+')),
      digits(over(abs(offset), 60), 2),
      text(separator),
      digits(rest(abs(offset), 60), 2),
    ])

/** Tokens of a format, as in Airtable and Day.js. */
const TOKENS: Record<string, Token> = {
  YYYY: ({ year }, { digits }) => digits(year, 4),
  YY: ({ year }, { digits, rest }) => digits(rest(year, 100), 2),
  Q: ({ month }, { digits, over, plus }) => digits(over(plus(month, 2), 3), 0),
  MMMM: ({ month }, { name, plus }) => name(MONTHS, plus(month, -1), NAME_WIDTH),
  MMM: ({ month }, { name, plus }) => name(MONTHS, plus(month, -1), SHORT_NAME),
  MM: ({ month }, { digits }) => digits(month, 2),
  M: ({ month }, { digits }) => digits(month, 0),
  DD: ({ day }, { digits }) => digits(day, 2),
  D: ({ day }, { digits }) => digits(day, 0),
  Do: ({ day }, { digits, join, name, plus }) => join([digits(day, 0), name(ORDINALS, plus(day, -1), 2)]),
  DDDD: (date, writer) => writer.digits(yearDay(date, writer), 3),
  DDD: (date, writer) => writer.digits(yearDay(date, writer), 0),
  dddd: ({ weekday }, { name }) => name(DAYS, weekday, NAME_WIDTH),
  ddd: ({ weekday }, { name }) => name(DAYS, weekday, SHORT_NAME),
  dd: ({ weekday }, { name }) => name(DAYS, weekday, 2),
  d: (date, writer) => writer.digits(sundayBased(date, writer), 0),
  E: ({ weekday }, { digits, plus }) => digits(plus(weekday, 1), 0),
  WW: (date, writer) => isoWeek(date, writer, 2),
  W: (date, writer) => isoWeek(date, writer, 0),
  ww: (date, writer) => usWeek(date, writer, 2),
  w: (date, writer) => usWeek(date, writer, 0),
  HH: ({ hour }, { digits }) => digits(hour, 2),
  H: ({ hour }, { digits }) => digits(hour, 0),
  hh: (date, writer) => writer.digits(twelve(date, writer), 2),
  h: (date, writer) => writer.digits(twelve(date, writer), 0),
  kk: ({ hour }, { digits, plus, rest }) => digits(plus(rest(plus(hour, 23), 24), 1), 2),
  k: ({ hour }, { digits, plus, rest }) => digits(plus(rest(plus(hour, 23), 24), 1), 0),
  mm: ({ minute }, { digits }) => digits(minute, 2),
  m: ({ minute }, { digits }) => digits(minute, 0),
  ss: ({ second }, { digits }) => digits(second, 2),
  s: ({ second }, { digits }) => digits(second, 0),
  SSS: ({ ms }, { digits }) => digits(ms, 3),
  SS: ({ ms }, { digits, over }) => digits(over(ms, 10), 2),
  S: ({ ms }, { digits, over }) => digits(over(ms, 100), 0),
  A: ({ hour }, { below, text }) => below(hour, 12, text('AM'), text('PM')),
  a: ({ hour }, { below, text }) => below(hour, 12, text('am'), text('pm')),
  ZZ: zoneOffset(''),
  Z: zoneOffset(':'),
  X: ({ instant }, { digits, over }) => digits(over(instant, 1000), 0),
  x: ({ instant }, { digits }) => digits(instant, 0),
}

/** Whole formats with names of their own, as written in the United States. */
const NAMED_FORMATS: Record<string, string> = {
  LT: 'h:mm A',
  LTS: 'h:mm:ss A',
  L: 'MM/DD/YYYY',
  LL: 'MMMM D, YYYY',
  LLL: 'MMMM D, YYYY h:mm A',
  LLLL: 'dddd, MMMM D, YYYY h:mm A',
}

const PIECES =
  /YYYY|YY|Q|MMMM|MMM|MM|M|DDDD|DDD|DD|Do|D|dddd|ddd|dd|d|E|WW|W|ww|w|HH|H|hh|h|kk|k|mm|m|ss|s|SSS|SS|S|A|a|ZZ|Z|X|x|LTS|LT|LLLL|LLL|LL|L|\[[^\]]*\]|[\s\S]/g
const MAX_FORMAT = 100

/** A piece of a format: a token, or text that stands for itself. */
type ShownFormat = readonly ({ token: string } | { literal: string })[]

/** Parses a format such as `dddd, D MMMM YYYY`; null if it contains unknown letters. */
export function shownFormatOf(text: string): ShownFormat | null {
  if (text.length > MAX_FORMAT) return null
  const pieces: ({ token: string } | { literal: string })[] = []
  for (const piece of text.match(PIECES) ?? []) {
    const whole = Object.hasOwn(NAMED_FORMATS, piece) ? NAMED_FORMATS[piece] : undefined
    if (whole !== undefined) pieces.push(...(shownFormatOf(whole) ?? []))
    else if (Object.hasOwn(TOKENS, piece)) pieces.push({ token: piece })
    else if (piece.length > 1) pieces.push({ literal: piece.slice(1, -1) })
    // The T of ISO 8601 needs no brackets; other letters are most likely a token that is unknown here.
    else if (/[A-SU-Za-z]/.test(piece)) return null
    else pieces.push({ literal: piece })
  }
  return pieces
}

/** Format used if the formula names none: ISO 8601. */
const DEFAULT_FORMAT = 'YYYY-MM-DDTHH:mm:ssZ'

function write<N, T>(format: ShownFormat, date: Numbers<N>, writer: Writer<N, T>): T {
  return writer.join([
    writer.text(''),
    ...format.map((piece) =>
      'token' in piece
        ? (TOKENS[piece.token]?.(date, writer) ?? writer.text(''))
        : writer.text(piece.literal),
    ),
  ])
}

const formatIn = (written: unknown): ShownFormat =>
  shownFormatOf(typeof written === 'string' ? written : DEFAULT_FORMAT) ?? []

const JAVASCRIPT: Writer<number, string> = {
  text: (value) => value,
  join: (texts) => texts.join(''),
  digits: (value, length) => String(value).padStart(length, '0'),
  name: (names, index, length) => names.slice(index * NAME_WIDTH, index * NAME_WIDTH + length).trim(),
  plus: (value, by) => value + by,
  times: (value, by) => value * by,
  add: (left, right) => left + right,
  subtract: (left, right) => left - right,
  over: (value, by) => Math.floor(value / by),
  rest: (value, by) => value - Math.floor(value / by) * by,
  abs: Math.abs,
  below: (value, limit, yes, no) => (value < limit ? yes : no),
}

/** A date as text in the format. */
export function showDate(
  [value = null, written]: Datum[],
  type: ValueType | undefined,
  zone: string,
  wallParts: (ms: number) => Pick<Numbers<number>, 'year' | 'month' | 'day'>,
): string | null {
  if (value === null) return null
  const wall = wallOfDatum(value, type, zone)
  const days = Math.floor(wall / DAY_MS)
  const instant = instantOfDatum(value, type, zone)
  const offset = Math.floor((wall - instant) / 60_000)
  const date = { ...wallParts(wall), ...timeOf(wall, days, offset, JAVASCRIPT), instant }
  return write(formatIn(written), date, JAVASCRIPT)
}

const timeOf = <N>(wall: N, days: N, offset: N, { plus, over, rest }: Writer<N, unknown>) => ({
  weekday: rest(plus(days, 3), 7),
  hour: over(rest(wall, DAY_MS), 3_600_000),
  minute: over(rest(wall, 3_600_000), 60_000),
  second: over(rest(wall, 60_000), 1000),
  ms: rest(wall, 1000),
  offset,
})

/** The same as SQL. */
export function compileShowDate<S>(args: Value<S>[], build: Build<S>): S {
  const { words, constant } = build
  const plus = (left: S, right: S) => words.arithmetic('+', left, right)
  const over = (value: S, by: number) => words.floor(words.divide(value, constant(by)))
  const writer: Writer<S, S> = {
    text: words.text,
    join: words.concat,
    digits: (value, length) =>
      length === 0
        ? words.digits(value)
        : words.part(words.digits(plus(value, constant(10 ** length))), constant(2), constant(length)),
    name: (names, index, length) => {
      const from = plus(words.arithmetic('*', index, constant(NAME_WIDTH)), constant(1))
      return words.trim(words.part(words.text(names), from, constant(length)))
    },
    plus: (value, by) => plus(value, constant(by)),
    times: (value, by) => words.arithmetic('*', value, constant(by)),
    add: plus,
    subtract: (left, right) => words.arithmetic('-', left, right),
    over,
    rest: (value, by) => words.arithmetic('-', value, words.arithmetic('*', over(value, by), constant(by))),
    abs: words.abs,
    below: (value, limit, yes, no) => words.choose([[words.compare('<', value, constant(limit)), yes]], no),
  }
  const date = argument(args, 0, build, 'date')
  return build.once([date], (sql) => {
    const bound = { ...date, sql, isSimple: true }
    const instant = { sql: compileInstant(bound, build), type: 'datetime' as const, isSimple: false }
    const wall = { sql: compileToWall(bound, build), type: 'datetime' as const, isSimple: false }
    return build.once([wall, instant], (onWall, at) => {
      const parts = {
        year: words.datePart('year', onWall),
        month: words.datePart('month', onWall),
        day: words.datePart('day', onWall),
      }
      const offset = over(words.arithmetic('-', onWall, at), 60_000)
      const time = timeOf(onWall, compileSplit(onWall, build).days, offset, writer)
      return words.choose(
        [[words.isNull(onWall), words.nothing('text')]],
        write(formatIn(args[1]?.constant), { ...parts, ...time, instant: at }, writer),
      )
    })
  })
}

/** Units of a span, largest first. Months and years have the mean length of the Gregorian calendar. */
const SPANS: readonly [name: string, ms: number][] = [
  ['year', 365.2425 * DAY_MS],
  ['month', 30.436875 * DAY_MS],
  ['day', DAY_MS],
  ['hour', 3_600_000],
  ['minute', 60_000],
]

/** The span between two instants in the largest whole unit: `3 days`, `1 year`. */
export function showSpan(ms: number): string {
  const span = Math.abs(ms)
  const [name, size] = SPANS.find(([, size]) => span >= size) ?? ['second', 1000]
  const count = Math.floor(span / size)
  return `${count} ${name}${count === 1 ? '' : 's'}`
}

/** The same as SQL; null for null. */
export function compileShowSpan<S>(ms: S, build: Build<S>): S {
  const { words, constant } = build
  return build.bind(words.abs(ms), 'number', (span) => {
    const shown = (name: string, size: number) =>
      build.bind(words.floor(words.divide(span, constant(size))), 'number', (count) =>
        words.concat([
          words.digits(count),
          words.choose(
            [[words.compare('=', count, constant(1)), words.text(` ${name}`)]],
            words.text(` ${name}s`),
          ),
        ]),
      )
    return words.choose(
      SPANS.map(([name, size]) => [words.compare('>=', span, constant(size)), shown(name, size)]),
      shown('second', 1000),
    )
  })
}
