import type { Build, Value } from '../build.ts'
import { MAX_TEXT } from '../semantics.ts'
import { argument, charactersOf } from './common.ts'
import { defineFunction, texts } from './define.ts'

/** The text with every occurrence of what is to be found replaced. */
export const replace = defineFunction({
  name: 'REPLACE',
  syntax: 'REPLACE(text, find, replacement)',
  help: 'Replaces every occurrence of a text.',
  examples: { 'REPLACE("a-b-c", "-", "+")': 'a+b+c', 'REPLACE("abc", "", "x")': 'abc' },
  args: ['text', 'text', 'text'],
  min: 3,
  max: 3,
  returns: 'text',
  evaluate: (args) => {
    const values = texts(args)
    if (!values) return null
    const [text = '', find = '', by = ''] = values
    if (find === '' || !text.includes(find)) return text
    const result = text.replaceAll(find, () => by)
    return charactersOf(result).length > MAX_TEXT ? null : result
  },
  compile<S>(args: Value<S>[], build: Build<S>): S {
    const { words, constant } = build
    const values = [0, 1, 2].map((index) => argument(args, index, build, 'text'))
    return build.once(values, (...texts) => {
      const [text, find, by] = texts as [S, S, S]
      const isAbsent = words.or([
        words.isNull(find),
        words.compareText('=', find, words.text('')),
        words.compare('=', words.position(text, find), constant(0)),
      ])
      const without = words.length(words.replace(text, find, words.text('')))
      const found = words.divide(words.arithmetic('-', words.length(text), without), words.length(find))
      const grown = words.arithmetic('-', words.length(by), words.length(find))
      const length = words.arithmetic('+', words.length(text), words.arithmetic('*', found, grown))
      return words.choose(
        [
          [words.or([words.isNull(text), words.isNull(find), words.isNull(by)]), words.nothing('text')],
          [isAbsent, text],
          [words.compare('>', length, constant(MAX_TEXT)), words.nothing('text')],
        ],
        words.replace(text, find, by),
      )
    })
  },
})
