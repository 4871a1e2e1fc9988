import type { Build, Value } from '../build.ts'
import { argument } from './common.ts'
import { defineFunction } from './define.ts'

/** The next even whole number away from zero. */
export const even = defineFunction({
  name: 'EVEN',
  syntax: 'EVEN(number)',
  help: 'Rounds away from zero to the nearest even whole number.',
  examples: { 'EVEN(1.5)': 2, 'EVEN(-3)': -4, 'EVEN(4)': 4 },
  args: ['number'],
  min: 1,
  max: 1,
  returns: 'number',
  evaluate: ([value]) => {
    if (value === null) return null
    const size = Math.ceil(Math.abs(Number(value)) / 2) * 2
    return Number(value) < 0 ? -size : size
  },
  compile<S>(args: Value<S>[], build: Build<S>): S {
    const { words, constant } = build
    return build.once([argument(args, 0, build, 'number')], (value) => {
      const size = words.arithmetic('*', words.ceil(words.divide(words.abs(value), constant(2))), constant(2))
      return words.choose([[words.compare('<', value, constant(0)), words.negate(size)]], size)
    })
  },
})
