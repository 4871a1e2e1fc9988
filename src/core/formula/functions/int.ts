import type { Build, Value } from '../build.ts'
import { argument } from './common.ts'
import { defineFunction } from './define.ts'

/** The whole number at or below. */
export const int = defineFunction({
  name: 'INT',
  syntax: 'INT(number)',
  help: 'Rounds down to the nearest whole number.',
  examples: { 'INT(3.7)': 3, 'INT(-3.7)': -4 },
  args: ['number'],
  min: 1,
  max: 1,
  returns: 'number',
  evaluate: ([value]) => (value === null ? null : Math.floor(Number(value))),
  compile<S>(args: Value<S>[], build: Build<S>): S {
    return build.words.floor(argument(args, 0, build, 'number').sql)
  },
})
