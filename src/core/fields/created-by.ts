import { defineFieldType } from './field-type.ts'
import { personValue } from './person-value.ts'
import { readNothing } from './system-value.ts'

/** Who made the record: a user id. */
export const createdBy = defineFieldType({
  ...personValue,
  name: 'CreatedBy',
  label: 'Created by',
  group: 'system',
  help: 'Who made the record; filled in by itself',
  example: 'Ann',
  readOnly: true,
  systemColumn: 'created_by',
  read: readNothing,
})
