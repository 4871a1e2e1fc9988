import { z } from 'zod'
import { defineFieldType } from './field-type.ts'
import { parseNumber } from './number-text.ts'
import { formatNumber, readInteger } from './number-value.ts'

/** A whole number. A fraction is refused, never cut off. */
export const number = defineFieldType({
  name: 'Number',
  label: 'Number',
  group: 'number',
  help: 'Whole numbers',
  example: '1,250',
  storage: 'integer',
  options: z.object({ thousands: z.boolean().default(false) }),
  filters: 'number',
  summaries: 'number',
  naming: 'possible',
  family: 'integer',
  fractional: 'Decimal',
  isAmount: true,
  fill: 'number',
  scannable: true,
  formRules: ['number', 'step'],
  read: readInteger,
  parse(text, _options, decimal) {
    const value = parseNumber(text, decimal)
    return Number.isSafeInteger(value) ? value : null
  },
  format: formatNumber,
  databaseTypes: { sqlite3: 'integer', pg: 'bigint' },
})
