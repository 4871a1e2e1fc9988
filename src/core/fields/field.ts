import { DATE_FORMATS, type DateFormat } from './date-text.ts'
import type {
  AnyFieldType,
  CellValue,
  FieldOptions,
  FilterSet,
  StorageKind,
  SummarySet,
} from './field-type.ts'
import { type FieldTypeName, fieldType } from './index.ts'
import { isSingleLink, linkOf } from './link-options.ts'

/** The field type that determines how a computed field filters, sorts, summarizes and renders. */
export interface FieldResult {
  type: FieldTypeName
  options: FieldOptions
  /** True if a cell holds a list of such values (see `list-value.ts`). */
  isList: boolean
}

export interface Field {
  id: string
  tableId: string
  title: string
  columnName: string
  type: FieldTypeName
  options: FieldOptions
  description: string | null
  required: boolean
  unique: boolean
  defaultValue: CellValue
  order: number
  /** True for the display field, which names records; exactly one per table. */
  isDisplay: boolean
  isPrimaryKey: boolean
  /** Created by the product itself (created_at, nc_order, …); hidden by default. */
  isSystem: boolean
  /** The column's type in a connected database, e.g. `numeric(10,2)`; null in base tables. */
  databaseType: string | null
  /** Why the field is read-only: a generated column, a type that cannot be edited; null if it can be written. */
  readOnlyReason: string | null
  /** Result type of a computed field; null for other fields and for a broken one. */
  result: FieldResult | null
  /** Why a computed field is broken: `Column 'Price' was deleted`; else null. */
  error: string | null
}

type Target = Pick<Field, 'type' | 'options'> & Partial<Pick<Field, 'result'>>

/** Properties of a field with a column in a base table. */
export const OWN_COLUMN = { databaseType: null, readOnlyReason: null, result: null, error: null } as const

/**
 * The type of a field's values: its own, or the result type of a computed field. `isList`: a cell holds a
 * list of them (see `list-value.ts`).
 */
export function shownType(field: Target): { type: AnyFieldType; options: FieldOptions; isList: boolean } {
  const { result } = field
  if (result) return { type: fieldType(result.type), options: result.options, isList: result.isList }
  return { type: fieldType(field.type), options: field.options, isList: false }
}

/** True for fields without a column, whose values are computed on read. */
export const isComputed = (field: Pick<Field, 'type'>): boolean =>
  fieldType(field.type).computed !== undefined

/**
 * True for a single link that compares, sorts and groups by the linked record's display text. All other links
 * do so by their number of records.
 */
export function isNamedLink(field: Target): boolean {
  const link = fieldType(field.type).linkAnswer === 'records' ? linkOf(field) : null
  return link !== null && isSingleLink(link)
}

/** A field's set of filter operators. Lists use that of their values, any of which may meet a condition. */
export function filterSetOf(field: Target): FilterSet {
  if (showsCode(field)) return 'none'
  return isNamedLink(field) || isTextKey(field) ? 'text' : shownType(field).type.filters
}

/** A field's set of summaries. */
export function summarySetOf(field: Target): SummarySet {
  if (showsCode(field)) return 'count'
  const { type, isList } = shownType(field)
  if (isNamedLink(field)) return 'count'
  return isList && type.summaries !== 'none' ? 'count' : type.summaries
}

/** True for QR codes and barcodes, which are filtered by the field that they display. */
const showsCode = (field: Target): boolean => fieldType(field.type).computed === 'code'

/** Storage kind of a field's values as read from the database. Lists are JSON text. */
export function storageOf(field: Target): StorageKind {
  const { type, isList } = shownType(field)
  if (isList) return 'longText'
  return isTextKey(field) ? 'text' : type.storage
}

/** True for foreign keys to records with text keys, and fields that show them. */
function isTextKey(field: Target): boolean {
  const { type, options } = shownType(field)
  return type.isForeignKey === true && options.isText === true
}

/** The display format of a date field's days. */
export function dayFormatOf(field: Target): DateFormat {
  const { format } = shownType(field).options
  return DATE_FORMATS.find((one) => one === format) ?? 'YYYY-MM-DD'
}
