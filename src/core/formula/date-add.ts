import { daysInMonth, utcOf, wallOf } from '../dates.ts'
import type { ValueType } from './ast.ts'
import type { Build, Value } from './build.ts'
import { argument } from './functions/common.ts'
import type { Datum } from './functions/define.ts'
import { compileDateOrNull, compileFromWall, compileToWall, wallOfDatum } from './instants.ts'
import { wholeArg } from './rounding.ts'
import { DAY_MS, dateOrNull, whole } from './semantics.ts'
import { stepOf } from './units.ts'
import { fromWallMs } from './zones.ts'

/** More days than there are. */
const MAX_STEPS = 4_000_000
/** Months since year 0 of the first and of the last month. */
const FIRST_MONTH = 12
const LAST_MONTH = 119_999

/** A date so many units later. */
export function addToDate(args: Datum[], type: ValueType | undefined, zone: string): number | null {
  const [date = null, count = null, unit] = args
  const step = stepOf(unit)
  if (date === null || count === null || step === null) return null
  const wall = wallOfDatum(date, type, zone)
  const steps = whole(Number(count), -MAX_STEPS, MAX_STEPS)
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
  const count = wholeArg(argument(args, 1, build, 'number'), build, -MAX_STEPS, MAX_STEPS)
  if (step === null) return words.nothing(date.type)
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
