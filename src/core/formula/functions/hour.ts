import { wallOf } from '../../dates.ts'
import type { Build, Value } from '../build.ts'
import { compileSplit, compileToWall, wallOfDatum } from '../instants.ts'
import { argument } from './common.ts'
import { defineFunction } from './define.ts'

/** The hour, 0 to 23. */
export const hour = defineFunction({
  name: 'HOUR',
  syntax: 'HOUR(date)',
  help: 'The hour, 0 to 23.',
  examples: { 'HOUR("2024-02-29 13:45")': 13, 'HOUR("2024-02-29")': 0 },
  args: ['date'],
  min: 1,
  max: 1,
  returns: 'number',
  evaluate: ([value = null], { zone }, types) =>
    value === null ? null : wallOf(wallOfDatum(value, types[0], zone)).hour,
  compile<S>(args: Value<S>[], build: Build<S>): S {
    const { words, constant } = build
    return build.bind(compileToWall(argument(args, 0, build, 'date'), build), 'datetime', (wall) =>
      words.floor(words.divide(compileSplit(wall, build).time, constant(3_600_000))),
    )
  },
})
