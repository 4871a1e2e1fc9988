import { z } from 'zod'
import { defineFieldType } from './field-type.ts'
import { readNumberText } from './number-text.ts'
import { readNothing } from './system-value.ts'

/** The number that the database gives a record and no other. */
export const id = defineFieldType({
  name: 'ID',
  label: 'ID',
  group: 'system',
  help: 'A unique number for each record',
  example: '17',
  storage: 'id',
  options: z.object({}),
  filters: 'number',
  summaries: 'count',
  readOnly: true,
  read: readNothing,
  parse(text) {
    const value = /^\s*\d+\s*$/.test(text) ? readNumberText(text) : null
    return Number.isSafeInteger(value) ? value : null
  },
  format: (value) => (value === null ? '' : String(value)),
  databaseTypes: { sqlite3: 'integer', pg: 'int4' },
})
