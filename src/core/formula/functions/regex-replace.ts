import type { Build, Value } from '../build.ts'
import { replaceMatches } from '../match-pattern.ts'
import { sourceOf } from '../pattern.ts'
import { MAX_TEXT } from '../semantics.ts'
import { argument, charactersOf } from './common.ts'
import { defineFunction, NO_REGEX } from './define.ts'

/** The text with every piece replaced that the regular expression describes. */
export const regexReplace = defineFunction({
  name: 'REGEX_REPLACE',
  syntax: 'REGEX_REPLACE(text, pattern, replacement)',
  help: 'Replaces every match of a regular expression.',
  examples: { 'REGEX_REPLACE("a1b22", "[0-9]+", "#")': 'a#b#' },
  args: ['text', 'pattern', 'text'],
  min: 3,
  max: 3,
  unavailable: NO_REGEX,
  returns: 'text',
  evaluate: ([text, pattern, by]) => {
    if (text === null || by === null) return null
    const [before, after] = [String(text), String(by)]
    const most = charactersOf(before).length * Math.max(1, charactersOf(after).length)
    return most > MAX_TEXT ? null : replaceMatches(before, sourceOf(pattern), after)
  },
  compile<S>(args: Value<S>[], build: Build<S>): S {
    const { words, constant } = build
    const pattern = sourceOf(args[1]?.constant, words.regexEnd)
    const values = [argument(args, 0, build, 'text'), argument(args, 2, build, 'text')]
    return build.once(values, (...texts) => {
      const [text, by] = texts as [S, S]
      // A match has one character at least, so the result is no longer than this.
      const most = words.arithmetic(
        '*',
        words.length(text),
        words.choose([[words.compareText('=', by, words.text('')), constant(1)]], words.length(by)),
      )
      return words.choose(
        [
          [words.or([words.isNull(text), words.isNull(by)]), words.nothing('text')],
          [words.compare('>', most, constant(MAX_TEXT)), words.nothing('text')],
        ],
        words.regexReplace(text, pattern, by),
      )
    })
  },
})
