import { type SQL, sql } from 'drizzle-orm'
import type { CellValue, StorageKind } from '../core/fields/field-type.ts'
import { isTextStorage } from './related.ts'
import { sqliteTemporal, sqliteTemporalValue, type TemporalStorage } from './sqlite-dates.ts'

/** Reading and writing columns of connected tables, which may have any type of their engine. */
export interface ForeignColumns {
  /** Casts a column displayed as text, so that comparisons and searches ignore its type. */
  asText(column: SQL, databaseType: string): SQL
  /** Casts a column displayed as a number, because drivers return some numeric types as text. */
  asNumber(column: SQL, databaseType: string): SQL
  /**
   * Converts a column displayed as a date, instant or time to the form that the engine compares and the
   * dialect decodes: SQLite stores dates in any form.
   */
  asTemporal(column: SQL, storage: TemporalStorage, databaseType: string): SQL
  /**
   * For engines whose date columns have no fixed format: a cell's value in the format of a sample (exact text) from the
   * column, or null if the column is empty.
   */
  temporalValue: ((value: CellValue, storage: TemporalStorage, sample: string | null) => CellValue) | null
  /** True if columns reject numbers and texts that exceed their declared size. */
  keepsToTypes: boolean
  /**
   * Stands for a value that the column's default gives in an insert of several rows. Null in SQLite, whose inserts can only
   * leave out the column.
   */
  defaultMark: string | null
  /**
   * Selects as `storage` the storage engine of a table that cannot roll back a failed write, no row for others. Absent where
   * every table can.
   */
  withoutRollback?: (table: string) => { sql: string; params: unknown[] }
  /**
   * True if many updates should be one statement: each takes a round trip, because the driver sends none before it has
   * the answer to the one before.
   */
  updatesAsSet: boolean
  /** SQL before the values of an insert that restores a record with its former id. */
  overriding: string
  /** A lossless text of any value; `fromExactText` reverses it. */
  exactText(column: SQL, databaseType: string): SQL
  /** Insert expression for such a text, which is bound at the placeholder. */
  fromExactText(placeholder: string, databaseType: string): string
}

/** True for dates, instants and times of day. */
export const isTemporal = (storage: StorageKind): storage is TemporalStorage =>
  storage === 'date' || storage === 'datetime' || storage === 'time'

/**
 * A column as its values are compared exactly, whatever its type: uncast where its own index can be used. Values that
 * `isComparable` refuses must be left out first.
 *
 * @param databaseType null for a column of a base's own table
 */
export function comparedColumn(
  { foreign }: { foreign: ForeignColumns },
  column: SQL,
  { storage, databaseType }: { storage: StorageKind; databaseType: string | null },
): SQL {
  if (databaseType === null) return column
  if (isTemporal(storage)) return foreign.asTemporal(column, storage, databaseType)
  if (!isTextStorage(storage) || databaseType === 'uuid') return column
  return foreign.asText(column, databaseType)
}

const UUID = /^[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}$/i

/** False for values that a column of this type cannot hold, and with which some engines refuse to compare it. */
export const isComparable = (databaseType: string | null, value: CellValue): boolean =>
  databaseType !== 'uuid' || UUID.test(String(value))

/** The type's name in lower case, without size or modifiers. */
const plain = (databaseType: string): string => databaseType.toLowerCase().split(/[\s(]/, 1)[0] ?? ''

/** True for a type that pads texts with insignificant spaces, such as PostgreSQL's `character(4)`. */
export const isPadded = (databaseType: string | null): boolean =>
  databaseType !== null && /^(character|bpchar)(\(|$)/.test(databaseType)

/**
 * Types that need no cast to text. Not `character(4)`, whose padding the cast removes, nor `citext`, which equates
 * "abc" and "ABC".
 */
const POSTGRES_TEXTS = /^(character varying|text)(\(|$)/

/** PostgreSQL, and engines that speak its protocol. */
export const postgresForeign: ForeignColumns = {
  asText: (column, databaseType) => (POSTGRES_TEXTS.test(databaseType) ? column : sql`(${column})::text`),
  asNumber(column, databaseType) {
    // Through text: a direct cast to double turns a 4-byte 0.1 into 0.10000000149.
    return databaseType === 'real' ? sql`(${column})::text::double precision` : column
  },
  asTemporal: (column) => column,
  temporalValue: null,
  keepsToTypes: true,
  defaultMark: 'default',
  updatesAsSet: false,
  overriding: 'overriding system value',
  // Every PostgreSQL type has a lossless text form.
  exactText: (column) => sql`(${column})::text`,
  fromExactText: (placeholder, databaseType) => `cast(${placeholder}::text as ${databaseType})`,
}

const MYSQL_BINARY = /^(tiny|medium|long)?blob$|^(var)?binary$/
const isBytes = (databaseType: string): boolean => {
  const type = plain(databaseType)
  return MYSQL_BINARY.test(type) || MYSQL_SHAPES.test(type) || type === 'bit'
}

const MYSQL_SHAPES = /^(geometry|point|linestring|polygon|multi|geom)/

/** MySQL, in which binary values and geometries need conversions. */
export const mysqlForeign: ForeignColumns = {
  asText(column, databaseType) {
    const type = plain(databaseType)
    if (MYSQL_BINARY.test(type)) return sql`concat('0x', lower(hex(${column})))`
    if (MYSQL_SHAPES.test(type)) return sql`st_astext(${column})`
    if (type === 'bit') return sql`bin(${column})`
    if (/text$|char$/.test(type)) return column
    return sql`cast(${column} as char character set utf8mb4)`
  },
  // Through text: compared directly, a 4-byte 0.1 is 0.10000000149.
  asNumber: (column, databaseType) =>
    plain(databaseType) === 'float' ? sql`(concat(${column}) + 0e0)` : column,
  asTemporal: (column) => column,
  temporalValue: null,
  keepsToTypes: true,
  defaultMark: 'default',
  updatesAsSet: true,
  withoutRollback: (table) => ({
    sql: `select t.engine as storage from information_schema.tables t
      join information_schema.engines e on e.engine = t.engine
      where t.table_schema = database() and t.table_name = ? and e.transactions <> 'YES'`,
    params: [table],
  }),
  overriding: '',
  exactText(column, databaseType) {
    if (isBytes(databaseType)) return sql`hex(${column})`
    // Printing a 4-byte number directly loses its last digits.
    const whole = plain(databaseType) === 'float' ? sql`cast(${column} as double)` : column
    return sql`cast(${whole} as char character set utf8mb4)`
  },
  fromExactText: (placeholder, databaseType) =>
    isBytes(databaseType) ? `unhex(${placeholder})` : placeholder,
}

/** SQLite, whose columns hold values of any type, whatever is declared. */
export const sqliteForeign: ForeignColumns = {
  asText: (column) =>
    sql`case typeof(${column}) when 'blob' then '0x' || lower(hex(${column})) else ${column} end`,
  asNumber: (column) => column,
  asTemporal: sqliteTemporal,
  temporalValue: sqliteTemporalValue,
  // SQLite does not enforce sizes: `varchar(20)` takes any length.
  keepsToTypes: false,
  defaultMark: null,
  updatesAsSet: false,
  overriding: '',
  // The type belongs to the value, so the exact text includes it.
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
