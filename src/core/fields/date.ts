import * as z from 'zod/mini'
import { m } from '../messages.gen.ts'
import { DATE_FORMATS, formatDay, isLasting, parseDay, readDay, STORED_FORMAT } from './date-text.ts'
import { defineFieldType, describeValue, readFail, readOk } from './field-type.ts'
import { parseDayOnly } from './instant-text.ts'

/** A calendar date, without time or time zone. */
export const date = defineFieldType({
  name: 'Date',
  label: m.field_type_date,
  group: 'date',
  help: m.field_type_date_help,
  example: '2024-03-05',
  storage: 'date',
  options: z.object({ format: z._default(z.enum(DATE_FORMATS), 'YYYY-MM-DD') }),
  filters: 'date',
  summaries: 'date',
  fill: 'date',
  read(input) {
    const day = typeof input === 'string' ? parseDayOnly(input, readDay) : null
    return day === null ? readFail(m.value_error_date({ value: describeValue(input) })) : readOk(day)
  },
  parse: (text, { format }) => parseDayOnly(text, (day) => parseDay(day, format)),
  format(value, { format }) {
    if (value === null) return ''
    if (format === STORED_FORMAT) return String(value)
    const shown = formatDay(String(value), format)
    // Formats without a day or with a two-digit year are ambiguous: fall back to ISO 8601.
    return parseDay(shown, format) === value && isLasting(String(value), format) ? shown : String(value)
  },
  databaseTypes: { sqlite3: 'date', pg: 'date' },
})
