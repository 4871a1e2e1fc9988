import { wallOf } from '../../dates.ts'
import type { Build, Value } from '../build.ts'
import { compileToWall, wallOfDatum } from '../instants.ts'
import { argument } from './common.ts'
import { defineFunction } from './define.ts'

/** The month, 1 to 12. */
export const month = defineFunction({
  name: 'MONTH',
  syntax: 'MONTH(date)',
  help: 'The month, 1 to 12.',
  examples: { 'MONTH("2024-02-29")': 2 },
  args: ['date'],
  min: 1,
  max: 1,
  returns: 'number',
  evaluate: ([value = null], { zone }, types) =>
    value === null ? null : wallOf(wallOfDatum(value, types[0], zone)).month,
  compile<S>(args: Value<S>[], build: Build<S>): S {
    return build.words.datePart('month', compileToWall(argument(args, 0, build, 'date'), build))
  },
})
