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

/** The field type that a computed field's values behave like. It filters, sorts, sums up and is drawn so. */
export interface FieldResult {
  type: FieldTypeName
  options: FieldOptions
  /** True where one cell has any number of such values: a list as `core/fields/list-value.ts` keeps it. */
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
  /** The field that names records; exactly one per table. */
  isDisplay: boolean
  isPrimaryKey: boolean
  /** Created by the product itself (created_at, nc_order, …); hidden by default. */
  isSystem: boolean
  /** The column's type in a database that is not ours, e.g. `numeric(10,2)`; null in tables of our own. */
  databaseType: string | null
  /** Why the field is read-only: a generated column, a type that cannot be edited; null if it can be written. */
  readOnlyReason: string | null
  /** Result type of a computed field; null for other fields and for a broken one. */
  result: FieldResult | null
  /** Why a computed field is broken: `Column 'Price' was deleted`; else null. */
  error: string | null
}

type Target = Pick<Field, 'type' | 'options'> & Partial<Pick<Field, 'result'>>

/** Properties of a field with a column in a table of our own. */
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

/** True for codes, which are searched and filtered by the field whose value they show. */
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

/** The format in which a date field shows its days, in cells and wherever else one is written. */
export function dayFormatOf(field: Target): DateFormat {
  const { format } = shownType(field).options
  return DATE_FORMATS.find((one) => one === format) ?? 'YYYY-MM-DD'
}
