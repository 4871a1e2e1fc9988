import * as z from 'zod/mini'
import { m } from '../messages.gen.ts'
import { defineFieldType, formatPlain } from './field-type.ts'
import { readNumberText } from './number-text.ts'
import { rejectInput } from './system-value.ts'

/**
 * A unique, ascending number per record, never reused. A new record gets its id minus `behind`, so that no
 * counter is needed: ids are never reused either.
 */
export const autoNumber = defineFieldType({
  name: 'AutoNumber',
  label: m.field_type_auto_number,
  group: 'system',
  help: m.field_type_auto_number_help,
  example: '17',
  storage: 'integer',
  /** `behind`: difference between a record's id and its number; fixed when the field is created. */
  options: z.object({ behind: z._default(z.int(), 0) }),
  filters: 'number',
  summaries: 'count',
  numbersRecords: true,
  readOnly: true,
  read: rejectInput,
  parse(text) {
    const value =
      /^\s*-?\d{1,16}\s*$/.test(text.slice(0, 40)) && text.length <= 40 ? readNumberText(text) : null
    return Number.isSafeInteger(value) ? value : null
  },
  format: formatPlain,
  databaseTypes: { sqlite3: 'integer', pg: 'int' },
})
