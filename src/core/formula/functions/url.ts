import type { Build, Value } from '../build.ts'
import { argument } from './common.ts'
import { defineFunction } from './define.ts'

/** The text as a link that can be opened. */
export const url = defineFunction({
  name: 'URL',
  syntax: 'URL(text)',
  help: 'Turns a text into a link.',
  examples: { 'URL("https://example.org")': 'URI::( https://example.org )' },
  args: ['text'],
  min: 1,
  max: 1,
  returns: 'text',
  evaluate: ([value]) => (value === null ? null : `URI::( ${value} )`),
  compile<S>(args: Value<S>[], build: Build<S>): S {
    return build.words.concat([
      build.words.text('URI::( '),
      argument(args, 0, build, 'text').sql,
      build.words.text(' )'),
    ])
  },
})
