import { z } from 'zod'
import { describeValue } from './describe-value.ts'
import { defineFieldType, readFail, readOk } from './field-type.ts'
import type { ReadingOptions } from './reading-options.ts'
import { formatTime, parseTime, readTime } from './time-text.ts'

type TimeOptions = { time12h: boolean } & ReadingOptions

/** A time of day without a day or a zone: to the second, in connected databases as exact as the column. */
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
  optionsLimitValues: true,
  read(input, options: TimeOptions) {
    const read = typeof input === 'string' ? readTime(input, options) : null
    return read === null
      ? readFail(`Expected a time such as 09:30 or 09:30:15, got ${describeValue(input)}`)
      : readOk(read)
  },
  parse: (text, options: TimeOptions) => parseTime(text, options),
  format: (value, { time12h }) => (value === null ? '' : formatTime(String(value), time12h)),
  databaseTypes: { sqlite3: 'time', pg: 'time' },
})
