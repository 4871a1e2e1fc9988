import { z } from 'zod'
import { defineFieldType } from './field-type.ts'
import { MAX_TEXT_LENGTH, parseText, readText } from './text-value.ts'

/** Text of any number of lines; `rich` shows its markdown as headings, lists and links. */
export const longText = defineFieldType({
  name: 'LongText',
  label: 'Long text',
  group: 'text',
  help: 'Multiple lines of text, with optional formatting',
  example: 'Agreed with Ann:\n- two colours\n- ready in May',
  storage: 'longText',
  options: z.object({ rich: z.boolean().default(false) }),
  filters: 'text',
  summaries: 'count',
  family: 'text',
  naming: 'likely',
  fill: 'text',
  scannable: true,
  formRules: ['text'],
  read: (input) => readText(input, MAX_TEXT_LENGTH),
  parse: (text) => parseText(text, MAX_TEXT_LENGTH),
  format: (value) => (value === null ? '' : String(value)),
  databaseTypes: { sqlite3: 'text', pg: 'text' },
})
