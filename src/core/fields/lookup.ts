import * as z from 'zod/mini'
import { m } from '../messages.gen.ts'
import { defineFieldType } from './field-type.ts'
import { computedValue } from './system-value.ts'

/** Values of one field of the linked records. */
export const lookup = defineFieldType({
  ...computedValue,
  name: 'Lookup',
  label: m.field_type_lookup,
  help: m.field_type_lookup_help,
  example: 'ann@example.com',
  storage: 'longText',
  options: z.object({
    /** Id of a link field in the same table. */
    relationFieldId: z._default(z.string().check(z.maxLength(64)), ''),
    /** Id of a field in the related table. */
    targetFieldId: z._default(z.string().check(z.maxLength(64)), ''),
  }),
  computed: 'lookup',
})
