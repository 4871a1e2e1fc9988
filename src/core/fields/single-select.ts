import { matchTitle, selectOptions, unknownOptions } from './choices.ts'
import { describeValue } from './describe-value.ts'
import { defineFieldType, readFail, readOk } from './field-type.ts'

/** One of the field's options, kept as its title. */
export const singleSelect = defineFieldType({
  name: 'SingleSelect',
  label: 'Single select',
  group: 'choice',
  help: 'One option from a list',
  example: 'In progress',
  storage: 'text',
  options: selectOptions({ noComma: false }),
  filters: 'select',
  summaries: 'count',
  choices: 'single',
  optionsLimitValues: true,
  read(input, { choices }) {
    if (typeof input !== 'string' && typeof input !== 'number') {
      return readFail(`Expected an option name, got ${describeValue(input)}`)
    }
    const title = String(input)
    if (choices.some((choice) => choice.title === title)) return readOk(title)
    return readFail(unknownOptions([describeValue(title)], choices), 'option')
  },
  parse: (text, { choices }) => matchTitle(choices, text),
  format: (value) => (value === null ? '' : String(value)),
  databaseTypes: { sqlite3: 'text', pg: 'text' },
})
