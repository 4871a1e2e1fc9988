import type { Build, Value } from '../build.ts'
import { wholeArg } from '../rounding.ts'
import { MAX_PLACE, whole } from '../semantics.ts'
import { argument, charactersOf } from './common.ts'
import { defineFunction } from './define.ts'

/** The last characters of the text. */
export const right = defineFunction({
  name: 'RIGHT',
  syntax: 'RIGHT(text, count)',
  help: 'The last characters of a text.',
  examples: { 'RIGHT("abcdef", 2)': 'ef', 'RIGHT("abc", 0)': '' },
  args: ['text', 'number'],
  min: 2,
  max: 2,
  returns: 'text',
  evaluate: ([text, count]) => {
    if (text === null || count === null) return null
    const characters = charactersOf(String(text))
    return characters.slice(Math.max(0, characters.length - whole(Number(count), 0, MAX_PLACE))).join('')
  },
  compile<S>(args: Value<S>[], build: Build<S>): S {
    const { words, constant } = build
    const count = wholeArg(argument(args, 1, build, 'number'), build, 0, MAX_PLACE)
    return build.once([argument(args, 0, build, 'text'), count], (text, last) => {
      const skipped = words.arithmetic('-', words.length(text), last)
      return words.choose(
        [[words.compare('<=', skipped, constant(0)), text]],
        words.part(
          text,
          words.choose(
            [[words.compare('>', skipped, constant(0)), words.arithmetic('+', skipped, constant(1))]],
            constant(1),
          ),
          last,
        ),
      )
    })
  },
})
