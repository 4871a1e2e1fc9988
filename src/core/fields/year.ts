import * as z from 'zod/mini'
import { m } from '../messages.gen.ts'
import { defineFieldType, describeValue, formatPlain, readFail } from './field-type.ts'
import { readInteger } from './number.ts'

/** Greatest year that a field accepts. */
export const MAX_YEAR = 9999

const isYear = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_YEAR

/** A year from 0 to 9999. */
export const year = defineFieldType({
  name: 'Year',
  label: m.field_type_year,
  group: 'date',
  help: m.field_type_year_help,
  example: '2024',
  storage: 'integer',
  options: z.object({}),
  filters: 'number',
  summaries: 'count',
  naming: 'possible',
  formRules: ['number'],
  read(input) {
    const read = readInteger(input)
    if (!read.ok || isYear(read.value)) return read
    return readFail(m.value_error_year({ max: MAX_YEAR, value: describeValue(input) }))
  },
  parse(text) {
    const match = /^\s*0{0,4}(\d{1,4})\s*$/.exec(text.slice(0, 100))
    return match && text.length <= 100 ? Number(match[1]) : null
  },
  format: formatPlain,
  databaseTypes: { sqlite3: 'year', pg: 'int' },
})
