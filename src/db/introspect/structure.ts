import type { FieldOptions } from '../../core/fields/field-type.ts'
import type { Statement } from '../../dialects/dialect.ts'

/** Schema of a database from its own catalogue: plain data, the same shape for every engine. */
export interface DatabaseStructure {
  tables: TableStructure[]
}

/** A table or view of the database. */
export interface TableStructure {
  name: string
  kind: 'table' | 'view'
  comment: string | null
  /** Estimated number of rows; null if the engine keeps no count. */
  rowEstimate: number | null
  /** In the database's order. */
  columns: ColumnStructure[]
  /** Columns of the primary key in key order; empty without one. */
  primaryKey: string[]
  /** Unique column sets other than the primary key. */
  uniqueKeys: string[][]
  foreignKeys: ForeignKeyStructure[]
}

/** A column of a table. */
export interface ColumnStructure {
  name: string
  /** The type in full, e.g. `numeric(10,2)`, `int(10) unsigned`, `enum('a','b')`. */
  type: string
  /** The type alone, in lower case and with its domain resolved: `numeric`, `int`, `enum`. */
  baseType: string
  /** Numbers in the type's parentheses: `[10, 2]`, `[45]`. */
  sizes: number[]
  isArray: boolean
  isUnsigned: boolean
  isNullable: boolean
  /** The default in the engine's SQL, or null. */
  defaultExpression: string | null
  /** Computed by the database from other columns. */
  isGenerated: boolean
  /** Assigned by the database: serial, identity, auto_increment, rowid. */
  isAutoIncrement: boolean
  /** The values of an enum or set, in their order; else null. */
  values: string[] | null
  comment: string | null
}

/** A reference to another table of the same schema. */
export interface ForeignKeyStructure {
  /** Its name in the database; derived from its number in SQLite. */
  name: string
  columns: string[]
  relatedTable: string
  relatedColumns: string[]
}

/** Runs a statement and returns its rows as objects. Every `Engine` is one. */
export interface StructureReader {
  all<T>(statement: Statement): Promise<T[]>
}

/** The field type and options for a column of an engine. */
export interface ColumnShape {
  /** Name of the field type, e.g. `Decimal`. */
  type: ShapeType
  /** Raw options of the type; choices of selects as `{ title }`. */
  options: FieldOptions
  /** Why its values are read-only; null if they can be edited. */
  readOnlyReason: string | null
}

/** The field types that columns of other databases become. */
export type ShapeType =
  | 'SingleLineText'
  | 'LongText'
  | 'Number'
  | 'Decimal'
  | 'Checkbox'
  | 'SingleSelect'
  | 'MultiSelect'
  | 'Date'
  | 'DateTime'
  | 'Time'
  | 'Year'
  | 'JSON'
  | 'SpecificDBType'

/** Reads the structure of one kind of database and maps its types to field types. */
export interface Introspector {
  /** Client name in REST: `pg`, `mysql2`, `sqlite3`. */
  client: string
  /** Reads the structure of one schema (PostgreSQL: its `searchPath`; others ignore it). */
  read(reader: StructureReader, schema: string): Promise<DatabaseStructure>
  /** Available schemas; one unnamed entry for engines without schemas. */
  schemas(reader: StructureReader): Promise<string[]>
  /** Identity of the database; null for engines in which this server keeps no data. */
  identity(reader: StructureReader): Promise<string | null>
  /** The field type and options for a column. */
  shape(column: ColumnStructure): ColumnShape
  /** A default's value if it is a plain one; null for an expression. */
  defaultValue(column: ColumnStructure): string | null
}
