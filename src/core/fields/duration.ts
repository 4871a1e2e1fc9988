import { z } from 'zod'
import { DURATION_FORMATS, exactDuration, parseDuration, showDuration } from './duration-text.ts'
import { defineFieldType } from './field-type.ts'
import { readNumber } from './number-value.ts'

/** A length of time in seconds; fractions are parts of a second. */
export const duration = defineFieldType({
  name: 'Duration',
  label: 'Duration',
  group: 'number',
  help: 'A length of time, such as 1:30 or 1h 30m',
  example: '1:30',
  storage: 'real',
  options: z.object({ format: z.enum(DURATION_FORMATS).default('h:mm') }),
  filters: 'number',
  summaries: 'number',
  excel: 'text',
  formRules: ['number', 'step'],
  read: readNumber,
  parse: (text, { format }) => parseDuration(text, format),
  format: (value, { format }) => (typeof value === 'number' ? exactDuration(value, format) : ''),
  summaryText: (value, { format }) => showDuration(value, format),
  databaseTypes: { sqlite3: 'decimal', pg: 'decimal' },
})
