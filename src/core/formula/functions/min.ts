import type { Build, Value } from '../build.ts'
import { extreme } from './common.ts'
import { defineFunction } from './define.ts'

/** The least of the numbers; empty ones are passed over. */
export const min = defineFunction({
  name: 'MIN',
  syntax: 'MIN(number, …)',
  help: 'The smallest of the numbers. Ignores empty values.',
  examples: { 'MIN(3, 1, 2)': 1, 'MIN(null, 2)': 2 },
  args: [],
  rest: ['number'],
  min: 1,
  max: Number.POSITIVE_INFINITY,
  returns: 'number',
  evaluate: (args) => extreme(args, Math.min),
  compile<S>(args: Value<S>[], build: Build<S>): S {
    return build.words.among('min', args)
  },
})
