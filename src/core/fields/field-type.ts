import type { z } from 'zod'
import type { LocalizedText } from '../message.ts'
import type { DecimalMark } from './number-text.ts'

/** A cell's value: the same form in cells, in JSON and in the log. */
export type CellValue = string | number | boolean | null

/** How a column keeps its values; each dialect says with which type of its own. */
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
 * Database type of a column in a base's home, per engine. REST clients read it; how the values lie there follows from
 * the storage kind: each dialect has one type for a kind, and no other is allowed (spec §5).
 */
export type DatabaseTypes = Record<'sqlite3' | 'pg', string>

/** Which set of filter operators a field offers (the letters of the product's field table). */
export type FilterSet =
  | 'text'
  | 'number'
  | 'select'
  | 'multiSelect'
  | 'checkbox'
  | 'date'
  | 'user'
  | 'attachment'
  /** Times of day: compared like numbers, by values that are times. */
  | 'time'
  /** Secret values: only their presence can be tested. */
  | 'presence'
  /** Links: compared by their count, which is never empty. */
  | 'links'
  | 'none'

/** Which set of summaries the grid's footer offers. */
export type SummarySet = 'count' | 'number' | 'checkbox' | 'date' | 'size' | 'none'

/** Where a type stands in the list of types that a person chooses from. */
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
 * How a field that keeps no values of its own comes by them: records of another table, what they hold,
 * what is computed over them, a formula, another field shown as a code, or a button.
 */
export type ComputedKind = 'link' | 'lookup' | 'rollup' | 'count' | 'formula' | 'code' | 'button'

/** A group of rules that a form may set for the answers to a field; each rule names the group it belongs to. */
export type FormRuleSet = 'text' | 'email' | 'url' | 'phone' | 'number' | 'step'

/** How dragging the fill handle continues the values of a column; types without one repeat them. */
export type FillSeries = 'number' | 'date' | 'datetime' | 'text'

/** Options of a field as they are kept: always an object, its shape checked by the type's schema. */
export type FieldOptions = Record<string, unknown>

/**
 * Why a value was refused: it is no `option` of the field, it fails the field's own `check` (e-mail,
 * link, telephone, limits of files), it is text that is no `json`, or it is no `value` of the type at all.
 * `valueError` in `read.ts` words each for the wire.
 */
type ReadFault = 'value' | 'check' | 'option' | 'json'

/** The outcome of reading a value that came from outside. */
export type Read = { ok: true; value: CellValue } | { ok: false; message: string; fault: ReadFault }

/**
 * Traits that other code checks instead of the type's name. All are optional: a type without a trait gets the behaviour
 * of its storage. `traits.ts` has a predicate for those that are asked often.
 */
interface FieldTraits {
  /** Values are titles of the field's own choices: one, or several joined by commas. */
  choices?: 'single' | 'multiple'
  /** Values are user ids: `chosen` by people and programs, or `recorded` by the server. */
  people?: 'chosen' | 'recorded'
  /** Values are lists of files, see `attachment-item.ts`. */
  holdsFiles?: true
  /** Values are geographic points that a map can show. */
  isLocation?: true
  /** Values are hashed when written, shown as a mask, and left out of exports, mails, formulas and browser storage. */
  isSecret?: true
  /** Values are the keys of linked records; the field comes and goes with its link. */
  isForeignKey?: true
  /** The server numbers new records in this field, and all records when the field is added. */
  numbersRecords?: true
  /** Values keep the manual order of the records. */
  ordersRecords?: true
  /** REST clients name the column's database type in the options. */
  namesDatabaseType?: true
  /** Value of a link field in REST: the number of linked records, or the records. */
  linkAnswer?: 'count' | 'records'
  /** A column can be shown as any type of the family without converting its values. */
  family?: 'text' | 'integer' | 'decimal'
  /** The type that results of this type become when decimals are asked for. */
  fractional?: string
  /** How well values suit as names of records: the first choice for a new table, or typed as the name of a new card. */
  naming?: 'likely' | 'possible'
  /** Values are quantities: the grid's status bar adds them up. */
  isAmount?: true
  /** False where grouping would make a group per record, or show nothing. */
  groupable?: false
  /** How the fill handle continues values; absent: it repeats them. */
  fill?: FillSeries
  /** `text` where Excel gets the formatted text; absent: the Excel type follows from `storage`. */
  excel?: 'text'
  /** Groups of rules that a form may set for answers, beside those that follow from other traits. */
  formRules?: readonly FormRuleSet[]
  /** Forms may offer the camera to scan a code into the field. */
  scannable?: true
  /** A copied value may be invalid in a field of the same type with other options: paste it as text. */
  optionsLimitValues?: true
}

/**
 * One kind of field. A type is one file in this folder and one line in `index.ts`; the server's
 * validation, the clipboard, the import and the conversion between types all follow from it.
 *
 * `O` is the shape of the field's options after defaults.
 */
export interface FieldType<O = FieldOptions> extends FieldTraits {
  /** The name that is stored and that API clients use, spec §3: `SingleLineText`. */
  name: string
  /** Label in the type list: "Single select". */
  label: LocalizedText
  group: FieldGroup
  /** One line of help, and an example value, shown in the type list. */
  help: LocalizedText
  example: string
  storage: StorageKind
  options: z.ZodType<O>
  /** Says why options that fields of earlier versions may hold cannot be chosen now; null where they can. */
  unavailable?(options: O): string | null
  filters: FilterSet
  summaries: SummarySet
  /** True where people and programs cannot write: the server fills it (id, created time, …). */
  readOnly?: true
  /**
   * Set where the field has no column: its values are worked out when they are read. `storage`, `filters`
   * and `summaries` are then those of its `Field.result`; what stands here is for a field without one.
   */
  computed?: ComputedKind
  /** True for internal types that nobody can choose. */
  internal?: true
  /** True for a type that programs may choose and people are not offered: an old name, a guest's column. */
  forPrograms?: true
  /**
   * Name of the table's system column whose values the field shows. Such a field has no column of
   * its own: any number of "Created time" fields show the one `created_at`.
   */
  systemColumn?: 'created_at' | 'updated_at' | 'created_by' | 'updated_by'
  /** True where a field cannot have a default value (spec §5). */
  noDefault?: true
  /** Value of a new record where the caller gives none and the field has no default of its own. */
  initial?: CellValue
  /**
   * Reads a JSON value from a program (REST, tRPC). Strict: what does not fit is refused with a
   * sentence, never altered. `null` and `''` have been handled before: both mean "no value",
   * except that text fields keep `''`.
   */
  read(input: unknown, options: O): Read
  /**
   * Reads text from a person (paste, import, conversion): lenient in form, `null` where it does not fit.
   *
   * @param decimal the mark before the decimals where a number leaves it open: `1.000` is one, or a thousand
   */
  parse(text: string, options: O, decimal?: DecimalMark): CellValue
  /**
   * The value as text for the clipboard, exports and conversion; `parse(format(v))` gives `v` again,
   * save that null and the empty text both come back as null.
   */
  format(value: CellValue, options: O): string
  /**
   * A sum or average of values as a person reads it, in the format of a locale tag. Absent: a plain number.
   */
  summaryText?(value: number, options: O, locale: string): string
  /**
   * Database type of the column in REST (`dt`, wire reference §8.3), in the words of the engine that the table lies in.
   * Absent where the field has no column.
   */
  databaseTypes?: DatabaseTypes
}

/**
 * A type whose options are not known at the place of use: what `fieldType(name)` gives. Hand it the
 * field's own `options`, which the type's schema has filled in.
 */
export type AnyFieldType = FieldType<FieldOptions>

/** Keeps the options' type in one place while a type is being written. */
export function defineFieldType<const N extends string, O>(
  type: FieldType<O> & { name: N },
): FieldType<O> & { name: N } {
  return type
}

export const readOk = (value: CellValue): Read => ({ ok: true, value })
export const readFail = (message: string, fault: ReadFault = 'value'): Read => ({ ok: false, message, fault })

/** How values are read, beside a field's own options. It follows from the column and is never stored. */
export type ReadingOptions = {
  /**
   * True for columns of connected databases, which may hold any fraction of a second. Tables of our own keep instants
   * to the millisecond and times of day to the second.
   */
  keepsFraction?: boolean | undefined
}

/** A field's options as `read` and `parse` of its type take them. A field of unknown column counts as one of our own. */
export const readingOptions = <O extends FieldOptions>(
  { databaseType = null }: { databaseType?: string | null },
  options: O,
): O & ReadingOptions => (databaseType === null ? options : { ...options, keepsFraction: true })

/** A value from outside as it may be quoted in a message: short, on one line, never `[object Object]`. */
export function describeValue(input: unknown): string {
  const text = typeof input === 'object' && input !== null ? jsonOf(input) : String(input)
  const line = text.replace(/\s+/g, ' ')
  return line.length > 60 ? `${line.slice(0, 57)}...` : line
}

function jsonOf(input: object): string {
  // Large input is named by its kind; writing all of it out, to show 57 characters, would be work for nothing.
  if (Array.isArray(input)) return input.length > 20 ? 'a list' : safeJson(input, 'a list')
  return Object.keys(input).length > 20 ? 'an object' : safeJson(input, 'an object')
}

function safeJson(input: object, otherwise: string): string {
  const nested = Object.values(input).some((value) => typeof value === 'object' && value !== null)
  return nested ? otherwise : JSON.stringify(input)
}
