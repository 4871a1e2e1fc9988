import type { Build, Value } from '../build.ts'
import { argument, charactersOf } from './common.ts'
import { defineFunction } from './define.ts'

/** How many characters the text has. */
export const len = defineFunction({
  name: 'LEN',
  syntax: 'LEN(text)',
  help: 'The number of characters in a text, 0 if it is empty.',
  examples: { 'LEN("abc")': 3, 'LEN("")': 0, 'LEN(BLANK())': 0 },
  args: ['joined'],
  min: 1,
  max: 1,
  returns: 'number',
  evaluate: ([value]) => charactersOf(String(value)).length,
  compile<S>(args: Value<S>[], build: Build<S>): S {
    return build.words.length(argument(args, 0, build, 'text').sql)
  },
})
