import type { Build, Value } from '../build.ts'
import { argument } from './common.ts'
import { defineFunction } from './define.ts'

/** Beyond it the result is no number of formulas. */
const MAX_EXPONENT = 80

/** e (2.718…) to the power of the number; empty where that is too large. */
export const exp = defineFunction({
  name: 'EXP',
  syntax: 'EXP(number)',
  help: 'e (2.718…) raised to the power of the number. Empty if the result is too large.',
  examples: { 'EXP(0)': 1, 'EXP(1000)': null },
  args: ['number'],
  min: 1,
  max: 1,
  returns: 'number',
  evaluate: ([value]) => {
    if (value === null || Number(value) > MAX_EXPONENT) return null
    return Number(value) < -MAX_EXPONENT ? 0 : Math.exp(Number(value))
  },
  compile<S>(args: Value<S>[], build: Build<S>): S {
    const { words, constant } = build
    return build.once([argument(args, 0, build, 'number')], (value) =>
      words.choose(
        [
          [words.compare('>', value, constant(MAX_EXPONENT)), words.nothing('number')],
          [words.compare('<', value, constant(-MAX_EXPONENT)), constant(0)],
        ],
        words.exp(value),
      ),
    )
  },
})
