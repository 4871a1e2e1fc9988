import type { Build, Value } from '../build.ts'
import { containsPattern } from '../match-pattern.ts'
import { sourceOf } from '../pattern.ts'
import { argument } from './common.ts'
import { defineFunction, NO_REGEX } from './define.ts'

/** Whether the text contains what the regular expression describes. */
export const regexMatch = defineFunction({
  name: 'REGEX_MATCH',
  syntax: 'REGEX_MATCH(text, pattern)',
  help: 'True if the text matches a regular expression.',
  examples: {
    'REGEX_MATCH("abc123", "[0-9]+")': true,
    'REGEX_MATCH("abc", "^b")': false,
    'REGEX_MATCH(BLANK(), "a")': false,
  },
  args: ['joined', 'pattern'],
  min: 2,
  max: 2,
  unavailable: NO_REGEX,
  returns: 'boolean',
  evaluate: ([text, pattern]) => containsPattern(String(text), sourceOf(pattern)),
  compile<S>(args: Value<S>[], build: Build<S>): S {
    const pattern = sourceOf(args[1]?.constant, build.words.regexEnd)
    return build.once([argument(args, 0, build, 'text')], (text) => build.words.regexMatch(text, pattern))
  },
})
