import type { Build, Value } from '../build.ts'
import { defineFunction } from './define.ts'

/** Whether all conditions hold. */
export const and = defineFunction({
  name: 'AND',
  syntax: 'AND(condition, …)',
  help: 'True if all conditions are true.',
  examples: { 'AND(1 < 2, true)': true, 'AND(true, "")': false },
  args: [],
  rest: ['condition'],
  min: 1,
  max: Number.POSITIVE_INFINITY,
  returns: 'boolean',
  evaluate: (args) => args.every((arg) => arg === true),
  compile<S>(args: Value<S>[], build: Build<S>): S {
    return build.words.and(args.map(({ sql }) => sql))
  },
})
