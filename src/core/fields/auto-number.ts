import * as z from 'zod/mini'
import { m } from '../messages.gen.ts'
import { defineFieldType } from './field-type.ts'
import { readNumberText } from './number-text.ts'
import { readNothing } from './system-value.ts'

/**
 * A number of its own for each record, ascending and never given twice. The number of a new record is its
 * id less `behind`, so that no count has to be kept: ids are never given twice either.
 */
export const autoNumber = defineFieldType({
  name: 'AutoNumber',
  label: m.field_type_auto_number,
  group: 'system',
  help: m.field_type_auto_number_help,
  example: '17',
  storage: 'integer',
  /** `behind`: by how much the numbers are behind the ids. Set when the field is made, and never changed. */
  options: z.object({ behind: z._default(z.int(), 0) }),
  filters: 'number',
  summaries: 'count',
  numbersRecords: true,
  readOnly: true,
  read: readNothing,
  parse(text) {
    const value =
      /^\s*-?\d{1,16}\s*$/.test(text.slice(0, 40)) && text.length <= 40 ? readNumberText(text) : null
    return Number.isSafeInteger(value) ? value : null
  },
  format: (value) => (value === null ? '' : String(value)),
  databaseTypes: { sqlite3: 'integer', pg: 'int' },
})
