import { m } from '../../messages.gen.ts'
import type { Build, Value } from '../build.ts'
import { compileRound, type Rounding, roundTo } from '../numbers.ts'
import { argument, defineFunction, type FormulaFunction, NO_ROUNDING, numbers } from './define.ts'

/** The smallest whole number at or above the number. */
export const ceiling = defineFunction({
  name: 'CEILING',
  syntax: 'CEILING(number)',
  help: m.formula_ceiling_help,
  examples: { 'CEILING(1.2)': 2, 'CEILING(-1.2)': -1 },
  args: ['number'],
  returns: 'number',
  evaluate: ([value]) => (value === null ? null : Math.ceil(Number(value))),
  compile: (args, build) => build.words.ceil(argument(args, 0, build, 'number').sql),
})

/** The largest whole number at or below the number. */
export const floor = defineFunction({
  name: 'FLOOR',
  syntax: 'FLOOR(number)',
  help: m.formula_floor_help,
  examples: { 'FLOOR(1.8)': 1, 'FLOOR(-1.2)': -2 },
  args: ['number'],
  returns: 'number',
  evaluate: ([value]) => (value === null ? null : Math.floor(Number(value))),
  compile: (args, build) => build.words.floor(argument(args, 0, build, 'number').sql),
})

/** As FLOOR. */
export const int: FormulaFunction = {
  ...floor,
  name: 'INT',
  syntax: 'INT(number)',
  help: m.formula_int_help,
  examples: { 'INT(3.7)': 3, 'INT(-3.7)': -4 },
}

/** The parts that ROUND, ROUNDUP and ROUNDDOWN share. */
const rounding = (mode: Rounding) =>
  ({
    args: ['number', 'number'],
    min: 1,
    returns: 'number',
    evaluate: (args) => {
      const values = numbers(args)
      return values ? roundTo(values[0] ?? 0, values[1] ?? 0, mode) : null
    },
    compile: (args, build) => compileRound(args, build, mode),
  }) as const satisfies Partial<FormulaFunction>

/** Rounds to a number of decimal places (default 0; negative: before the point), halves away from zero. */
export const round = defineFunction({
  name: 'ROUND',
  syntax: 'ROUND(number, [digits])',
  help: m.formula_round_help,
  examples: { 'ROUND(2.5)': 3, 'ROUND(1.005, 2)': 1.01, 'ROUND(-1234, -2)': -1200 },
  ...rounding('half'),
})

/** Rounds away from zero to a number of decimal places. */
export const roundUp = defineFunction({
  name: 'ROUNDUP',
  syntax: 'ROUNDUP(number, [digits])',
  help: m.formula_roundup_help,
  examples: { 'ROUNDUP(1.21, 1)': 1.3, 'ROUNDUP(-1.21, 1)': -1.3 },
  unavailable: NO_ROUNDING,
  ...rounding('up'),
})

/** Rounds towards zero to a number of decimal places. */
export const roundDown = defineFunction({
  name: 'ROUNDDOWN',
  syntax: 'ROUNDDOWN(number, [digits])',
  help: m.formula_rounddown_help,
  examples: { 'ROUNDDOWN(1.29, 1)': 1.2, 'ROUNDDOWN(-1.29, 1)': -1.2 },
  unavailable: NO_ROUNDING,
  ...rounding('down'),
})

/** Rounds away from zero to an even whole number. */
export const even = defineFunction({
  name: 'EVEN',
  syntax: 'EVEN(number)',
  help: m.formula_even_help,
  examples: { 'EVEN(1.5)': 2, 'EVEN(-3)': -4, 'EVEN(4)': 4 },
  args: ['number'],
  returns: 'number',
  evaluate: ([value]) => {
    if (value === null) return null
    const size = Math.ceil(Math.abs(Number(value)) / 2) * 2
    return Number(value) < 0 ? -size : size
  },
  compile<S>(args: Value<S>[], build: Build<S>): S {
    const { words, constant } = build
    return build.once([argument(args, 0, build, 'number')], (value) => {
      const size = words.arithmetic('*', words.ceil(words.divide(words.abs(value), constant(2))), constant(2))
      return words.choose([[words.compare('<', value, constant(0)), words.negate(size)]], size)
    })
  },
})

/** Rounds away from zero to an odd whole number. */
export const odd = defineFunction({
  name: 'ODD',
  syntax: 'ODD(number)',
  help: m.formula_odd_help,
  examples: { 'ODD(2)': 3, 'ODD(-1.5)': -3, 'ODD(0)': 1 },
  args: ['number'],
  returns: 'number',
  evaluate: ([value]) => {
    if (value === null) return null
    const size = Math.ceil((Math.abs(Number(value)) + 1) / 2) * 2 - 1
    return Number(value) < 0 ? -size : size
  },
  compile<S>(args: Value<S>[], build: Build<S>): S {
    const { words, constant } = build
    return build.once([argument(args, 0, build, 'number')], (value) => {
      const half = words.ceil(words.divide(words.arithmetic('+', words.abs(value), constant(1)), constant(2)))
      const size = words.arithmetic('-', words.arithmetic('*', half, constant(2)), constant(1))
      return words.choose([[words.compare('<', value, constant(0)), words.negate(size)]], size)
    })
  },
})
