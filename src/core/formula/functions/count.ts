import type { Build, Value } from '../build.ts'
import { defineFunction, NO_COUNTING } from './define.ts'

/** How many of the values are numbers. */
export const count = defineFunction({
  name: 'COUNT',
  syntax: 'COUNT(value, …)',
  help: 'Counts the values that are numbers.',
  examples: { 'COUNT(1, "a", null, 2.5)': 2 },
  args: [],
  rest: ['any'],
  min: 1,
  max: Number.POSITIVE_INFINITY,
  unavailable: NO_COUNTING,
  returns: 'number',
  evaluate: (args, _moment, types) =>
    args.filter((arg, index) => arg !== null && types[index] === 'number').length,
  compile<S>(args: Value<S>[], build: Build<S>): S {
    const counted = args.filter(({ type }) => type === 'number')
    return counted.length === 0 ? build.constant(0) : build.words.among('count', counted)
  },
})
