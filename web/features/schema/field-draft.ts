import { type Choice, mergeChoices } from '../../../src/core/fields/choices.ts'
import { keepsNowDefault, NOW } from '../../../src/core/fields/default-value.ts'
import type { CellValue, FieldOptions } from '../../../src/core/fields/field-type.ts'
import { type FieldTypeName, fieldType } from '../../../src/core/fields/index.ts'
import { isSecret } from '../../../src/core/fields/traits.ts'
import type { Field } from '../../../src/core/model.ts'
import { m } from '../../messages.gen.ts'
import type { FieldInput } from './field-commands.tsx'

/** A field while it is being edited. */
export interface FieldDraft {
  title: string
  type: FieldTypeName
  options: FieldOptions
  description: string
  required: boolean
  unique: boolean
  defaultValue: CellValue
}

/** Initial draft for an existing field, or for a new one (null). */
export function draftOf(field: Field | null): FieldDraft {
  if (field === null) return { ...EMPTY, options: optionsFor('SingleLineText', {}) }
  const { title, type, options, description, required, unique, defaultValue } = field
  return { title, type, options, description: description ?? '', required, unique, defaultValue }
}

const EMPTY: FieldDraft = {
  title: '',
  type: 'SingleLineText',
  options: {},
  description: '',
  required: false,
  unique: false,
  defaultValue: null,
}

/**
 * The draft with another type: shared options, such as choices, are kept; the others get defaults.
 *
 * @param field the edited field: with its own type, the draft has its options and default value again
 */
export function withType(draft: FieldDraft, type: FieldTypeName, field: Field | null = null): FieldDraft {
  if (type === draft.type) return draft
  if (type === field?.type)
    return { ...draft, type, options: field.options, defaultValue: field.defaultValue }
  const isKept = draft.defaultValue === NOW && keepsNowDefault(draft.type, type)
  return {
    ...draft,
    type,
    options: optionsFor(type, draft.options),
    defaultValue: isKept ? NOW : null,
  }
}

function optionsFor(type: FieldTypeName, options: FieldOptions): FieldOptions {
  const schema = fieldType(type).options
  const kept = schema.safeParse(options)
  return kept.success ? kept.data : schema.parse({})
}

/** True if a field of the draft's type can require a value. */
export function canBeRequired({ type }: Pick<FieldDraft, 'type'>): boolean {
  const { readOnly, computed } = fieldType(type)
  return !readOnly && !computed
}

/** True if a field of the draft's type can have unique values. Passwords are stored as hashes, which cannot be compared. */
export const canBeUnique = (draft: Pick<FieldDraft, 'type'>): boolean =>
  canBeRequired(draft) && !isSecret(draft)

/**
 * Input for creating the field; without a title, the server chooses one. Leaves out rules that the draft has from an earlier
 * type, if its type cannot have them.
 */
export function toInput(draft: FieldDraft): FieldInput {
  const { type, options, defaultValue } = draft
  const title = draft.title.trim()
  return {
    ...(title === '' ? {} : { title }),
    type,
    options,
    required: draft.required && canBeRequired(draft),
    unique: draft.unique && canBeUnique(draft),
    defaultValue,
    description: draft.description.trim() || null,
  }
}

/**
 * The changed properties, for an update; an empty title keeps the old one.
 *
 * @param field as it was when the draft began
 * @param latest as others have changed it since
 */
export function toPatch(draft: FieldDraft, field: Field, latest = field): Partial<FieldInput> {
  const next = toInput(draft)
  const before = toInput(draftOf(field))
  const entries = Object.entries(next).filter(([key, value]) => {
    const old: unknown = Object.entries(before).find(([name]) => name === key)?.[1]
    return JSON.stringify(value) !== JSON.stringify(old)
  })
  const patch: Partial<FieldInput> = Object.fromEntries(entries)
  // A conversion needs the options of the new type.
  if (patch.type === undefined && patch.options === undefined) return patch
  return { ...patch, options: withOthersChoices(draft.options, field, latest) }
}

const choicesIn = ({ choices }: FieldOptions): Choice[] | null =>
  Array.isArray(choices) ? (choices as Choice[]) : null

/** The titles of the field's options that an update removes. */
export function removedOptions({ type, options }: Partial<FieldInput>, field: Field): string[] {
  const kept = type === undefined && options ? choicesIn(options) : null
  if (!kept) return []
  const before = choicesIn(field.options) ?? []
  const keptIds = new Set(kept.map(({ id }) => id))
  const oldIds = new Set(before.map(({ id }) => id))
  // The server takes a new option with an old title for the old one, but not a renamed option.
  const newTitles = new Set(kept.flatMap(({ id, title }) => (oldIds.has(id) ? [] : [title])))
  return before.flatMap(({ id, title }) => (keptIds.has(id) || newTitles.has(title) ? [] : [title]))
}

/**
 * The options with the choices that others have added and changed since the draft began. The server adds those of the
 * time after; here they are for the question about removed ones.
 */
function withOthersChoices(options: FieldOptions, field: Field, latest: Field): FieldOptions {
  const [own, before, now] = [options, field.options, latest.options].map(choicesIn)
  return own && before && now ? { ...options, choices: mergeChoices(own, before, now) } : options
}

/** The first invalid option, or null. */
export function problemOf(draft: FieldDraft): string | null {
  const read = fieldType(draft.type).options.safeParse(draft.options)
  return read.success ? null : (read.error.issues[0]?.message ?? null)
}

/** The option that a computed field still lacks, or null. */
export function missingOption({ type, options }: Pick<FieldDraft, 'type' | 'options'>): string | null {
  switch (fieldType(type).computed) {
    case 'link':
      return options.relatedTableId ? null : m.schema_choose_a_table_to_link()
    case 'count':
      return options.relationFieldId ? null : m.schema_choose_a_link()
    case 'lookup':
    case 'rollup':
      return options.relationFieldId && options.targetFieldId ? null : m.schema_choose_link_field()
    case 'code':
      return options.valueFieldId ? null : m.schema_choose_a_field()
    case 'formula':
      return options.formula ? null : m.schema_enter_a_formula()
    case 'button':
      return options.kind !== 'url' || options.formula ? null : m.schema_enter_a_url_formula()
    default:
      return null
  }
}
