import type { Build, Value } from '../build.ts'
import { compileSum } from '../sums.ts'
import { defineFunction } from './define.ts'

/** The sum of the numbers; empty ones are passed over. */
export const add = defineFunction({
  name: 'ADD',
  syntax: 'ADD(number, …)',
  help: 'The sum of the numbers. Ignores empty values.',
  examples: { 'ADD(1, 2, 3)': 6, 'ADD(1, null)': 1 },
  args: [],
  rest: ['number'],
  min: 1,
  max: Number.POSITIVE_INFINITY,
  returns: 'number',
  evaluate: (args) => args.reduce<number>((sum, arg) => sum + Number(arg ?? 0), 0),
  compile<S>(args: Value<S>[], build: Build<S>): S {
    return compileSum(args, build)
  },
})
