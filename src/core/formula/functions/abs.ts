import type { Build, Value } from '../build.ts'
import { argument } from './common.ts'
import { defineFunction } from './define.ts'

/** The number without its sign. */
export const abs = defineFunction({
  name: 'ABS',
  syntax: 'ABS(number)',
  help: 'The absolute value of a number.',
  examples: { 'ABS(-3.5)': 3.5, 'ABS(0)': 0 },
  args: ['number'],
  min: 1,
  max: 1,
  returns: 'number',
  evaluate: ([value]) => (value === null ? null : Math.abs(Number(value))),
  compile<S>(args: Value<S>[], build: Build<S>): S {
    return build.words.abs(argument(args, 0, build, 'number').sql)
  },
})
