import { wallOf } from '../../dates.ts'
import type { Build, Value } from '../build.ts'
import { compileToWall, wallOfDatum } from '../instants.ts'
import { argument } from './common.ts'
import { defineFunction } from './define.ts'

/** The day of the month, 1 to 31. */
export const day = defineFunction({
  name: 'DAY',
  syntax: 'DAY(date)',
  help: 'The day of the month, 1 to 31.',
  examples: { 'DAY("2024-02-29")': 29 },
  args: ['date'],
  min: 1,
  max: 1,
  returns: 'number',
  evaluate: ([value = null], { zone }, types) =>
    value === null ? null : wallOf(wallOfDatum(value, types[0], zone)).day,
  compile<S>(args: Value<S>[], build: Build<S>): S {
    return build.words.datePart('day', compileToWall(argument(args, 0, build, 'date'), build))
  },
})
