import type { Build, Value } from '../build.ts'
import { compileRound, roundTo } from '../rounding.ts'
import { defineFunction, NO_ROUNDING, numbers } from './define.ts'

/** Rounded towards zero to so many digits behind the point. */
export const roundDown = defineFunction({
  name: 'ROUNDDOWN',
  syntax: 'ROUNDDOWN(number, [digits])',
  help: 'Rounds towards zero to a number of decimal places.',
  examples: { 'ROUNDDOWN(1.29, 1)': 1.2, 'ROUNDDOWN(-1.29, 1)': -1.2 },
  args: ['number', 'number'],
  min: 1,
  max: 2,
  unavailable: NO_ROUNDING,
  returns: 'number',
  evaluate: (args) => {
    const values = numbers(args)
    return values ? roundTo(values[0] ?? 0, values[1] ?? 0, 'down') : null
  },
  compile<S>(args: Value<S>[], build: Build<S>): S {
    return compileRound(args, build, 'down')
  },
})
