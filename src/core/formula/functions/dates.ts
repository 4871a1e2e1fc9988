import { wallOf } from '../../dates.ts'
import { m } from '../../messages.gen.ts'
import type { Build, Value } from '../build.ts'
import {
  addToDate,
  compileDateAdd,
  compileDifference,
  compileSameUnit,
  DIFFERENCE_UNITS,
  difference,
  firstDay,
  isSameUnit,
  isTimeUnit,
  STEP_UNITS,
} from '../date-arithmetic.ts'
import { dateFormatOf, parseDate } from '../date-format.ts'
import {
  compileDateOrNull,
  compileFromWall,
  compileInstant,
  compileSplit,
  compileToWall,
  fromWallMs,
  instantOfDatum,
  toWall,
  wallOfDatum,
} from '../instants.ts'
import { DAY_MS, dateOrNull, writeDate } from '../semantics.ts'
import { compileShowDate, compileShowSpan, showDate, showSpan } from '../show-date.ts'
import { addWorkdays, compileAddWorkdays, compileWorkdaysBetween, workdaysBetween } from '../workdays.ts'
import { argument, type Datum, defineFunction, type FormulaFunction } from './define.ts'

/** The present moment. */
export const now = defineFunction({
  name: 'NOW',
  syntax: 'NOW()',
  help: m.formula_now_help,
  examples: { 'NOW() > "2020-01-01"': true },
  args: [],
  returns: 'datetime',
  readsClock: true,
  evaluate: (_args, { now }) => now,
  compile: (_args, build) => build.words.number(build.now),
})

const todayOf = (now: number, zone: string): number => Math.floor(toWall(now, zone) / DAY_MS) * DAY_MS

/** The current date in the formula's time zone. */
export const today = defineFunction({
  name: 'TODAY',
  syntax: 'TODAY()',
  help: m.formula_today_help,
  examples: { 'TODAY() > "2020-01-01"': true, 'DATETIME_DIFF(NOW(), TODAY(), "days")': 0 },
  args: [],
  returns: 'date',
  readsClock: true,
  evaluate: (_args, { now, zone }) => todayOf(now, zone),
  compile: (_args, build) => build.words.number(todayOf(build.now, build.zone)),
})

/** The year. */
export const year = defineFunction({
  name: 'YEAR',
  syntax: 'YEAR(date)',
  help: m.formula_year_help,
  examples: { 'YEAR("2024-02-29")': 2024 },
  args: ['date'],
  returns: 'number',
  evaluate: ([value = null], { zone }, types) =>
    value === null ? null : wallOf(wallOfDatum(value, types[0], zone)).year,
  compile: (args, build) =>
    build.words.datePart('year', compileToWall(argument(args, 0, build, 'date'), build)),
})

/** The day of the month, 1 to 31. */
export const day = defineFunction({
  name: 'DAY',
  syntax: 'DAY(date)',
  help: m.formula_day_help,
  examples: { 'DAY("2024-02-29")': 29 },
  args: ['date'],
  returns: 'number',
  evaluate: ([value = null], { zone }, types) =>
    value === null ? null : wallOf(wallOfDatum(value, types[0], zone)).day,
  compile: (args, build) =>
    build.words.datePart('day', compileToWall(argument(args, 0, build, 'date'), build)),
})

/** The month, 1 to 12. */
export const month = defineFunction({
  name: 'MONTH',
  syntax: 'MONTH(date)',
  help: m.formula_month_help,
  examples: { 'MONTH("2024-02-29")': 2 },
  args: ['date'],
  returns: 'number',
  evaluate: ([value = null], { zone }, types) =>
    value === null ? null : wallOf(wallOfDatum(value, types[0], zone)).month,
  compile: (args, build) =>
    build.words.datePart('month', compileToWall(argument(args, 0, build, 'date'), build)),
})

/** The hour, 0 to 23. */
export const hour = defineFunction({
  name: 'HOUR',
  syntax: 'HOUR(date)',
  help: m.formula_hour_help,
  examples: { 'HOUR("2024-02-29 13:45")': 13, 'HOUR("2024-02-29")': 0 },
  args: ['date'],
  returns: 'number',
  evaluate: ([value = null], { zone }, types) =>
    value === null ? null : wallOf(wallOfDatum(value, types[0], zone)).hour,
  compile<S>(args: Value<S>[], build: Build<S>): S {
    const { words, constant } = build
    return build.bind(compileToWall(argument(args, 0, build, 'date'), build), 'datetime', (wall) =>
      words.floor(words.divide(compileSplit(wall, build).time, constant(3_600_000))),
    )
  },
})

/** A part of the time of day: the whole number of units in the remainder of the larger one. */
const timePart = (size: number, larger: number) =>
  ({
    args: ['date'],
    returns: 'number',
    evaluate: ([value = null], { zone }, types) => {
      if (value === null) return null
      const wall = wallOfDatum(value, types[0], zone)
      return Math.floor(wall / size) - Math.floor(wall / larger) * (larger / size)
    },
    compile<S>(args: Value<S>[], build: Build<S>): S {
      const { words, constant } = build
      return build.bind(compileToWall(argument(args, 0, build, 'date'), build), 'datetime', (wall) => {
        const units = words.floor(words.divide(wall, constant(size)))
        const whole = words.floor(words.divide(wall, constant(larger)))
        return words.arithmetic('-', units, words.arithmetic('*', whole, constant(larger / size)))
      })
    },
  }) as const satisfies Partial<FormulaFunction>

/** The minute, 0 to 59. */
export const minute = defineFunction({
  name: 'MINUTE',
  syntax: 'MINUTE(date)',
  help: m.formula_minute_help,
  examples: { 'MINUTE("2024-02-29 13:45")': 45, 'MINUTE("2024-02-29")': 0 },
  ...timePart(60_000, 3_600_000),
})

/** The second, 0 to 59. */
export const second = defineFunction({
  name: 'SECOND',
  syntax: 'SECOND(date)',
  help: m.formula_second_help,
  examples: { 'SECOND("2024-02-29 13:45:10.250")': 10 },
  ...timePart(1000, 60_000),
})

/** The week of the year, counted from 1. Week 1 contains 1 January; weeks start as for WEEKDAY. */
export const weekNum = defineFunction({
  name: 'WEEKNUM',
  syntax: 'WEEKNUM(date, [first day])',
  help: m.formula_weeknum_help,
  examples: { 'WEEKNUM("2024-01-07")': 1, 'WEEKNUM("2024-01-07", "sunday")': 2, 'WEEKNUM("2024-12-31")': 53 },
  args: ['date', 'weekday'],
  min: 1,
  namesArguments: true,
  returns: 'number',
  evaluate: ([value = null, first], { zone }, types) => {
    if (value === null) return null
    const wall = wallOfDatum(value, types[0], zone)
    const shift = 3 - firstDay(first)
    const weekOf = (day: number) => Math.floor((day + shift) / 7)
    return weekOf(Math.floor(wall / DAY_MS)) - weekOf(firstOfYear(wallOf(wall).year)) + 1
  },
  compile<S>(args: Value<S>[], build: Build<S>): S {
    const { words, constant } = build
    const shift = constant(3 - firstDay(args[1]?.constant ?? null))
    const over = (value: S, by: number) => words.floor(words.divide(value, constant(by)))
    const weekOf = (day: S) => over(words.arithmetic('+', day, shift), 7)
    const plus = (left: S, right: S) => words.arithmetic('+', left, right)
    return build.bind(compileToWall(argument(args, 0, build, 'date'), build), 'datetime', (wall) => {
      const before = words.arithmetic('-', words.datePart('year', wall), constant(1))
      const start = build.bind(before, 'number', (years) => {
        const leaps = plus(words.arithmetic('-', over(years, 4), over(years, 100)), over(years, 400))
        const days = plus(words.arithmetic('*', years, constant(365)), leaps)
        return words.arithmetic('-', days, constant(DAYS_TO_1970))
      })
      const weeks = words.arithmetic('-', weekOf(compileSplit(wall, build).days), weekOf(start))
      return plus(weeks, constant(1))
    })
  },
})

/** Days from 0001-01-01 to 1970-01-01. */
const DAYS_TO_1970 = 719_162

/** The number of the first day of a year, counted from 1970-01-01. */
const firstOfYear = (year: number): number => {
  const before = year - 1
  const leaps = Math.floor(before / 4) - Math.floor(before / 100) + Math.floor(before / 400)
  return before * 365 + leaps - DAYS_TO_1970
}

/** The day of the week, counted from 0. Weeks begin on Monday, or on the day that is named. */
export const weekday = defineFunction({
  name: 'WEEKDAY',
  syntax: 'WEEKDAY(date, [first day])',
  help: m.formula_weekday_help,
  examples: { 'WEEKDAY("2024-03-04")': 0, 'WEEKDAY("2024-03-04", "sunday")': 1 },
  args: ['date', 'weekday'],
  min: 1,
  namesArguments: true,
  returns: 'number',
  evaluate: ([value = null, first], { zone }, types) =>
    value === null
      ? null
      : (((Math.floor(wallOfDatum(value, types[0], zone) / DAY_MS) + 3 - firstDay(first)) % 7) + 7) % 7,
  compile<S>(args: Value<S>[], build: Build<S>): S {
    const { words, constant } = build
    const wall = compileToWall(argument(args, 0, build, 'date'), build)
    // 1970-01-01 was a Thursday; whole weeks before it keep the days above 0.
    const shift = 3 - firstDay(args[1]?.constant ?? null) + 7 * 200_000
    return build.bind(
      words.arithmetic('+', compileSplit(wall, build).days, constant(shift)),
      'number',
      (days) => {
        const weeks = words.floor(words.divide(days, constant(7)))
        return words.arithmetic('-', days, words.arithmetic('*', weeks, constant(7)))
      },
    )
  },
})

/** The day as text: 2024-03-05. */
export const dateStr = defineFunction({
  name: 'DATESTR',
  syntax: 'DATESTR(date)',
  help: m.formula_datestr_help,
  examples: { 'DATESTR("2024-03-05 10:30")': '2024-03-05' },
  args: ['date'],
  returns: 'text',
  evaluate: ([value = null], { zone }, types) =>
    value === null ? null : writeDate(wallOfDatum(value, types[0], zone), 'date'),
  compile: (args, build) =>
    build.words.dateText(compileToWall(argument(args, 0, build, 'date'), build), false),
})

/** The date so many units later; earlier for a negative number. */
export const dateAdd = defineFunction({
  name: 'DATEADD',
  syntax:
    'DATEADD(date, number, "days" | "weeks" | "months" | "quarters" | "years" | "hours" | "minutes" | "seconds")',
  help: m.formula_dateadd_help,
  failure: 'possible',
  examples: {
    'DATESTR(DATEADD("2024-01-31", 1, "month"))': '2024-02-29',
    'DATEADD("2024-03-01", -1, "day") = "2024-02-29"': true,
    'DATEADD("2024-02-29 23:30", 90, "minute")': '2024-03-01 01:00:00+00:00',
    'DATEADD("2024-03-01", -1, "second")': '2024-02-29 23:59:59+00:00',
    'DATESTR(DATEADD("2024-01-31", 2, "quarters"))': '2024-07-31',
  },
  args: ['date', 'number', 'unit'],
  units: STEP_UNITS,
  namesArguments: true,
  returns: ([type], [, , unit]) =>
    type === 'datetime' || (unit?.kind === 'literal' && isTimeUnit(unit.value)) ? 'datetime' : 'date',
  evaluate: (args, { zone }, types) => addToDate(args, types[0], zone),
  compile: (args, build) => compileDateAdd(args, build),
})

/** Number of whole units (seconds by default) from the second date to the first. */
export const dateTimeDiff = defineFunction({
  name: 'DATETIME_DIFF',
  syntax:
    'DATETIME_DIFF(date, other date, ["milliseconds" | "seconds" | "minutes" | "hours" | "days" | "weeks" | "months" | "quarters" | "years"])',
  help: m.formula_datetime_diff_help,
  examples: {
    'DATETIME_DIFF("2024-03-01", "2024-02-01", "days")': 29,
    'DATETIME_DIFF("2024-02-29", "2024-01-31", "months")': 0,
    'DATETIME_DIFF("2024-03-01 00:01", "2024-03-01")': 60,
  },
  args: ['date', 'date', 'unit'],
  units: DIFFERENCE_UNITS,
  namesArguments: true,
  min: 2,
  returns: 'number',
  evaluate: (args, { zone }, types) => difference(args, types, zone),
  compile: (args, build) => compileDifference(args, build),
})

/** Whether one date is before or after another; false if one is empty. */
const ordering = (sign: '<' | '>') =>
  ({
    args: ['date', 'date'],
    namesArguments: true,
    returns: 'boolean',
    evaluate: ([first = null, second = null], { zone }, types) => {
      if (first === null || second === null) return false
      const apart = instantOfDatum(first, types[0], zone) - instantOfDatum(second, types[1], zone)
      return sign === '<' ? apart < 0 : apart > 0
    },
    compile<S>(args: Value<S>[], build: Build<S>): S {
      const { words } = build
      const [first, second] = [0, 1].map((at) => compileInstant(argument(args, at, build, 'date'), build))
      return words.coalesce(words.compare(sign, first as S, second as S), words.truth(false))
    },
  }) as const satisfies Partial<FormulaFunction>

/** Whether the first date is earlier. */
export const isBefore = defineFunction({
  name: 'IS_BEFORE',
  syntax: 'IS_BEFORE(date, other date)',
  help: m.formula_is_before_help,
  examples: { 'IS_BEFORE("2024-02-28", "2024-02-29")': true, 'IS_BEFORE(BLANK(), "2024-02-29")': false },
  ...ordering('<'),
})

/** Whether the first date is later. */
export const isAfter = defineFunction({
  name: 'IS_AFTER',
  syntax: 'IS_AFTER(date, other date)',
  help: m.formula_is_after_help,
  examples: { 'IS_AFTER("2024-02-29 08:00", "2024-02-29")': true, 'IS_AFTER("2024-02-28", BLANK())': false },
  ...ordering('>'),
})

/** Whether two dates are the same, or lie in the same day, week, month and so on. */
export const isSame = defineFunction({
  name: 'IS_SAME',
  syntax:
    'IS_SAME(date, other date, ["seconds" | "minutes" | "hours" | "days" | "weeks" | "months" | "quarters" | "years"])',
  help: m.formula_is_same_help,
  examples: {
    'IS_SAME("2024-02-29 08:00", "2024-02-29", "day")': true,
    'IS_SAME("2024-02-29 08:00", "2024-02-29")': false,
    'IS_SAME("2024-03-03", "2024-03-04", "week")': false,
    'IS_SAME("2024-01-31", "2024-03-01", "quarter")': true,
  },
  args: ['date', 'date', 'unit'],
  units: DIFFERENCE_UNITS,
  namesArguments: true,
  min: 2,
  returns: 'boolean',
  evaluate: (args, { zone }, types) => isSameUnit(args, types, zone),
  compile: (args, build) => compileSameUnit(args, build),
})

/** The day a number of workdays later; earlier for a negative number. */
export const workday = defineFunction({
  name: 'WORKDAY',
  syntax: 'WORKDAY(date, number, [holidays])',
  help: m.formula_workday_help,
  failure: 'possible',
  examples: {
    'WORKDAY("2024-12-20", 3, "2024-12-25, 2024-12-26")': '2024-12-27',
    'WORKDAY("2024-12-24", 2, "2024-12-25, 2024-12-26")': '2024-12-30',
    'WORKDAY("2024-03-09", -1)': '2024-03-08',
    'WORKDAY("2024-12-27", -2, SPLIT("2024-12-26;2024-12-25", ";"))': '2024-12-23',
    'WORKDAY("2024-12-20", 3, "" & "2024-12-26, 25.12., 2024-12-28,2024-12-26,2024-12-25 08:00")':
      '2024-12-27',
    'WORKDAY("2024-12-24", 1, BLANK())': '2024-12-25',
  },
  args: ['date', 'number', 'holidays'],
  namesArguments: true,
  min: 2,
  returns: 'date',
  evaluate: (args, { zone }, types) => addWorkdays(args, types[0], zone),
  compile: (args, build) => compileAddWorkdays(args, build),
})

/** Number of workdays between two dates, both included. */
export const workdayDiff = defineFunction({
  name: 'WORKDAY_DIFF',
  syntax: 'WORKDAY_DIFF(first date, last date, [holidays])',
  help: m.formula_workday_diff_help,
  examples: {
    'WORKDAY_DIFF("2024-12-23", "2024-12-29")': 5,
    'WORKDAY_DIFF("2024-12-23", "2024-12-31", "2024-12-25, 2024-12-26")': 5,
    'WORKDAY_DIFF("2024-03-08", "2024-03-04")': -5,
    'WORKDAY_DIFF("2024-12-31", "2024-12-23", SPLIT("2024-12-25,2024-12-26,2024-12-28", ","))': -5,
  },
  args: ['date', 'date', 'holidays'],
  namesArguments: true,
  min: 2,
  returns: 'number',
  evaluate: (args, { zone }, types) => workdaysBetween(args, types, zone),
  compile: (args, build) => compileWorkdaysBetween(args, build),
})

/** A date as text in a format. */
export const datetimeFormat = defineFunction({
  name: 'DATETIME_FORMAT',
  syntax: 'DATETIME_FORMAT(date, ["format"])',
  help: m.formula_datetime_format_help,
  examples: {
    'DATETIME_FORMAT("2024-03-05 08:20:30", "DD.MM.YYYY HH:mm")': '05.03.2024 08:20',
    'DATETIME_FORMAT("2024-03-05 18:20:30", "dddd, MMMM D, YYYY [at] h:mm A")':
      'Tuesday, March 5, 2024 at 6:20 PM',
    'DATETIME_FORMAT("2024-03-05", "[Q]Q/YY")': 'Q1/24',
    'DATETIME_FORMAT("2024-03-05 08:20")': '2024-03-05T08:20:00+00:00',
  },
  args: ['date', 'shownFormat'],
  min: 1,
  namesArguments: true,
  returns: 'text',
  evaluate: (args, { zone }, types) => showDate(args, types[0], zone, wallOf),
  compile: (args, build) => compileShowDate(args, build),
})

/** The same instant in another time zone, which the functions around it use. */
export const setTimezone = defineFunction({
  name: 'SET_TIMEZONE',
  syntax: 'SET_TIMEZONE(date, "time zone")',
  help: m.formula_set_timezone_help,
  examples: {
    'DATETIME_FORMAT(SET_TIMEZONE("2024-03-05 08:20", "Asia/Tokyo"), "HH:mm Z")': '17:20 +09:00',
    'HOUR(SET_TIMEZONE("2024-07-05 08:20", "Europe/Berlin"))': 10,
  },
  args: ['instant', 'zone'],
  returns: 'datetime',
  zoneOf: ([, zone]) => (zone?.kind === 'literal' ? String(zone.value) : undefined),
  evaluate: ([value = null]) => value,
  compile: (args, build) => argument(args, 0, build, 'datetime').sql,
})

/** The time between a date and the present moment, in the largest whole unit. */
export const fromNow = defineFunction({
  name: 'FROMNOW',
  syntax: 'FROMNOW(date)',
  help: m.formula_fromnow_help,
  examples: { 'FROMNOW(DATEADD(NOW(), -21, "day"))': '21 days', 'FROMNOW(NOW())': '0 seconds' },
  args: ['date'],
  namesArguments: true,
  returns: 'text',
  readsClock: true,
  evaluate: ([value = null], { now, zone }, types) =>
    value === null ? null : showSpan(now - instantOfDatum(value, types[0], zone)),
  compile: (args, build) => {
    const { words } = build
    const date = compileInstant(argument(args, 0, build, 'date'), build)
    return compileShowSpan(words.arithmetic('-', words.number(build.now), date), build)
  },
})

/** Format used if the formula names none. */
const DEFAULT_FORMAT = 'YYYY-MM-DD'

const formatOf = (written: unknown) => dateFormatOf(typeof written === 'string' ? written : DEFAULT_FORMAT)

/** The day or the instant that a text shows in a format; empty where it does not fit. */
export const datetimeParse = defineFunction({
  name: 'DATETIME_PARSE',
  syntax: 'DATETIME_PARSE(text, ["format"])',
  help: m.formula_datetime_parse_help,
  failure: 'possible',
  examples: {
    'DATETIME_PARSE("31.12.2024", "DD.MM.YYYY")': '2024-12-31',
    'DATETIME_PARSE("2024-02-30")': null,
    'DATETIME_PARSE(" 3/5/24 1:05 PM ", "M/D/YY h:mm A")': '2024-03-05 13:05:00+00:00',
    'DATETIME_PARSE("05 mar 1969 | 23:59:58.250", "DD MMM YYYY | HH:mm:ss.SSS")':
      '1969-03-05 23:59:58.250+00:00',
    'DATETIME_PARSE("2024-03", "YYYY-MM")': '2024-03-01',
    'DATETIME_PARSE("5 March 2024", "D MMMM YYYY")': '2024-03-05',
  },
  args: ['text', 'format'],
  min: 1,
  returns: (_types, args) => {
    const format = args[1]?.kind === 'literal' ? args[1].value : undefined
    return formatOf(format)?.hasTime ? 'datetime' : 'date'
  },
  evaluate: ([text = null, written]: Datum[], { zone }) => {
    const format = formatOf(written)
    const wall = text === null || format === null ? null : parseDate(String(text), format)
    if (wall === null) return null
    return dateOrNull(format?.hasTime ? fromWallMs(wall, zone) : wall)
  },
  compile<S>(args: Value<S>[], build: Build<S>): S {
    const { words } = build
    const format = formatOf(args[1]?.constant)
    if (format === null) return words.nothing('date')
    const text = words.trim(argument(args, 0, build, 'text').sql)
    const wall = build.bind(text, 'text', (trimmed) => words.readDate(trimmed, format))
    return compileDateOrNull(format.hasTime ? compileFromWall(wall, build) : wall, build)
  },
})
