import type { Build, Value } from '../build.ts'
import { extreme } from './common.ts'
import { defineFunction } from './define.ts'

/** The greatest of the numbers; empty ones are passed over. */
export const max = defineFunction({
  name: 'MAX',
  syntax: 'MAX(number, …)',
  help: 'The largest of the numbers. Ignores empty values.',
  examples: { 'MAX(3, 1, 2)': 3, 'MAX(null, null)': null },
  args: [],
  rest: ['number'],
  min: 1,
  max: Number.POSITIVE_INFINITY,
  returns: 'number',
  evaluate: (args) => extreme(args, Math.max),
  compile<S>(args: Value<S>[], build: Build<S>): S {
    return build.words.among('max', args)
  },
})
