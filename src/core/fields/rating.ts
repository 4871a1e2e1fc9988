import * as z from 'zod/mini'
import { m } from '../messages.gen.ts'
import { defineFieldType, formatPlain, readFail } from './field-type.ts'
import { readInteger } from './number.ts'
import { parseShare } from './number-text.ts'

export const RATING_ICONS = ['star', 'heart', 'circle', 'thumb', 'flag'] as const

/** Schema of a CSS colour; excludes characters that could end a style attribute. */
export const cssColor = (fallback: string) =>
  z._default(
    z.string().check(z.regex(/^[#\w(),.% -]{1,64}$/, { error: () => m.field_error_colour() })),
    fallback,
  )

/** A number of stars from 0 to `max`. */
export const rating = defineFieldType({
  name: 'Rating',
  label: m.field_type_rating,
  group: 'number',
  help: m.field_type_rating_help,
  example: '★★★★☆',
  storage: 'integer',
  options: z.object({
    max: z._default(z.int().check(z.minimum(1), z.maximum(10)), 5),
    icon: z._default(z.enum(RATING_ICONS), 'star'),
    color: cssColor('#fcb401'),
  }),
  filters: 'number',
  summaries: 'number',
  family: 'integer',
  isAmount: true,
  optionsLimitValues: true,
  formRules: ['number'],
  initial: 0, // spec §5
  read(input, { max }) {
    const read = readInteger(input)
    if (!read.ok || typeof read.value !== 'number') return read
    return read.value >= 0 && read.value <= max ? read : readFail(m.value_error_rating({ max }))
  },
  parse(text, { max }) {
    const value = parseShare(text)
    return value !== null && Number.isInteger(value) && value >= 0 && value <= max ? value : null
  },
  format: formatPlain,
  databaseTypes: { sqlite3: 'integer', pg: 'smallint' },
})
