import { defineFieldType } from './field-type.ts'
import { personValue } from './person-value.ts'
import { readNothing } from './system-value.ts'

/** Who made the record: a user id. */
export const createdBy = defineFieldType({
  ...personValue,
  name: 'CreatedBy',
  label: 'Created by',
  group: 'system',
  help: 'The user who created the record',
  example: 'Ann',
  readOnly: true,
  systemColumn: 'created_by',
  read: readNothing,
})
