import { type SQL, sql } from 'drizzle-orm'
import type { CellValue, StorageKind } from '../core/fields/field-type.ts'
import { sqliteTemporal, sqliteTemporalValue, type TemporalStorage } from './sqlite-dates.ts'

/** Reading and writing columns of connected tables, which may have any type of their engine. */
export interface ForeignWords {
  /** A column that is shown as text, as text: comparisons and searches then know nothing of its type. */
  asText(column: SQL, databaseType: string): SQL
  /** A column that is shown as a number, as one: its engine may have numbers that the driver gives as text. */
  asNumber(column: SQL, databaseType: string): SQL
  /**
   * A column that is shown as a date, an instant or a time of day, as its engine compares such values and the dialect
   * decodes them: SQLite holds dates in any form.
   */
  asTemporal(column: SQL, storage: TemporalStorage, databaseType: string): SQL
  /**
   * Where columns of dates have no type that decides how a value is kept: a value of a cell in the form of a sample
   * from the same column, which is an exact text, or null where the column is empty.
   */
  temporalValue: ((value: CellValue, storage: TemporalStorage, sample: string | null) => CellValue) | null
  /** True where a column refuses numbers and texts that are longer than its type says. */
  keepsToTypes: boolean
  /** Stands before the values of an insert that brings back a record with the number that it had. */
  overriding: string
  /** A value of any type as text that says all of it; `fromExactText` makes the same value of it again. */
  exactText(column: SQL, databaseType: string): SQL
  /** Insert expression for such a text, which is bound at the placeholder. */
  fromExactText(placeholder: string, databaseType: string): string
}

/** True for kinds of storage that hold a point in time or a part of one. */
export const isTemporal = (storage: StorageKind): storage is TemporalStorage =>
  storage === 'date' || storage === 'datetime' || storage === 'time'

/** The type without sizes and the like, in lower case. */
const plain = (databaseType: string): string => databaseType.toLowerCase().split(/[\s(]/, 1)[0] ?? ''

/** True for a type that fills texts up with spaces, which are no part of them: a `character(4)` of PostgreSQL. */
export const isPadded = (databaseType: string | null): boolean =>
  databaseType !== null && /^(character|bpchar)(\(|$)/.test(databaseType)

/**
 * Types that are texts already. A `character(4)` is none: only as text it is without the spaces that fill it up. Nor is
 * `citext`, which takes "abc" and "ABC" as equal.
 */
const POSTGRES_TEXTS = /^(character varying|text)(\(|$)/

/** PostgreSQL, and engines that speak its protocol. */
export const postgresForeign: ForeignWords = {
  asText: (column, databaseType) => (POSTGRES_TEXTS.test(databaseType) ? column : sql`(${column})::text`),
  asNumber(column, databaseType) {
    // Its digits as they are shown: made a double by itself, the 0.1 of four bytes is 0.10000000149.
    return databaseType === 'real' ? sql`(${column})::text::double precision` : column
  },
  asTemporal: (column) => column,
  temporalValue: null,
  keepsToTypes: true,
  overriding: 'overriding system value',
  // In PostgreSQL every type has a text form that reads back.
  exactText: (column) => sql`(${column})::text`,
  fromExactText: (placeholder, databaseType) => `cast(${placeholder}::text as ${databaseType})`,
}

const MYSQL_BINARY = /^(tiny|medium|long)?blob$|^(var)?binary$/
const isBytes = (databaseType: string): boolean => {
  const type = plain(databaseType)
  return MYSQL_BINARY.test(type) || MYSQL_SHAPES.test(type) || type === 'bit'
}

const MYSQL_SHAPES = /^(geometry|point|linestring|polygon|multi|geom)/

/** MySQL writes binary values and shapes in ways of its own. */
export const mysqlForeign: ForeignWords = {
  asText(column, databaseType) {
    const type = plain(databaseType)
    if (MYSQL_BINARY.test(type)) return sql`concat('0x', lower(hex(${column})))`
    if (MYSQL_SHAPES.test(type)) return sql`st_astext(${column})`
    if (type === 'bit') return sql`bin(${column})`
    if (/text$|char$/.test(type)) return column
    return sql`cast(${column} as char character set utf8mb4)`
  },
  // Its digits as they are shown: compared by itself, the 0.1 of four bytes is 0.10000000149.
  asNumber: (column, databaseType) =>
    plain(databaseType) === 'float' ? sql`(concat(${column}) + 0e0)` : column,
  asTemporal: (column) => column,
  temporalValue: null,
  keepsToTypes: true,
  overriding: '',
  exactText(column, databaseType) {
    if (isBytes(databaseType)) return sql`hex(${column})`
    // Written out by itself, a number of four bytes loses its last digits.
    const whole = plain(databaseType) === 'float' ? sql`cast(${column} as double)` : column
    return sql`cast(${whole} as char character set utf8mb4)`
  },
  fromExactText: (placeholder, databaseType) =>
    isBytes(databaseType) ? `unhex(${placeholder})` : placeholder,
}

/** Columns of SQLite hold values of any type, whatever is said of them. */
export const sqliteForeign: ForeignWords = {
  asText: (column) =>
    sql`case typeof(${column}) when 'blob' then '0x' || lower(hex(${column})) else ${column} end`,
  asNumber: (column) => column,
  asTemporal: sqliteTemporal,
  temporalValue: sqliteTemporalValue,
  // An `integer` has up to eight bytes here, and a `varchar(20)` any number of letters.
  keepsToTypes: false,
  overriding: '',
  // Whether it is a number or a text is a value's own here: `quote` writes it out with its kind.
  exactText: (column) => sql`typeof(${column}) || ':' || case typeof(${column})
    when 'blob' then hex(${column}) when 'real' then printf('%!.17g', ${column}) else ${column} end`,
  fromExactText: (placeholder) => `(select case
    when text is null or text like 'null:%' then null
    when text like 'blob:%' then unhex(substr(text, 6))
    when text like 'integer:%' then cast(substr(text, 9) as integer)
    when text = 'real:Inf' then 9e999 when text = 'real:-Inf' then -9e999
    when text like 'real:%' then cast(substr(text, 6) as real)
    else substr(text, 6) end from (select ${placeholder} as text))`,
}
