import type { Build, Value } from '../build.ts'
import { wholeArg } from '../rounding.ts'
import { MAX_TEXT, whole } from '../semantics.ts'
import { argument, charactersOf } from './common.ts'
import { defineFunction } from './define.ts'

/** The text so many times; empty where that would be longer than 100,000 characters. */
export const repeat = defineFunction({
  name: 'REPEAT',
  syntax: 'REPEAT(text, times)',
  help: 'Repeats a text. Empty if the result would be longer than 100,000 characters.',
  examples: { 'REPEAT("ab", 3)': 'ababab', 'REPEAT("ab", 0)': '' },
  args: ['text', 'number'],
  min: 2,
  max: 2,
  returns: 'text',
  evaluate: ([text, times]) => {
    if (text === null || times === null) return null
    const count = whole(Number(times), 0, MAX_TEXT + 1)
    return charactersOf(String(text)).length * count > MAX_TEXT ? null : String(text).repeat(count)
  },
  compile<S>(args: Value<S>[], build: Build<S>): S {
    const { words, constant } = build
    const times = wholeArg(argument(args, 1, build, 'number'), build, 0, MAX_TEXT + 1)
    return build.once([argument(args, 0, build, 'text'), times], (text, count) =>
      words.choose(
        [
          [words.or([words.isNull(text), words.isNull(count)]), words.nothing('text')],
          [
            words.or([words.compareText('=', text, words.text('')), words.compare('=', count, constant(0))]),
            words.text(''),
          ],
          [
            words.compare('>', words.arithmetic('*', words.length(text), count), constant(MAX_TEXT)),
            words.nothing('text'),
          ],
        ],
        words.repeat(text, count),
      ),
    )
  },
})
