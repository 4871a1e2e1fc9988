import type { Build, Value } from '../build.ts'
import { defineFunction, NO_COUNTING } from './define.ts'

/** How many of the values are not empty. */
export const countA = defineFunction({
  name: 'COUNTA',
  syntax: 'COUNTA(value, …)',
  help: 'Counts the values that are not empty.',
  examples: { 'COUNTA(1, "a", "", null)': 2 },
  args: [],
  rest: ['any'],
  min: 1,
  max: Number.POSITIVE_INFINITY,
  unavailable: NO_COUNTING,
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
