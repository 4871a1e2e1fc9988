import { m } from '../../messages.gen.ts'
import type { Build, Value } from '../build.ts'
import { containsPattern, firstMatch, replaceMatches } from '../match-pattern.ts'
import { sourceOf } from '../pattern.ts'
import { MAX_TEXT } from '../semantics.ts'
import { argument, charactersOf, defineFunction, NO_REGEX } from './define.ts'

/** Whether the text contains what the regular expression describes. */
export const regexMatch = defineFunction({
  name: 'REGEX_MATCH',
  syntax: 'REGEX_MATCH(text, pattern)',
  help: m.formula_regex_match_help,
  examples: {
    'REGEX_MATCH("abc123", "[0-9]+")': true,
    'REGEX_MATCH("abc", "^b")': false,
    'REGEX_MATCH(BLANK(), "a")': false,
  },
  args: ['joined', 'pattern'],
  unavailable: NO_REGEX,
  returns: 'boolean',
  evaluate: ([text, pattern]) => containsPattern(String(text), sourceOf(pattern)),
  compile<S>(args: Value<S>[], build: Build<S>): S {
    const pattern = sourceOf(args[1]?.constant, build.words.regexEnd)
    return build.once([argument(args, 0, build, 'text')], (text) => build.words.regexMatch(text, pattern))
  },
})

/** The first piece of the text that the regular expression describes; empty where there is none. */
export const regexExtract = defineFunction({
  name: 'REGEX_EXTRACT',
  syntax: 'REGEX_EXTRACT(text, pattern)',
  help: m.formula_regex_extract_help,
  failure: 'possible',
  examples: { 'REGEX_EXTRACT("order 42", "[0-9]+")': '42', 'REGEX_EXTRACT("abc", "[0-9]+")': null },
  args: ['text', 'pattern'],
  unavailable: NO_REGEX,
  returns: 'text',
  evaluate: ([text, pattern]) => (text === null ? null : firstMatch(String(text), sourceOf(pattern))),
  compile<S>(args: Value<S>[], build: Build<S>): S {
    const pattern = sourceOf(args[1]?.constant, build.words.regexEnd)
    return build.once([argument(args, 0, build, 'text')], (text) => build.words.regexExtract(text, pattern))
  },
})

/** The text with every piece replaced that the regular expression describes. */
export const regexReplace = defineFunction({
  name: 'REGEX_REPLACE',
  syntax: 'REGEX_REPLACE(text, pattern, replacement)',
  help: m.formula_regex_replace_help,
  failure: 'possible',
  examples: {
    'REGEX_REPLACE("a1b22", "[0-9]+", "#")': 'a#b#',
    'REGEX_REPLACE("a1", "([a-z])", "$1")': '$11',
  },
  args: ['text', 'pattern', 'text'],
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
