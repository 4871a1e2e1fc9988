import type * as z from 'zod/mini'
import type { LocalizedText } from '../message.ts'
import type { DecimalMark } from './number-text.ts'

/** A cell's value. Cells, JSON and the change log use the same representation. */
export type CellValue = string | number | boolean | null

/** How a column stores its values. Each dialect maps a kind to one of its column types. */
export type StorageKind =
  | 'id'
  | 'integer'
  | 'real'
  | 'text'
  | 'longText'
  | 'boolean'
  | 'date'
  | 'datetime'
  | 'time'
  | 'json'

/**
 * Database type of a column that REST reports, per engine. It does not affect storage: each dialect derives the
 * actual column type from the storage kind (spec §5).
 */
export type DatabaseTypes = Record<'sqlite3' | 'pg', string>

/** Set of filter operators that a field offers. */
export type FilterSet =
  | 'text'
  | 'number'
  | 'select'
  | 'multiSelect'
  | 'checkbox'
  | 'date'
  | 'user'
  | 'attachment'
  /** Times of day: the comparisons of numbers, with times as operands. */
  | 'time'
  /** Secret values: only their presence can be tested. */
  | 'presence'
  /** Links: compared by the number of linked records, which is never null. */
  | 'links'
  | 'none'

/** Set of summaries that the grid's footer offers. */
export type SummarySet = 'count' | 'number' | 'checkbox' | 'date' | 'size' | 'none'

/** Section of the field type picker. */
export type FieldGroup =
  | 'text'
  | 'number'
  | 'choice'
  | 'date'
  | 'people'
  | 'file'
  | 'relation'
  | 'computed'
  | 'system'

/**
 * How a field without a stored column gets its values: linked records (`link`), values or aggregates of linked
 * records (`lookup`, `rollup`, `count`), a formula, another field rendered as a QR code or barcode, or a button.
 */
export type ComputedKind = 'link' | 'lookup' | 'rollup' | 'count' | 'formula' | 'code' | 'button'

/** Group of validation rules that a form may set for a field's answers. */
export type FormRuleSet = 'text' | 'email' | 'url' | 'phone' | 'number' | 'step'

/** How dragging the fill handle continues a column's values. Types without a series repeat them. */
export type FillSeries = 'number' | 'date' | 'datetime' | 'text'

/** A field's stored options: always an object, validated by the schema of its type. */
export type FieldOptions = Record<string, unknown>

/**
 * Why a value was rejected: `option`: not one of the field's options; `check`: fails a validation of the field
 * (e-mail, URL, phone number, file limits); `json`: invalid JSON text; `value`: not a value of the type.
 * `valueError` in `read.ts` turns each into the API error.
 */
type ReadFault = 'value' | 'check' | 'option' | 'json'

/** Result of validating an external value. */
export type Read = { ok: true; value: CellValue } | { ok: false; message: string; fault: ReadFault }

/**
 * Traits that other code checks instead of the type's name. All are optional: a type without a trait gets the behaviour
 * of its storage kind. `traits.ts` has predicates for the common ones.
 */
interface FieldTraits {
  /** Values are titles of the field's own choices: one, or several joined by commas. */
  choices?: 'single' | 'multiple'
  /** Values are user ids: `chosen` by people and programs, or `recorded` by the server. */
  people?: 'chosen' | 'recorded'
  /** Values are file lists, see `attachment-item.ts`. */
  holdsFiles?: true
  /** Values are geographic points that a map can show. */
  isLocation?: true
  /** Values are hashed when written, shown as a mask, and left out of exports, mails, formulas and browser storage. */
  isSecret?: true
  /** Values are the keys of linked records; the field is created and deleted with its link. */
  isForeignKey?: true
  /** The server numbers new records in this field, and all records when the field is added. */
  numbersRecords?: true
  /** Values are long texts: edits of two people at the same time are merged. */
  mergesEdits?: true
  /** Values are the sort keys of the manual record order. */
  ordersRecords?: true
  /** REST clients set the column's database type in the field's options. */
  namesDatabaseType?: true
  /** Value of a link field over REST: the number of linked records, or the records. */
  linkAnswer?: 'count' | 'records'
  /** Type changes within a family keep the stored values as they are. */
  family?: 'text' | 'integer' | 'decimal'
  /** Type for results of this type that are displayed with decimals. */
  fractional?: string
  /** Suitability as display field: `likely` is preferred in a new table, `possible` can name a new card. */
  naming?: 'likely' | 'possible'
  /** Values are quantities: the grid's status bar sums them. */
  isAmount?: true
  /** False where grouping would give one group per record, or nothing to show. */
  groupable?: false
  /** How the fill handle continues values; absent: it repeats them. */
  fill?: FillSeries
  /** What Excel gets: the formatted `text`, or a `link` to a web address; absent: what follows from `storage`. */
  excel?: 'text' | 'link'
  /** Groups of form validation rules, in addition to those implied by other traits. */
  formRules?: readonly FormRuleSet[]
  /** Forms may offer the camera to scan a code into the field. */
  scannable?: true
  /** Values depend on the field's options, so pasting into a field with other options goes through text. */
  optionsLimitValues?: true
}

/**
 * Definition of a field type: one file in this folder and one line in `index.ts`. Server validation, clipboard,
 * import and type conversion are derived from it.
 *
 * `O` is the shape of the options after the schema has filled in defaults.
 */
export interface FieldType<O = FieldOptions> extends FieldTraits {
  /** Stored name, also used by API clients (spec §3), e.g. `SingleLineText`. */
  name: string
  /** Label in the type list: "Single select". */
  label: LocalizedText
  group: FieldGroup
  /** One line of help in the type list, shown with `example`. */
  help: LocalizedText
  example: string
  storage: StorageKind
  options: z.ZodMiniType<O>
  filters: FilterSet
  summaries: SummarySet
  /** True where only the server writes (id, created time, …). */
  readOnly?: true
  /**
   * Set where the field has no column: its values are computed on read. `storage`, `filters` and `summaries` then
   * come from `Field.result`; the values here apply to fields without a result.
   */
  computed?: ComputedKind
  /** True for internal types, which neither users nor API clients can choose. */
  internal?: true
  /** True for types that only the API accepts: legacy names, columns of connected databases. */
  forPrograms?: true
  /**
   * System column that the field displays. Such a field adds no column: all "Created time" fields of a table
   * share `created_at`.
   */
  systemColumn?: 'created_at' | 'updated_at' | 'created_by' | 'updated_by'
  /** True where a field cannot have a default value (spec §5). */
  noDefault?: true
  /** Value of a new record if the caller gives none and the field has no default value. */
  initial?: CellValue
  /**
   * Validates a JSON value from REST or tRPC. Strict: an invalid value is rejected with a message, never altered.
   * The caller handles `null` and `''` first: both mean "no value", except that text fields keep `''`.
   */
  read(input: unknown, options: O): Read
  /**
   * Parses text from paste, import or conversion. Lenient about notation; `null` if the text does not fit.
   *
   * @param decimal the decimal mark for ambiguous numbers: `1.000` is one or a thousand
   */
  parse(text: string, options: O, decimal?: DecimalMark): CellValue
  /**
   * The value as text for the clipboard, exports and conversion. `parse(format(v))` returns `v`, except that the
   * empty text becomes null.
   */
  format(value: CellValue, options: O): string
  /** Formats a sum or average for display in a locale (BCP 47 tag). Absent: a plain number. */
  summaryText?(value: number, options: O, locale: string): string
  /**
   * Database type of the column in REST (`dt`, wire §8.3), named as in the table's engine.
   * Absent where the field has no column.
   */
  databaseTypes?: DatabaseTypes
}

/**
 * A field type with options of unknown shape, as `fieldType(name)` returns it. Pass it the field's `options`
 * after the type's schema has filled in defaults.
 */
export type AnyFieldType = FieldType<FieldOptions>

/** Infers the options' type and the literal name of a field type definition. */
export function defineFieldType<const N extends string, O>(
  type: FieldType<O> & { name: N },
): FieldType<O> & { name: N } {
  return type
}

/**
 * The `format` of types whose text is the value itself; numbers without separators, in the shortest text that reads back
 * as the same number.
 */
export const formatPlain = (value: CellValue): string => (value === null ? '' : String(value))

export const readOk = (value: CellValue): Read => ({ ok: true, value })
export const readFail = (message: string, fault: ReadFault = 'value'): Read => ({ ok: false, message, fault })

/** Read settings derived from the column and never stored; passed together with the field's options. */
export type ReadingOptions = {
  /**
   * True for columns of connected databases, which may store any fraction of a second. Base tables store instants
   * to the millisecond and times of day to the second.
   */
  keepsFraction?: boolean | undefined
}

/** The options to pass to `read` and `parse`. Without a database type, the field counts as one of a base table. */
export const readingOptions = <O extends FieldOptions>(
  { databaseType = null }: { databaseType?: string | null },
  options: O,
): O & ReadingOptions => (databaseType === null ? options : { ...options, keepsFraction: true })

/** A field's options with the type's defaults; the defaults alone if they do not parse, as those of a newer server. */
export function completeOptions(type: AnyFieldType, options: unknown): FieldOptions {
  const read = type.options.safeParse(options)
  return read.success ? read.data : type.options.parse({})
}

/** An external value for quoting in error messages: at most 60 characters on one line. */
export function describeValue(input: unknown): string {
  const text = typeof input === 'object' && input !== null ? jsonOf(input) : String(input)
  const line = text.replace(/\s+/g, ' ')
  return line.length > 60 ? `${line.slice(0, 57)}...` : line
}

function jsonOf(input: object): string {
  // Large input is named by kind: serializing all of it to show 57 characters would be wasteful.
  if (Array.isArray(input)) return input.length > 20 ? 'a list' : safeJson(input, 'a list')
  return Object.keys(input).length > 20 ? 'an object' : safeJson(input, 'an object')
}

function safeJson(input: object, otherwise: string): string {
  const nested = Object.values(input).some((value) => typeof value === 'object' && value !== null)
  return nested ? otherwise : JSON.stringify(input)
}
