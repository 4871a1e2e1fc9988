import type { Build, Value } from '../build.ts'
import { compilePart, partOf } from '../parts.ts'
import { defineFunction } from './define.ts'

/** Characters of the text from a place on, counted from 1. */
export const substr = defineFunction({
  name: 'SUBSTR',
  syntax: 'SUBSTR(text, from, [count])',
  help: 'Extracts characters from a text, starting at a position counted from 1.',
  examples: { 'SUBSTR("abcdef", 3)': 'cdef', 'SUBSTR("abcdef", 3, 2)': 'cd', 'SUBSTR("abc", 0, 1)': 'a' },
  args: ['text', 'number', 'number'],
  min: 2,
  max: 3,
  returns: 'text',
  evaluate: (args) => partOf(args),
  compile<S>(args: Value<S>[], build: Build<S>): S {
    return compilePart(args, build)
  },
})
