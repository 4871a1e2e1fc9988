import { AppError } from '../../../src/core/errors.ts'
import { titlesIn, withChoices } from '../../../src/core/fields/choices.ts'
import { type Conversion, convert } from '../../../src/core/fields/convert.ts'
import type { CellValue, FieldOptions } from '../../../src/core/fields/field-type.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import { isSingleLink, linkOf } from '../../../src/core/fields/link-options.ts'
import { formatValue } from '../../../src/core/fields/read.ts'
import { hasChoices, hasMultipleChoices, showsPeople, withPeople } from '../../../src/core/fields/traits.ts'
import type { Person, RecordId } from '../../../src/core/model.ts'
import type { ColumnValue } from '../../../src/db/column-values.ts'
import { areLinks, choicesOf, type FieldDefinition } from '../model/index.ts'
import { canFreeze } from './frozen-values.ts'

/** @throws NOT_IMPLEMENTED where one of the types has no values of its own to convert */
export function refuseConversion(
  before: Pick<FieldDefinition, 'type' | 'options'>,
  after: Pick<FieldDefinition, 'type'>,
): void {
  // Both links show the same records; but to one record there is only the one type.
  if (areLinks(before.type, after.type) && !isSingleLink(linkOf(before) ?? { kind: 'bt' })) return
  for (const name of [before.type, after.type]) {
    const type = fieldType(name)
    // Its numbers are values like others once nobody counts on.
    if (type.numbersRecords && name === before.type) continue
    // So are those that a formula gives at this moment.
    if (name === before.type && canFreeze(name)) continue
    if (!type.readOnly && !type.systemColumn && !type.internal && !type.computed) continue
    throw new AppError('NOT_IMPLEMENTED', `Updating ${before.type} => ${after.type} is not implemented`)
  }
}

/** What a change of type would do to a field's values. */
export interface ConversionPreview {
  /** Records that are not empty in the field. */
  total: number
  /** Those that say the same in the new type. */
  converted: number
  /** Those of which something would be gone: all of it, or a part such as the time of a moment that becomes a day. */
  lost: number
  /** Some of all, those that would be lost first. */
  samples: { recordId: RecordId; from: CellValue; to: CellValue }[]
}

/** Most options that values make by themselves; beyond it a list is no list any more. */
export const MAX_MADE_CHOICES = 500

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

export async function optionsFor(
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

export const same = (value: unknown): CellValue => value as CellValue

export type Kind = Pick<FieldDefinition, 'type' | 'options'>
