import { AppError } from '../../../src/core/errors.ts'
import { titlesIn } from '../../../src/core/fields/choice-titles.ts'
import { withChoices } from '../../../src/core/fields/choices.ts'
import { type Conversion, convert } from '../../../src/core/fields/convert.ts'
import type { CellValue, FieldOptions } from '../../../src/core/fields/field-type.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import { isSingleLink, linkOf } from '../../../src/core/fields/link-options.ts'
import { formatValue } from '../../../src/core/fields/read.ts'
import {
  hasChoices,
  hasMultipleChoices,
  inZone,
  showsPeople,
  withPeople,
} from '../../../src/core/fields/traits.ts'
import type { Field, Person, RecordId } from '../../../src/core/model.ts'
import type { ColumnValue } from '../../../src/db/column-values.ts'
import { m } from '../../../src/messages.gen.ts'
import type { AuthService } from '../../auth/index.ts'
import type { CellsWrite, ChangeContext, FrozenAt } from '../change/index.ts'
import type { MarkedParts } from '../links/index.ts'
import {
  areLinks,
  choicesOf,
  type FieldDefinition,
  type FieldPatch,
  type TableModel,
} from '../model/index.ts'
import { canFreeze, type ReadableValues } from './frozen-values.ts'

/** @throws NOT_IMPLEMENTED if one of the types has no stored values to convert */
export function refuseConversion(
  before: Pick<FieldDefinition, 'type' | 'options'>,
  after: Pick<FieldDefinition, 'type'>,
): void {
  // Link types are interchangeable, except that a single link has only one type.
  if (areLinks(before.type, after.type) && !isSingleLink(linkOf(before) ?? { kind: 'bt' })) return
  for (const name of [before.type, after.type]) {
    const type = fieldType(name)
    // Auto numbers and the current results of a formula can become stored values.
    if (name === before.type && (type.numbersRecords || canFreeze(name))) continue
    if (!type.readOnly && !type.systemColumn && !type.internal && !type.computed) continue
    throw new AppError('NOT_IMPLEMENTED', m.wire_error_conversion({ from: before.type, to: after.type }))
  }
}

/** The effect of a change of type on a field's values. */
export interface ConversionPreview {
  /** Records that are not empty in the field. */
  total: number
  /** Values that keep their meaning. */
  converted: number
  /** Values that are lost, at least partly, such as the time of a date. */
  lost: number
  /** Up to 20 values, lost ones first. */
  samples: { recordId: RecordId; from: CellValue; to: CellValue }[]
}

const MAX_SAMPLES = 20

/** Counts converted values and collects samples. */
export function createPreview() {
  const counts = { total: 0, converted: 0, lost: 0 }
  const lostSamples: ConversionPreview['samples'] = []
  const otherSamples: ConversionPreview['samples'] = []
  return {
    add(sample: ConversionPreview['samples'][number], isLost: boolean): void {
      counts.total++
      counts[isLost ? 'lost' : 'converted']++
      const list = isLost ? lostSamples : otherSamples
      if (list.length < MAX_SAMPLES) list.push(sample)
    },
    result: (): ConversionPreview => ({
      ...counts,
      samples: [...lostSamples, ...otherSamples].slice(0, MAX_SAMPLES),
    }),
  }
}

/** Most select options that are created from values. */
const MAX_CREATED_CHOICES = 500

/** The options of the new type, including those created from values, and the conversion of one value. */
interface PreparedConversion {
  options: FieldOptions
  convert(value: CellValue): Conversion
}

/**
 * Prepares the conversion of a field. A select field without options takes over those of the other select field, or gets
 * them from the first 500 distinct values. People are written and found by email, days and times in the zone of `from`.
 */
export async function prepareConversion(
  from: ReadableValues,
  to: TypeAndOptions,
  pages: () => AsyncIterable<ColumnValue[]>,
  members: () => Promise<Person[]>,
): Promise<PreparedConversion> {
  const people = showsPeople(from) || showsPeople(to) ? await members() : []
  const before = withPeople(from.type, inZone(from.options, from.timeZone), people)
  const options = await optionsFor({ type: from.type, options: before }, to, pages)
  const after = withPeople(to.type, inZone(options, from.timeZone), people)
  return { options, convert: (value) => convert(value, from.type, before, to.type, after) }
}

async function optionsFor(
  from: TypeAndOptions,
  to: TypeAndOptions,
  pages: () => AsyncIterable<ColumnValue[]>,
): Promise<FieldOptions> {
  if (!hasChoices(to) || choicesOf(to).length > 0) return to.options
  const isMulti = hasMultipleChoices(to)
  if (hasChoices(from)) {
    // A multiple select stores titles separated by commas, so titles with a comma are lost. The preview counts them.
    const choices = choicesOf(from).filter(({ title }) => !isMulti || !title.includes(','))
    return { ...to.options, choices }
  }
  const titles = new Set<string>()
  for await (const page of pages()) {
    for (const { value } of page) {
      const text = formatValue(from, value).trim()
      for (const title of isMulti ? titlesIn(text) : [text]) titles.add(title)
      if (titles.size > MAX_CREATED_CHOICES) break
    }
    if (titles.size > MAX_CREATED_CHOICES) break
  }
  const usable = [...titles].filter((title) => title !== '' && title.length <= 1000)
  return { ...to.options, choices: withChoices([], usable.slice(0, MAX_CREATED_CHOICES)) }
}

type TypeAndOptions = Pick<FieldDefinition, 'type' | 'options'>

/** Everyone with a role in a base, whom names and emails in values are matched against. */
export async function membersOf(access: AuthService['access'], baseId: string): Promise<Person[]> {
  return (await access.people(baseId)).map(({ user: { id, email, displayName } }) => ({
    id,
    email,
    displayName,
  }))
}

/** The field to write and its data, read inside the write lease. */
export interface FieldChangeContext extends ChangeContext {
  model: TableModel
  field: Field
  /** Everyone with a role in the base. */
  people(): Promise<Person[]>
  /** Where, and in which zone, to read the values under a definition: now, or as of a former conversion. */
  values(definition: FieldDefinition, frozenAt?: FrozenAt): Promise<ReadableValues>
}

/** The new definition of a field with the writes that belong to it. */
export interface FieldDecision {
  definition: FieldDefinition
  cells?: CellsWrite
  /** Parts of a link that are deleted or restored with it. */
  also?: MarkedParts
}

/** The `meta` of REST clients before and after a change, for the log. Undo leaves it as it is. */
export function loggedMeta(
  { stored }: TableModel,
  fieldId: string,
  after: FieldPatch['wireMeta'],
): { wireMeta?: { before: FieldPatch['wireMeta']; after: FieldPatch['wireMeta'] } } {
  if (after === undefined) return {}
  const field = stored.find(({ id }) => id === fieldId)
  return { wireMeta: { before: field?.wireMeta ?? null, after } }
}
