import { wallOf } from '../dates.ts'
import type { ValueType } from './ast.ts'
import type { Build, Value } from './build.ts'
import { argument } from './functions/common.ts'
import type { Datum } from './functions/define.ts'
import { compileInstant, compileSplit, compileToWall, instantOfDatum, wallOfDatum } from './instants.ts'
import { DAY_MS } from './semantics.ts'
import { differenceUnit } from './units.ts'

/** How many whole units the first date lies behind the second. */
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
