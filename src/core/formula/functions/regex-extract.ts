import type { Build, Value } from '../build.ts'
import { firstMatch } from '../match-pattern.ts'
import { sourceOf } from '../pattern.ts'
import { argument } from './common.ts'
import { defineFunction, NO_REGEX } from './define.ts'

/** The first piece of the text that the regular expression describes; empty where there is none. */
export const regexExtract = defineFunction({
  name: 'REGEX_EXTRACT',
  syntax: 'REGEX_EXTRACT(text, pattern)',
  help: 'The first match of a regular expression. Empty if there is no match.',
  examples: { 'REGEX_EXTRACT("order 42", "[0-9]+")': '42', 'REGEX_EXTRACT("abc", "[0-9]+")': null },
  args: ['text', 'pattern'],
  min: 2,
  max: 2,
  unavailable: NO_REGEX,
  returns: 'text',
  evaluate: ([text, pattern]) => (text === null ? null : firstMatch(String(text), sourceOf(pattern))),
  compile<S>(args: Value<S>[], build: Build<S>): S {
    const pattern = sourceOf(args[1]?.constant, build.words.regexEnd)
    return build.once([argument(args, 0, build, 'text')], (text) => build.words.regexExtract(text, pattern))
  },
})
