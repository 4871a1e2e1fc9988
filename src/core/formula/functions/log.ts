import type { Build, Value } from '../build.ts'
import { argument } from './common.ts'
import { defineFunction, numbers } from './define.ts'

/** The logarithm of the number to the base, or the natural one. Empty for what is not above 0. */
export const log = defineFunction({
  name: 'LOG',
  syntax: 'LOG([base], number)',
  help: 'The logarithm of a number to a base, or the natural logarithm. Empty for numbers that are not positive.',
  examples: { 'LOG(2, 8)': 3, 'LOG(1)': 0, 'LOG(0)': null },
  args: ['number', 'number'],
  min: 1,
  max: 2,
  returns: 'number',
  evaluate: (args) => {
    const values = numbers(args)
    if (!values || values.some((value) => value <= 0)) return null
    const [first = 1, second] = values
    if (second === undefined) return Math.log(first)
    return first === 1 ? null : Math.log(second) / Math.log(first)
  },
  compile<S>(args: Value<S>[], build: Build<S>): S {
    const { words, constant } = build
    const log = (value: Value<S>) =>
      build.once([value], (number) =>
        words.choose(
          [
            [
              words.compare('>', number, constant(0)),
              words.ln(words.choose([[words.compare('>', number, constant(0)), number]], constant(1))),
            ],
          ],
          words.nothing('number'),
        ),
      )
    const [first, second] = args
    if (!first || !second) return log(argument(args, 0, build, 'number'))
    return words.divide(log(second), log(first))
  },
})
