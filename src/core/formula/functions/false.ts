import type { Build, Value } from '../build.ts'
import { defineFunction } from './define.ts'

/** The value that is false. */
export const falseFunction = defineFunction({
  name: 'FALSE',
  syntax: 'FALSE()',
  help: 'The value false.',
  examples: { 'FALSE()': false },
  args: [],
  min: 0,
  max: 0,
  returns: 'boolean',
  evaluate: () => false,
  compile<S>(_args: Value<S>[], build: Build<S>): S {
    return build.words.truth(false)
  },
})
