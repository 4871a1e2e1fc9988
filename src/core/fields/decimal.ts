import { z } from 'zod'
import { defineFieldType } from './field-type.ts'
import { parseNumber } from './number-text.ts'
import { formatNumber, readNumber } from './number-value.ts'

/** Most decimals that a cell shows; the value itself is never rounded (ui §6). */
export const MAX_PRECISION = 8

/** How many decimals are shown. */
export const precision = (usual: number) => z.int().min(0).max(MAX_PRECISION).default(usual)

/** A number with a fraction. */
export const decimal = defineFieldType({
  name: 'Decimal',
  label: 'Decimal',
  group: 'number',
  help: 'Numbers with decimal places',
  example: '31.95',
  storage: 'real',
  options: z.object({
    /** Null: as many as the value has. */
    precision: precision(2).unwrap().nullable().default(2),
    thousands: z.boolean().default(false),
  }),
  filters: 'number',
  summaries: 'number',
  naming: 'possible',
  family: 'decimal',
  isAmount: true,
  fill: 'number',
  formRules: ['number', 'step'],
  read: readNumber,
  parse: (text, _options, decimal) => parseNumber(text, decimal),
  format: formatNumber,
  databaseTypes: { sqlite3: 'decimal', pg: 'decimal' },
})
