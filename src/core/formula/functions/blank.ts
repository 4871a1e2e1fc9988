import type { Build, Value } from '../build.ts'
import { defineFunction } from './define.ts'

/** No value. */
export const blank = defineFunction({
  name: 'BLANK',
  syntax: 'BLANK()',
  help: 'An empty value.',
  examples: { 'BLANK()': null, 'IF("" = BLANK(), "empty", "filled")': 'empty' },
  args: [],
  min: 0,
  max: 0,
  returns: 'null',
  evaluate: () => null,
  compile<S>(_args: Value<S>[], build: Build<S>): S {
    return build.words.nothing('null')
  },
})
