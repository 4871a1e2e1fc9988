import type { Build, Value } from '../build.ts'
import { defineFunction, NO_REGEX } from './define.ts'

/** Whether an odd number of the conditions holds. */
export const xor = defineFunction({
  name: 'XOR',
  syntax: 'XOR(condition, …)',
  help: 'True if an odd number of conditions are true.',
  examples: { 'XOR(true, false)': true, 'XOR(true, true)': false },
  args: [],
  rest: ['truth'],
  min: 1,
  max: Number.POSITIVE_INFINITY,
  unavailable: NO_REGEX,
  returns: 'boolean',
  evaluate: (args) => args.filter((arg) => arg === true).length % 2 === 1,
  compile<S>(args: Value<S>[], build: Build<S>): S {
    const { words, constant } = build
    const sum = args
      .map((arg) => words.truthNumber(arg.sql))
      .reduce((left, right) => words.arithmetic('+', left, right))
    const half = words.divide(sum, constant(2))
    return build.bind(half, 'number', (value) => words.compare('!=', value, words.floor(value)))
  },
})
