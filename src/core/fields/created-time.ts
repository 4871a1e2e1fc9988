import { instantValue } from './date-time.ts'
import { defineFieldType } from './field-type.ts'
import { readNothing } from './system-value.ts'

/** When the record was made. */
export const createdTime = defineFieldType({
  ...instantValue,
  name: 'CreatedTime',
  label: 'Created time',
  group: 'system',
  help: 'When the record was created',
  example: '2024-03-05 08:20',
  readOnly: true,
  systemColumn: 'created_at',
  read: readNothing,
})
