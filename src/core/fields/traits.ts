import { type Field, shownType } from './field.ts'
import type { FieldOptions, StorageKind } from './field-type.ts'
import { type FieldTypeName, fieldType } from './index.ts'
import { isSingleLink, linkOf } from './link-options.ts'
import type { PeopleOptions } from './people.ts'
import { ROLLUP_FUNCTIONS, type RollupFunction } from './rollup.ts'

/** Anything that has a field type: a field, its definition, a column of an import. */
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

/** True for fields that hold the keys of linked records. */
export const isForeignKey = ({ type }: Typed): boolean => fieldType(type).isForeignKey === true

/** True for fields that hold the record's own id. */
export const isRecordId = ({ type }: Typed): boolean => fieldType(type).storage === 'id'

/** True for fields in which the server numbers the records. */
export const numbersRecords = ({ type }: Typed): boolean => fieldType(type).numbersRecords === true

/** True for fields whose values are true or false. */
export const isBoolean = ({ type }: Typed): boolean => fieldType(type).storage === 'boolean'

/** True for fields that formulas are typed into: the formula itself, or the address of a button. */
export const hasFormula = ({ type }: Typed): boolean => {
  const { computed } = fieldType(type)
  return computed === 'formula' || computed === 'button'
}

/** True for links. */
export const isLinkType = ({ type }: Typed): boolean => fieldType(type).computed === 'link'

/** True for fields in which people are chosen; not for those that record who wrote. */
export const holdsPeople = ({ type }: Typed): boolean => fieldType(type).people === 'chosen'

/** True for every field whose values are user ids. */
export const showsPeople = ({ type }: Typed): boolean => fieldType(type).people !== undefined

/**
 * The options with the people among whom names and e-mails are looked up; unchanged for other types. With them
 * `parse` takes an e-mail or a name, and `format` gives e-mails.
 */
export const withPeople = (
  type: string,
  options: FieldOptions,
  people: NonNullable<PeopleOptions['people']>,
): FieldOptions => (showsPeople({ type }) ? { ...options, people } : options)

/**
 * True where a file can fill fields of the type. The server fills the others, or somebody sets them one by one: a
 * password is hashed, and a key is part of its link.
 */
export function isImportable(name: FieldTypeName): boolean {
  const { readOnly, systemColumn, computed, internal, isSecret, storage } = fieldType(name)
  const isServers = readOnly || systemColumn !== undefined || computed !== undefined || storage === 'id'
  return !isServers && !internal && !isSecret
}

/** True where people are offered the type for a new field that a file fills. */
export const isOfferedForImport = (name: FieldTypeName): boolean =>
  isImportable(name) && !fieldType(name).forPrograms

const TEMPORAL: ReadonlySet<StorageKind> = new Set(['date', 'datetime', 'time'])

/**
 * The functions that a field of the related table offers: numbers all of them, dates those that need no
 * sum, everything else its count. Links to many are numbers: how many there are. A lookup offers what the
 * values that it lists offer.
 */
export function rollupFunctionsFor(
  target: Pick<Field, 'type' | 'options'> & Partial<Pick<Field, 'result'>>,
): readonly RollupFunction[] {
  const { type } = shownType(target)
  const link = linkOf(target)
  if (link) return isSingleLink(link) ? ['count'] : ROLLUP_FUNCTIONS
  if (TEMPORAL.has(type.storage)) return ['count', 'min', 'max', 'countDistinct']
  if (type.isForeignKey || type.storage === 'id') return ['count', 'countDistinct']
  return type.filters === 'number' ? ROLLUP_FUNCTIONS : ['count']
}
