import { type Field, shownType } from './field.ts'
import type { FieldOptions, FilterSet, StorageKind } from './field-type.ts'
import { type FieldTypeName, fieldType } from './index.ts'
import { isSingleLink, linkOf } from './link-options.ts'
import type { PeopleOptions } from './people.ts'
import { ROLLUP_FUNCTIONS, type RollupFunction } from './rollup.ts'

/** Any object with a field type: a field, its definition, a column of an import. */
type Typed = { type: string }

/** True for fields whose values are titles of the field's choices. */
export const hasChoices = ({ type }: Typed): boolean => fieldType(type).choices !== undefined

/** True for fields whose values are one of the field's choices. */
export const hasSingleChoice = ({ type }: Typed): boolean => fieldType(type).choices === 'single'

/** True for fields whose values are any number of the field's choices. */
export const hasMultipleChoices = ({ type }: Typed): boolean => fieldType(type).choices === 'multiple'

/** True for fields whose values are lists of files. */
export const holdsFiles = ({ type }: Typed): boolean => fieldType(type).holdsFiles === true

/** True for fields whose values are never shown, such as passwords. */
export const isSecret = ({ type }: Typed): boolean => fieldType(type).isSecret === true

/** True for long texts, whose concurrent edits are merged. */
export const mergesEdits = ({ type }: Typed): boolean => fieldType(type).mergesEdits === true

/** True for fields that hold the keys of linked records. */
export const isForeignKey = ({ type }: Typed): boolean => fieldType(type).isForeignKey === true

/** True for fields that hold the record's own id. */
export const isRecordId = ({ type }: Typed): boolean => fieldType(type).storage === 'id'

/** True for fields that the server fills with record numbers. */
export const numbersRecords = ({ type }: Typed): boolean => fieldType(type).numbersRecords === true

/** True for fields of web addresses. */
export const holdsAddresses = ({ type }: Typed): boolean => fieldType(type).excel === 'link'

type Configured = Typed & { options: FieldOptions }

/** True for fields of amounts in one currency. */
export const hasCurrency = ({ type, options }: Configured): boolean =>
  fieldType(type).filters === 'number' && 'code' in options

/** True for number fields that have no currency. */
export const takesPlainNumbers = (field: Configured): boolean =>
  fieldType(field.type).filters === 'number' && !hasCurrency(field)

/** True for fields whose values are true or false. */
export const isBoolean = ({ type }: Typed): boolean => fieldType(type).storage === 'boolean'

/** True for fields with a formula: formula fields and buttons. */
export const hasFormula = ({ type }: Typed): boolean => {
  const { computed } = fieldType(type)
  return computed === 'formula' || computed === 'button'
}

export const isLinkType = ({ type }: Typed): boolean => fieldType(type).computed === 'link'

/** True for fields in which users select people; false for those that record authors. */
export const holdsPeople = ({ type }: Typed): boolean => fieldType(type).people === 'chosen'

/** True for fields that notify the people who are added to their cells. */
export const notifiesPeople = (field: Typed & { options: FieldOptions }): boolean =>
  holdsPeople(field) && (field.options as Partial<PeopleOptions>).notify === true

/** True for all fields whose values are user ids. */
export const showsPeople = ({ type }: Typed): boolean => fieldType(type).people !== undefined

/**
 * Adds the people whom `parse` finds by e-mail or name and `format` shows by e-mail. Returns other types'
 * options unchanged.
 */
export const withPeople = (
  type: string,
  options: FieldOptions,
  people: NonNullable<PeopleOptions['people']>,
): FieldOptions => (showsPeople({ type }) ? { ...options, people } : options)

/** The options with a zone in place of the viewer's, for texts of fields that follow the local clock. */
export const inZone = (options: FieldOptions, timeZone: string): FieldOptions =>
  options.timeZone === 'local' ? { ...options, timeZone } : options

/** The field with options as `inZone` gives them. */
export const fieldInZone = <F extends { options: FieldOptions }>(field: F, timeZone: string): F => ({
  ...field,
  options: inZone(field.options, timeZone),
})

/**
 * Options with which a field reads text that another field wrote: dates, instants and durations are written in the format and
 * time zone of that field, and read in them.
 */
export function optionsForTextOf(
  source: Pick<Field, 'type' | 'options'> & Partial<Pick<Field, 'result'>>,
  { type, options }: Configured,
): FieldOptions {
  const written = shownType(source)
  const isSameNotation =
    written.type.name === type || (isCalendar(written.type.storage) && isCalendar(fieldType(type).storage))
  if (!isSameNotation) return options
  const { format, timeZone } = written.options
  return {
    ...options,
    ...('format' in options && format !== undefined && { format }),
    ...('timeZone' in options && timeZone !== undefined && { timeZone }),
  }
}

const isCalendar = (storage: StorageKind): boolean => storage === 'date' || storage === 'datetime'

/**
 * True if an import can fill fields of the type. Excludes fields that the server writes, passwords and foreign keys.
 */
export function isImportable(name: FieldTypeName): boolean {
  const { readOnly, systemColumn, computed, internal, isSecret, storage } = fieldType(name)
  const isServerWritten = readOnly || systemColumn !== undefined || computed !== undefined || storage === 'id'
  return !isServerWritten && !internal && !isSecret
}

/** True if an import into the table may fill the field: by values, or by the names of linked records. */
export function isFilledByImport(field: Field): boolean {
  if (field.isSystem || field.readOnlyReason !== null) return false
  if (linkOf(field) !== null) return field.error === null
  // Connected databases may leave keys to whoever adds a record.
  if (field.databaseType !== null) return isImportable(field.type) || isForeignKey(field)
  return !field.isPrimaryKey && isImportable(field.type)
}

/** Filter sets of fields whose values are equal or not, and which a value can therefore find. */
const FINDABLE: ReadonlySet<FilterSet> = new Set(['text', 'number', 'date', 'time', 'select', 'checkbox'])

/** True if an import can find records by the values of the field. */
export function findsRecords({ type, options }: Pick<Field, 'type' | 'options'>): boolean {
  const { filters, storage, computed } = fieldType(type)
  const isLink = linkOf({ type, options }) !== null
  return !isLink && computed === undefined && FINDABLE.has(filters) && storage !== 'json'
}

/** True if the type is offered for new fields of an import. */
export const isOfferedForImport = (name: FieldTypeName): boolean =>
  isImportable(name) && !fieldType(name).forPrograms

const TEMPORAL: ReadonlySet<StorageKind> = new Set(['date', 'datetime', 'time'])

/** Filter sets of texts, whose distinct values a rollup can count. */
const COUNTED_APART: ReadonlySet<FilterSet> = new Set(['text', 'select', 'multiSelect', 'user'])

/**
 * Rollup functions for a field of the related table: all for numbers and links to many (their count), those
 * without a sum for dates, counts for texts and keys, else only the count. A lookup offers those of its values.
 */
export function rollupFunctionsFor(
  target: Pick<Field, 'type' | 'options'> & Partial<Pick<Field, 'result'>>,
): readonly RollupFunction[] {
  const { type } = shownType(target)
  const link = linkOf(target)
  if (link) return isSingleLink(link) ? ['count'] : ROLLUP_FUNCTIONS
  if (TEMPORAL.has(type.storage)) return ['count', 'min', 'max', 'countDistinct']
  if (type.isForeignKey || COUNTED_APART.has(type.filters)) return ['count', 'countDistinct']
  return type.filters === 'number' ? ROLLUP_FUNCTIONS : ['count']
}
