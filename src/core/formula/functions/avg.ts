import type { Build, Value } from '../build.ts'
import { compileSum } from '../sums.ts'
import { defineFunction } from './define.ts'

/** The mean of the numbers; empty ones are passed over. */
export const avg = defineFunction({
  name: 'AVG',
  syntax: 'AVG(number, …)',
  help: 'The average of the numbers. Ignores empty values.',
  examples: { 'AVG(1, 2, 6)': 3, 'AVG(4, null)': 4 },
  args: [],
  rest: ['number'],
  min: 1,
  max: Number.POSITIVE_INFINITY,
  returns: 'number',
  evaluate: (args) => {
    const values = args.filter((arg) => arg !== null)
    return values.length === 0
      ? null
      : values.reduce<number>((sum, arg) => sum + Number(arg), 0) / values.length
  },
  compile<S>(args: Value<S>[], build: Build<S>): S {
    return build.once(args, (...values) => {
      const bound = args.map((arg, index) => ({ ...arg, sql: values[index] ?? arg.sql, isSimple: true }))
      return build.words.divide(compileSum(bound, build), build.words.among('count', bound))
    })
  },
})
