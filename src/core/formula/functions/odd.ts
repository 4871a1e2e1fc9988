import type { Build, Value } from '../build.ts'
import { argument } from './common.ts'
import { defineFunction } from './define.ts'

/** The next odd whole number away from zero. */
export const odd = defineFunction({
  name: 'ODD',
  syntax: 'ODD(number)',
  help: 'Rounds away from zero to the nearest odd whole number.',
  examples: { 'ODD(2)': 3, 'ODD(-1.5)': -3, 'ODD(0)': 1 },
  args: ['number'],
  min: 1,
  max: 1,
  returns: 'number',
  evaluate: ([value]) => {
    if (value === null) return null
    const size = Math.ceil((Math.abs(Number(value)) + 1) / 2) * 2 - 1
    return Number(value) < 0 ? -size : size
  },
  compile<S>(args: Value<S>[], build: Build<S>): S {
    const { words, constant } = build
    return build.once([argument(args, 0, build, 'number')], (value) => {
      const half = words.ceil(words.divide(words.arithmetic('+', words.abs(value), constant(1)), constant(2)))
      const size = words.arithmetic('-', words.arithmetic('*', half, constant(2)), constant(1))
      return words.choose([[words.compare('<', value, constant(0)), words.negate(size)]], size)
    })
  },
})
