import { defineFieldType } from './field-type.ts'
import { personValue } from './person-value.ts'
import { readNothing } from './system-value.ts'

/** Who last changed the record: a user id. */
export const lastModifiedBy = defineFieldType({
  ...personValue,
  name: 'LastModifiedBy',
  label: 'Last modified by',
  group: 'system',
  help: 'The user who last modified the record',
  example: 'Bob',
  readOnly: true,
  systemColumn: 'updated_by',
  read: readNothing,
})
