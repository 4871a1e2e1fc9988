import { z } from 'zod'
import { precision } from './decimal.ts'
import { defineFieldType } from './field-type.ts'
import { parseNumber } from './number-text.ts'
import { formatNumber, readNumber } from './number-value.ts'

/** A share in hundredths: 42 is shown as `42%`. */
export const percent = defineFieldType({
  name: 'Percent',
  label: 'Percent',
  group: 'number',
  help: 'A percentage, shown as a number or progress bar',
  example: '42%',
  storage: 'real',
  options: z.object({ bar: z.boolean().default(false), precision: precision(2) }),
  filters: 'number',
  summaries: 'number',
  family: 'decimal',
  isAmount: true,
  fill: 'number',
  formRules: ['number', 'step'],
  read: readNumber,
  // An amount of money is no share.
  parse: (text, _options, decimal) => (/\p{Sc}/u.test(text) ? null : parseNumber(text, decimal)),
  format: formatNumber,
  summaryText: (value, _options, locale) =>
    `${new Intl.NumberFormat(locale, { maximumFractionDigits: 2 }).format(value)}%`,
  databaseTypes: { sqlite3: 'double', pg: 'double precision' },
})
