import { instantValue } from './date-time.ts'
import { defineFieldType } from './field-type.ts'
import { readNothing } from './system-value.ts'

/** When the record was last changed; nothing until its first change. */
export const lastModifiedTime = defineFieldType({
  ...instantValue,
  name: 'LastModifiedTime',
  label: 'Last modified time',
  group: 'system',
  help: 'When the record was last modified',
  example: '2024-03-06 17:05',
  readOnly: true,
  systemColumn: 'updated_at',
  read: readNothing,
})
