import { m } from '../../messages.gen.ts'
import type { Range } from '../ast.ts'
import type { Build, Value } from '../build.ts'
import { compileSum } from './aggregates.ts'
import { type Datum, defineFunction, type FormulaFunction } from './define.ts'

/** Databases compute the median from a row of all arguments, which has a limited number of columns. */
const MAX_NUMBERS = 250

const filled = (args: Datum[]): number[] => args.filter((arg) => arg !== null).map(Number)

/** The median: the middle number, or the mean of the two in the middle. */
export const median = defineFunction({
  name: 'MEDIAN',
  syntax: 'MEDIAN(number, …)',
  help: m.formula_median_help,
  examples: { 'MEDIAN(1, 9, 2)': 2, 'MEDIAN(4, 1, 2, 3)': 2.5, 'MEDIAN(null, 5)': 5 },
  args: [],
  rest: ['number'],
  min: 1,
  max: MAX_NUMBERS,
  returns: 'number',
  evaluate: (args) => {
    const values = filled(args).sort((a, b) => a - b)
    const low = values[(values.length - 1) >> 1]
    const high = values[values.length >> 1]
    return low === undefined || high === undefined ? null : low + (high - low) * 0.5
  },
  compile: (args, build) =>
    build.once(args, (...values) =>
      build.words.among(
        'median',
        args.map(({ type }, at) => ({ type, sql: values[at] as NonNullable<(typeof values)[number]> })),
      ),
    ),
})

/** The squares of numbers of one range, summed. */
const squared = (ranges: Range[]): Range => ({
  max: 2 * Math.max(35, ...ranges.map(({ max }) => max)) + 6,
  min: 2 * (Math.min(-35, ...ranges.map(({ min }) => min)) - 20),
})

/** The sum of the squared distances from the mean, over one less than there are numbers. */
function varianceOf(args: Datum[]): number | null {
  const values = filled(args)
  if (values.length < 2) return null
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  return values.reduce((sum, value) => sum + (value - mean) * (value - mean), 0) / (values.length - 1)
}

/** The same as SQL; null for fewer than two numbers. */
function compileVariance<S>(args: Value<S>[], build: Build<S>): S {
  const { words, constant } = build
  return build.once(args, (...values) => {
    const bound = args.map((arg, at) => ({ ...arg, sql: values[at] as S, isSimple: true }))
    return build.bind(words.among('count', bound), 'number', (count) => {
      const mean = words.divide(compileSum(bound, build), count)
      return build.bind(mean, 'number', (middle) => {
        const squares = bound.map((value) => {
          const distance = words.arithmetic('-', value.sql, middle)
          return { ...value, sql: words.arithmetic('*', distance, distance) }
        })
        return words.choose(
          [
            [
              words.compare('>', count, constant(1)),
              words.divide(compileSum(squares, build), words.arithmetic('-', count, constant(1))),
            ],
          ],
          words.nothing('number'),
        )
      })
    })
  })
}

const ofNumbers = {
  args: [],
  rest: ['number'],
  min: 1,
  returns: 'number',
  range: squared,
} as const satisfies Partial<FormulaFunction>

/** The variance of a sample. */
export const variance = defineFunction({
  name: 'VAR',
  syntax: 'VAR(number, …)',
  help: m.formula_var_help,
  failure: 'possible',
  examples: { 'VAR(2, 4, 6)': 4, 'VAR(1, null)': null },
  ...ofNumbers,
  evaluate: varianceOf,
  compile: compileVariance,
})

/** The standard deviation of a sample. */
export const standardDeviation = defineFunction({
  name: 'STDEV',
  syntax: 'STDEV(number, …)',
  help: m.formula_stdev_help,
  failure: 'possible',
  examples: { 'STDEV(2, 4, 6)': 2, 'STDEV(1, 1, null)': 0 },
  ...ofNumbers,
  evaluate: (args) => {
    const value = varianceOf(args)
    return value === null ? null : Math.sqrt(value)
  },
  compile: (args, build) => build.words.sqrt(compileVariance(args, build)),
})
