import type { Build, Value } from '../build.ts'
import { defineFunction } from './define.ts'

/** How many values there are, empty ones included. */
export const countAll = defineFunction({
  name: 'COUNTALL',
  syntax: 'COUNTALL(value, …)',
  help: 'Counts all values, including empty ones.',
  examples: { 'COUNTALL(1, "", null)': 3 },
  args: [],
  rest: ['any'],
  min: 1,
  max: Number.POSITIVE_INFINITY,
  returns: 'number',
  evaluate: (args) => args.length,
  compile<S>(args: Value<S>[], build: Build<S>): S {
    return build.constant(args.length)
  },
})
