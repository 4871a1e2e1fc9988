import { m } from '../../messages.gen.ts'
import type { Build, Value } from '../build.ts'
import { defineFunction, extreme } from './define.ts'

/** The sum of the numbers; empty ones are passed over. */
export const add = defineFunction({
  name: 'ADD',
  syntax: 'ADD(number, …)',
  help: m.formula_add_help,
  examples: { 'ADD(1, 2, 3)': 6, 'ADD(1, null)': 1 },
  args: [],
  rest: ['number'],
  min: 1,
  returns: 'number',
  evaluate: (args) => args.reduce<number>((sum, arg) => sum + Number(arg ?? 0), 0),
  compile: (args, build) => compileSum(args, build),
})

/** The mean of the numbers; empty ones are passed over. */
export const avg = defineFunction({
  name: 'AVG',
  syntax: 'AVG(number, …)',
  help: m.formula_avg_help,
  examples: { 'AVG(1, 2, 6)': 3, 'AVG(4, null)': 4 },
  args: [],
  rest: ['number'],
  min: 1,
  returns: 'number',
  evaluate: (args) => {
    const values = args.filter((arg) => arg !== null)
    return values.length === 0
      ? null
      : values.reduce<number>((sum, arg) => sum + Number(arg), 0) / values.length
  },
  compile: (args, build) =>
    build.once(args, (...values) => {
      const bound = args.map((arg, index) => ({ ...arg, sql: values[index] ?? arg.sql, isSimple: true }))
      return build.words.divide(compileSum(bound, build), build.words.among('count', bound))
    }),
})

/** The least of the numbers; empty ones are passed over. */
export const min = defineFunction({
  name: 'MIN',
  syntax: 'MIN(number, …)',
  help: m.formula_min_help,
  examples: { 'MIN(3, 1, 2)': 1, 'MIN(null, 2)': 2 },
  args: [],
  rest: ['number'],
  min: 1,
  returns: 'number',
  evaluate: (args) => extreme(args, Math.min),
  compile: (args, build) => build.words.among('min', args),
})

/** The greatest of the numbers; empty ones are passed over. */
export const max = defineFunction({
  name: 'MAX',
  syntax: 'MAX(number, …)',
  help: m.formula_max_help,
  examples: { 'MAX(3, 1, 2)': 3, 'MAX(null, null)': null },
  args: [],
  rest: ['number'],
  min: 1,
  returns: 'number',
  evaluate: (args) => extreme(args, Math.max),
  compile: (args, build) => build.words.among('max', args),
})

/** How many of the values are numbers. */
export const count = defineFunction({
  name: 'COUNT',
  syntax: 'COUNT(value, …)',
  help: m.formula_count_help,
  examples: { 'COUNT(1, "a", null, 2.5)': 2 },
  args: [],
  rest: ['any'],
  min: 1,
  returns: 'number',
  evaluate: (args, _moment, types) =>
    args.filter((arg, index) => arg !== null && types[index] === 'number').length,
  compile<S>(args: Value<S>[], build: Build<S>): S {
    const counted = args.filter(({ type }) => type === 'number')
    return counted.length === 0 ? build.constant(0) : build.words.among('count', counted)
  },
})

/** How many of the values are not empty. */
export const countA = defineFunction({
  name: 'COUNTA',
  syntax: 'COUNTA(value, …)',
  help: m.formula_counta_help,
  examples: { 'COUNTA(1, "a", "", null)': 2 },
  args: [],
  rest: ['any'],
  min: 1,
  returns: 'number',
  evaluate: (args) => args.filter((arg) => arg !== null && arg !== '').length,
  compile<S>(args: Value<S>[], build: Build<S>): S {
    const { words } = build
    const { constant } = build
    // All kinds of values as marks of one: a list of them has one type in every database.
    const filled = args.map((arg) => {
      const mark = (value: S): S => {
        const isFilled =
          arg.type === 'text'
            ? words.compareText('!=', value, words.text(''))
            : words.not(words.isNull(value))
        return words.choose([[isFilled, constant(1)]], words.nothing('number'))
      }
      return { ...arg, type: 'number' as const, sql: mark(arg.sql), isSimple: false }
    })
    return words.among('count', filled)
  },
})

/** How many values there are, empty ones included. */
export const countAll = defineFunction({
  name: 'COUNTALL',
  syntax: 'COUNTALL(value, …)',
  help: m.formula_countall_help,
  examples: { 'COUNTALL(1, "", null)': 3 },
  args: [],
  rest: ['any'],
  min: 1,
  returns: 'number',
  evaluate: (args) => args.length,
  compile: (args, build) => build.constant(args.length),
})

/** The sum of numbers, nulls passed over, added one behind the other as in JavaScript. */
export function compileSum<S>(values: Value<S>[], { words, constant }: Build<S>): S {
  return values
    .map(({ sql }) => words.coalesce(sql, constant(0)))
    .reduce((left, right) => words.arithmetic('+', left, right), constant(0))
}
