import type { Build, Value } from '../build.ts'
import { compileSplit, compileToWall, wallOfDatum } from '../instants.ts'
import { DAY_MS } from '../semantics.ts'
import { firstDay } from '../units.ts'
import { argument } from './common.ts'
import { defineFunction } from './define.ts'

/** The day of the week, counted from 0. Weeks begin on Monday, or on the day that is named. */
export const weekday = defineFunction({
  name: 'WEEKDAY',
  syntax: 'WEEKDAY(date, [first day])',
  help: 'The day of the week, counted from 0. Weeks start on Monday unless another day is given.',
  examples: { 'WEEKDAY("2024-03-04")': 0, 'WEEKDAY("2024-03-04", "sunday")': 1 },
  args: ['date', 'weekday'],
  min: 1,
  max: 2,
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
