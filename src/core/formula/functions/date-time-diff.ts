import type { Build, Value } from '../build.ts'
import { compileDifference, difference } from '../difference.ts'
import { defineFunction } from './define.ts'

/** How many whole units (seconds if left out) the first date lies behind the second. */
export const dateTimeDiff = defineFunction({
  name: 'DATETIME_DIFF',
  syntax:
    'DATETIME_DIFF(date, other date, ["milliseconds" | "seconds" | "minutes" | "hours" | "days" | "weeks" | "months" | "quarters" | "years"])',
  help: 'The difference between two dates in whole units. The default unit is seconds.',
  examples: {
    'DATETIME_DIFF("2024-03-01", "2024-02-01", "days")': 29,
    'DATETIME_DIFF("2024-02-29", "2024-01-31", "months")': 0,
    'DATETIME_DIFF("2024-03-01 00:01", "2024-03-01")': 60,
  },
  args: ['date', 'date', 'unit'],
  min: 2,
  max: 3,
  returns: 'number',
  evaluate: (args, { zone }, types) => difference(args, types, zone),
  compile<S>(args: Value<S>[], build: Build<S>): S {
    return compileDifference(args, build)
  },
})
