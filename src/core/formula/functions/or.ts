import type { Build, Value } from '../build.ts'
import { defineFunction } from './define.ts'

/** Whether one of the conditions holds. */
export const or = defineFunction({
  name: 'OR',
  syntax: 'OR(condition, …)',
  help: 'True if any condition is true.',
  examples: { 'OR(1 > 2, true)': true, 'OR(null, 0)': false },
  args: [],
  rest: ['condition'],
  min: 1,
  max: Number.POSITIVE_INFINITY,
  returns: 'boolean',
  evaluate: (args) => args.some((arg) => arg === true),
  compile<S>(args: Value<S>[], build: Build<S>): S {
    return build.words.or(args.map(({ sql }) => sql))
  },
})
