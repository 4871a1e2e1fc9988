import * as z from 'zod/mini'
import { m } from '../messages.gen.ts'
import { defineFieldType } from './field-type.ts'
import { readNumberText } from './number-text.ts'
import { computedValue } from './system-value.ts'

/** The number of linked records. */
export const count = defineFieldType({
  ...computedValue,
  name: 'Count',
  label: m.field_type_count,
  help: m.field_type_count_help,
  example: '3',
  storage: 'integer',
  options: z.object({
    /** Id of a link field in the same table. */
    relationFieldId: z._default(z.string().check(z.maxLength(64)), ''),
  }),
  computed: 'count',
  parse: readNumberText,
})
