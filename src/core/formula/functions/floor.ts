import type { Build, Value } from '../build.ts'
import { argument } from './common.ts'
import { defineFunction } from './define.ts'

/** The next whole number at or below. */
export const floor = defineFunction({
  name: 'FLOOR',
  syntax: 'FLOOR(number)',
  help: 'Rounds down to the nearest whole number.',
  examples: { 'FLOOR(1.8)': 1, 'FLOOR(-1.2)': -2 },
  args: ['number'],
  min: 1,
  max: 1,
  returns: 'number',
  evaluate: ([value]) => (value === null ? null : Math.floor(Number(value))),
  compile<S>(args: Value<S>[], build: Build<S>): S {
    return build.words.floor(argument(args, 0, build, 'number').sql)
  },
})
