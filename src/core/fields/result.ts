import type { Field } from '../model.ts'
import type { AnyFieldType, FieldOptions, FilterSet, StorageKind, SummarySet } from './field-type.ts'
import { fieldType } from './index.ts'

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

/** The set of filter operators that a field has. A list is looked at as the text of its values. */
export function filterSetOf(field: Target): FilterSet {
  const { type, isList } = shownType(field)
  return isList && type.filters !== 'none' ? 'text' : type.filters
}

/** The set of summaries that a field has. */
export function summarySetOf(field: Target): SummarySet {
  const { type, isList } = shownType(field)
  return isList && type.summaries !== 'none' ? 'count' : type.summaries
}

/** How the values of a field come out of the database. A list comes as JSON text. */
export function storageOf(field: Target): StorageKind {
  const { type, isList } = shownType(field)
  return isList ? 'longText' : type.storage
}
