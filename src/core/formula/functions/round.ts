import type { Build, Value } from '../build.ts'
import { compileRound, roundTo } from '../rounding.ts'
import { defineFunction, numbers } from './define.ts'

/** Rounded to so many digits behind the point (0 if left out, before it if negative). Halves go away from zero. */
export const round = defineFunction({
  name: 'ROUND',
  syntax: 'ROUND(number, [digits])',
  help: 'Rounds to a number of decimal places (default 0; negative rounds before the decimal point). Halves round away from zero.',
  examples: { 'ROUND(2.5)': 3, 'ROUND(1.005, 2)': 1.01, 'ROUND(-1234, -2)': -1200 },
  args: ['number', 'number'],
  min: 1,
  max: 2,
  returns: 'number',
  evaluate: (args) => {
    const values = numbers(args)
    return values ? roundTo(values[0] ?? 0, values[1] ?? 0, 'half') : null
  },
  compile<S>(args: Value<S>[], build: Build<S>): S {
    return compileRound(args, build, 'half')
  },
})
