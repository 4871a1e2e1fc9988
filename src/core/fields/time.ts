import { z } from 'zod'
import { describeValue } from './describe-value.ts'
import { defineFieldType, readFail, readOk } from './field-type.ts'
import { formatTime, parseTime, readTime } from './time-text.ts'

/** A time of day, to the second, without a day or a zone. */
export const time = defineFieldType({
  name: 'Time',
  label: 'Time',
  group: 'date',
  help: 'A time of day',
  example: '09:30',
  storage: 'time',
  options: z.object({ time12h: z.boolean().default(false) }),
  filters: 'time',
  summaries: 'count',
  read(input) {
    const read = typeof input === 'string' ? readTime(input) : null
    return read === null
      ? readFail(`Expected a time such as 09:30 or 09:30:15, got ${describeValue(input)}`)
      : readOk(read)
  },
  parse: parseTime,
  format: (value, { time12h }) => (value === null ? '' : formatTime(String(value), time12h)),
  databaseTypes: { sqlite3: 'time', pg: 'time' },
})
