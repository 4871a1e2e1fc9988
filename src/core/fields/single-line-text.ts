import { z } from 'zod'
import { defineFieldType } from './field-type.ts'
import { MAX_LINE_LENGTH, parseText, readText } from './text-value.ts'

/** Text that a cell shows on one line. */
export const singleLineText = defineFieldType({
  name: 'SingleLineText',
  label: 'Single line text',
  group: 'text',
  help: 'Short text, such as a name or title',
  example: 'Ship the first version',
  storage: 'text',
  options: z.object({}),
  filters: 'text',
  summaries: 'count',
  family: 'text',
  naming: 'likely',
  fill: 'text',
  scannable: true,
  formRules: ['text', 'email', 'url', 'phone'],
  read: (input) => readText(input, MAX_LINE_LENGTH),
  parse: (text) => parseText(text, MAX_LINE_LENGTH),
  format: (value) => (value === null ? '' : String(value)),
  databaseTypes: { sqlite3: 'varchar', pg: 'text' },
})
