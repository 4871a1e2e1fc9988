import * as z from 'zod/mini'
import { m } from '../messages.gen.ts'
import { defineFieldType, formatPlain } from './field-type.ts'
import { readNumberText } from './number-text.ts'
import { rejectInput } from './system-value.ts'

/** A record's position in its table (`nc_order`), fractional so that records can be inserted between others. */
export const order = defineFieldType({
  name: 'Order',
  label: m.field_type_order,
  group: 'system',
  help: m.field_type_order_help,
  example: '1.5',
  storage: 'real',
  options: z.object({}),
  filters: 'number',
  summaries: 'count',
  ordersRecords: true,
  groupable: false,
  excel: 'text',
  readOnly: true,
  internal: true,
  read: rejectInput,
  parse: readNumberText,
  format: formatPlain,
  databaseTypes: { sqlite3: 'real', pg: 'numeric' },
})
