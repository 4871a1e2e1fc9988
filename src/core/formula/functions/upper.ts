import type { Build, Value } from '../build.ts'
import { toUpper } from '../letters.ts'
import { argument } from './common.ts'
import { defineFunction } from './define.ts'

/** The text in capitals. */
export const upper = defineFunction({
  name: 'UPPER',
  syntax: 'UPPER(text)',
  help: 'Converts text to upper case, letter by letter: ß stays ß.',
  examples: { 'UPPER("abc é")': 'ABC É', 'UPPER("Σίσυφος, Straße")': 'ΣΊΣΥΦΟΣ, STRAßE' },
  args: ['text'],
  min: 1,
  max: 1,
  returns: 'text',
  evaluate: ([value]) => (value === null ? null : toUpper(String(value))),
  compile<S>(args: Value<S>[], build: Build<S>): S {
    return build.once([argument(args, 0, build, 'text')], (text) => build.words.upper(text))
  },
})
