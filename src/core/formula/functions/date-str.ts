import type { Build, Value } from '../build.ts'
import { compileToWall, wallOfDatum } from '../instants.ts'
import { writeDate } from '../semantics.ts'
import { argument } from './common.ts'
import { defineFunction, NO_COUNTING } from './define.ts'

/** The day as text: 2024-03-05. */
export const dateStr = defineFunction({
  name: 'DATESTR',
  syntax: 'DATESTR(date)',
  help: 'Formats a date as text, such as 2024-03-05.',
  examples: { 'DATESTR("2024-03-05 10:30")': '2024-03-05' },
  args: ['date'],
  min: 1,
  max: 1,
  unavailable: NO_COUNTING,
  returns: 'text',
  evaluate: ([value = null], { zone }, types) =>
    value === null ? null : writeDate(wallOfDatum(value, types[0], zone), 'date'),
  compile<S>(args: Value<S>[], build: Build<S>): S {
    return build.words.dateText(compileToWall(argument(args, 0, build, 'date'), build), false)
  },
})
