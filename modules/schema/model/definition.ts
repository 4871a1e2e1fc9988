import { badRequest } from '../../../src/core/errors.ts'
import type { Choice } from '../../../src/core/fields/choices.ts'
import { acceptsNow, keepsNowDefault, NOW } from '../../../src/core/fields/default-value.ts'
import type { CellValue, FieldOptions } from '../../../src/core/fields/field-type.ts'
import { type FieldTypeName, fieldType, readOptions } from '../../../src/core/fields/index.ts'
import type { LinkOptions } from '../../../src/core/fields/link-options.ts'
import { linkOf } from '../../../src/core/fields/link-options.ts'
import { isSecret, numbersRecords } from '../../../src/core/fields/traits.ts'
import type { Field } from '../../../src/core/model.ts'
import { m } from '../../../src/messages.gen.ts'
import { choiceRewriter, withKeptIds, withOthersChoices } from './choices.ts'
import { checkTitle } from './names.ts'

/** A field as a caller defines it. Absent keys take the type's default, or stay as they are in an update. */
export interface FieldInput {
  title?: string
  type: FieldTypeName
  options?: FieldOptions
  description?: string | null
  required?: boolean
  unique?: boolean
  defaultValue?: CellValue
}

/** A partial update of a field. */
export interface FieldPatch extends Partial<FieldInput> {
  /** The `meta` that REST clients store with a column. */
  wireMeta?: Record<string, unknown> | null
  /** The options of the select field that the sender had read: what others have changed since stays. */
  seenChoices?: readonly Choice[] | undefined
}

/** The part of a field that users define; the change log stores it before and after an update. */
export type FieldDefinition = Pick<
  Field,
  'title' | 'type' | 'options' | 'description' | 'required' | 'unique' | 'defaultValue' | 'columnName'
>

/** The part of a field that users define. */
export const definitionOf = (field: Field): FieldDefinition => ({
  title: field.title,
  type: field.type,
  options: field.options,
  description: field.description,
  required: field.required,
  unique: field.unique,
  defaultValue: field.defaultValue,
  columnName: field.columnName,
})

/**
 * The checked definition of a new field, without its column.
 *
 * @throws BAD_REQUEST naming the invalid title, options or default, or for an internal type
 */
export function checkFieldInput(input: FieldInput): FieldDefinition {
  const type = fieldType(input.type)
  if (type.storage === 'id') throw badRequest(m.schema_error_one_id({ type: type.name }))
  if (type.internal) throw badRequest(m.schema_error_internal_type({ type: type.name }))
  const options = readOptions(input.type, type.numbersRecords ? {} : input.options)
  const definition: FieldDefinition = {
    title: checkTitle('field', input.title ?? type.label()),
    type: input.type,
    options,
    description: input.description?.trim() || null,
    required: input.required ?? false,
    unique: input.unique ?? false,
    defaultValue: checkDefault(input.type, options, input.defaultValue ?? null),
    columnName: '',
  }
  checkRules(definition)
  return definition
}

/**
 * The definition after a partial update.
 *
 * @throws BAD_REQUEST as `checkFieldInput`
 */
export function patchDefinition(
  current: FieldDefinition,
  patch: Omit<FieldPatch, 'wireMeta'>,
): FieldDefinition {
  const type = patch.type ?? current.type
  // Another type has other options.
  const sameOptions = type === current.type || areLinks(type, current.type) ? current.options : undefined
  const read = readOptions(
    type,
    patch.options === undefined ? sameOptions : optionsAfter(current, type, patch.options),
  )
  const { options } = withKeptIds(
    current,
    withOthersChoices(current, { type, options: read }, patch.seenChoices),
  )
  const definition: FieldDefinition = {
    title: patch.title === undefined ? current.title : checkTitle('field', patch.title),
    type,
    options,
    description: patch.description === undefined ? current.description : patch.description?.trim() || null,
    required: patch.required ?? current.required,
    unique: patch.unique ?? current.unique,
    defaultValue:
      patch.defaultValue === undefined
        ? defaultAfter(current, { type, options })
        : checkDefault(type, options, patch.defaultValue),
    columnName: current.columnName,
  }
  checkRules(definition)
  return definition
}

/** True if all types are links, between which only the presentation changes. */
export const areLinks = (...types: FieldTypeName[]): boolean =>
  types.every((type) => fieldType(type).computed === 'link')

function optionsAfter(current: FieldDefinition, type: FieldTypeName, options: FieldOptions): FieldOptions {
  // Assigned numbers never change.
  if (numbersRecords({ type }) && current.type === type) return current.options
  const isComputed = fieldType(type).computed && (type === current.type || areLinks(type, current.type))
  return isComputed ? patchComputed(current, options) : options
}

function checkRules({ type, options, required, unique }: FieldDefinition): void {
  const { systemColumn, readOnly, label, storage, computed } = fieldType(type)
  // Only a link that holds its own key can be required.
  if (computed && (unique || (required && !linkOf({ type, options })?.holdsKey))) {
    throw badRequest(m.schema_error_computed_constraint({ type: label() }))
  }
  if (systemColumn && (required || unique)) {
    throw badRequest(m.schema_error_automatic_constraint({ type: label() }))
  }
  if (unique && isSecret({ type })) throw badRequest(m.schema_error_unique_password())
  if (unique && !readOnly && storage === 'boolean')
    throw badRequest(m.schema_error_never_unique({ type: label() }))
}

/** The default value to store; null and '' remove it. */
function checkDefault(typeName: FieldTypeName, options: FieldOptions, input: CellValue): CellValue {
  if (input === null || input === '') return null
  const type = fieldType(typeName)
  if (input === NOW && acceptsNow(typeName)) return NOW
  if (type.readOnly || type.systemColumn || type.computed || type.noDefault)
    throw badRequest(m.schema_error_no_default({ type: type.label() }))
  const read = type.read(input, options)
  if (read.ok) return read.value
  if (read.fault === 'option')
    throw badRequest(m.wire_error_default_option({ value: String(input).slice(0, 200) }))
  throw badRequest(m.schema_error_default({ problem: read.message }))
}

/**
 * The default value after a change of type or options, with selected options under their new titles; null if it no
 * longer fits.
 */
export function defaultAfter(
  before: FieldDefinition,
  after: Pick<FieldDefinition, 'type' | 'options'>,
): CellValue {
  if (before.defaultValue === NOW && keepsNowDefault(before.type, after.type)) return NOW
  if (before.type !== after.type) return null
  const rename = choiceRewriter(before, after)
  const value = rename ? rename(before.defaultValue) : before.defaultValue
  if (value === null) return null
  const read = fieldType(after.type).read(value, after.options)
  return read.ok ? read.value : null
}

/**
 * The options of a computed field after a partial update. Of a link, only its nouns and the limiting view can change.
 *
 * @throws BAD_REQUEST for another relation
 */
function patchComputed(current: FieldDefinition, patch: FieldOptions): FieldOptions {
  if (fieldType(current.type).computed !== 'link') return { ...current.options, ...patch }
  const fixed: (keyof LinkOptions)[] = [
    'kind',
    'relatedTableId',
    'inverseFieldId',
    'keyFieldId',
    'parentFieldId',
    'holdsKey',
    'junction',
  ]
  if (fixed.some((key) => patch[key] !== undefined && !Bun.deepEquals(patch[key], current.options[key]))) {
    throw badRequest(m.schema_error_link_tables({ field: current.title }))
  }
  const { viewId, singular, plural } = patch
  return {
    ...current.options,
    ...(viewId !== undefined && { viewId }),
    ...(singular !== undefined && { singular }),
    ...(plural !== undefined && { plural }),
  }
}
