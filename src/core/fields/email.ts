import { checkedText } from './checked-text.ts'
import { defineFieldType } from './field-type.ts'
import { isEmail } from './text-checks.ts'

/** An e-mail address. */
export const email = defineFieldType({
  ...checkedText('isEmail', isEmail),
  name: 'Email',
  label: 'Email',
  group: 'text',
  help: 'An email address that opens your mail app',
  example: 'ann@example.com',
  family: 'text',
  naming: 'likely',
  optionsLimitValues: true,
  scannable: true,
  formRules: ['text', 'email'],
  databaseTypes: { sqlite3: 'varchar', pg: 'character varying' },
})
