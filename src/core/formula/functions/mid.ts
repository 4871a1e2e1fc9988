import type { Build, Value } from '../build.ts'
import { compilePart, partOf } from '../parts.ts'
import { defineFunction } from './define.ts'

/** So many characters of the text from a place on, counted from 1. */
export const mid = defineFunction({
  name: 'MID',
  syntax: 'MID(text, from, count)',
  help: 'Extracts characters from a text, starting at a position counted from 1.',
  examples: { 'MID("abcdef", 3, 2)': 'cd', 'MID("abc", 2, 9)': 'bc' },
  args: ['text', 'number', 'number'],
  min: 3,
  max: 3,
  returns: 'text',
  evaluate: (args) => partOf(args),
  compile<S>(args: Value<S>[], build: Build<S>): S {
    return compilePart(args, build)
  },
})
