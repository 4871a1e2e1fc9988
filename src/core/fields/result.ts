import type { Field } from './field.ts'
import type { AnyFieldType, FieldOptions, FilterSet, StorageKind, SummarySet } from './field-type.ts'
import { fieldType } from './index.ts'
import { isSingleLink, linkOf } from './link-options.ts'

type Target = Pick<Field, 'type' | 'options'> & Partial<Pick<Field, 'result'>>

/** What a field of ours whose values lie in a column of their own says of the rest. */
export const OWN_COLUMN = { databaseType: null, readOnlyReason: null, result: null, error: null } as const

/**
 * The type whose values a field shows: its own, or that of its result where it is computed. `isList`:
 * a cell holds any number of them (see `list-value.ts`).
 */
export function shownType(field: Target): { type: AnyFieldType; options: FieldOptions; isList: boolean } {
  const { result } = field
  if (result) return { type: fieldType(result.type), options: result.options, isList: result.isList }
  return { type: fieldType(field.type), options: field.options, isList: false }
}

/** True where the field has no column: its values are worked out when they are read. */
export const isComputed = (field: Pick<Field, 'type'>): boolean =>
  fieldType(field.type).computed !== undefined

/**
 * True for a link to one record that stands for it by its name: it compares, sorts and groups as the text of the
 * linked record's display field. All other links do so as their number.
 */
export function isNamedLink(field: Target): boolean {
  const link = fieldType(field.type).linkAnswer === 'records' ? linkOf(field) : null
  return link !== null && isSingleLink(link)
}

/** The set of filter operators that a field has; of a list that of its values, any of which may meet a condition. */
export function filterSetOf(field: Target): FilterSet {
  if (showsCode(field)) return 'none'
  return isNamedLink(field) || isTextKey(field) ? 'text' : shownType(field).type.filters
}

/** The set of summaries that a field has. */
export function summarySetOf(field: Target): SummarySet {
  if (showsCode(field)) return 'count'
  const { type, isList } = shownType(field)
  if (isNamedLink(field)) return 'count'
  return isList && type.summaries !== 'none' ? 'count' : type.summaries
}

/** A code shows a value to machines: whoever looks for one looks in the field that it comes from. */
const showsCode = (field: Target): boolean => fieldType(field.type).computed === 'code'

/** How the values of a field come out of the database. A list comes as JSON text. */
export function storageOf(field: Target): StorageKind {
  const { type, isList } = shownType(field)
  if (isList) return 'longText'
  return isTextKey(field) ? 'text' : type.storage
}

/** True for a key of records whose own keys are texts, and for what shows one. */
function isTextKey(field: Target): boolean {
  const { type, options } = shownType(field)
  return type.isForeignKey === true && options.isText === true
}
