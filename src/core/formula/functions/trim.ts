import { trimCharacters } from '../../trim-characters.ts'
import type { Build, Value } from '../build.ts'
import { argument } from './common.ts'
import { defineFunction } from './define.ts'

/** The text without spaces at its ends. */
export const trim = defineFunction({
  name: 'TRIM',
  syntax: 'TRIM(text)',
  help: 'Removes spaces from both ends of a text.',
  examples: { 'TRIM("  a b ")': 'a b' },
  args: ['text'],
  min: 1,
  max: 1,
  returns: 'text',
  evaluate: ([value]) => (value === null ? null : trimCharacters(String(value), ' ')),
  compile<S>(args: Value<S>[], build: Build<S>): S {
    return build.words.trim(argument(args, 0, build, 'text').sql)
  },
})
