import type { Build, Value } from '../build.ts'
import { compileReadNumber, readNumber } from '../read-number.ts'
import { argument } from './common.ts'
import { defineFunction, NO_READING } from './define.ts'

/** The number that the text reads as, such as -1.5 or 2e3; empty where it is none. */
export const value = defineFunction({
  name: 'VALUE',
  syntax: 'VALUE(text)',
  help: 'Converts text such as -1.5 or 2e3 to a number. Empty if it is not a number.',
  examples: { 'VALUE("12.50")': 12.5, 'VALUE(" -1e3 ")': -1000, 'VALUE("12 kg")': null },
  args: ['text'],
  min: 1,
  max: 1,
  unavailable: NO_READING,
  returns: 'number',
  range: () => ({ max: 140, min: -140 }),
  evaluate: ([value]) => readNumber(String(value ?? '')),
  compile<S>(args: Value<S>[], build: Build<S>): S {
    return compileReadNumber(argument(args, 0, build, 'text'), build)
  },
})
