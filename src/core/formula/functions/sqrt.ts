import type { Build, Value } from '../build.ts'
import { argument } from './common.ts'
import { defineFunction } from './define.ts'

/** The square root; empty for a number below 0. */
export const sqrt = defineFunction({
  name: 'SQRT',
  syntax: 'SQRT(number)',
  help: 'The square root. Empty for negative numbers.',
  examples: { 'SQRT(9)': 3, 'SQRT(-1)': null },
  args: ['number'],
  min: 1,
  max: 1,
  returns: 'number',
  evaluate: ([value]) => (value === null || Number(value) < 0 ? null : Math.sqrt(Number(value))),
  compile<S>(args: Value<S>[], build: Build<S>): S {
    return build.once([argument(args, 0, build, 'number')], (value) =>
      build.words.choose(
        [[build.words.compare('>=', value, build.constant(0)), build.words.sqrt(build.words.abs(value))]],
        build.words.nothing('number'),
      ),
    )
  },
})
