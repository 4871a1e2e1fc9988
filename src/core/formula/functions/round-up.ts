import type { Build, Value } from '../build.ts'
import { compileRound, roundTo } from '../rounding.ts'
import { defineFunction, NO_ROUNDING, numbers } from './define.ts'

/** Rounded away from zero to so many digits behind the point. */
export const roundUp = defineFunction({
  name: 'ROUNDUP',
  syntax: 'ROUNDUP(number, [digits])',
  help: 'Rounds away from zero to a number of decimal places.',
  examples: { 'ROUNDUP(1.21, 1)': 1.3, 'ROUNDUP(-1.21, 1)': -1.3 },
  args: ['number', 'number'],
  min: 1,
  max: 2,
  unavailable: NO_ROUNDING,
  returns: 'number',
  evaluate: (args) => {
    const values = numbers(args)
    return values ? roundTo(values[0] ?? 0, values[1] ?? 0, 'up') : null
  },
  compile<S>(args: Value<S>[], build: Build<S>): S {
    return compileRound(args, build, 'up')
  },
})
