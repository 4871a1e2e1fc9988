import { titlesIn, withChoices } from '../../../src/core/fields/choices.ts'
import { type Conversion, convert } from '../../../src/core/fields/convert.ts'
import type { CellValue, FieldOptions } from '../../../src/core/fields/field-type.ts'
import { formatValue } from '../../../src/core/fields/read.ts'
import { hasChoices, hasMultipleChoices, showsPeople, withPeople } from '../../../src/core/fields/traits.ts'
import type { Person } from '../../../src/core/model.ts'
import type { ColumnValue } from '../../../src/db/column-values.ts'
import { choicesOf, type FieldDefinition } from '../model/index.ts'

/** Most options that values make by themselves; beyond it a list is no list any more. */
const MAX_MADE_CHOICES = 500

type Kind = Pick<FieldDefinition, 'type' | 'options'>

/** A change of type, ready to be asked for each value. */
export interface PreparedConversion {
  /** Options of the new type, those included that the values made. */
  options: FieldOptions
  convert(value: CellValue): Conversion
}

/**
 * Prepares the conversion of a field. A select field without options of its own gets them from the
 * other select's list, or from the values themselves, the first 500 of them. People are written and found by
 * e-mail.
 */
export async function prepareConversion(
  from: Kind,
  to: Kind,
  pages: () => AsyncIterable<ColumnValue[]>,
  members: () => Promise<Person[]>,
): Promise<PreparedConversion> {
  const options = await optionsFor(from, to, pages)
  const people = showsPeople(from) || showsPeople(to) ? await members() : []
  const [before, after] = [withPeople(from.type, from.options, people), withPeople(to.type, options, people)]
  return { options, convert: (value) => convert(value, from.type, before, to.type, after) }
}

async function optionsFor(
  from: Kind,
  to: Kind,
  pages: () => AsyncIterable<ColumnValue[]>,
): Promise<FieldOptions> {
  if (!hasChoices(to) || choicesOf(to).length > 0) return to.options
  const isMulti = hasMultipleChoices(to)
  if (hasChoices(from)) {
    // A comma list could not hold a title with a comma: its cells are lost, and the preview says so.
    const choices = choicesOf(from).filter(({ title }) => !isMulti || !title.includes(','))
    return { ...to.options, choices }
  }
  const titles = new Set<string>()
  for await (const page of pages()) {
    for (const { value } of page) {
      const text = formatValue(from, value).trim()
      for (const title of isMulti ? titlesIn(text) : [text]) titles.add(title)
      if (titles.size > MAX_MADE_CHOICES) break
    }
    if (titles.size > MAX_MADE_CHOICES) break
  }
  const usable = [...titles].filter((title) => title !== '' && title.length <= 1000)
  return { ...to.options, choices: withChoices([], usable.slice(0, MAX_MADE_CHOICES)) }
}
