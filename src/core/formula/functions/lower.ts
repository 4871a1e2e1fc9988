import type { Build, Value } from '../build.ts'
import { toLower } from '../letters.ts'
import { argument } from './common.ts'
import { defineFunction } from './define.ts'

/** The text in small letters. */
export const lower = defineFunction({
  name: 'LOWER',
  syntax: 'LOWER(text)',
  help: 'Converts text to lower case. A Σ that ends a word becomes ς.',
  examples: { 'LOWER("ABC É")': 'abc é', 'LOWER("ΣΊΣΥΦΟΣ")': 'σίσυφος' },
  args: ['text'],
  min: 1,
  max: 1,
  returns: 'text',
  evaluate: ([value]) => (value === null ? null : toLower(String(value))),
  compile<S>(args: Value<S>[], build: Build<S>): S {
    return build.once([argument(args, 0, build, 'text')], (text) => build.words.lower(text))
  },
})
