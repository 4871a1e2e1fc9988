import { checkedText } from './checked-text.ts'
import { defineFieldType } from './field-type.ts'
import { isPhone } from './text-checks.ts'

/** A telephone number, kept as it was written. */
export const phoneNumber = defineFieldType({
  ...checkedText('isMobilePhone', isPhone),
  name: 'PhoneNumber',
  label: 'Phone number',
  group: 'text',
  help: 'A phone number you can call',
  example: '+49 30 901820',
  naming: 'possible',
  family: 'text',
  optionsLimitValues: true,
  scannable: true,
  formRules: ['text', 'phone'],
  databaseTypes: { sqlite3: 'varchar', pg: 'character varying' },
})
