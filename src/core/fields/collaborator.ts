import { defineFieldType } from './field-type.ts'
import { peopleValue } from './people-value.ts'

/** The same as `User`, under the name that older clients give it. */
export const collaborator = defineFieldType({
  ...peopleValue,
  name: 'Collaborator',
  label: 'Collaborator',
  group: 'people',
  help: 'Members of the base (legacy type)',
  example: 'Ann',
  forPrograms: true,
})
