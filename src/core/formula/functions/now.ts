import type { Build, Value } from '../build.ts'
import { defineFunction } from './define.ts'

/** The present moment. */
export const now = defineFunction({
  name: 'NOW',
  syntax: 'NOW()',
  help: 'The current date and time.',
  examples: { 'NOW() > "2020-01-01"': true },
  args: [],
  min: 0,
  max: 0,
  returns: 'datetime',
  evaluate: (_args, { now }) => now,
  compile<S>(_args: Value<S>[], build: Build<S>): S {
    return build.words.number(build.now)
  },
})
