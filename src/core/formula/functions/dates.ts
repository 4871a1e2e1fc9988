import { wallOf } from '../../dates.ts'
import { m } from '../../messages.gen.ts'
import type { Build, Value } from '../build.ts'
import { addToDate, compileDateAdd, compileDifference, difference, firstDay } from '../date-arithmetic.ts'
import { dateFormatOf, parseDate } from '../date-format.ts'
import {
  compileDateOrNull,
  compileFromWall,
  compileSplit,
  compileToWall,
  fromWallMs,
  wallOfDatum,
} from '../instants.ts'
import { DAY_MS, dateOrNull, writeDate } from '../semantics.ts'
import { argument, type Datum, defineFunction } from './define.ts'

/** The present moment. */
export const now = defineFunction({
  name: 'NOW',
  syntax: 'NOW()',
  help: m.formula_now_help,
  examples: { 'NOW() > "2020-01-01"': true },
  args: [],
  returns: 'datetime',
  evaluate: (_args, { now }) => now,
  compile: (_args, build) => build.words.number(build.now),
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

/** The day of the week, counted from 0. Weeks begin on Monday, or on the day that is named. */
export const weekday = defineFunction({
  name: 'WEEKDAY',
  syntax: 'WEEKDAY(date, [first day])',
  help: m.formula_weekday_help,
  examples: { 'WEEKDAY("2024-03-04")': 0, 'WEEKDAY("2024-03-04", "sunday")': 1 },
  args: ['date', 'weekday'],
  min: 1,
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

/** The date so many days, weeks, months or years later; earlier for a negative number. */
export const dateAdd = defineFunction({
  name: 'DATEADD',
  syntax: 'DATEADD(date, number, "day" | "week" | "month" | "year")',
  help: m.formula_dateadd_help,
  examples: {
    'DATESTR(DATEADD("2024-01-31", 1, "month"))': '2024-02-29',
    'DATEADD("2024-03-01", -1, "day") = "2024-02-29"': true,
  },
  args: ['date', 'number', 'unit'],
  returns: (types) => (types[0] === 'datetime' ? 'datetime' : 'date'),
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
  min: 2,
  returns: 'number',
  evaluate: (args, { zone }, types) => difference(args, types, zone),
  compile: (args, build) => compileDifference(args, build),
})

/** Format used if the formula names none. */
const DEFAULT_FORMAT = 'YYYY-MM-DD'

const formatOf = (written: unknown) => dateFormatOf(typeof written === 'string' ? written : DEFAULT_FORMAT)

/** The day or the instant that a text shows in a format; empty where it does not fit. */
export const datetimeParse = defineFunction({
  name: 'DATETIME_PARSE',
  syntax: 'DATETIME_PARSE(text, ["format"])',
  help: m.formula_datetime_parse_help,
  examples: {
    'DATETIME_PARSE("31.12.2024", "DD.MM.YYYY")': '2024-12-31',
    'DATETIME_PARSE("2024-02-30")': null,
    'DATETIME_PARSE(" 3/5/24 1:05 PM ", "M/D/YY h:mm A")': '2024-03-05 13:05:00+00:00',
    'DATETIME_PARSE("05 mar 1969 | 23:59:58.250", "DD MMM YYYY | HH:mm:ss.SSS")':
      '1969-03-05 23:59:58.250+00:00',
    'DATETIME_PARSE("2024-03", "YYYY-MM")': '2024-03-01',
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
