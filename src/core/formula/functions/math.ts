import { m } from '../../messages.gen.ts'
import type { Build, Value } from '../build.ts'
import { compileRemainder, remainder } from '../numbers.ts'
import { argument, defineFunction, numbers } from './define.ts'

/** The number without its sign. */
export const abs = defineFunction({
  name: 'ABS',
  syntax: 'ABS(number)',
  help: m.formula_abs_help,
  examples: { 'ABS(-3.5)': 3.5, 'ABS(0)': 0 },
  args: ['number'],
  returns: 'number',
  evaluate: ([value]) => (value === null ? null : Math.abs(Number(value))),
  compile: (args, build) => build.words.abs(argument(args, 0, build, 'number').sql),
})

/** The square root; empty for a number below 0. */
export const sqrt = defineFunction({
  name: 'SQRT',
  syntax: 'SQRT(number)',
  help: m.formula_sqrt_help,
  failure: 'possible',
  examples: { 'SQRT(9)': 3, 'SQRT(-1)': null },
  args: ['number'],
  returns: 'number',
  evaluate: ([value]) => (value === null || Number(value) < 0 ? null : Math.sqrt(Number(value))),
  compile: (args, build) =>
    build.once([argument(args, 0, build, 'number')], (value) =>
      build.words.choose(
        [[build.words.compare('>=', value, build.constant(0)), build.words.sqrt(build.words.abs(value))]],
        build.words.nothing('number'),
      ),
    ),
})

/** Largest exponent of e whose power is still a number that formulas allow. */
const MAX_EXPONENT = 80

/** e (2.718…) to the power of the number; empty where that is too large. */
export const exp = defineFunction({
  name: 'EXP',
  syntax: 'EXP(number)',
  help: m.formula_exp_help,
  failure: 'possible',
  examples: { 'EXP(0)': 1, 'EXP(1000)': null },
  args: ['number'],
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

/**
 * The logarithm of the number to the base, or the natural one. Empty for what is not above 0. Whole for a whole power of the
 * base: the quotient of the natural logarithms of 1000 and 10 is 2.9999999999999996.
 */
export const log = defineFunction({
  name: 'LOG',
  syntax: 'LOG([base], number)',
  help: m.formula_log_help,
  failure: 'possible',
  examples: { 'LOG(2, 8)': 3, 'LOG(1)': 0, 'LOG(0)': null, 'INT(LOG(10, 1000))': 3 },
  args: ['number', 'number'],
  min: 1,
  returns: 'number',
  evaluate: (args) => {
    const values = numbers(args)
    if (!values || values.some((value) => value <= 0)) return null
    const [first = 1, second] = values
    if (second === undefined) return Math.log(first)
    if (first === 1) return null
    const exponent = Math.log(second) / Math.log(first)
    const whole = Math.floor(exponent + 0.5)
    return first ** whole === second ? whole : exponent
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
    return build.once([first, second], (base, number) => {
      const simple = (sql: S): Value<S> => ({ sql, type: 'number', isSimple: true })
      return build.bind(words.divide(log(simple(number)), log(simple(base))), 'number', (exponent) =>
        build.bind(words.floor(words.arithmetic('+', exponent, constant(0.5))), 'number', (whole) =>
          words.choose([[words.compare('=', words.power(base, whole), number), whole]], exponent),
        ),
      )
    })
  },
})

/** The base to the power of the exponent; empty where no real number results. */
export const power = defineFunction({
  name: 'POWER',
  syntax: 'POWER(base, exponent)',
  help: m.formula_power_help,
  failure: 'possible',
  examples: { 'POWER(2, 10)': 1024, 'POWER(4, 0.5)': 2, 'POWER(0, -1)': null },
  args: ['number', 'number'],
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

/** Remainder of a division, with the sign of the number; empty for a divisor of 0. */
export const mod = defineFunction({
  name: 'MOD',
  syntax: 'MOD(number, divisor)',
  help: m.formula_mod_help,
  failure: 'possible',
  examples: { 'MOD(7, 3)': 1, 'MOD(-7, 3)': -1, 'MOD(7, 0)': null },
  args: ['number', 'number'],
  returns: 'number',
  range: ([left = { max: 0, min: 0 }, right = left]) => ({
    max: Math.max(left.max, right.max, left.max - right.min) + 1,
    min: Math.min(left.min, right.min, left.min - right.max) - 17,
  }),
  evaluate: (args) => {
    const values = numbers(args)
    return values ? remainder(values[0] ?? 0, values[1] ?? 0) : null
  },
  compile: (args, build) =>
    compileRemainder(argument(args, 0, build, 'number'), argument(args, 1, build, 'number'), build),
})
