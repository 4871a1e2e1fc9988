import type { Build, Value } from '../build.ts'
import { defineFunction } from './define.ts'

/** The value that is true. */
export const trueFunction = defineFunction({
  name: 'TRUE',
  syntax: 'TRUE()',
  help: 'The value true.',
  examples: { 'TRUE()': true },
  args: [],
  min: 0,
  max: 0,
  returns: 'boolean',
  evaluate: () => true,
  compile<S>(_args: Value<S>[], build: Build<S>): S {
    return build.words.truth(true)
  },
})
