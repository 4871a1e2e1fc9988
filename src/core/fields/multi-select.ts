import { matchTitle, selectOptions, titlesIn, unknownOptions } from './choices.ts'
import { describeValue } from './describe-value.ts'
import { type CellValue, defineFieldType, readFail, readOk } from './field-type.ts'

const MAX_ITEMS = 10_000 // as many as a field can have options

/**
 * Any number of the field's options: their titles, each once, joined by commas in the order of entry. They are
 * text however many options there are: the `set` that spec §5 asks for up to 64 of them is a type of MySQL, which
 * is no base's home. Of a connected MySQL a column of that type is read as a multi select.
 */
export const multiSelect = defineFieldType({
  name: 'MultiSelect',
  label: 'Multi select',
  group: 'choice',
  help: 'One or more options from a list',
  example: 'red, blue',
  storage: 'text',
  options: selectOptions({ noComma: true }),
  filters: 'multiSelect',
  summaries: 'count',
  choices: 'multiple',
  optionsLimitValues: true,
  read(input, { choices }) {
    const titles = typeof input === 'string' || typeof input === 'number' ? titlesIn(String(input)) : input
    if (!Array.isArray(titles) || titles.length > MAX_ITEMS || !titles.every(isTitle)) {
      return readFail(`Expected option names, got ${describeValue(input)}`)
    }
    const known = new Set(choices.map((choice) => choice.title))
    const wanted = new Set(titles.map((title) => String(title).trim()).filter((title) => title !== ''))
    const unknown = [...wanted].filter((title) => !known.has(title))
    if (unknown.length > 0)
      return readFail(unknownOptions(unknown.slice(0, 10).map(describeValue), choices), 'option')
    return readOk(joined(wanted))
  },
  parse(text, { choices }) {
    const titles = titlesIn(text).map((title) => matchTitle(choices, title))
    return titles.includes(null) ? null : joined(titles)
  },
  format: (value) => (value === null ? '' : String(value)),
  databaseTypes: { sqlite3: 'text', pg: 'text' },
})

const isTitle = (item: unknown): boolean => typeof item === 'string' || typeof item === 'number'

const joined = (titles: Iterable<string | null>): CellValue => [...new Set(titles)].join(',') || null
