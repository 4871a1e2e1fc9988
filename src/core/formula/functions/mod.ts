import type { Build, Value } from '../build.ts'
import { compileRemainder, remainder } from '../remainder.ts'
import { argument } from './common.ts'
import { defineFunction, numbers } from './define.ts'

/** What remains after dividing, with the sign of the number; empty for a divisor of 0. */
export const mod = defineFunction({
  name: 'MOD',
  syntax: 'MOD(number, divisor)',
  help: 'The remainder of a division, with the sign of the number. Empty if the divisor is 0.',
  examples: { 'MOD(7, 3)': 1, 'MOD(-7, 3)': -1, 'MOD(7, 0)': null },
  args: ['number', 'number'],
  min: 2,
  max: 2,
  returns: 'number',
  range: ([left = { max: 0, min: 0 }, right = left]) => ({
    max: Math.max(left.max, right.max, left.max - right.min) + 1,
    min: Math.min(left.min, right.min, left.min - right.max) - 17,
  }),
  evaluate: (args) => {
    const values = numbers(args)
    return values ? remainder(values[0] ?? 0, values[1] ?? 0) : null
  },
  compile<S>(args: Value<S>[], build: Build<S>): S {
    return compileRemainder(argument(args, 0, build, 'number'), argument(args, 1, build, 'number'), build)
  },
})
