import type { Build, Value } from '../build.ts'
import { addToDate, compileDateAdd } from '../date-add.ts'
import { defineFunction } from './define.ts'

/** The date so many days, weeks, months or years later; earlier for a negative number. */
export const dateAdd = defineFunction({
  name: 'DATEADD',
  syntax: 'DATEADD(date, number, "day" | "week" | "month" | "year")',
  help: 'Adds days, weeks, months or years to a date. Use a negative number to subtract.',
  examples: {
    'DATESTR(DATEADD("2024-01-31", 1, "month"))': '2024-02-29',
    'DATEADD("2024-03-01", -1, "day") = "2024-02-29"': true,
  },
  args: ['date', 'number', 'unit'],
  min: 3,
  max: 3,
  returns: (types) => (types[0] === 'datetime' ? 'datetime' : 'date'),
  evaluate: (args, { zone }, types) => addToDate(args, types[0], zone),
  compile<S>(args: Value<S>[], build: Build<S>): S {
    return compileDateAdd(args, build)
  },
})
