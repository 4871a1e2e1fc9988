import type { Build, Value } from '../build.ts'
import { argument } from './common.ts'
import { defineFunction, numbers } from './define.ts'

/** Of e: beyond it the result is no number of formulas. */
const MAX_EXPONENT = 80

/** The base to the power of the exponent; empty where no real number results. */
export const power = defineFunction({
  name: 'POWER',
  syntax: 'POWER(base, exponent)',
  help: 'The base raised to the power of the exponent. Empty if the result is not a real number.',
  examples: { 'POWER(2, 10)': 1024, 'POWER(4, 0.5)': 2, 'POWER(0, -1)': null },
  args: ['number', 'number'],
  min: 2,
  max: 2,
  returns: 'number',
  evaluate: (args) => {
    const values = numbers(args)
    if (!values) return null
    const [base = 0, exponent = 0] = values
    if (base === 0) return exponent > 0 ? 0 : exponent === 0 ? 1 : null
    const size = exponent * Math.log(Math.abs(base))
    if (size > MAX_EXPONENT || (base < 0 && Math.floor(exponent) !== exponent)) return null
    return size < -MAX_EXPONENT ? 0 : base ** exponent
  },
  compile<S>(args: Value<S>[], build: Build<S>): S {
    const { words, constant } = build
    return build.once(
      [argument(args, 0, build, 'number'), argument(args, 1, build, 'number')],
      (base, exponent) => {
        const isZero = words.compare('=', base, constant(0))
        const magnitude = words.choose([[isZero, constant(1)]], words.abs(base))
        return build.bind(words.arithmetic('*', exponent, words.ln(magnitude)), 'number', (size) => {
          const isWhole = words.compare('=', words.floor(exponent), exponent)
          return words.choose(
            [
              [words.or([words.isNull(base), words.isNull(exponent)]), words.nothing('number')],
              [words.and([isZero, words.compare('>', exponent, constant(0))]), constant(0)],
              [words.and([isZero, words.compare('=', exponent, constant(0))]), constant(1)],
              [isZero, words.nothing('number')],
              [words.compare('>', size, constant(MAX_EXPONENT)), words.nothing('number')],
              [
                words.and([words.compare('<', base, constant(0)), words.not(isWhole)]),
                words.nothing('number'),
              ],
              [words.compare('<', size, constant(-MAX_EXPONENT)), constant(0)],
            ],
            // Of two literals the database would compute the power before it looks at the conditions.
            words.power(
              words.choose([[words.compare('<=', size, constant(MAX_EXPONENT)), base]], constant(1)),
              exponent,
            ),
          )
        })
      },
    )
  },
})
