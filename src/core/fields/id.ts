import * as z from 'zod/mini'
import { m } from '../messages.gen.ts'
import { defineFieldType, formatPlain } from './field-type.ts'
import { readNumberText } from './number-text.ts'
import { rejectInput } from './system-value.ts'

/** The primary key that the database assigns to a record. */
export const id = defineFieldType({
  name: 'ID',
  label: m.field_type_id,
  group: 'system',
  help: m.field_type_id_help,
  example: '17',
  storage: 'id',
  options: z.object({}),
  filters: 'number',
  summaries: 'count',
  readOnly: true,
  read: rejectInput,
  parse(text) {
    const value = /^\s*\d+\s*$/.test(text) ? readNumberText(text) : null
    return Number.isSafeInteger(value) ? value : null
  },
  format: formatPlain,
  databaseTypes: { sqlite3: 'integer', pg: 'int4' },
})
