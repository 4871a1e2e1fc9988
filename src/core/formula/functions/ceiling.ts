import type { Build, Value } from '../build.ts'
import { argument } from './common.ts'
import { defineFunction } from './define.ts'

/** The next whole number at or above. */
export const ceiling = defineFunction({
  name: 'CEILING',
  syntax: 'CEILING(number)',
  help: 'Rounds up to the nearest whole number.',
  examples: { 'CEILING(1.2)': 2, 'CEILING(-1.2)': -1 },
  args: ['number'],
  min: 1,
  max: 1,
  returns: 'number',
  evaluate: ([value]) => (value === null ? null : Math.ceil(Number(value))),
  compile<S>(args: Value<S>[], build: Build<S>): S {
    return build.words.ceil(argument(args, 0, build, 'number').sql)
  },
})
