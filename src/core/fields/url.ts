import { checkedText } from './checked-text.ts'
import { defineFieldType } from './field-type.ts'
import { isUrl } from './text-checks.ts'

/** A link to a page or file. */
export const url = defineFieldType({
  ...checkedText('isURL', isUrl),
  name: 'URL',
  label: 'URL',
  group: 'text',
  help: 'A link that opens in a new tab',
  example: 'https://example.com/plan',
  naming: 'possible',
  family: 'text',
  optionsLimitValues: true,
  scannable: true,
  formRules: ['text', 'url'],
  databaseTypes: { sqlite3: 'varchar', pg: 'text' },
})
