import { defineFieldType } from './field-type.ts'
import { peopleValue } from './people-value.ts'

/** Members of the base: whose task it is, who takes part. */
export const user = defineFieldType({
  ...peopleValue,
  name: 'User',
  label: 'User',
  group: 'people',
  help: 'One or more members of the base',
  example: 'Ann',
})
