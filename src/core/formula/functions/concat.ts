import type { Build, Value } from '../build.ts'
import { defineFunction } from './define.ts'

/** The texts one behind the other; empty ones are passed over. */
export const concat = defineFunction({
  name: 'CONCAT',
  syntax: 'CONCAT(text, …)',
  help: 'Joins texts. Ignores empty values.',
  examples: { 'CONCAT("a", 1, true)': 'a1true', 'CONCAT("a", null)': 'a' },
  args: [],
  rest: ['joined'],
  min: 1,
  max: Number.POSITIVE_INFINITY,
  returns: 'text',
  evaluate: (args) => args.map((arg) => arg ?? '').join(''),
  compile<S>(args: Value<S>[], build: Build<S>): S {
    return build.words.concat(args.map(({ sql }) => sql))
  },
})
